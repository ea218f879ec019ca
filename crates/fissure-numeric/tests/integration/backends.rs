//! Every backend gives the answers that the monitor, the search and the oracles count on.

use std::path::PathBuf;

use crate::support::{all_hold, self_test};

fn conforms(python: Option<PathBuf>, library: &str) {
    let Some(python) = python else { return };
    let lines = self_test(&python, "backend_conformance.py", [library]);
    all_hold(&lines, 11);
}

#[test]
fn torch_and_numpy_conform() {
    conforms(fissure_testing::torch_python(), "torch");
    conforms(fissure_testing::torch_python(), "numpy");
}

#[test]
fn tensorflow_conforms() {
    conforms(
        fissure_testing::library_python("tensorflow", "tensorflow-cpu==2.21.0"),
        "tensorflow",
    );
}

#[test]
fn jax_conforms() {
    conforms(fissure_testing::library_python("jax", "jax==0.7.1"), "jax");
}
