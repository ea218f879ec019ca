//! Two versions of one package with one planted change of every kind, and functions that did not change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fissure_compare::{
    CompareOptions, Kind, KnownChange, KnownChanges, Rename, Report, SideOptions, Subject, compare,
};
use fissure_rules::{api_named, bare_spec};

const PACKAGE: &str = "lib_in_two_versions";

fn options(python: &Path, workdir: &Path, names: &[&str], after: &str) -> CompareOptions {
    let side = |version: &str| SideOptions {
        python: python.to_owned(),
        pythonpath: vec![
            fissure_testing::root()
                .join("testdata/versions")
                .join(version),
        ],
    };
    let subjects = names.iter().map(|name| {
        let spec = bare_spec(api_named(&format!("{PACKAGE}.{name}")));
        Subject::Spec(Box::new(spec))
    });
    CompareOptions {
        package: PACKAGE.into(),
        before: side("before"),
        after: side(after),
        subjects: subjects.collect(),
        imports: Vec::new(),
        seed: 1,
        workers: 2,
        max_inputs: 192,
        total_time: None,
        timeout: Duration::from_secs(60),
        memory_limit: 2 << 30,
        sandbox: true,
        // What is measured depends on the machine and on who else uses it: `speed.rs` tests what is made of
        // measurements, with numbers that are given.
        measure: false,
        sweep: 0,
        sweep_functions: Vec::new(),
        shrink_time: Duration::from_secs(2),
        known: KnownChanges::default(),
        include_denied: false,
        workdir: workdir.to_owned(),
    }
}

fn compared(options: &CompareOptions) -> Report {
    compare(options, &AtomicBool::new(false), &mut |_| ()).unwrap()
}

fn python() -> Option<PathBuf> {
    fissure_testing::library_python("numpy", "numpy")
}

/// (function, kind) of everything that was reported.
fn told(report: &Report) -> BTreeSet<(String, Kind)> {
    let all = report.behaviours.iter();
    all.map(|it| (it.api.title.replace(&format!("{PACKAGE}."), ""), it.kind))
        .collect()
}

#[test]
fn every_kind_of_change_is_one_behaviour_and_what_did_not_change_is_silent() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let planted = [
        ("crashes", Kind::Crash),
        ("rejects", Kind::Acceptance),
        ("accepts", Kind::Acceptance),
        ("raises_otherwise", Kind::ExceptionClass),
        ("other_dtype", Kind::Dtype),
        ("other_shape", Kind::Shape),
        ("other_structure", Kind::Structure),
        ("other_values", Kind::Values),
        ("other_eps", Kind::Values),
        ("other_number", Kind::Values),
        ("other_argument", Kind::Values),
        ("gone", Kind::Removed),
    ];
    let unchanged = [
        "same",
        "same_eps",
        "random_numbers",
        "fresh_memory",
        "rounds",
        "addresses",
        "counts",
        "slower",
        "hungry",
    ];
    let names: Vec<&str> = planted.iter().map(|it| it.0).chain(unchanged).collect();
    let report = compared(&options(&python, folder.path(), &names, "after"));
    let told = told(&report);
    let missed: Vec<_> = (planted.iter())
        .filter(|(name, kind)| !told.contains(&((*name).to_owned(), *kind)))
        .collect();
    assert!(missed.is_empty(), "missed {missed:?} of {told:?}");
    let alarms: Vec<_> = (told.iter())
        .filter(|(name, kind)| !planted.contains(&(name.as_str(), *kind)))
        .collect();
    let lines = report.behaviours.iter();
    let lines: Vec<String> = lines
        .filter(|it| alarms.iter().any(|alarm| alarm.1 == it.kind))
        .map(|it| {
            format!(
                "{} {}: {} → {}",
                it.api.title, it.detail, it.before, it.after
            )
        })
        .collect();
    assert!(alarms.is_empty(), "false: {alarms:?} {lines:#?}");
    assert_eq!(report.counts.apis as usize, names.len() - 1);
    prints_both(&report, folder.path());
}

/// The script of the changed number shows both numbers with plain Python.
fn prints_both(report: &Report, folder: &Path) {
    let found = report.behaviours.iter();
    let mut found = found.filter(|it| it.api.title.ends_with("other_number"));
    let script = found.next().and_then(|it| it.script.clone()).unwrap();
    let output = Command::new("python3")
        .arg(folder.join(script))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("int "))
        .collect();
    assert_eq!(numbers.len(), 2, "{text}");
    assert_ne!(numbers[0], numbers[1], "{text}");
}

#[test]
fn a_version_compared_with_itself_is_silent() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "crashes",
        "rejects",
        "accepts",
        "other_dtype",
        "other_values",
        "slower",
        "hungry",
        "random_numbers",
        "fresh_memory",
        "counts",
    ];
    let report = compared(&options(&python, folder.path(), &names, "before"));
    assert_eq!(told(&report), BTreeSet::new());
    assert!(report.counts.accepted > 100, "{:?}", report.counts);
}

#[test]
fn time_and_memory_are_measured_where_that_is_asked_for() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(&python, folder.path(), &["slower", "hungry"], "after");
    assert_eq!(compared(&options).counts.measured, 0);
    options.measure = true;
    let report = compared(&options);
    assert_eq!(report.counts.measured, 2);
    // Nothing else is made of it; whether they are told is for an idle machine to say.
    let kinds = told(&report);
    assert!(
        (kinds.iter()).all(|(_, kind)| matches!(kind, Kind::Speed | Kind::Memory)),
        "{kinds:?}"
    );
}

#[test]
fn known_changes_are_counted_and_a_renamed_function_is_compared_under_both_names() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(
        &python,
        folder.path(),
        &["other_values", "old_name"],
        "after",
    );
    options.known = KnownChanges {
        changes: vec![KnownChange {
            api: format!("{PACKAGE}.other_*"),
            kind: Some(Kind::Values),
            text: None,
            reason: "documented".into(),
        }],
        renames: vec![Rename {
            before: format!("{PACKAGE}.old_name"),
            after: format!("{PACKAGE}.new_name"),
        }],
    };
    let report = compared(&options);
    assert_eq!(told(&report), BTreeSet::new());
    assert_eq!(report.known.len(), 1);
    assert_eq!(report.counts.apis, 2);
    options.known.renames.clear();
    let report = compared(&options);
    assert_eq!(
        told(&report),
        BTreeSet::from([("old_name".to_owned(), Kind::Removed)])
    );
}
