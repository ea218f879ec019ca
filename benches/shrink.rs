//! How long it takes to make real crashes of PyTorch small:
//! `cargo bench -p fissure-benches --bench shrink`.
//!
//! The inputs in `benches/crashes` are as Fissure met them in torch 2.9.1. One that does not crash
//! the installed version is left out and named.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use fissure_benches::{median, root};
use fissure_campaign::shrink_finding;
use fissure_execute::{Batch, Event, Pool, PoolOptions};
use fissure_judge::JudgeOptions;
use fissure_model::{Api, ConcreteInput, Execution, Finding};
use fissure_triage::{ShrinkBudget, complexity, finding_id, signature};
use serde::Deserialize;

#[derive(Deserialize)]
struct Crash {
    api: Api,
    input: ConcreteInput,
}

fn main() -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    // As the product's shrinker starts it.
    let pool = Pool::start(PoolOptions {
        timeout: Duration::from_secs(1),
        ..PoolOptions::new(fissure_benches::python()?, "torch", scratch.path())
    })?;
    println!("torch {}", pool.info().library_version);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("benches/crashes"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<_>>()?;
    files.sort();
    let mut seconds = Vec::new();
    for file in files {
        let name = file.file_stem().context("a file")?.to_string_lossy();
        let crash: Crash = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        let Some(mut finding) = finding(&pool, crash)? else {
            println!("{name}: does not crash here, left out");
            continue;
        };
        let before = complexity(&finding.input);
        let shrunk = shrink_finding(
            &pool,
            &mut finding,
            None,
            &Default::default(),
            ShrinkBudget::default(),
            &AtomicBool::new(false),
            &mut |_, _| (),
        );
        match shrunk {
            Ok(shrunk) => {
                seconds.push(shrunk.elapsed.as_secs_f64());
                println!(
                    "{name}: {:.2} s, {} inputs, {} steps, size {before} -> {}{}\n    {}{}",
                    shrunk.elapsed.as_secs_f64(),
                    shrunk.tried,
                    shrunk.steps,
                    complexity(&finding.input),
                    if shrunk.finished {
                        ""
                    } else {
                        " (budget exhausted)"
                    },
                    finding.api.title,
                    finding.input.summary(),
                );
                for role in &finding.roles {
                    println!("      {}: {}", role.parameter, role.tried);
                }
            }
            Err(why) => println!("{name}: not shrunk: {why}"),
        }
    }
    pool.stop();
    anyhow::ensure!(!seconds.is_empty(), "nothing crashed");
    let most = seconds.iter().copied().fold(0.0, f64::max);
    println!(
        "{} crashes: median {:.2} s, most {most:.2} s",
        seconds.len(),
        median(seconds)
    );
    Ok(())
}

/// The crash as a finding; `None` when there is none.
fn finding(pool: &Pool, Crash { api, input }: Crash) -> anyhow::Result<Option<Finding>> {
    pool.submit(Batch {
        id: 0,
        api: Arc::new(api.clone()),
        check_nan: false,
        oracles: Arc::default(),
        inputs: vec![input.clone()],
        abandoned: Arc::default(),
        slow_calls: None,
    });
    let execution: Execution = loop {
        if let Event::Done { executions, .. } = pool.events().recv()? {
            break executions.into_iter().next().context("no execution")?;
        }
    };
    let Some(verdict) = fissure_judge::judge(&api, &input, &execution, &JudgeOptions::default())
    else {
        return Ok(None);
    };
    let signature = signature(&api, &verdict, &execution);
    Ok(Some(Finding {
        id: finding_id(&api, &verdict, &signature),
        signature: signature.text().to_owned(),
        library_version: pool.info().library_version.clone(),
        python_version: pool.info().python_version.clone(),
        ..Finding::new(api, verdict, input, execution)
    }))
}
