//! Any text as a constraint file: reading it, and telling what is wrong with it, never panics.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: &str| {
    match fissure_spec::load_text(Path::new("fuzz.yaml"), given) {
        Err(error) => {
            fissure_spec::render(&error, false);
        }
        Ok(loaded) => {
            for spec in &loaded.specs {
                let _ = fissure_spec::generation_order(spec);
                fissure_spec::relaxed_order(spec);
                fissure_spec::repair(spec);
            }
        }
    }
});
