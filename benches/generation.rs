//! What making inputs costs, without running them: the preparation with the first 150 inputs of an
//! API, and each input after, in processor time of the thread that makes them.
//! `cargo bench -p fissure-benches --bench generation [-- API…]`; without names every tenth API.
//!
//! APIs with rules in `data/invariants/torch`; those that also have a constraint file in
//! `../shared/data/docter/pytorch` (or in `FISSURE_BENCH_SPECS`) get inputs that satisfy both, as
//! in a campaign.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use fissure_benches::{median, python, root, rule_spec, start_pool};
use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{Intent, Signature, Spec};

/// Inputs of an API in a campaign over everything.
const FIRST: u64 = 150;
/// Inputs after those.
const MORE: u64 = 2000;
/// Of all APIs every so many-th.
const EVERY: usize = 10;

struct Row {
    title: String,
    first: Duration,
    each: Duration,
    /// Rules that were broken alone.
    broken: usize,
}

fn main() -> anyhow::Result<()> {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let mut rules: Vec<PathBuf> = std::fs::read_dir(root().join("data/invariants/torch"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    rules.retain(|path| path.extension().is_some_and(|it| it == "rules"));
    rules.sort();
    let mut files = constraint_files();
    let scratch = tempfile::tempdir()?;
    let pool = start_pool(&python()?, scratch.path())?;
    let (mut alone, mut both) = (Vec::new(), Vec::new());
    for (at, path) in rules.iter().enumerate() {
        let spec = rule_spec(path)?;
        let measured = if wanted.is_empty() {
            at.is_multiple_of(EVERY)
        } else {
            wanted.contains(&spec.api.title)
        };
        if !measured {
            continue;
        }
        let Ok(signature) = pool.describe(&spec.api.path) else {
            continue;
        };
        if let Some(file) = files.remove(&spec.api.title) {
            let joined = Spec {
                rules: spec.rules.clone(),
                ..file
            };
            both.extend(measure(&joined, &signature)?);
        }
        alone.extend(measure(&spec, &signature)?);
    }
    pool.stop();
    tell("rules", alone);
    tell("rules and constraint file", both);
    Ok(())
}

/// The constraint files by the names of their APIs.
fn constraint_files() -> HashMap<String, Spec> {
    let folder = match std::env::var_os("FISSURE_BENCH_SPECS") {
        Some(folder) => PathBuf::from(folder),
        None => root().join("../shared/data/docter/pytorch"),
    };
    let loaded = fissure_spec::load_paths(&[folder]).loaded;
    loaded
        .into_iter()
        .map(|loaded| (loaded.spec.api.title.clone(), loaded.spec))
        .collect()
}

/// `None` when there is nothing to draw from.
fn measure(spec: &Spec, signature: &Signature) -> anyhow::Result<Option<Row>> {
    let started = thread_time()?;
    let options = GenerateOptions::default();
    let Ok(mut generator) = Generator::new(spec, Some(signature), options, 0) else {
        return Ok(None);
    };
    for number in 0..FIRST {
        std::hint::black_box(generator.generate(number));
    }
    let prepared = thread_time()?;
    let mut broken = HashSet::new();
    for number in FIRST..FIRST + MORE {
        if let Intent::BreakRule { rule } = generator.generate(number).intent {
            broken.insert(rule);
        }
    }
    Ok(Some(Row {
        title: spec.api.title.clone(),
        first: prepared - started,
        each: (thread_time()? - prepared) / MORE as u32,
        broken: broken.len(),
    }))
}

fn tell(name: &str, mut rows: Vec<Row>) {
    if rows.is_empty() {
        println!("{name}: no API");
        return;
    }
    let ms = |row: &Row| row.first.as_secs_f64() * 1e3;
    let us = |row: &Row| row.each.as_secs_f64() * 1e6;
    let mean = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).sum::<f64>() / rows.len() as f64;
    println!(
        "{name}, {} APIs: first {FIRST} inputs {:.1} ms (median {:.1}); then {:.1} µs each \
         (median {:.1}); {:.1} rules broken alone",
        rows.len(),
        mean(&ms),
        median(rows.iter().map(ms).collect()),
        mean(&us),
        median(rows.iter().map(us).collect()),
        mean(&|row| row.broken as f64)
    );
    rows.sort_by_key(|row| std::cmp::Reverse(row.first));
    for row in rows.iter().take(8) {
        println!(
            "  {:<48} first {FIRST} in {:>8.1} ms, then {:>7.1} µs each",
            row.title,
            ms(row),
            us(row)
        );
    }
}

/// What this thread has had of a processor.
fn thread_time() -> anyhow::Result<Duration> {
    // The kernel brings the figure up to date when it takes the processor away.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().context("schedstat is empty")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}
