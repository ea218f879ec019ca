//! How long a worker is gone after a crash: `cargo bench -p fissure-benches --bench recovery`.
//!
//! Every input kills the process (with PyTorch imported); the time between two deaths is the time
//! to notice, fork, and run the next input.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::sync::Arc;
use std::time::Instant;

use fissure_benches::{median, start_pool};
use fissure_execute::{Batch, Event};
use fissure_model::{Api, Argument, ConcreteInput, Intent, Passing, Value};

const CRASHES: u64 = 200;

fn main() -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let pool = start_pool(&fissure_benches::python()?, scratch.path())?;
    let api = Arc::new(Api {
        title: "planted.segv".into(),
        package: "planted".into(),
        path: "planted.segv".into(),
        ..Api::default()
    });
    let inputs = (0..CRASHES)
        .map(|number| ConcreteInput {
            number,
            arguments: vec![Argument {
                name: "x".into(),
                passing: Passing::Keyword,
                value: Value::Int(7),
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: vec![],
        })
        .collect();
    pool.submit(Batch {
        id: 0,
        api,
        check_nan: false,
        oracles: Arc::default(),
        inputs,
        abandoned: Default::default(),
        slow_calls: None,
    });
    let mut gaps = Vec::new();
    let mut last: Option<Instant> = None;
    loop {
        match pool.events().recv()? {
            Event::Abnormal { .. } => {
                let now = Instant::now();
                gaps.extend(last.map(|last| (now - last).as_secs_f64() * 1e3));
                last = Some(now);
            }
            Event::Done { executions, .. } => {
                println!("{} inputs, {} crashes", executions.len(), gaps.len() + 1);
                break;
            }
        }
    }
    gaps.sort_by(f64::total_cmp);
    println!(
        "from one crash to the next: median {:.1} ms, 95th percentile {:.1} ms",
        median(gaps.clone()),
        gaps[gaps.len() * 95 / 100]
    );
    pool.stop();
    Ok(())
}
