//! Inputs per second of Fissure beside three baselines, over every spec of `examples/specs` and
//! `benches/specs`, one worker, one run: `cargo bench -p fissure-benches --bench throughput`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use fissure_benches::{feed, generator, geometric_mean, median, root, start_pool};
use fissure_execute::Pool;
use fissure_model::Spec;
use serde::Deserialize;

/// Inputs handed to the baselines.
const SAMPLE: u64 = 512;
const SECONDS: f64 = 1.5;
/// The example whose inputs crash PyTorch 2.9.1: a plain Python loop does not survive them.
const CRASHES: &str = "torch.nn.functional.pixel_shuffle";

#[derive(Deserialize)]
struct Line {
    baseline: String,
    inputs: u64,
    seconds: f64,
}

struct Row {
    title: String,
    accepted: f64,
    fissure: f64,
    raw: f64,
    fork: f64,
    hypothesis: f64,
}

impl Row {
    /// What a harness costs per input beyond the call itself, in microseconds.
    fn harness_cost(&self) -> f64 {
        1e6 / self.fissure - 1e6 / self.raw
    }
}

fn main() -> anyhow::Result<()> {
    let python = fissure_benches::python()?;
    let scratch = tempfile::tempdir()?;
    let tools = hypothesis_folder()?;
    let paths = [root().join("examples/specs"), root().join("benches/specs")];
    let collection = fissure_spec::load_paths(&paths);
    if let Some(error) = collection.failed.into_iter().next() {
        return Err(error.into());
    }
    let pool = start_pool(&python, scratch.path())?;
    println!(
        "torch {} on Python {}, one worker\n",
        pool.info().library_version,
        pool.info().python_version
    );
    println!(
        "{:<38} {:>9} {:>10} {:>10} {:>8} {:>11} {:>8} {:>8} {:>9}",
        "API",
        "accepted",
        "Fissure/s",
        "raw/s",
        "fork/s",
        "Hypothesis/s",
        "× fork",
        "× Hyp.",
        "cost µs"
    );
    let mut rows: Vec<Row> = Vec::new();
    for loaded in collection.loaded {
        let spec = loaded.spec;
        if spec.api.title == CRASHES || rows.iter().any(|row| row.title == spec.api.title) {
            continue;
        }
        let row = measure(&pool, &spec, &python, &tools, scratch.path())
            .with_context(|| spec.api.title.clone())?;
        println!(
            "{:<38} {:>7.1} % {:>10.0} {:>10.0} {:>8.0} {:>11.0} {:>8.0} {:>8.0} {:>9.1}",
            row.title,
            row.accepted,
            row.fissure,
            row.raw,
            row.fork,
            row.hypothesis,
            row.fissure / row.fork,
            row.fissure / row.hypothesis,
            row.harness_cost()
        );
        rows.push(row);
    }
    pool.stop();
    let ratios = |of: fn(&Row) -> f64| geometric_mean(&rows.iter().map(of).collect::<Vec<_>>());
    println!(
        "\n{} APIs. Geometric means: {:.0}× one fork per input, {:.0}× Hypothesis. \
         Median harness cost {:.1} µs per input over the raw loop.",
        rows.len(),
        ratios(|row| row.fissure / row.fork),
        ratios(|row| row.fissure / row.hypothesis),
        median(rows.iter().map(Row::harness_cost).collect()),
    );
    Ok(())
}

fn measure(
    pool: &Pool,
    spec: &Spec,
    python: &Path,
    tools: &Path,
    scratch: &Path,
) -> anyhow::Result<Row> {
    let sample = scratch.join("sample.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&sample)?);
    let mut sampler = generator(pool, spec)?;
    for number in 0..SAMPLE {
        serde_json::to_writer(&mut file, &sampler.generate(number))?;
        file.write_all(b"\n")?;
    }
    file.flush()?;
    let mut warm = generator(pool, spec)?;
    feed(pool, spec, &mut warm, |fed| fed.inputs > 0)?;
    let mut fresh = generator(pool, spec)?;
    let limit = Duration::from_secs_f64(SECONDS);
    let fed = feed(pool, spec, &mut fresh, |fed| fed.elapsed >= limit)?;
    let baselines = baselines(spec, python, tools, &sample)?;
    let rate = |name: &str| -> anyhow::Result<f64> {
        baselines
            .get(name)
            .copied()
            .with_context(|| format!("no figure for {name}"))
    };
    Ok(Row {
        title: spec.api.title.clone(),
        accepted: 100.0 * fed.accepted as f64 / fed.inputs as f64,
        fissure: fed.inputs as f64 / fed.elapsed.as_secs_f64(),
        raw: rate("raw")?,
        fork: rate("fork")?,
        hypothesis: rate("hypothesis")?,
    })
}

fn baselines(
    spec: &Spec,
    python: &Path,
    tools: &Path,
    sample: &Path,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let output = Command::new(python)
        .arg(root().join("benches/baselines.py"))
        .arg(&spec.api.path)
        .arg(sample)
        .arg(SECONDS.to_string())
        .arg("fork,raw,hypothesis")
        .env("PYTHONPATH", tools)
        .env("OMP_NUM_THREADS", "1")
        .output()?;
    if !output.status.success() {
        bail!(
            "the baselines failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    String::from_utf8(output.stdout)?
        .lines()
        .map(|line| {
            let line: Line = serde_json::from_str(line)?;
            Ok((line.baseline, line.inputs as f64 / line.seconds))
        })
        .collect()
}

/// Hypothesis from PyPI, in a folder of the build, so that no environment is changed.
fn hypothesis_folder() -> anyhow::Result<std::path::PathBuf> {
    let folder = root().join("target/bench-python");
    if !folder.join("hypothesis").is_dir() {
        let status = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--target"])
            .arg(&folder)
            .arg("hypothesis")
            .status()
            .context("failed to start pip for Hypothesis")?;
        if !status.success() {
            bail!("pip could not install Hypothesis");
        }
    }
    Ok(folder)
}
