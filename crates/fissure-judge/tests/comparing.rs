//! The oracles in Python: each finds its planted defect and is silent on the correct twin, and what
//! must never be reported is not.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Told {
    name: String,
    oracle: String,
    /// Details of the reports.
    reports: Vec<String>,
    /// Tracebacks of the oracle itself.
    failures: Vec<String>,
}

/// What a script beside this file tells; `None` (with the reason printed) without PyTorch.
fn told(script: &str) -> Option<Vec<Told>> {
    let python = fissure_testing::torch_python()?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/comparing")
        .join(script);
    let output = Command::new(python)
        .arg(path)
        .arg(fissure_testing::root())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("the interpreter starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("it tells text");
    let told: Vec<Told> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("it tells JSON"))
        .collect();
    for one in &told {
        assert!(one.failures.is_empty(), "{one:?}");
    }
    Some(told)
}

#[test]
fn every_oracle_finds_its_planted_defect_and_is_silent_on_the_correct_twin() {
    let Some(told) = told("planted.py") else {
        return;
    };
    assert_eq!(told.len(), 20);
    for one in told {
        if one.name.starts_with("wrong.") {
            assert_eq!(one.reports.len(), 1, "{one:?}");
        } else {
            assert!(one.reports.is_empty(), "{one:?}");
        }
    }
}

#[test]
fn what_must_never_be_reported_is_not_and_its_counterpart_is() {
    let Some(told) = told("never.py") else {
        return;
    };
    assert!(told.len() > 30, "{}", told.len());
    for one in told {
        let expected = usize::from(one.name.starts_with("reported"));
        assert_eq!(one.reports.len(), expected, "{} on {one:?}", one.oracle);
    }
}
