//! Inputs per second and core when fuzzing from learned rules, over the rule files of
//! `data/invariants/torch` (or of the folder that `FISSURE_INVARIANTS` names):
//! `cargo bench -p fissure-benches --bench invariants`.
//!
//! The figure is inputs per second of processor time, of Fissure and its worker together: what one
//! core gives, also on a machine that others use.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use fissure_benches::{feed, generator, median, processor_time, root, rule_spec, start_pool};

/// APIs at most, spread over the folder.
const APIS: usize = 60;
/// Inputs of one API: enough for a clock that counts hundredths of a second.
const INPUTS: u64 = 4096;
/// Heavy operations get fewer.
const LIMIT: Duration = Duration::from_secs(10);

fn main() -> anyhow::Result<()> {
    let folder = std::env::var_os("FISSURE_INVARIANTS")
        .map_or_else(|| root().join("data/invariants/torch"), PathBuf::from);
    let files = rule_files(&folder)?;
    let python = fissure_benches::python()?;
    let scratch = tempfile::tempdir()?;
    let pool = start_pool(&python, scratch.path())?;
    println!(
        "torch {} on Python {}, one worker\n\n{:<48} {:>9} {:>13} {:>12}",
        pool.info().library_version,
        pool.info().python_version,
        "API",
        "accepted",
        "inputs/s core",
        "by the clock"
    );
    let mut rates = Vec::new();
    for path in &files {
        let spec = rule_spec(path)?;
        let mut source = match generator(&pool, &spec) {
            Ok(source) => source,
            Err(error) => {
                println!("{:<48} left out: {error}", spec.api.title);
                continue;
            }
        };
        let before = processor_time()?;
        let fed = feed(&pool, &spec, &mut source, |fed| {
            fed.inputs >= INPUTS || fed.elapsed >= LIMIT
        })?;
        let rate = fed.inputs as f64 / (processor_time()? - before).as_secs_f64();
        println!(
            "{:<48} {:>7.1} % {:>13.0} {:>12.0}",
            spec.api.title,
            100.0 * fed.accepted as f64 / fed.inputs as f64,
            rate,
            fed.inputs as f64 / fed.elapsed.as_secs_f64()
        );
        rates.push(rate);
    }
    pool.stop();
    println!(
        "\n{} APIs: mean {:.0} inputs/s per core, median {:.0}, {} below 5,000",
        rates.len(),
        rates.iter().sum::<f64>() / rates.len() as f64,
        median(rates.clone()),
        rates.iter().filter(|rate| **rate < 5000.0).count()
    );
    Ok(())
}

/// Rule files of the folder, every n-th when there are many.
fn rule_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("no folder {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|it| it == "rules"));
    files.sort();
    ensure!(!files.is_empty(), "no rule files in {}", folder.display());
    let step = files.len().div_ceil(APIS);
    Ok(files.into_iter().step_by(step).collect())
}
