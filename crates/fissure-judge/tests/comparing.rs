//! The oracles in Python: each finds its planted defect and is silent on the correct twin, and what
//! must never be reported is not.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use fissure_functions::Property;
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

/// What a Python script prints; `None` (with the reason printed) without PyTorch.
fn printed(script: &Path, arguments: &[&OsStr]) -> Option<String> {
    let python = fissure_testing::torch_python()?;
    Some(printed_by(&python, script, arguments))
}

fn printed_by(python: &Path, script: &Path, arguments: &[&OsStr]) -> String {
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("the interpreter starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("it tells text")
}

/// What a script beside this file tells.
fn told(script: &str) -> Option<Vec<Told>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/comparing");
    let text = printed(&folder.join(script), &[fissure_testing::root().as_os_str()])?;
    Some(read(&text))
}

fn read(text: &str) -> Vec<Told> {
    let told: Vec<Told> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("it tells JSON"))
        .collect();
    for one in &told {
        assert!(one.failures.is_empty(), "{one:?}");
    }
    told
}

#[test]
fn every_oracle_finds_its_planted_defect_and_is_silent_on_the_correct_twin() {
    let Some(told) = told("planted.py") else {
        return;
    };
    assert_eq!(told.len(), 24);
    for one in told {
        if one.name.starts_with("wrong.") {
            assert_eq!(one.reports.len(), 1, "{one:?}");
        } else {
            assert!(one.reports.is_empty(), "{one:?}");
        }
    }
}

#[derive(Deserialize)]
struct Summary {
    oracle: String,
    calls: u64,
    reports: u64,
}

/// A part of the control that `cargo bench --bench false_alarms` runs as a whole.
#[test]
fn correct_calls_raise_no_alarm() {
    let root = fissure_testing::root();
    let arguments = [
        root.join("python/fissure_worker").into_os_string(),
        "contract,reference64,placement,nan,kernel-path,layout,determinism".into(),
        "--stride".into(),
        "25".into(),
        "--per-api".into(),
        "2".into(),
    ];
    let arguments: Vec<&OsStr> = arguments.iter().map(|it| it.as_os_str()).collect();
    let Some(text) = printed(&root.join("benches/false_alarms/control.py"), &arguments) else {
        return;
    };
    assert!(!text.contains("\"failure\""), "{text}");
    let lines = text.lines().filter(|line| line.starts_with("{\"oracle\""));
    let summaries: Vec<Summary> = lines
        .map(|line| serde_json::from_str(line).expect("it tells JSON"))
        .collect();
    assert_eq!(summaries.len(), 7);
    for summary in summaries {
        let Summary {
            oracle,
            calls,
            reports,
        } = summary;
        assert!(calls >= 30, "{oracle} looked at {calls} calls");
        assert!(
            reports * 20 < calls,
            "{oracle}: {reports} of {calls} in {text}"
        );
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

#[test]
fn a_function_made_wrong_is_reported_however_its_name_looks() {
    let Some(told) = told("functions.py") else {
        return;
    };
    assert!(told.len() > 40, "{}", told.len());
    for one in told {
        let expected = usize::from(one.name.starts_with("reported"));
        assert_eq!(one.reports.len(), expected, "{} on {one:?}", one.oracle);
    }
}

/// What Python and Rust answer to the same questions about functions.
#[test]
fn the_table_of_functions_says_the_same_in_both_languages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/comparing");
    let root = fissure_testing::root();
    let Some(text) = printed(&folder.join("table.py"), &[root.as_os_str()]) else {
        return;
    };
    let answers: BTreeMap<String, Vec<String>> = serde_json::from_str(&text).expect("JSON");
    assert!(answers.len() > 1000, "{}", answers.len());
    let table = fissure_functions::functions();
    for (path, properties) in answers {
        let mut expected: Vec<&str> = Property::ALL
            .iter()
            .filter(|&&property| table.has(&path, property))
            .map(|property| property.name())
            .collect();
        expected.sort_unstable();
        assert_eq!(properties, expected, "{path}");
    }
}

/// Planted defects, and the functions of the table of equivalents in the library itself.
fn foreign(library: &str, requirement: &str, at_least: usize) {
    let Some(python) = fissure_testing::library_python(library, requirement) else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/comparing/foreign.py");
    let root = fissure_testing::root();
    let text = printed_by(&python, &script, &[root.as_os_str(), library.as_ref()]);
    let told = read(&text);
    assert!(told.len() >= at_least, "{}", told.len());
    for one in told {
        let expected = usize::from(one.name.starts_with("reported"));
        assert_eq!(one.reports.len(), expected, "{one:?}");
    }
}

#[test]
fn oracles_know_results_of_jax() {
    foreign("jax", "jax==0.7.1", 80);
}

/// Its 64-bit mode is asked for in another way.
#[test]
fn oracles_know_results_of_a_newer_jax() {
    foreign("jax", "jax==0.10.2", 80);
}

#[test]
fn oracles_know_results_of_tensorflow() {
    foreign("tensorflow", "tensorflow-cpu==2.21.0", 50);
}
