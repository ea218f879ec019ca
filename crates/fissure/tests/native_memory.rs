//! A native library, which the test compiles, that reads and writes where it must not: each defect is found by the
//! default oracles on the library as it is, shown by a script of plain Python, and its twin is silent.

mod support;

use std::path::PathBuf;
use std::process::Command;

use support::TestContext;

/// Sums of the elements; each function goes too far, or leaves something unwritten, by what `off` says.
const NATIVE: &str = "
#include <stdlib.h>
double sum(const double *x, long first, long count) {
    double total = 0;
    for (long at = first; at < count; at++) { volatile double one = x[at]; total += one == one ? 1 : 0; }
    return count - first;
}
void copy(const double *x, double *to, long count, long touched) {
    for (long at = 0; at < count; at++) to[at] = x[at];
    /* What is there is written back: nothing else would notice. */
    for (long at = count; at < touched; at++) { volatile double *place = to + at; *place = *place; }
}
double *fresh(const double *x, long count, long written) {
    double *made = malloc((count + 1) * sizeof(double));
    for (long at = 0; at < written; at++) made[at] = x[at];
    return made;
}
";
const MODULE: &str = "import ctypes, os
import numpy as np
native = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libmemory.so'))
pointer = ctypes.POINTER(ctypes.c_double)
native.sum.restype = ctypes.c_double
native.sum.argtypes = [pointer, ctypes.c_long, ctypes.c_long]
native.copy.argtypes = [pointer, pointer, ctypes.c_long, ctypes.c_long]
native.fresh.argtypes = [pointer, ctypes.c_long, ctypes.c_long]
native.fresh.restype = pointer

def of(x):
    if x.dtype != np.float64 or x.ndim == 0 or not x.flags['C_CONTIGUOUS']:
        raise ValueError('a row of float64')
    return x.ctypes.data_as(pointer)

def right(x: np.ndarray):
    return np.array(native.sum(of(x), 0, x.size))

def behind(x: np.ndarray):
    native.sum(of(x), 0, x.size + 1)
    return right(x)

def before(x: np.ndarray):
    native.sum(of(x), -1, x.size)
    return right(x)

def far_behind(x: np.ndarray):
    native.sum(of(x), x.size + 20000, x.size + 20001)
    return right(x)

def written(x: np.ndarray, to: np.ndarray, touched=0):
    x = np.ravel(np.asarray(x).real).astype(np.float64)
    if of(to) and to.size < x.size:
        raise ValueError('too small')
    native.copy(of(x), of(to), x.size, to.size + touched)
    return np.array(to.size)

def written_behind(x: np.ndarray, to: np.ndarray):
    return written(x, to, 1)

def filled(x: np.ndarray, missing=0):
    made = native.fresh(of(x), x.size, x.size - missing)
    return np.ctypeslib.as_array(made, (max(x.size, 1),))[:x.size].copy()

def unfilled(x: np.ndarray):
    return filled(x, 1)

def right_written(x: np.ndarray, to: np.ndarray):
    return written(x, to, 0)

def right_filled(x: np.ndarray):
    return filled(x, 0)
";

/// `None`, said, without a compiler or NumPy.
fn package() -> Option<(TestContext, PathBuf)> {
    let python = fissure_testing::library_python("numpy", "numpy==2.4.6")?;
    let context = TestContext::new();
    context.write("package/memory.c", NATIVE);
    context.write("package/native_memory.py", MODULE);
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o", "libmemory.so", "memory.c"])
        .current_dir(context.path("package"))
        .status();
    if compiled.is_ok_and(|status| status.success()) {
        return Some((context, python));
    }
    fissure_testing::say("no C compiler here, so reads and writes beyond memory are not tested");
    None
}

/// Folders of findings of a run.
fn findings(context: &TestContext, python: &PathBuf, function: &str) -> Vec<PathBuf> {
    let output = context
        .command()
        .args(["fuzz", &format!("native_memory.{function}")])
        .args(["--max-iter", "400", "--oracles", "guard,uninitialised"])
        .args(["--judge-share", "1", "--json", "--quiet"])
        .args(["--workdir", function, "--pythonpath", "package"])
        .args(["--timeout", "60", "--python"])
        .arg(python)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let accepted = &told["apis"][0]["tally"]["counts"]["accepted"];
    assert!(accepted.as_u64() > Some(0), "{told}");
    let folder = context.path(function).join("findings");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn reads_and_writes_beyond_memory_are_found_in_native_code_and_correct_twins_are_silent() {
    let Some((context, python)) = package() else {
        return;
    };
    for (function, told) in [
        ("behind", "guard"),
        ("before", "guard"),
        ("far_behind", "guard"),
        ("written_behind", "guard"),
        ("unfilled", "uninitialised"),
    ] {
        let found = findings(&context, &python, function);
        assert!(!found.is_empty(), "{function}");
        let text = std::fs::read_to_string(found[0].join("finding.json")).unwrap();
        assert!(text.contains(told), "{function}: {text}");
        // Without Fissure: plain Python shows the same.
        let ran = Command::new(&python)
            .arg(found[0].join("reproduce.py"))
            .env("PYTHONPATH", context.path("package"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ran.stdout);
        // What nobody has written is shown beside what another filling gives; the others end the interpreter.
        let shown = match told {
            "uninitialised" => text.contains("observed:") && text.contains("expected:"),
            _ => !ran.status.success(),
        };
        assert!(shown, "{function}: {ran:?}");
    }
    for twin in ["right", "right_written", "right_filled"] {
        let found = findings(&context, &python, twin);
        assert_eq!(found, Vec::<PathBuf>::new(), "{twin}");
    }
}
