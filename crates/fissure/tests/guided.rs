//! `--guide coverage` on a native library with a bug behind nested conditions, which the test compiles.

mod support;

use std::process::Command;

use support::TestContext;

/// Each condition is a block of its own; `deep` dies behind the last, its twin does not. Plain numbers, and no other
/// native code: what is run for an input depends on nothing but the input.
const NATIVE: &str = "
static int way(int a, int b, int c, int d, int dies) {
    volatile int reached = 0;
    if (a != 11) return 0;
    reached++;
    if (b != a + 2) return reached;
    reached++;
    if (c != -3) return reached;
    reached++;
    if (d != b - 6) return reached;
    reached++;
    if (dies) *(volatile int *)8 = reached;
    return reached;
}
int deep(int a, int b, int c, int d) { return way(a, b, c, d, 1); }
int twin(int a, int b, int c, int d) { return way(a, b, c, d, 0); }
";
const MODULE: &str = "import ctypes, os
native = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libnested.so'))

def deep(a: int, b: int, c: int, d: int):
    return native.deep(a, b, c, d)

def twin(a: int, b: int, c: int, d: int):
    return native.twin(a, b, c, d)
";

/// Inputs of each run.
const INPUTS: &str = "12000";

/// `None`, said, without a compiler.
fn package() -> Option<TestContext> {
    let context = TestContext::new();
    context.write("package/nested.c", NATIVE);
    context.write("package/nested.py", MODULE);
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o", "libnested.so", "nested.c"])
        .current_dir(context.path("package"))
        .status();
    if compiled.is_ok_and(|status| status.success()) {
        return Some(context);
    }
    fissure_testing::say("no C compiler here, so guidance by coverage is not tested");
    None
}

