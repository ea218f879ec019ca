//! Crashes of old releases that are public knowledge: which input of the default settings finds
//! each, for three seeds: `cargo bench -p fissure-benches --bench known_crashes [-- TITLE…]`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use fissure_benches::libraries::{LIBRARIES, Library, run_api};
use fissure_generate::GenerateOptions;
use fissure_model::Outcome;

const INPUTS: u64 = 2000;
const SEEDS: [u64; 3] = [0, 1, 2];

/// What crashes, and why.
const KNOWN: [(&str, &str, &str); 13] = [
    ("torch==1.5.0", "torch.nn.functional.avg_pool1d", "stride 0"),
    ("torch==1.5.0", "torch.nn.functional.avg_pool3d", "stride 0"),
    ("torch==1.5.0", "torch.nn.AvgPool1d", "stride 0"),
    ("torch==1.5.0", "torch.nn.LPPool2d", "stride 0"),
    ("torch==1.5.0", "torch.nn.PixelShuffle", "factor 0"),
    ("torch==1.5.0", "torch.chain_matmul", "no matrices"),
    ("torch==1.5.0", "torch.eye", "huge n"),
    ("tensorflow-cpu==2.1.0", "tf.unravel_index", "0 in dims"),
    (
        "tensorflow-cpu==2.1.0",
        "tf.keras.backend.reverse",
        "first dimension 0",
    ),
    (
        "tensorflow-cpu==2.1.0",
        "tf.nest.flatten",
        "an array for a flag",
    ),
    (
        "tensorflow-cpu==2.1.0",
        "tf.nest.assert_same_structure",
        "an array for a flag",
    ),
    (
        "tensorflow-cpu==2.1.0",
        "tf.image.pad_to_bounding_box",
        "huge target",
    ),
    (
        "tensorflow-cpu==2.1.0",
        "tf.keras.layers.UpSampling2D",
        "huge size",
    ),
];

fn main() -> anyhow::Result<()> {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    println!(
        "{:<34} {:<20} {:>8} {:>8} {:>8}",
        "API", "kind", "seed 0", "seed 1", "seed 2"
    );
    let mut found = 0;
    let mut tried = 0;
    for (requirement, title, kind) in KNOWN {
        if !asked.is_empty() && !asked.iter().any(|one| one == title) {
            continue;
        }
        let library = LIBRARIES
            .iter()
            .find(|library| library.requirement == requirement)
            .expect("the list names known libraries");
        let mut line = format!("{title:<34} {kind:<20}");
        for seed in SEEDS {
            tried += 1;
            match first_crash(library, title, seed)? {
                Some(number) => {
                    found += 1;
                    line.push_str(&format!(" {number:>8}"));
                }
                None => line.push_str(&format!(" {:>8}", "-")),
            }
        }
        println!("{line}");
    }
    println!("\n{found} of {tried} within {INPUTS} inputs");
    Ok(())
}

/// The number of the first input that ends its worker with a signal.
fn first_crash(library: &Library, title: &str, seed: u64) -> anyhow::Result<Option<u64>> {
    let scratch = tempfile::tempdir()?;
    let pool = library.pool(scratch.path(), 1)?;
    let mut found = None;
    let spec = library.spec(title)?;
    let options = GenerateOptions::default();
    run_api(&pool, &spec, options, seed, INPUTS, |input, execution| {
        if let Outcome::Crash { .. } = execution.outcome {
            found = Some(input.number);
        }
        found.is_none()
    })?;
    pool.stop();
    Ok(found)
}
