//! Inputs per second of every library beside a plain loop over ready arguments, one worker:
//! `cargo bench -p fissure-benches --bench libraries`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use fissure_benches::{feed, generator};
use fissure_execute::{Pool, PoolOptions};
use fissure_model::Spec;

const SECONDS: f64 = 2.0;

/// Library, what to install, its function, the name of the parameter, and how a plain loop makes a
/// tensor from the array `a`.
const CASES: [(&str, &str, &str, &str, &str); 7] = [
    (
        "torch",
        "torch==2.9.1",
        "torch.abs",
        "input",
        "torch.from_numpy(a)",
    ),
    (
        "torch",
        "torch==1.5.0",
        "torch.abs",
        "input",
        "torch.from_numpy(a)",
    ),
    (
        "tensorflow",
        "tensorflow-cpu==2.21.0",
        "tensorflow.abs",
        "x",
        "tensorflow.constant(a)",
    ),
    (
        "tensorflow",
        "tensorflow-cpu==2.1.0",
        "tensorflow.abs",
        "x",
        "tensorflow.constant(a)",
    ),
    (
        "jax",
        "jax==0.7.1",
        "jax.numpy.abs",
        "x",
        "jax.device_put(a)",
    ),
    (
        "mxnet",
        "mxnet==1.9.1",
        "mxnet.nd.abs",
        "data",
        "mxnet.nd.array(a)",
    ),
    ("numpy", "numpy", "numpy.abs", "x", "a"),
];

fn main() -> anyhow::Result<()> {
    println!(
        "{:<24} {:>10} {:>10} {:>10} {:>9}",
        "library", "Fissure/s", "raw/s", "accepted", "cost µs"
    );
    for (package, requirement, path, parameter, make) in CASES {
        let Some(python) = fissure_testing::library_python(package, requirement) else {
            println!("{requirement:<24} not here");
            continue;
        };
        let scratch = tempfile::tempdir()?;
        let pool = Pool::start(PoolOptions::new(&python, package, scratch.path()))?;
        let spec = spec(package, path, parameter)?;
        let mut warm = generator(&pool, &spec)?;
        feed(&pool, &spec, &mut warm, |fed| fed.inputs > 2000)?;
        let mut fresh = generator(&pool, &spec)?;
        let limit = Duration::from_secs_f64(SECONDS);
        let fed = feed(&pool, &spec, &mut fresh, |fed| fed.elapsed >= limit)?;
        pool.stop();
        let fissure = fed.inputs as f64 / fed.elapsed.as_secs_f64();
        let raw = raw(&python, package, path, make)?;
        println!(
            "{requirement:<24} {fissure:>10.0} {raw:>10.0} {:>8.1} % {:>9.1}",
            100.0 * fed.accepted as f64 / fed.inputs as f64,
            1e6 / fissure - 1e6 / raw
        );
    }
    Ok(())
}

/// One float32 tensor of up to three dimensions, by position.
fn spec(package: &str, path: &str, parameter: &str) -> anyhow::Result<Spec> {
    let target = path.rsplit('.').next().unwrap_or(path);
    let text = format!(
        "title: {path}\npackage: {package}\ntarget: {target}\nversion: '1'\nlink: x\n\
         inputs:\n  required: [{parameter}]\n  optional: []\n\
         constraints:\n  {parameter}: {{tensor_t: [tensor], dtype: [numpy.float32], \
         shape: ['[n]', '[n,m]', '[n,m,k]']}}\n"
    );
    Ok(fissure_spec::load_text(Path::new("bench.yaml"), &text)?.spec)
}

/// Calls per second of a plain loop in a fresh interpreter.
fn raw(python: &Path, package: &str, path: &str, make: &str) -> anyhow::Result<f64> {
    let text = format!(
        "import os, time, numpy\n\
         import {package}\n\
         ready = []\n\
         for size in range(1, 9):\n\
         \x20   a = numpy.ones((size, size), 'float32')\n\
         \x20   ready.append({make})\n\
         function = {path}\n\
         for tensor in ready: function(tensor)\n\
         done, begin = 0, time.perf_counter()\n\
         while time.perf_counter() - begin < {SECONDS}:\n\
         \x20   for tensor in ready: function(tensor)\n\
         \x20   done += len(ready)\n\
         print(done / (time.perf_counter() - begin))\n"
    );
    let output = Command::new(python)
        .args(["-c", &text])
        .env("OMP_NUM_THREADS", "1")
        .env("MXNET_ENGINE_TYPE", "NaiveEngine")
        .env("TF_CPP_MIN_LOG_LEVEL", "3")
        .output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let last = text.lines().last().context("no figure")?;
    Ok(last.trim().parse()?)
}