/// The summary of a run.
fn fuzz(context: &TestContext, function: &str, folder: &str, more: &[&str]) -> serde_json::Value {
    let output = context
        .command()
        .args(["fuzz", &format!("nested.{function}"), "--max-iter", INPUTS])
        .args([
            "--json",
            "--quiet",
            "--workdir",
            folder,
            "--python",
            "python3",
        ])
        .args(["--pythonpath", "package", "--timeout", "60"])
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn corpus(context: &TestContext, folder: &str, function: &str) -> String {
    let path = format!("{folder}/corpus/nested.{function}.jsonl");
    std::fs::read_to_string(context.path(&path)).unwrap()
}

#[test]
fn a_bug_behind_nested_conditions_is_found_with_guidance_and_not_without_and_its_twin_is_silent() {
    let Some(package) = package() else { return };
    let guided = ["--guide", "coverage", "--workers", "1"];
    let found = fuzz(&package, "deep", "guided", &guided);
    assert_eq!(found["findings"], 1, "{found}");
    let unguided = fuzz(&package, "deep", "unguided", &["--workers", "1"]);
    assert_eq!(unguided["findings"], 0, "{unguided}");
    let twin = fuzz(&package, "twin", "twin", &guided);
    assert_eq!(twin["findings"], 0, "{twin}");
    // What was kept is a start for another run.
    assert!(corpus(&package, "twin", "twin").lines().count() >= 5);
    corpora_are_made_small_put_together_and_compared(&package);
}

/// With the corpora of `twin` and `guided`, the latter of which never comes through.
fn corpora_are_made_small_put_together_and_compared(context: &TestContext) {
    let show = |words: &[&str]| {
        let output = context.command().args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let run = ["--python", "python3", "--pythonpath", "package"];
    let with = |words: &[&str]| show(&[words, &run].concat());
    let small = with(&["corpus", "min", "twin", "--out", "small"]);
    assert!(small.contains("inputs reach the same"), "{small}");
    // One input alone goes all the way; others return earlier, each from a block of its own.
    let json = |words: &[&str]| -> serde_json::Value {
        serde_json::from_str(&with(&[words, &["--json"]].concat())).unwrap()
    };
    let same = json(&["coverage", "--corpus", "twin", "--corpus", "small"]);
    assert_eq!(same["only_first"]["blocks"], 0, "{same}");
    assert_eq!(same["only_second"]["blocks"], 0, "{same}");
    show(&["corpus", "merge", "twin", "guided", "--out", "all"]);
    let more = json(&["coverage", "--corpus", "all", "--corpus", "twin"]);
    assert!(more["only_first"]["blocks"].as_u64() > Some(0), "{more}");
    assert_eq!(more["only_second"]["blocks"], 0, "{more}");
}

#[test]
fn a_guided_run_of_one_worker_is_the_same_for_a_seed() {
    let Some(package) = package() else { return };
    for folder in ["one", "again"] {
        fuzz(
            &package,
            "twin",
            folder,
            &["--guide", "coverage", "--workers", "1"],
        );
    }
    let one = corpus(&package, "one", "twin");
    assert!(one.lines().count() >= 5, "{one}");
    assert!(one == corpus(&package, "again", "twin"));
}

/// The same without native code: lines of Python lead the way, and show in a page.
const PYTHON: &str = "import os

def way(a, b, c, d, dies):
    if a != 11:
        return 0
    if b != a + 2:
        return 1
    if c != -3:
        return 2
    if d != b - 6:
        return 3
    if dies:
        os.abort()
    return 4

def never(x):
    return x + 1

def deep(a: int, b: int, c: int, d: int):
    return way(a, b, c, d, True)

def twin(a: int, b: int, c: int, d: int):
    return way(a, b, c, d, False)
";

#[test]
fn lines_of_python_guide_where_there_is_no_native_code() {
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        return;
    }
    let context = TestContext::new();
    context.write("package/nested.py", PYTHON);
    let guided = ["--guide", "coverage", "--workers", "1"];
    let found = fuzz(&context, "deep", "guided", &guided);
    assert_eq!(found["findings"], 1, "{found}");
    let unguided = fuzz(&context, "deep", "unguided", &["--workers", "1"]);
    assert_eq!(unguided["findings"], 0, "{unguided}");
    let twin = fuzz(&context, "twin", "twin", &guided);
    assert_eq!(twin["findings"], 0, "{twin}");
    let report = context.command().args(["report", "twin"]).output().unwrap();
    assert!(report.status.success(), "{report:?}");
    let page = std::fs::read_to_string(context.path("twin/coverage.html")).unwrap();
    for part in [
        "nested::way",
        "nested::never",
        "nested (Python)",
        "polyline",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let report = std::fs::read_to_string(context.path("twin/report.html")).unwrap();
    assert!(report.contains("href=\"coverage.html\""));
}

#[test]
fn inputs_of_centaur_are_run_first() {
    let context = TestContext::new();
    context.write("package/nested.py", PYTHON);
    let line = "{\"a\": [11, 4], \"b\": [13, 4], \"c\": [-3, 4], \"d\": [7, 4]}\n";
    context.write("centaur/abstract_inputs.jsonl", line);
    let found = fuzz(
        &context,
        "deep",
        "with",
        &["--corpus", "centaur", "--workers", "1"],
    );
    assert_eq!(found["findings"], 1, "{found}");
    let twin = fuzz(
        &context,
        "twin",
        "without",
        &["--corpus", "centaur", "--workers", "1"],
    );
    assert_eq!(twin["findings"], 0, "{twin}");
}

#[test]
fn a_guided_run_that_was_killed_goes_on_to_the_same_corpus() {
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        return;
    }
    let context = TestContext::new();
    context.write("package/nested.py", PYTHON);
    fuzz(
        &context,
        "twin",
        "whole",
        &["--guide", "coverage", "--workers", "1"],
    );
    // At any moment, before and after oracles have looked at something.
    for milliseconds in [0, 150, 400] {
        let parts = format!("parts{milliseconds}");
        kill_and_resume(&context, &parts, milliseconds);
        assert!(corpus(&context, "whole", "twin") == corpus(&context, &parts, "twin"));
    }
}

/// Kills a run so long after it kept its second input, and goes on with it.
fn kill_and_resume(context: &TestContext, folder: &str, milliseconds: u64) {
    let mut child = context
        .command()
        .args(["fuzz", "nested.twin", "--max-iter", INPUTS])
        .args(["--guide", "coverage", "--workers", "1", "--quiet"])
        .args(["--workdir", folder, "--python", "python3"])
        .args(["--pythonpath", "package", "--timeout", "60"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let kept = context.path(&format!("{folder}/corpus/nested.twin.jsonl"));
    let lines = || std::fs::read_to_string(&kept).map_or(0, |text| text.lines().count());
    while lines() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut resumed = context.command();
    let resumed = resumed.args(["fuzz", "--resume", folder]).output().unwrap();
    assert!(resumed.status.code().is_some(), "{resumed:?}");
}
