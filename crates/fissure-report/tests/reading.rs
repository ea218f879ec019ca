//! From a run folder to plain data.

#[path = "support/made_run.rs"]
mod made_run;

use std::fs;

use fissure_campaign::EVENTS_FILE;
use fissure_report::run::{RunError, RunReader, RunState};
use made_run::MadeRun;

const SMALL: MadeRun = MadeRun {
    apis: 3,
    batches: 60,
    findings: 20,
};

#[test]
fn everything_that_happened_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    SMALL.write(folder.path());
    let run = RunReader::open(folder.path()).unwrap().into_run();
    assert_eq!(run.info.state, RunState::Finished);
    assert_eq!(run.totals.findings + run.totals.notes, 20);
    assert_eq!(run.totals.notes, 2);
    assert_eq!((run.totals.apis, run.totals.apis_finished), (3, 3));
    assert_eq!(
        run.totals.inputs, 300,
        "the summaries' counts, not those of batches"
    );
    let timeline: u64 = run.timeline.points.iter().map(|point| point.inputs).sum();
    assert_eq!(timeline, 60 * 64);
    assert_eq!(run.totals.seconds, 7.0);
    assert_eq!(run.problems, [""; 0]);
    let listed: usize = run.apis.iter().map(|api| api.findings.len()).sum();
    assert_eq!(listed as u64, run.totals.findings);
}

#[test]
fn a_run_is_followed_while_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    SMALL.begin(folder.path());
    let mut reader = RunReader::open(folder.path()).unwrap();
    assert_eq!(reader.run().info.state, RunState::Unfinished);
    assert_eq!(reader.run().totals.findings, 0);
    SMALL.go_on(folder.path(), 0);
    let news = reader.refresh().unwrap();
    assert_eq!(news.found.len(), 20);
    assert_eq!(news.events, 80);
    assert!(!news.ended);
    assert_eq!(reader.run().totals.inputs, 60 * 64);
    SMALL.end(folder.path());
    assert!(reader.refresh().unwrap().ended);
    assert_eq!(reader.refresh().unwrap(), Default::default());
}

#[test]
fn a_finding_counts_from_when_it_was_first_met_not_from_when_it_was_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    SMALL.begin(folder.path());
    made_run::meet(folder.path(), 2.0, "torch.function_0-crash-00000");
    SMALL.go_on(folder.path(), 0);
    SMALL.end(folder.path());
    let run = RunReader::open(folder.path()).unwrap().into_run();
    let met = |id: &str| run.finding(id).unwrap().found_after;
    assert_eq!(met("torch.function_0-crash-00000"), Some(2.0));
    assert_eq!(
        met("torch.function_1-internal-error-00001"),
        Some(6.0),
        "told when it was written"
    );
    let page = fissure_report::html::page(&run);
    assert!(page.contains("Findings, by when each was first met"));
}

#[test]
fn a_torn_log_loses_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    SMALL.write(folder.path());
    let path = folder.path().join(EVENTS_FILE);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let run = RunReader::open(folder.path()).unwrap().into_run();
    assert_eq!(run.totals.findings + run.totals.notes, 20);
    assert_eq!(run.info.state, RunState::Unfinished);
}

#[test]
fn a_broken_finding_is_told_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    SMALL.write(folder.path());
    let broken = folder.path().join("findings/torch.function_0-crash-00000");
    fs::write(broken.join("finding.json"), "{").unwrap();
    let run = RunReader::open(folder.path()).unwrap().into_run();
    assert_eq!(run.findings.len(), 19);
    assert!(
        run.problems.iter().any(|text| text.contains("00000")),
        "{:?}",
        run.problems
    );
}

#[test]
fn an_event_of_a_later_version_is_passed_over_and_told() {
    let folder = tempfile::tempdir().unwrap();
    SMALL.write(folder.path());
    let mut log = fissure_campaign::EventLog::open(folder.path()).unwrap();
    log.append(&serde_json::json!({"time": 1.0, "event": "teleported"}))
        .unwrap();
    drop(log);
    let run = RunReader::open(folder.path()).unwrap().into_run();
    assert_eq!(run.info.state, RunState::Finished);
    assert!(
        run.problems[0].contains("later version"),
        "{:?}",
        run.problems
    );
}

#[test]
fn folders_that_are_no_run_say_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let missing = RunReader::open(&folder.path().join("nowhere"))
        .err()
        .unwrap();
    assert!(matches!(missing, RunError::Missing(_)));
    let empty = RunReader::open(folder.path()).err().unwrap();
    assert!(matches!(empty, RunError::NoRun(_)));
    SMALL.write(&folder.path().join("one"));
    let several = RunReader::open(folder.path()).err().unwrap().to_string();
    assert!(several.contains("/one"), "{several}");
}
