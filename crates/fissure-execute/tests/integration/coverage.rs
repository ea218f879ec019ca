//! Native coverage: a planted library in C, and PyTorch.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fissure_execute::{Arming, CoverageOptions, Event, Hit, Pool, PoolOptions};
use fissure_model::{Execution, Outcome, Value};

use crate::support::{api, batch, input, python};

const NATIVE: &str = r#"
#include <stdlib.h>
int branchy(int x) {
    volatile int y = 0;
    if (x > 10) { y += 3; if (x > 20) y += 5; else y -= 1; }
    return y;
}
int straight(int x) { volatile int y = x; return y + 1; }
int dies(int x) { if (x > 3) *(volatile int *)8 = x; return x; }
int traps(int x) { if (x > 3) __asm__ volatile("int3"); return x; }
"#;

const MODULE: &str = r#"
import ctypes, os
native = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "libnative.so"))
branchy, straight, dies, traps = native.branchy, native.straight, native.dies, native.traps
"#;

/// A package with a compiled library; `None`, said, without a compiler.
fn planted(folder: &Path) -> Option<()> {
    fs::write(folder.join("native.c"), NATIVE).unwrap();
    fs::write(folder.join("covered.py"), MODULE).unwrap();
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o", "libnative.so", "native.c"])
        .current_dir(folder)
        .status();
    match compiled {
        Ok(status) if status.success() => Some(()),
        _ => {
            fissure_testing::say("no C compiler here, so native coverage is not tested");
            None
        }
    }
}

fn run(pool: &Pool, name: &str, values: &[i128]) -> (Vec<Execution>, Vec<Hit>) {
    let mut batch = batch(name, values);
    batch.api = api("covered", name);
    batch.inputs = (0..)
        .zip(values)
        .map(|(number, x)| input(number, vec![("", Value::Int(*x))]))
        .collect();
    pool.submit(batch);
    loop {
        let event = pool.events().recv_timeout(Duration::from_secs(120));
        if let Event::Done {
            executions, hits, ..
        } = event.expect("the pool answers")
        {
            return (executions, hits);
        }
    }
}

fn of_input(hits: &[Hit], input: u32) -> usize {
    hits.iter().filter(|hit| hit.input == input).count()
}

fn start(folder: &Path) -> Option<Pool> {
    planted(folder)?;
    let mut options = PoolOptions::new(python(), "covered", folder.join("scratch"));
    options.extra_path = vec![folder.canonicalize().unwrap()];
    options.timeout = Duration::from_secs(60);
    options.coverage = Some(CoverageOptions {
        cache: folder.join("cache"),
        arming: Arming::Once,
    });
    Some(Pool::start(options).unwrap())
}

#[test]
fn a_block_is_told_with_the_input_that_ran_it_first_and_again_for_another_api() {
    let folder = tempfile::tempdir().unwrap();
    let Some(pool) = start(folder.path()) else {
        return;
    };
    let modules: Vec<&str> = pool
        .info()
        .modules
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(modules, ["libnative", "covered (Python)"]);
    let (_, hits) = run(&pool, "branchy", &[1, 2, 15, 16, 25]);
    assert!(
        of_input(&hits, 0) > 0 && of_input(&hits, 2) > 0 && of_input(&hits, 4) > 0,
        "{hits:?}"
    );
    assert_eq!((of_input(&hits, 1), of_input(&hits, 3)), (0, 0), "{hits:?}");
    // The same again: nothing is new.
    assert_eq!(run(&pool, "branchy", &[1, 15, 25]).1, []);
    let (_, straight) = run(&pool, "straight", &[1]);
    assert_eq!(straight.len(), 1);
    // The first API once more: its blocks count again.
    assert_eq!(
        of_input(&run(&pool, "branchy", &[1, 2]).1, 0),
        of_input(&hits, 0)
    );
}

#[test]
fn a_crash_and_a_trap_of_the_library_itself_are_still_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let Some(pool) = start(folder.path()) else {
        return;
    };
    let (executions, hits) = run(&pool, "dies", &[1, 9, 2]);
    assert!(
        matches!(executions[1].outcome, Outcome::Crash { .. }),
        "{executions:?}"
    );
    assert!(
        matches!(executions[2].outcome, Outcome::Accepted { .. }),
        "{executions:?}"
    );
    assert!(
        of_input(&hits, 1) > 0,
        "the block that crashed is told: {hits:?}"
    );
    let frames = &executions[1].native_frames;
    assert!(
        frames.is_empty() || frames[0].contains("dies"),
        "{frames:?}"
    );
    let (executions, _) = run(&pool, "traps", &[1, 9]);
    assert!(
        matches!(executions[1].outcome, Outcome::Crash { .. }),
        "{executions:?}"
    );
}

#[test]
fn a_target_without_native_code_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pure.py"), "def f(x):\n    return x\n").unwrap();
    let mut options = PoolOptions::new(python(), "pure", folder.path().join("scratch"));
    options.extra_path = vec![folder.path().to_owned()];
    options.coverage = Some(CoverageOptions {
        cache: folder.path().join("cache"),
        arming: Arming::Once,
    });
    // Where the interpreter has NumPy there is code of it to watch.
    if let Err(error) = Pool::start(options) {
        assert!(error.to_string().contains("no native code"), "{error}");
    }
}
