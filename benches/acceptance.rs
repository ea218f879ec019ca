//! How much of what conforms to the constraint files the libraries accept, each in its old version
//! and in a current one: `cargo bench -p fissure-benches --bench acceptance [-- REQUIREMENT…]`.
//! `--every=N` takes every N-th constraint file only. With `--each` the share of every API is
//! listed, and the commonest reason for rejecting.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::collections::BTreeMap;

use fissure_benches::libraries::{LIBRARIES, Library, run_api};
use fissure_generate::GenerateOptions;
use fissure_model::{Mode, Outcome};

/// Inputs of each API.
const INPUTS: u64 = 100;
/// Letters of a reason.
const REASON: usize = 200;

fn main() -> anyhow::Result<()> {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let each = std::env::args().any(|argument| argument == "--each");
    let every = std::env::args()
        .find_map(|argument| argument.strip_prefix("--every=")?.parse().ok())
        .unwrap_or(1_usize);
    println!(
        "{:<24} {:>6} {:>9} {:>9} {:>10} {:>10} {:>8}",
        "library", "APIs", "inputs", "accepted", "mean/API", "some", "crashes"
    );
    for library in LIBRARIES {
        if asked.is_empty() || asked.iter().any(|one| one == library.requirement) {
            measure(&library, each, every)?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Counts {
    inputs: u64,
    accepted: u64,
    crashes: u64,
    reasons: BTreeMap<String, u64>,
}

impl Counts {
    fn line(&self, title: &str) -> String {
        let share = 100 * self.accepted / self.inputs.max(1);
        let commonest = self.reasons.iter().max_by_key(|(_, count)| **count);
        let reason = commonest.map_or("", |(reason, _)| reason.as_str());
        format!("    {share:>3} % {title}: {reason}")
    }
}

fn measure(library: &Library, each: bool, every: usize) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let pool = library.pool(scratch.path(), 1)?;
    let mut rows = Vec::new();
    let mut left_out = 0;
    for spec in library.specs()?.into_iter().step_by(every.max(1)) {
        let mut counts = Counts::default();
        let options = GenerateOptions {
            mode: Mode::Conform,
            mutate_ratio: 0.0,
            ..GenerateOptions::default()
        };
        if pool.describe(&spec.api.path)?.missing.is_some() {
            left_out += 1;
            continue;
        }
        // A spec that no call can satisfy is counted below, not an end of the measurement.
        let run = run_api(&pool, &spec, options, 0, INPUTS, |_, execution| {
            counts.inputs += 1;
            match &execution.outcome {
                Outcome::Accepted { .. } => counts.accepted += 1,
                Outcome::Crash { .. } => counts.crashes += 1,
                other => {
                    let line = format!("{other:?}").replace('\n', " ");
                    let reason = line.chars().take(REASON).collect();
                    *counts.reasons.entry(reason).or_default() += 1;
                }
            }
            true
        });
        match run {
            Ok(()) => {
                if each {
                    println!("{}", counts.line(&spec.api.title));
                }
                rows.push(counts);
            }
            Err(_) => left_out += 1,
        }
    }
    pool.stop();
    let sum = |of: fn(&Counts) -> u64| rows.iter().map(of).sum::<u64>();
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let mean: f64 = rows
        .iter()
        .map(|row| share(row.accepted, row.inputs))
        .sum::<f64>()
        / rows.len().max(1) as f64;
    let some = rows.iter().filter(|row| row.accepted > 0).count();
    println!(
        "{:<24} {:>6} {:>9} {:>7.1} % {:>8.1} % {:>8.1} % {:>8}   ({left_out} left out)",
        library.requirement,
        rows.len(),
        sum(|row| row.inputs),
        share(sum(|row| row.accepted), sum(|row| row.inputs)),
        mean,
        share(some as u64, rows.len() as u64),
        sum(|row| row.crashes),
    );
    Ok(())
}
