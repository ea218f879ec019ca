//! What the Python side finds out about callables, in plain Python and in the real libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::python;

/// Runs one of the scripts in `tests/discover`, whose assertions are the test.
fn holds(python: &Path, script: &str) {
    let root = fissure_testing::root();
    let output = Command::new(python)
        .arg("-B")
        .arg(
            root.join("crates/fissure-execute/tests/discover")
                .join(script),
        )
        .env("PYTHONPATH", root.join("python"))
        .env("TF_CPP_MIN_LOG_LEVEL", "3")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{script} with {}:\n{}",
        python.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("all of it holds"));
}

#[test]
fn signatures_documentation_and_source_are_read_in_plain_python() {
    holds(&python(), "plain.py");
}

#[test]
fn a_rejection_is_about_the_arguments_of_the_expression_that_failed() {
    holds(&python(), "involved.py");
}

#[test]
fn a_failing_check_says_what_would_have_made_it_hold() {
    holds(&python(), "conditions.py");
}

#[test]
fn an_answer_in_a_fork_leaves_nothing_but_what_it_imported_for_long() {
    holds(&python(), "apart.py");
}

#[test]
fn examples_of_a_documentation_become_calls_and_objects_the_calls_that_made_them() {
    holds(&python(), "examples.py");
}

#[test]
fn schemas_methods_modules_and_custom_operators_of_torch_are_found() {
    if let Some(python) = fissure_testing::torch_python() {
        holds(&python, "with_torch.py");
    }
}

#[test]
fn the_registry_of_tensorflow_is_read() {
    let python = fissure_testing::old_library_python("tensorflow", "tensorflow");
    if let Some(python) = python {
        holds(&python, "with_tensorflow.py");
    }
}

#[test]
fn universal_functions_and_stubs_of_numpy_are_read() {
    let python = fissure_testing::library_python("numpy", "numpy");
    if let Some(python) = python {
        holds(&python, "with_numpy.py");
    }
}

#[test]
fn the_request_of_fissure_is_answered_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.py"), "def f(n: int): return n\n").unwrap();
    let file: PathBuf = folder.path().join("answer.json");
    let request = format!(
        r#"{{"file": {:?}, "describe": ["mine.f"], "list": ["mine"], "pythonpath": [{:?}], "imports": ["nowhere"]}}"#,
        file,
        folder.path()
    );
    let root = fissure_testing::root();
    let output = Command::new(python())
        .arg("-B")
        .arg(root.join("python/fissure_worker/discover/__main__.py"))
        .env("FISSURE_DISCOVER", request)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let types = &answer["descriptions"]["mine.f"]["forms"][0]["params"][0]["types"];
    assert_eq!(types[0]["sort"], "int", "{answer}");
    assert_eq!(answer["public"]["mine"][0]["path"], "mine.f");
    assert!(
        answer["problems"][0].as_str().unwrap().contains("nowhere"),
        "{answer}"
    );
}
