//! Cost of one input: `cargo bench -p fissure-generate`.
//!
//! A plain loop instead of a statistics library: generation is deterministic, so the processor
//! time of many inputs is the figure, and the best of several rounds is the one without noise.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use fissure_generate::{GenerateOptions, Generator};
use fissure_model::Mode;

const INPUTS: u64 = 20_000;
const ROUNDS: usize = 9;

const TWO_TENSORS: &str = "title: torch.add
package: torch
target: add
version: '1'
link: https://example.org
inputs: {required: [input, other], optional: []}
constraints:
  input: {tensor_t: [torch.tensor], ndim: ['1', '2'], dtype: [torch.float32]}
  other: {tensor_t: [torch.tensor], shape: ['shape:&input'], dtype: ['dtype:&input']}
";

const POOL: &str = "title: torch.nn.functional.avg_pool2d
package: torch
target: avg_pool2d
version: '1'
link: https://example.org
inputs: {required: [input, kernel_size], optional: [stride, padding, ceil_mode]}
constraints:
  input: {tensor_t: [torch.tensor], shape: ['[n,c,>=&kernel_size,>=&kernel_size]']}
  kernel_size: {dtype: [int], ndim: ['0'], range: ['[1,16]']}
  stride: {default: None, dtype: [int], ndim: ['0'], range: ['[1,inf)']}
  padding: {default: '0', dtype: [int], ndim: ['0'], range: ['[0,&kernel_size/2]']}
  ceil_mode: {default: 'False', dtype: [torch.bool], ndim: ['0']}
";

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn main() {
    for (name, text) in [("two small tensors", TWO_TENSORS), ("avg_pool2d", POOL)] {
        let loaded = fissure_spec::load_text(Path::new(name), text);
        let spec = loaded.expect("the benchmark's own specs load").spec;
        for mode in [Mode::Conform, Mode::Violate, Mode::Mixed] {
            let best = (0..ROUNDS)
                .map(|_| round(&spec, mode))
                .min()
                .unwrap_or_default();
            println!("{name}, {mode}: {best:?} per input");
        }
    }
}

fn round(spec: &fissure_model::Spec, mode: Mode) -> Duration {
    let options = GenerateOptions {
        mode,
        ..GenerateOptions::default()
    };
    let generator = Generator::new(spec, None, options, 1);
    let mut generator = generator.expect("the benchmark's own specs are satisfiable");
    let start = Instant::now();
    for number in 0..INPUTS {
        black_box(generator.generate(number));
        generator.observe(number, number % 2 == 0);
    }
    start.elapsed() / INPUTS as u32
}
