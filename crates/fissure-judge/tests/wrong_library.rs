//! The planted-wrong library: every oracle finds its defect, says nothing of the correct twin, and a
//! variant that ends the process was announced before.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One line of a script beside this file.
#[derive(Debug, Deserialize)]
struct Told {
    oracle: String,
    name: String,
    /// How the report of the defect begins; for a correct call, why there is none.
    expected: String,
    reports: Vec<String>,
    /// Tracebacks of the oracle itself.
    failures: Vec<String>,
    /// What ended the process that ran it.
    signal: i32,
}

#[derive(Debug, Deserialize)]
struct Table {
    count: usize,
    problems: Vec<String>,
}

/// What a script tells, line by line; `None` (with the reason printed) without PyTorch.
fn told<T: DeserializeOwned>(script: &str, arguments: &[&str]) -> Option<Vec<T>> {
    let python = fissure_testing::torch_python()?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/wrong_library")
        .join(script);
    let output = Command::new(python)
        .arg(path)
        .arg(fissure_testing::root())
        .args(arguments)
        .output()
        .expect("the interpreter starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("it tells text");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("it tells JSON"));
    Some(lines.collect())
}

#[test]
fn every_oracle_finds_its_defect_and_announces_what_ends_the_process() {
    let Some(told) = told::<Told>("defects.py", &["wrong"]) else {
        return;
    };
    assert_eq!(told.len(), 52);
    for one in told {
        assert!(one.failures.is_empty(), "{one:?}");
        let first = one.reports.first().map_or("", String::as_str);
        assert!(first.starts_with(&one.expected), "{one:?}");
        let expected = match (one.oracle.as_str(), one.name.starts_with("crash")) {
            ("guard", _) => libc::SIGSEGV,
            (_, true) => libc::SIGABRT,
            (_, false) => 0,
        };
        assert_eq!(one.signal, expected, "{one:?}");
    }
}

#[test]
fn no_oracle_reports_a_correct_twin() {
    let Some(told) = told::<Told>("defects.py", &["right"]) else {
        return;
    };
    assert_eq!(told.len(), 52);
    for one in told {
        assert!(one.failures.is_empty(), "{one:?}");
        assert!(one.reports.is_empty() && one.signal == 0, "{one:?}");
    }
}

#[test]
fn correct_calls_that_look_like_defects_are_not_reported() {
    let Some(told) = told::<Told>("silent.py", &[]) else {
        return;
    };
    assert!(told.len() > 40, "{}", told.len());
    for one in told {
        assert!(
            one.failures.is_empty() && one.reports.is_empty(),
            "{} on {}: {one:?}",
            one.oracle,
            one.name
        );
    }
}

#[test]
fn the_twins_in_numpy_name_what_exists_and_are_given_all_arguments() {
    let Some(told) = told::<Table>("table.py", &[]) else {
        return;
    };
    assert!(told[0].problems.is_empty(), "{told:?}");
    assert!(told[0].count >= 150, "{told:?}");
}
