//! An interrupted run goes on where it was, and a folder has one owner.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fissure_campaign::{Record, RunSummary, Tally, read_events};
use support::{TestContext, names, run};

const INPUTS: u64 = 20_000;

fn fuzz(context: &TestContext) -> Command {
    let mut command = context.fuzz_planted(&["segv", "fine"]);
    command.args(["--max-iter", &INPUTS.to_string(), "--no-shrink"]);
    command
}

/// Inputs of an API that the log of a run holds.
fn logged(folder: &Path, title: &str) -> u64 {
    let Ok(records) = read_events::<Record>(folder) else {
        return 0;
    };
    records
        .iter()
        .map(|record| match record {
            Record::Batch { api, inputs, .. } if api == title => *inputs,
            _ => 0,
        })
        .sum()
}

/// What was counted for each API.
fn tallies(context: &TestContext) -> Vec<Tally> {
    let text = std::fs::read(context.path("out/summary.json")).unwrap();
    let summary: RunSummary = serde_json::from_slice(&text).unwrap();
    summary.apis.into_iter().map(|api| api.tally).collect()
}

/// Starts a run and kills it when some of its inputs are in the log.
fn killed_in_the_middle(context: &TestContext) {
    let mut child = fuzz(context)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while logged(&context.path("out"), "planted.segv") < 200 {
        assert!(Instant::now() < deadline, "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_that_is_resumed_ends_like_one_that_was_not() {
    let whole = TestContext::new();
    assert_eq!(run(&mut fuzz(&whole)).code, Some(1));
    let context = TestContext::new();
    killed_in_the_middle(&context);
    let before = logged(&context.path("out"), "planted.segv");
    assert!(before < INPUTS, "it was killed too late to show anything");

    let resumed = run(context.command().args(["fuzz", "--resume", "out"]));
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
    assert_eq!(
        names(&context.path("out/findings")),
        names(&whole.path("out/findings"))
    );
    // Inputs follow from what earlier ones came to: equal counts mean the same inputs.
    assert_eq!(tallies(&context), tallies(&whole));
    for api in ["planted.segv", "planted.fine"] {
        let order = context.path(&format!("out/apis/{api}/gen_order"));
        let order = std::fs::read_to_string(order).unwrap();
        let mut numbers: Vec<u64> = order
            .lines()
            .map(|line| line.rsplit(", ").next().unwrap().parse().unwrap())
            .collect();
        numbers.sort_unstable();
        let once: Vec<u64> = (0..INPUTS).collect();
        assert!(numbers == once, "every input of {api} is recorded once");
    }
    // Most of the inputs that were in the log did not run again.
    let all = logged(&context.path("out"), "planted.segv");
    assert!(
        all < INPUTS + before,
        "{all} inputs ran, {before} of them before"
    );
}

#[test]
fn a_finished_run_that_is_resumed_says_the_same_again() {
    let context = TestContext::new();
    let first = run(&mut fuzz(&context));
    let again = run(context.command().args(["fuzz", "--resume", "out"]));
    assert_eq!((first.code, again.code), (Some(1), Some(1)), "{again:?}");
    assert_eq!(logged(&context.path("out"), "planted.segv"), INPUTS);
    assert!(again.stdout.contains("1 finding"), "{again:?}");
}

#[test]
fn a_folder_that_another_process_uses_is_refused() {
    let context = TestContext::new();
    let mut child = context
        .fuzz_planted(&["fine"])
        .args(["--max-iter", "-1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !context.path("out/run.json").exists() {
        assert!(Instant::now() < deadline, "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = run(context.fuzz_planted(&["fine"]).args(["--max-iter", "10"]));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.code, Some(3), "{second:?}");
    let owner = format!("in use by another fissure (process {})", child.id());
    assert!(second.stderr.contains(&owner), "{second:?}");
}

#[test]
fn a_folder_without_a_run_cannot_be_resumed() {
    let context = TestContext::new();
    let missing = run(context.command().args(["fuzz", "--resume", "nowhere"]));
    assert_eq!(missing.code, Some(2), "{missing:?}");
    context.write("empty/file", "");
    let empty = run(context.command().args(["fuzz", "--resume", "empty"]));
    assert_eq!(empty.code, Some(2), "{empty:?}");
    assert!(
        empty.stderr.contains("is not the folder of a run"),
        "{empty:?}"
    );
}
