//! What the scan takes as inputs, and where the arguments of a target function come from.

use std::path::Path;
use std::process::Command;

#[test]
fn every_sentence_about_inputs_and_targets_holds() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let registry = crate::support::registry_file();
    let run = Command::new(python)
        .arg(here.join("tests/integration/inputs_self_test.py"))
        .arg(here.join("../../python"))
        .arg(registry.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPLBACKEND", "Agg")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(
        printed.lines().count() > 0 && printed.lines().all(|line| line.ends_with(": ok")),
        "{printed}"
    );
}
