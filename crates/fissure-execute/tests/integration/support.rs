//! A pool over the planted library, and what tests ask of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fissure_execute::{Batch, Event, Pool, PoolOptions};
use fissure_model::{Api, Argument, ConcreteInput, Execution, Intent, Passing, Value};

pub(crate) fn planted_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/planted")
}

/// The interpreter under test: `FISSURE_TEST_PYTHON`, else the one on the path.
pub(crate) fn python() -> PathBuf {
    std::env::var_os("FISSURE_TEST_PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}

pub(crate) fn planted_options(scratch: &Path) -> PoolOptions {
    let mut options = PoolOptions::new(python(), "planted", scratch);
    options.extra_path = vec![planted_folder()];
    // Long enough for a machine that is busy with other tests.
    options.timeout = Duration::from_secs(60);
    options.memory_limit = 256 << 20;
    options
}

pub(crate) fn api(package: &str, name: &str) -> Arc<Api> {
    Arc::new(Api {
        title: format!("{package}.{name}"),
        package: package.into(),
        path: format!("{package}.{name}"),
        version: "1".into(),
        ..Api::default()
    })
}

pub(crate) fn input(number: u64, arguments: Vec<(&str, Value)>) -> ConcreteInput {
    let arguments = arguments
        .into_iter()
        .map(|(name, value)| Argument {
            name: name.into(),
            passing: if name.is_empty() {
                Passing::Positional
            } else {
                Passing::Keyword
            },
            value,
        })
        .collect();
    ConcreteInput {
        number,
        arguments,
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: Vec::new(),
    }
}

/// A call of a planted function with each of `values`.
pub(crate) fn batch(name: &str, values: &[i128]) -> Batch {
    let inputs = (100..)
        .zip(values)
        .map(|(number, x)| input(number, vec![("x", Value::Int(*x))]));
    Batch {
        id: 1,
        api: api("planted", name),
        check_nan: false,
        oracles: Arc::default(),
        inputs: inputs.collect(),
        abandoned: Default::default(),
        slow_calls: None,
    }
}

/// Everything that comes back for one batch.
#[derive(Debug)]
pub(crate) struct Answer {
    pub abnormal: Vec<(ConcreteInput, Execution)>,
    pub executions: Vec<Execution>,
}

pub(crate) fn run(pool: &Pool, batch: Batch) -> Answer {
    pool.submit(batch);
    let mut abnormal = Vec::new();
    loop {
        match pool
            .events()
            .recv_timeout(Duration::from_secs(120))
            .expect("the pool answers")
        {
            Event::Abnormal {
                input, execution, ..
            } => abnormal.push((*input, execution)),
            Event::Done { executions, .. } => {
                return Answer {
                    abnormal,
                    executions,
                };
            }
        }
    }
}
