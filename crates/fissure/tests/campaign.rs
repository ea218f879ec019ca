//! `fissure campaign` on the planted library.

mod support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fissure_campaign::{ApiIndex, BatchIndex, Record, RunSummary, Tally, read_events};
use support::{TestContext, names, planted, run};

/// APIs that fail in ways of their own, and two that do not fail.
const APIS: &[&str] = &["fine", "fpe", "segv", "reject", "system_exit"];

fn campaign(context: &TestContext, output: &str) -> Command {
    let mut command = context.command();
    command
        .args(["campaign", "--output", output, "--no-shrink", "--no-learn"])
        .args(["--timeout", "2s", "--max-iter", "300"])
        // Planted functions take what their files forbid; here only failures count.
        .args(["--oracles", "default,-acceptance,-rejection"])
        .arg("--specs")
        .arg(planted().join("specs"))
        .arg("--pythonpath")
        .arg(planted());
    for api in APIS {
        command.args(["--api", &format!("planted.{api}")]);
    }
    command
}

fn summary(context: &TestContext, output: &str) -> RunSummary {
    let path = context.path(output).join("summary.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What was counted for each API: equal counts mean the same inputs, as each follows from what
/// earlier ones came to.
fn tallies(context: &TestContext, output: &str) -> Vec<(String, Tally, u64)> {
    let apis = summary(context, output).apis.into_iter();
    apis.map(|api| (api.api.title, api.tally, api.judged))
        .collect()
}

fn findings(context: &TestContext, output: &str) -> Vec<String> {
    names(&context.path(output).join("findings"))
}

#[test]
fn shards_and_separate_phases_find_what_one_run_finds() {
    let context = TestContext::new();
    let whole = run(campaign(&context, "whole").args(["--workers", "1"]));
    assert_eq!(whole.code, Some(1), "{whole:?}");
    assert!(whole.stderr.contains("phase  specs: 5 APIs"), "{whole:?}");
    assert_eq!(findings(&context, "whole").len(), 3, "{whole:?}");

    // Shard 0 does everything at once, shard 1 a phase at a time, as on a cluster.
    let shard = run(campaign(&context, "parts").args(["--shards", "2", "--shard", "0"]));
    assert_eq!(shard.code, Some(1), "{shard:?}");
    for phase in ["solve", "fuzz", "oracle"] {
        let mut task = context.command();
        let task = run(task.args(["campaign", "task", "parts", phase, "1"]));
        assert_eq!(task.code, Some(0), "{phase}: {task:?}");
    }
    let merged = run(context.command().args(["campaign", "merge", "parts"]));
    assert_eq!(merged.code, Some(1), "{merged:?}");
    assert_eq!(findings(&context, "parts"), findings(&context, "whole"));
    assert_eq!(tallies(&context, "parts"), tallies(&context, "whole"));
    let status = run(context.command().args(["campaign", "status", "parts"]));
    assert!(status.stdout.contains("5 of 5 APIs done"), "{status:?}");
    assert!(status.stdout.contains("3 findings"), "{status:?}");
}

#[test]
fn a_killed_campaign_that_is_resumed_repeats_nothing_that_was_finished() {
    let context = TestContext::new();
    let mut child = campaign(&context, "out")
        .args(["--max-iter", "4000", "--workers", "1"])
        .args(["--weight", "planted.fine=0.05"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let finished = || {
        let records = read_events::<Record>(&context.path("out")).unwrap_or_default();
        let done = |record: &Record| matches!(record, Record::Finished { .. });
        records.into_iter().filter(done).count()
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while finished() == 0 {
        assert!(Instant::now() < deadline, "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = run(context.command().args(["campaign", "--resume", "out"]));
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
    let summary = summary(&context, "out");
    let inputs = |title: &str| {
        let mut apis = summary.apis.iter();
        apis.find(|api| api.api.title == title)
            .unwrap()
            .tally
            .inputs
    };
    assert_eq!(inputs("planted.fine"), 200);
    assert_eq!(inputs("planted.segv"), 4000);
    let records = read_events::<Record>(&context.path("out")).unwrap();
    let times = records
        .iter()
        .filter(|record| {
            matches!(
                record,
                Record::Batch { at, index, .. }
                    if *at == ApiIndex::default() && *index == BatchIndex::FIRST
            )
        })
        .count();
    assert_eq!(times, 1, "the first batch of the first API ran once");
    let again = run(campaign(&context, "out").args(["--max-iter", "10"]));
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.stderr.contains("--resume"), "{again:?}");
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_written() {
    let context = TestContext::new();
    for (arguments, said) in [
        (&["campaign"][..], "name a library"),
        (&["campaign", "torch.nn"], "name a library such as torch"),
        (&["campaign", "torch", "--per-api", "soon"], "180s"),
        (&["campaign", "torch", "--weight", "torch.*"], "factor"),
        (&["campaign", "torch", "--shards", "3"], "--shard 0"),
        (
            &[
                "campaign", "torch", "--shards", "3", "--shard", "3", "--output", "x",
            ],
            "from 0 to 2",
        ),
        (&["campaign", "torch", "--specs", "nowhere"], "nowhere"),
        (&["campaign", "--resume", "nowhere"], "there is no folder"),
        (&["campaign", "status", "."], "not the folder of a campaign"),
        (&["campaign", "torch", "--mem", "8G"], "--slurm"),
    ] {
        let refused = run(context.command().args(arguments));
        assert_eq!(refused.code, Some(2), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains(said), "{arguments:?}: {refused:?}");
    }
    assert_eq!(names(&context.path("")), [""; 0]);
}

#[test]
fn the_batch_script_is_printed_to_be_edited() {
    let context = TestContext::new();
    let printed = run(context.command().args(["campaign", "template"]));
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert!(printed.stdout.starts_with("#!/bin/bash"), "{printed:?}");
}

#[test]
fn what_is_not_known_is_learned_beside_the_run_and_only_once() {
    let Some(python) = fissure_testing::library_python("numpy", "numpy==2.4.6") else {
        return;
    };
    let context = TestContext::new();
    let mut command = context.command();
    command
        .args([
            "campaign",
            "numpy",
            "--api",
            "numpy.cumsum",
            "--output",
            "out",
        ])
        .args(["--learn-time", "2s", "--max-iter", "40", "--no-shrink"])
        .arg("--python")
        .arg(&python);
    let ran = run(&mut command);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    assert!(ran.stderr.contains("learn  numpy.cumsum: "), "{ran:?}");
    assert_eq!(summary(&context, "out").total().inputs, 40);
    for file in ["invariants/numpy.cumsum.rules", "report.html"] {
        assert!(context.path("out").join(file).exists(), "{file}");
    }
    let again = run(context.command().args(["campaign", "--resume", "out"]));
    assert!(!again.stderr.contains("learn  "), "{again:?}");
    assert_eq!(summary(&context, "out").total().inputs, 40);
}

#[test]
fn a_call_that_ends_its_process_while_learning_is_a_finding_of_the_campaign() {
    let Some(python) = fissure_testing::library_python("numpy", "numpy==2.4.6") else {
        return;
    };
    let context = TestContext::new();
    std::fs::create_dir(context.path("mine")).unwrap();
    // Only learning meets it: what was learned forbids the call.
    let source = "import os\n\ndef f(n=3):\n    if n < 0:\n        os.abort()\n    return n\n";
    std::fs::write(context.path("mine/fragile.py"), source).unwrap();
    let mut command = context.command();
    command
        .args([
            "campaign",
            "fragile",
            "--api",
            "fragile.f",
            "--output",
            "out",
        ])
        .args(["--learn-time", "4s", "--max-iter", "8", "--no-shrink"])
        .args(["--mode", "conform", "--pythonpath", "mine"])
        .arg("--python")
        .arg(&python);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let found = findings(&context, "out");
    assert!(
        found
            .iter()
            .any(|id| id.starts_with("fragile.f-crash-SIGABRT")),
        "{found:?} {ran:?}"
    );
}

#[test]
fn a_package_of_ones_own_is_fuzzed_whole_from_what_it_says_of_itself() {
    let context = TestContext::new();
    context.write(
        "mine/__init__.py",
        "from mine.ops import halve, scale\n\ndef _hidden():\n    raise SystemExit\n",
    );
    context.write(
        "mine/ops.py",
        r#"
import ctypes


def scale(value: float, factor: int) -> float:
    if factor == 7:
        ctypes.string_at(0)
    return value * factor


def halve(value: int) -> int:
    return value // 2
"#,
    );
    let mut command = context.command();
    command
        .args(["campaign", "mine", "--output", "out", "--max-iter", "600"])
        .args(["--workers", "1", "--no-learn", "--python", "python3"]);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.contains("2 as the library describes them"),
        "{ran:?}"
    );
    let found = findings(&context, "out");
    assert_eq!(found.len(), 1, "{ran:?}");
    assert!(found[0].contains("scale-crash-SIGSEGV"), "{found:?}");
    let accepted = |api: &fissure_campaign::ApiSummary| api.tally.accepted();
    assert!(
        summary(&context, "out")
            .apis
            .iter()
            .all(|api| accepted(api) > 100)
    );

    let mut command = context.command();
    command.args([
        "campaign",
        "mine",
        "--api",
        "mine.absent*",
        "--python",
        "python3",
    ]);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("fissure apis mine"), "{ran:?}");
}
