//! The record files hold what DocTer's users expect.

use crate::common;

use std::path::Path;
use std::time::Duration;

use common::{exception, execution};
use fissure_model::{Category, Intent, Outcome};
use fissure_triage::Records;

fn config() -> serde_json::Map<String, serde_json::Value> {
    let mut config = serde_json::Map::new();
    config.insert("mutate_p".into(), 0.2.into());
    config.insert("obey".into(), true.into());
    config.insert("target_config".into(), "torch.add.yaml".into());
    config
}

fn violate() -> Intent {
    Intent::Violate {
        param: "x".into(),
        category: Category::Dtype,
    }
}

/// Records these outcomes, numbered from 0; every input and script is kept.
fn recorded(outcomes: Vec<(Intent, Outcome, Option<&str>)>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut records = Records::open(folder.path(), &config()).unwrap();
    for (number, (intent, outcome, log)) in outcomes.into_iter().enumerate() {
        let input = folder.path().join(format!("inputs/{number}.json"));
        let script = folder.path().join(format!("inputs/{number}.py"));
        let execution = execution(outcome, log.map(str::to_owned));
        let kind = fissure_judge::kind(&execution);
        records
            .input(
                number as u64,
                kind,
                &intent,
                Some(&input),
                Some(&script),
                &execution,
            )
            .unwrap();
    }
    records
        .finish(Duration::from_millis(1500), "param,zero\nx,1\n")
        .unwrap();
    folder
}

fn lines(folder: &Path, name: &str) -> Vec<String> {
    match std::fs::read_to_string(folder.join(name)) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}

#[test]
fn every_crash_goes_into_the_files_of_its_kind() {
    let crash = |signal| Outcome::Crash { signal };
    let cases = vec![
        ("Segmentation_fault", crash(libc::SIGSEGV), None),
        ("Abort", crash(libc::SIGABRT), None),
        ("Floating_point_exception", crash(libc::SIGFPE), None),
        ("Bus_Error", crash(libc::SIGBUS), None),
        ("Illegal_instruction", crash(libc::SIGILL), None),
        ("Kill", crash(libc::SIGKILL), None),
        ("Nan", Outcome::Accepted { nan: true }, None),
        (
            "Division_By_Zero",
            Outcome::Rejected(exception("ZeroDivisionError", "x")),
            None,
        ),
        (
            "System_Exit",
            Outcome::Fatal(exception("SystemExit", "2")),
            None,
        ),
    ];
    let folder = recorded(
        cases
            .iter()
            .map(|(_, outcome, log)| (Intent::Conform, outcome.clone(), *log))
            .collect(),
    );
    for (number, (name, ..)) in cases.iter().enumerate() {
        assert_eq!(
            lines(folder.path(), &format!("{name}_record")),
            [format!("inputs/{number}.json, {number}")],
            "{name}"
        );
        assert_eq!(
            lines(folder.path(), &format!("{name}_script_record")),
            [format!("inputs/{number}.py, {number}")],
            "{name}"
        );
    }
}

#[test]
fn a_crash_that_the_library_turned_into_an_exit_is_filed_as_the_crash() {
    let folder = recorded(vec![(
        Intent::Conform,
        Outcome::Exit { code: 255 },
        Some("Bus error (7)"),
    )]);
    assert_eq!(
        lines(folder.path(), "Bus_Error_record"),
        ["inputs/0.json, 0"]
    );
    assert!(lines(folder.path(), "System_Exit_record").is_empty());
}

#[test]
fn a_failure_is_a_rejected_conforming_or_an_accepted_violating_input() {
    let accepted = Outcome::Accepted { nan: false };
    let rejected = Outcome::Rejected(exception("RuntimeError", "no"));
    let folder = recorded(vec![
        (Intent::Conform, accepted.clone(), None),
        (Intent::Conform, rejected.clone(), None),
        (violate(), accepted, None),
        (violate(), rejected, None),
        (Intent::Conform, Outcome::Timeout, None),
    ]);
    let folder = folder.path();
    assert_eq!(
        lines(folder, "failure_record"),
        ["inputs/1.json, 1", "inputs/2.json, 2"]
    );
    assert_eq!(
        lines(folder, "failure_script_record"),
        ["inputs/1.py, 1", "inputs/2.py, 2"]
    );
    assert_eq!(
        lines(folder, "exception_record"),
        ["inputs/1.json, 1", "inputs/3.json, 3"]
    );
    assert_eq!(lines(folder, "timeout_record"), ["inputs/4.json, 4"]);
    assert_eq!(lines(folder, "gen_order").len(), 5);
    assert_eq!(lines(folder, "script_record").len(), 5);
}

#[test]
fn inputs_that_were_not_kept_are_still_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = Records::open(folder.path(), &config()).unwrap();
    let execution = execution(Outcome::Accepted { nan: false }, None);
    let kind = fissure_judge::kind(&execution);
    records
        .input(0, kind, &violate(), None, None, &execution)
        .unwrap();
    records.flush().unwrap();
    assert_eq!(lines(folder.path(), "gen_order"), ["-, 0"]);
    assert_eq!(lines(folder.path(), "failure_record"), ["-, 0"]);
    assert!(!folder.path().join("script_record").exists());
}

#[test]
fn a_second_run_continues_the_records_and_the_end_is_written_down() {
    let folder = recorded(vec![(Intent::Conform, Outcome::Timeout, None)]);
    let folder = folder.path();
    assert_eq!(lines(folder, "fuzz_time"), ["1.5"]);
    assert_eq!(
        lines(folder, "mutate_op_coverage.csv"),
        ["param,zero", "x,1"]
    );
    assert_eq!(
        lines(folder, "fuzzing_config"),
        [
            "mutate_p: 0.2",
            "obey: true",
            "target_config: torch.add.yaml"
        ]
    );
    let mut records = Records::open(folder, &config()).unwrap();
    let execution = execution(Outcome::Timeout, None);
    let kind = fissure_judge::kind(&execution);
    records
        .input(9, kind, &Intent::Conform, None, None, &execution)
        .unwrap();
    records.finish(Duration::ZERO, "").unwrap();
    assert_eq!(
        lines(folder, "timeout_record"),
        ["inputs/0.json, 0", "-, 9"]
    );
}
