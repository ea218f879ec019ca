//! Every oracle fires on a known-bad value and stays silent on a known-good one.

use std::path::Path;
use std::process::Command;

#[test]
fn each_of_the_twelve_oracles_tells_bad_from_good() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let registry = crate::support::registry_file();
    let run = Command::new(python)
        .arg(here.join("tests/integration/oracles_self_test.py"))
        .arg(here.join("../../python"))
        .arg(registry.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert_eq!(
        printed.lines().filter(|line| line.ends_with(" ok")).count(),
        12,
        "{printed}"
    );
}

#[test]
fn every_formula_with_a_stable_form_tells_bad_from_good() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new(python)
        .arg(here.join("tests/integration/formulas_self_test.py"))
        .arg(here.join("../../python"))
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
        printed.lines().count() > 15 && printed.lines().all(|line| line.ends_with(" ok")),
        "{printed}"
    );
}
