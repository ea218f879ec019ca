//! How often oracles cry wolf: `cargo bench -p fissure-benches --bench false_alarms [ORACLES]`.
//!
//! Every oracle looks at calls that are right: the sample inputs of PyTorch's own operator tests.
//! `ORACLES` are names with commas between; without, all that need not be named. What follows them
//! goes to `control.py`: `compile --per-api 1 --stride 3` takes one sample of every third operator.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use fissure_judge::{OracleInfo, Tier, oracles};
use serde::Deserialize;

/// The line of one oracle.
#[derive(Deserialize)]
struct Summary {
    oracle: String,
    calls: u64,
    compared: u64,
    apis_compared: u64,
    reports: u64,
    microseconds: u64,
    plain_microseconds: u64,
}

#[derive(Deserialize)]
struct Alarm {
    api: String,
    dtype: String,
    oracle: String,
    detail: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Summary(Summary),
    Report { report: Alarm },
    Failure { failure: Vec<String> },
}

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<String> = words.into_iter().filter(|word| word != "--bench").collect();
    let named = words.first().filter(|word| !word.starts_with("--"));
    let usual = |oracle: &&OracleInfo| oracle.is_comparing() && oracle.tier != Tier::OptIn;
    let names = named.cloned().unwrap_or_else(|| {
        let names: Vec<&str> = oracles().iter().filter(usual).map(|it| it.name).collect();
        names.join(",")
    });
    let others = &words[usize::from(named.is_some())..];
    let root = fissure_testing::root();
    let mut child = Command::new(fissure_benches::python()?)
        .arg(root.join("benches/false_alarms/control.py"))
        .arg(root.join("python/fissure_worker"))
        .arg(names)
        .args(others)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("failed to start the interpreter")?;
    let output = child.stdout.take().context("the output is piped")?;
    let mut summaries = Vec::new();
    for line in BufReader::new(output).lines() {
        // Libraries print on the same stream.
        match serde_json::from_str(&line?) {
            Ok(Line::Summary(summary)) => summaries.push(summary),
            Ok(Line::Report { report }) => println!(
                "report: {} on {} ({}): {}",
                report.oracle, report.api, report.dtype, report.detail
            ),
            Ok(Line::Failure { failure }) => println!("an oracle failed: {}", failure.join(" | ")),
            Err(_) => {}
        }
    }
    if !child.wait()?.success() {
        bail!("the control ended early");
    }
    println!(
        "{:<15} {:>7} {:>9} {:>6} {:>8} {:>7} {:>11}",
        "oracle", "calls", "compared", "APIs", "reports", "rate", "cost"
    );
    for it in summaries {
        println!(
            "{:<15} {:>7} {:>9} {:>6} {:>8} {:>6.2}% {:>6} calls",
            it.oracle,
            it.calls,
            it.compared,
            it.apis_compared,
            it.reports,
            100.0 * it.reports as f64 / it.compared.max(1) as f64,
            it.microseconds / it.plain_microseconds.max(1),
        );
    }
    Ok(())
}
