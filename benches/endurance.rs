//! Memory of the orchestrator over a million inputs:
//! `cargo bench -p fissure-benches --bench endurance`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use anyhow::Context;
use fissure_benches::{feed, generator, root, start_pool};

const INPUTS: u64 = 1_000_000;

fn main() -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let pool = start_pool(&fissure_benches::python()?, scratch.path())?;
    let spec = fissure_spec::load_file(&root().join("examples/specs/torch.add.yaml"))?.spec;
    let mut generator = generator(&pool, &spec)?;
    let mut next = INPUTS / 10;
    let mut failure = None;
    let fed = feed(&pool, &spec, &mut generator, |fed| {
        if fed.inputs >= next {
            match resident_mib() {
                Ok(mib) => println!("{:>9} inputs: {mib:.1} MiB resident", fed.inputs),
                Err(error) => failure = Some(error),
            }
            next += INPUTS / 10;
        }
        fed.inputs >= INPUTS || failure.is_some()
    })?;
    pool.stop();
    if let Some(error) = failure {
        return Err(error);
    }
    println!(
        "{} inputs in {:.1} s: {:.0} inputs/s",
        fed.inputs,
        fed.elapsed.as_secs_f64(),
        fed.inputs as f64 / fed.elapsed.as_secs_f64()
    );
    Ok(())
}

fn resident_mib() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .context("no VmRSS")?;
    let kib: f64 = line
        .split_whitespace()
        .nth(1)
        .context("no figure")?
        .parse()?;
    Ok(kib / 1024.0)
}
