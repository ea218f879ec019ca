//! Every oracle fires on a known-bad value and stays silent on a known-good one.

use crate::support::{all_hold, registry_file, self_test};

#[test]
fn each_of_the_twelve_oracles_tells_bad_from_good() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let registry = registry_file();
    let lines = self_test(&python, "oracles_self_test.py", [registry.path()]);
    let judged = lines.iter().filter(|line| line.ends_with(" ok"));
    assert_eq!(judged.count(), 12, "{lines:#?}");
}

#[test]
fn every_formula_with_a_stable_form_tells_bad_from_good() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let lines = self_test(&python, "formulas_self_test.py", [""; 0]);
    all_hold(&lines, 16);
}
