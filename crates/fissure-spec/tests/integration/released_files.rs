//! Whole collections load: the files released with DocTer and EAGLE, and our own examples.

use std::path::PathBuf;

use fissure_spec::load_paths;

#[test]
fn all_5119_released_files_load_and_other_yaml_beside_them_is_skipped() {
    let Some(root) = fissure_testing::shared("data/docter") else {
        return;
    };
    let collection = load_paths(&[root]);
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
    // A reading that became stricter or laxer by mistake would show here first.
    assert!((50..300).contains(&counts.with_warnings), "{counts}");
    let skipped = |reason| {
        collection
            .skipped
            .iter()
            .filter(|skipped| skipped.reason == reason)
            .count()
    };
    assert_eq!(
        (
            skipped("a dtype configuration"),
            skipped("not a constraint file")
        ),
        (4, 3)
    );
}

#[test]
fn our_own_examples_load_without_a_warning() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs");
    let collection = load_paths(&[folder]);
    let counts = collection.counts();
    assert!(counts.loaded >= 10, "{counts}");
    assert_eq!((counts.with_warnings, counts.failed), (0, 0), "{counts}");
}
