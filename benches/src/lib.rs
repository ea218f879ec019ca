//! What the benchmarks share: a target, a pool, and a loop that keeps the pool fed.

pub mod libraries;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use fissure_execute::{Batch, Event, Pool, PoolOptions};
use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{Api, Mode, Outcome, RuleText, Spec};
pub use fissure_testing::root;

/// Inputs per batch, as in a long run of the product.
const BATCH: u64 = 256;

/// The interpreter to measure: `FISSURE_TEST_PYTHON_TORCH` or the managed environment.
pub fn python() -> anyhow::Result<PathBuf> {
    fissure_testing::torch_python().context("the benchmarks need PyTorch")
}

/// One worker on PyTorch, with the planted test library beside it.
pub fn start_pool(python: &Path, scratch: &Path) -> anyhow::Result<Pool> {
    Ok(Pool::start(PoolOptions {
        extra_path: vec![root().join("testdata/planted")],
        ..PoolOptions::new(python, "torch", scratch)
    })?)
}

/// A generator of conforming, unmutated inputs: what every baseline can be given too.
pub fn generator(pool: &Pool, spec: &Spec) -> anyhow::Result<Generator> {
    let signature = pool.describe(&spec.api.path)?;
    let options = GenerateOptions {
        mode: Mode::Conform,
        mutate_ratio: 0.0,
        ..GenerateOptions::default()
    };
    Ok(Generator::new(spec, Some(&signature), options, 0)?)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Fed {
    pub inputs: u64,
    pub accepted: u64,
    pub elapsed: Duration,
}

/// Generates, executes and collects until `enough`, with three batches under way at once.
pub fn feed(
    pool: &Pool,
    spec: &Spec,
    generator: &mut Generator,
    mut enough: impl FnMut(&Fed) -> bool,
) -> anyhow::Result<Fed> {
    let api = Arc::new(spec.api.clone());
    let started = Instant::now();
    let mut fed = Fed::default();
    let (mut number, mut id, mut in_flight) = (0, 0, 0);
    loop {
        fed.elapsed = started.elapsed();
        let done = enough(&fed);
        if done && in_flight == 0 {
            return Ok(fed);
        }
        while !done && in_flight < 3 {
            let inputs = (number..number + BATCH)
                .map(|n| generator.generate(n))
                .collect();
            number += BATCH;
            pool.submit(Batch {
                id,
                api: api.clone(),
                check_nan: false,
                oracles: Arc::default(),
                inputs,
                abandoned: Default::default(),
                slow_calls: None,
            });
            id += 1;
            in_flight += 1;
        }
        if let Event::Done { executions, .. } = pool.events().recv()? {
            in_flight -= 1;
            fed.inputs += executions.len() as u64;
            let accepted = executions
                .iter()
                .filter(|e| matches!(e.outcome, Outcome::Accepted { .. }));
            fed.accepted += accepted.count() as u64;
        }
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// A spec of the rules in a file and nothing else.
pub fn rule_spec(path: &Path) -> anyhow::Result<Spec> {
    let text = std::fs::read_to_string(path)?;
    let (file, errors) = fissure_rules::read_file(&text, fissure_rules::Precedence::Usual);
    ensure!(errors.is_empty(), "{}: {errors:?}", path.display());
    let title = file.api.context("a learned file names its API")?;
    let package = title.split('.').next().context("a name has a package")?;
    Ok(Spec {
        api: Api {
            package: package.to_owned(),
            path: title.clone(),
            layer: !file.call_params.is_empty(),
            title,
            ..Api::default()
        },
        params: Vec::new(),
        layer_params: Vec::new(),
        symbols: Vec::new(),
        check_nan: false,
        aliases: Vec::new(),
        source: None,
        forms: Vec::new(),
        examples: Vec::new(),
        rules: Some(RuleText {
            text,
            origin: path.display().to_string(),
        }),
    })
}

/// What this process and all its descendants have had of a processor so far.
pub fn processor_time() -> anyhow::Result<Duration> {
    let mut processes: Vec<(u32, u32, u64)> = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        // One that has ended meanwhile is gone.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
            continue;
        };
        // The name of the program, in brackets, may hold anything.
        let fields: Vec<&str> = match stat.rsplit_once(')') {
            Some((_, rest)) => rest.split_whitespace().collect(),
            None => continue,
        };
        let number = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok());
        // Own time, and that of children that have ended.
        let ticks: Option<u64> = (11..=14).map(number).sum();
        if let (Some(parent), Some(ticks)) = (number(1), ticks) {
            processes.push((id, parent as u32, ticks));
        }
    }
    let mut family = vec![std::process::id()];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        let children = processes.iter().filter(|(_, of, _)| *of == parent);
        family.extend(children.map(|(id, ..)| *id));
        at += 1;
    }
    let own = processes.iter().filter(|(id, ..)| family.contains(id));
    let ticks: u64 = own.map(|(_, _, ticks)| ticks).sum();
    // Linux counts in hundredths of a second here, whatever the kernel's own clock.
    Ok(Duration::from_millis(10 * ticks))
}
