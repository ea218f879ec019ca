//! The example programs in TensorFlow 2, TensorFlow 1 and JAX: every fault is found where it is and
//! for what it is, its reproducer reproduces it, and nothing is reported on the stable twins. One
//! process per library scans them all.

use std::path::PathBuf;

use serde::Deserialize;

use crate::examples::{Expected, complaint, examples, scan_all};

#[derive(Deserialize)]
struct Manifest {
    program: Vec<Program>,
}

#[derive(Deserialize)]
struct Program {
    library: String,
    #[serde(default)]
    tf1: bool,
    #[serde(flatten)]
    expected: Expected,
}

impl Program {
    /// As scan_examples.py takes it.
    fn argument(&self, suffix: &str) -> PathBuf {
        let file = examples().join(format!("{}{suffix}.py", self.expected.name));
        if self.tf1 {
            format!("--tf1:{}", file.display()).into()
        } else {
            file
        }
    }
}

fn check(library: &str, package: &str, requirement: &str) {
    let Some(python) = fissure_testing::library_python(package, requirement) else {
        return;
    };
    let text = std::fs::read_to_string(examples().join("libraries.toml")).unwrap();
    let mut programs = toml::from_str::<Manifest>(&text).unwrap().program;
    programs.retain(|program| program.library == library);
    assert!(programs.len() >= 8);
    let faulty = programs.iter().map(|program| program.argument(""));
    let twins = programs.iter().map(|program| program.argument("_stable"));
    let scanned = scan_all(&python, package, &faulty.chain(twins).collect::<Vec<_>>());
    assert_eq!(scanned.len(), 2 * programs.len());
    let (faulty, twins) = scanned.split_at(programs.len());
    let mut complaints: Vec<String> = programs
        .iter()
        .zip(faulty)
        .filter_map(|(program, scanned)| complaint(&program.expected, scanned))
        .collect();
    complaints.extend(
        twins
            .iter()
            .filter(|scanned| !scanned.findings.is_empty() || scanned.error.is_some())
            .map(|scanned| format!("{scanned:?}")),
    );
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn faults_in_jax_programs_are_found_and_their_twins_are_silent() {
    check("jax", "jax", "jax==0.7.1");
}

#[test]
fn faults_in_tensorflow_programs_are_found_and_their_twins_are_silent() {
    check("tensorflow", "tensorflow", "tensorflow-cpu==2.21.0");
}

#[test]
fn faults_in_tensorflow_1_programs_are_found_and_their_twins_are_silent() {
    check("tensorflow1", "tensorflow", "tensorflow-cpu==2.21.0");
}
