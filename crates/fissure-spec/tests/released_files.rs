//! The constraint files that were released with DocTer and EAGLE all load.

use std::path::PathBuf;

use fissure_spec::load_paths;

/// The files are not part of the project; where they are absent, the test says so and passes.
#[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
fn released_files() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/docter");
    if root.is_dir() {
        return Some(root);
    }
    eprintln!(
        "skipped: the released constraint files are absent ({})",
        root.display()
    );
    None
}

#[test]
fn all_5119_released_files_load() {
    let Some(root) = released_files() else { return };
    let folders = ["tensorflow", "pytorch", "mxnet", "d2c"].map(|name| root.join(name));
    let collection = load_paths(&folders);
    let failures: Vec<String> = collection.failed.iter().map(ToString::to_string).collect();
    assert_eq!(failures, Vec::<String>::new());
    let counts = collection.counts();
    assert_eq!(
        (counts.files, counts.loaded, counts.failed),
        (5119, 5119, 0)
    );
    assert_eq!(
        counts.to_string(),
        format!(
            "5119 files: 5119 loaded, {} with warnings, 0 failed",
            counts.with_warnings
        )
    );
    assert!(collection.skipped.is_empty());
}

#[test]
fn other_yaml_below_the_folder_is_skipped_with_a_reason() {
    let Some(root) = released_files() else { return };
    let collection = load_paths(&[root]);
    let reasons: Vec<_> = collection
        .skipped
        .iter()
        .map(|skipped| skipped.reason)
        .collect();
    assert_eq!(
        reasons
            .iter()
            .filter(|reason| **reason == "a dtype configuration")
            .count(),
        4
    );
    assert_eq!(
        reasons
            .iter()
            .filter(|reason| **reason == "not a constraint file")
            .count(),
        3
    );
    assert_eq!(collection.counts().failed, 0);
}
