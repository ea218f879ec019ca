//! Any text as a constraint file, and as what one says of a parameter: reading it, and telling what is wrong with it,
//! never panics.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

/// Short inputs should not have to find this out.
const HEAD: &str = "title: torch.f
package: torch
target: f
version: '1'
link: https://example.org
inputs: {required: [a, b], optional: [c]}
constraints:
  a: {tensor_t: [torch.tensor], ndim: ['2']}
  b: ";

fuzz_target!(|given: &str| {
    let whole;
    let text = match given.len() % 4 {
        0 => given,
        _ => {
            whole = format!("{HEAD}{given}\n");
            &whole
        }
    };
    match fissure_spec::load_text(Path::new("fuzz.yaml"), text) {
        // Drawing what is wrong takes most of the time: of some texts only.
        Err(error) if given.len() % 16 == 1 => {
            fissure_spec::render(&error, false);
        }
        Err(_) => {}
        Ok(loaded) => {
            let spec = &loaded.spec;
            let _ = fissure_spec::generation_order(spec);
            fissure_spec::relaxed_order(spec);
            fissure_spec::repair(spec);
        }
    }
});
