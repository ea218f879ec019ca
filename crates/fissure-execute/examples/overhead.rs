//! Harness cost per input and recovery after a crash, on `torch.add` of two 3×3 tensors.
//!
//! `cargo run --release -p fissure-execute --example overhead -- PYTHON`, where PYTHON has torch.

#![expect(clippy::print_stdout, reason = "an example prints what it measured")]

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fissure_execute::{Batch, Event, Pool, PoolOptions};
use fissure_model::{
    Api, Argument, ConcreteInput, Dtype, Intent, Passing, TensorData, TensorValue, Value,
};

const BATCH: u64 = 1000;
const BATCHES: u64 = 100;
const CRASHES: u64 = 30;

/// The raw limit: a Python loop over ready-made tensors.
const RAW: &str = "
import time, torch
torch.set_num_threads(1)
a, b = torch.rand(3, 3), torch.rand(3, 3)
add = torch.add
best = []
for _ in range(50):
    begin = time.perf_counter_ns()
    for _ in range(2000):
        add(input=a, other=b)
    best.append((time.perf_counter_ns() - begin) / 2000)
print(sorted(best)[25])
";

fn main() -> Result<(), Box<dyn Error>> {
    let python = std::env::args().nth(1).ok_or("usage: overhead PYTHON")?;
    let raw = raw_limit(Path::new(&python))?;
    let scratch = tempfile::tempdir()?;
    let started = Instant::now();
    let pool = Pool::start(PoolOptions::new(python, "torch", scratch.path()))?;
    println!("start {:?}, {:?}", started.elapsed(), pool.info());

    let mut costs = Vec::new();
    for id in 0..BATCHES {
        let batch = Batch {
            id,
            api: api("torch.add"),
            check_nan: false,
            oracles: Arc::default(),
            inputs: adds(),
            abandoned: Default::default(),
            slow_calls: None,
        };
        let busy = run(&pool, batch)?;
        costs.push(busy / u32::try_from(BATCH)?);
    }
    costs.sort();
    let whole = costs[costs.len() / 2];
    println!("raw limit            {raw:?} per input");
    println!("whole, median        {whole:?} per input");
    println!(
        "harness over the raw {:?} per input",
        whole.saturating_sub(raw)
    );

    // A real call that ends its process, among inputs of its own kind.
    let mut recoveries = Vec::new();
    for id in 0..CRASHES {
        let inputs = vec![input(vec![argument("", Value::Int(11))])];
        let batch = Batch {
            id,
            api: api("signal.raise_signal"),
            check_nan: false,
            oracles: Arc::default(),
            inputs,
            abandoned: Default::default(),
            slow_calls: None,
        };
        let crash = run(&pool, batch)?;
        // The batch after it pays for the new worker.
        let batch = Batch {
            id,
            api: api("torch.add"),
            check_nan: false,
            oracles: Arc::default(),
            inputs: one_add(),
            abandoned: Default::default(),
            slow_calls: None,
        };
        recoveries.push(crash + run(&pool, batch)?);
    }
    recoveries.sort();
    println!(
        "crash and next input {:?} median",
        recoveries[recoveries.len() / 2]
    );
    println!("{:?}", pool.stop());
    Ok(())
}

fn raw_limit(python: &Path) -> Result<Duration, Box<dyn Error>> {
    let output = Command::new(python)
        .args(["-c", RAW])
        .env("OMP_NUM_THREADS", "1")
        .output()?;
    let nanoseconds: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Duration::from_secs_f64(nanoseconds / 1e9))
}

fn run(pool: &Pool, batch: Batch) -> Result<Duration, Box<dyn Error>> {
    let expected = batch.inputs.len();
    pool.submit(batch);
    loop {
        if let Event::Done {
            executions, busy, ..
        } = pool.events().recv()?
        {
            assert_eq!(executions.len(), expected, "every input has an outcome");
            return Ok(busy);
        }
    }
}

fn api(path: &str) -> Arc<Api> {
    Arc::new(Api {
        title: path.into(),
        package: "torch".into(),
        path: path.into(),
        ..Api::default()
    })
}

fn adds() -> Vec<ConcreteInput> {
    (0..BATCH).flat_map(|_| one_add()).collect()
}

fn one_add() -> Vec<ConcreteInput> {
    vec![input(vec![
        argument("input", tensor()),
        argument("other", tensor()),
    ])]
}

fn tensor() -> Value {
    let pattern: Vec<u8> = (0..9u8)
        .flat_map(|at| f32::from(at).to_le_bytes())
        .collect();
    Value::Tensor(TensorValue {
        dtype: Dtype::Float32,
        shape: vec![3, 3],
        data: TensorData {
            pattern: pattern.into(),
        },
    })
}

fn argument(name: &str, value: Value) -> Argument {
    let passing = if name.is_empty() {
        Passing::Positional
    } else {
        Passing::Keyword
    };
    Argument {
        name: name.into(),
        passing,
        value,
    }
}

fn input(arguments: Vec<Argument>) -> ConcreteInput {
    ConcreteInput {
        number: 0,
        arguments,
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: Vec::new(),
    }
}
