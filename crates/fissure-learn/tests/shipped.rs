//! The rule files that ship with Fissure.

use std::path::PathBuf;

use fissure_learn::Invariants;
use fissure_rules::{check, read_file};

fn shipped() -> Vec<PathBuf> {
    let folder = fissure_testing::root().join("data/invariants/torch");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "rules")
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_shipped_rule_is_read_type_checks_and_is_bound_to_its_parameters() {
    let files = shipped();
    assert!(files.len() >= 300, "only {} files", files.len());
    for path in files {
        let invariants = Invariants::load(&path).unwrap();
        let file = &invariants.file;
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert_eq!(file.api.as_deref(), Some(name));
        assert!(
            file.library
                .as_ref()
                .is_some_and(|it| it.starts_with("torch 2.9.1"))
        );
        assert!(file.seed.is_some(), "{name} has no seed");
        for rule in &file.rules {
            assert!(check(&rule.rule).is_ok(), "{name}: {}", rule.name);
            assert!(rule.evidence.accepted.is_some(), "{name}: {}", rule.name);
        }
        assert_eq!(invariants.rules().len(), file.rules.len(), "{name}");
        // What is printed is what was read.
        let (again, errors) = read_file(&file.to_string(), fissure_rules::Precedence::Usual);
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(again.rules.len(), file.rules.len(), "{name}");
    }
}

#[test]
fn shipped_rules_have_inputs() {
    // Some, spread over all: each takes its time.
    for path in shipped().iter().step_by(16) {
        let invariants = Invariants::load(path).unwrap();
        let input = invariants.sampler(1).sample();
        assert!(input.is_some(), "{} has no input", path.display());
    }
}
