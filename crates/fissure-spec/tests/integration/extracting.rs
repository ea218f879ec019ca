//! Extracted files are constraint files, keep what people changed, and can be compared.

use std::collections::BTreeMap;
use std::path::Path;

use fissure_spec::{Change, ExtractedFile, ExtractedParam, changes, load_text};

fn param(key: &str, values: &[&str], evidence: &[&str]) -> ExtractedParam {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    ExtractedParam {
        evidence: texts(evidence),
        lists: BTreeMap::from([(key.to_owned(), texts(values))]),
        ..ExtractedParam::default()
    }
}

fn file() -> ExtractedFile {
    let mode = ExtractedParam {
        default: Some("'it''s'".into()),
        ..param(
            "enum",
            &["it's", "y", "1e-05", "no: really"],
            &["enum it's | 0.90 | documentation: one of `it's`, \"y\": #1"],
        )
    };
    ExtractedFile {
        title: "torch.f".into(),
        package: "torch".into(),
        target: "f".into(),
        version: "2.15.0".into(),
        link: "the installed library".into(),
        inputs: BTreeMap::from([
            ("required".into(), vec!["x".into()]),
            ("optional".into(), vec!["mode".into(), "n".into()]),
        ]),
        constraints: BTreeMap::from([
            (
                "x".into(),
                param(
                    "tensor_t",
                    &["torch.tensor"],
                    &["tensor_t torch.tensor | 1.00 | schema: Tensor x"],
                ),
            ),
            ("mode".into(), mode),
            ("n".into(), ExtractedParam::default()),
        ]),
        ..ExtractedFile::default()
    }
}

#[test]
fn what_is_written_loads_as_a_constraint_file_without_warnings() {
    let text = file().to_yaml();
    let loaded = load_text(Path::new("torch.f.yaml"), &text).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}\n{text}", loaded.warnings);
    assert_eq!(loaded.spec.api.path, "torch.f");
    assert_eq!(loaded.spec.params.len(), 3);
    assert_eq!(loaded.spec.params[1].constraint.enums.len(), 4);
}

#[test]
fn a_file_is_read_back_as_it_was_written() {
    assert_eq!(ExtractedFile::from_yaml(&file().to_yaml()).unwrap(), {
        let mut expected = file();
        expected.constraints.get_mut("mode").unwrap().default = Some("'it''s'".into());
        expected
    });
}

#[test]
fn lists_that_people_changed_are_kept_and_others_follow_the_library() {
    let mut earlier = ExtractedFile::from_yaml(
        &file()
            .to_yaml()
            .replace("tensor_t: [torch.tensor]", "tensor_t: [SparseTensor]")
            .replace("link:", "check_nan: true\nlink:"),
    )
    .unwrap();
    // Also where the evidence and the list agree, the new extraction counts.
    let unchanged = param("dtype", &["int"], &["dtype int | 0.95 | annotation: int"]);
    earlier.constraints.insert("n".into(), unchanged);
    let mut later = file();
    let now = param(
        "dtype",
        &["float"],
        &["dtype float | 0.95 | annotation: float"],
    );
    later.constraints.insert("n".into(), now);
    let kept = later.keep_edits(&earlier);
    assert!(kept.contains(&"x: tensor_t".to_owned()), "{kept:?}");
    assert!(kept.contains(&"check_nan".to_owned()), "{kept:?}");
    assert!(!kept.contains(&"n: dtype".to_owned()), "{kept:?}");
    assert_eq!(later.constraints["x"].lists["tensor_t"], ["SparseTensor"]);
    assert_eq!(later.constraints["n"].lists["dtype"], ["float"]);
    assert!(later.to_yaml().contains("check_nan: true\n"));
    // The next update sees the same edit again.
    let again = ExtractedFile::from_yaml(&later.to_yaml()).unwrap();
    assert!(
        file()
            .keep_edits(&again)
            .contains(&"x: tensor_t".to_owned())
    );
}

#[test]
fn changes_between_two_versions_are_listed_and_equal_ones_have_none() {
    let set = |files: Vec<ExtractedFile>| -> BTreeMap<String, ExtractedFile> {
        files
            .into_iter()
            .map(|one| (one.title.clone(), one))
            .collect()
    };
    assert!(changes(&set(vec![file()]), &set(vec![file()])).is_empty());
    let mut newer = file();
    newer.constraints.remove("n");
    let wider = param("dtype", &["torch.float32"], &[]);
    newer.constraints.insert("extra".into(), wider);
    newer
        .constraints
        .get_mut("x")
        .unwrap()
        .lists
        .insert("ndim".into(), vec!["2".into()]);
    let other = ExtractedFile {
        title: "torch.g".into(),
        ..file()
    };
    let found = changes(&set(vec![file()]), &set(vec![newer, other]));
    assert_eq!(found["torch.g"], [Change::ApiAdded]);
    let texts: Vec<String> = found["torch.f"].iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["extra: new, optional", "x: ndim anything -> 2", "n: gone"]
    );
}
