//! The example programs: every fault is found where it is and for what it is, and nothing is
//! reported on the stable twins.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde::Deserialize;

#[derive(Deserialize)]
struct Manifest {
    program: Vec<Program>,
}

#[derive(Clone, Deserialize)]
struct Program {
    name: String,
    file: String,
    twin: String,
    function: String,
    oracles: Vec<String>,
    producers: Vec<String>,
    level: String,
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/numeric")
}

fn manifest() -> Vec<Program> {
    let path = examples().join("manifest.toml");
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str::<Manifest>(&text).unwrap().program
}

/// Runs `check` on every program, two at a time; every complaint is shown at once.
fn for_each(check: impl Fn(&Program) -> Option<String> + Sync) {
    let waiting = Mutex::new(manifest());
    let complaints = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(program) = waiting.lock().unwrap().pop() else {
                        break;
                    };
                    if let Some(complaint) = check(&program) {
                        complaints
                            .lock()
                            .unwrap()
                            .push(format!("{}: {complaint}", program.name));
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn marked_line(file: &Path) -> usize {
    std::fs::read_to_string(file)
        .unwrap()
        .lines()
        .position(|line| line.contains("# unstable"))
        .map(|index| index + 1)
        .expect("a faulty program has a line marked `# unstable`")
}

#[test]
fn every_planted_fault_is_found_and_its_reproducer_reproduces_it() {
    let Some(python) = crate::support::python_with_torch() else {
        return;
    };
    for_each(|program| {
        let file = examples().join(&program.file);
        let line = marked_line(&file);
        let output = tempfile::tempdir().unwrap();
        let options = crate::support::options(&python, file.to_str().unwrap(), output.path());
        let report = crate::support::run(&options);
        let seen: Vec<String> = report
            .findings
            .iter()
            .map(|finding| {
                let event = &finding.event;
                format!(
                    "{}:{} {} by {} at {} ({})",
                    event.site.function,
                    event.site.line,
                    event.oracle,
                    event.producer,
                    event.level,
                    event.severity
                )
            })
            .collect();
        let found = report.findings.iter().find(|finding| {
            let event = &finding.event;
            event.site.line == line
                && (event.site.function == program.function
                    || program.producers.contains(&event.producer))
                && (program.oracles.contains(&event.oracle)
                    || event
                        .also
                        .iter()
                        .any(|oracle| program.oracles.contains(oracle)))
                && event.level <= program.level
        });
        let Some(found) = found else {
            return Some(format!(
                "{} at line {line} is not found; found: {seen:?}, problems: {:?}",
                program.function, report.problems
            ));
        };
        let script = found.event.folder.join("reproduce.py");
        let run = Command::new(&python).arg(&script).output().unwrap();
        if run.status.code() != Some(1) {
            return Some(format!(
                "reproduce.py ends with {}:\n{}{}",
                run.status,
                String::from_utf8_lossy(&run.stdout),
                String::from_utf8_lossy(&run.stderr)
            ));
        }
        None
    });
}

#[test]
fn nothing_is_reported_on_the_stable_twins() {
    let Some(python) = crate::support::python_with_torch() else {
        return;
    };
    for_each(|program| {
        let file = examples().join(&program.twin);
        let output = tempfile::tempdir().unwrap();
        let options = crate::support::options(&python, file.to_str().unwrap(), output.path());
        let report = crate::support::run(&options);
        if report.own_run.is_none() || !report.problems.is_empty() {
            return Some(format!("the scan is not complete: {:?}", report.problems));
        }
        let alarms: Vec<String> = report
            .findings
            .iter()
            .map(|finding| {
                let event = &finding.event;
                format!(
                    "{} at line {}: {} ({}, {})",
                    event.site.function, event.site.line, event.oracle, event.level, event.label
                )
            })
            .collect();
        if alarms.is_empty() {
            None
        } else {
            Some(format!("false alarms: {alarms:?}"))
        }
    });
}
