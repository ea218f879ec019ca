//! Every backend gives the answers that the monitor, the search and the oracles count on.

use std::path::{Path, PathBuf};
use std::process::Command;

fn conforms(python: Option<PathBuf>, library: &str) {
    let Some(python) = python else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new(python)
        .arg(here.join("tests/integration/backend_conformance.py"))
        .arg(here.join("../../python"))
        .arg(library)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(
        printed.lines().count() > 10 && printed.lines().all(|line| line.ends_with(": ok")),
        "{printed}"
    );
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
