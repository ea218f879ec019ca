//! Specs against the signatures of an installed library.

use std::path::Path;

use fissure_model::{Signature, SignatureParam, Spec};
use fissure_spec::{Confirmation, compare, load_text};

fn spec(layer: bool) -> Spec {
    let text = format!(
        "title: torch.f\npackage: torch\ntarget: f\nversion: '1'\nlink: x\nlayer_constructor: {layer}\n\
         inputs:\n  required: [input, size]\n  optional: [mode, alpha, '**kwargs']\n\
         constraints:\n  input: {{}}\n  size: {{}}\n  mode: {{dtype: [string], default: mean}}\n\
         \x20 alpha: {{dtype: [float], default: '1'}}\n  '**kwargs': {{}}\n"
    );
    load_text(Path::new("f.yaml"), &text).unwrap().spec
}

fn param(name: &str, default: Option<&str>) -> SignatureParam {
    SignatureParam {
        name: name.into(),
        kind: "positional_or_keyword".into(),
        default: default.map(str::to_owned),
    }
}

fn signature(params: Option<Vec<SignatureParam>>) -> Signature {
    Signature::of_function("2.9.1", params)
}

fn lines(spec: &Spec, signature: &Signature) -> Vec<String> {
    compare(spec, signature)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn the_same_signature_is_confirmed() {
    let library = signature(Some(vec![
        param("input", None),
        param("size", None),
        param("mode", Some("'mean'")),
        param("alpha", Some("1.0")),
    ]));
    let found = compare(&spec(false), &library);
    assert_eq!(found.len(), 4);
    assert!(
        found.iter().all(|found| found.label() == "confirmed"),
        "{found:?}"
    );
}

#[test]
fn differences_are_named_one_by_one() {
    let mut only_by_name = param("alpha", Some("2"));
    only_by_name.kind = "keyword_only".into();
    let library = signature(Some(vec![
        param("input", Some("None")),
        param("sizes", None),
        param("mode", None),
        only_by_name,
        param("extra", Some("0")),
    ]));
    assert_eq!(
        lines(&spec(false), &library),
        [
            "input: required in the file, optional in the library (default None)",
            "size: unknown to the library (renamed to `sizes`?)",
            "mode: optional in the file, required by the library",
            "alpha: default 1 in the file, 2 in the library",
            "alpha: keyword-only in the library",
            "extra: only in the library (optional)",
        ]
    );
    let labels: Vec<&str> = compare(&spec(false), &library)
        .iter()
        .map(Confirmation::label)
        .collect();
    assert_eq!(labels[..5], ["contradicted"; 5]);
    assert_eq!(labels[5], "added");
}

#[test]
fn a_parameter_with_a_wholly_new_name_is_found_by_its_position() {
    let library = signature(Some(vec![
        param("input", None),
        param("shape", None),
        param("mode", Some("'mean'")),
        param("alpha", Some("1")),
    ]));
    let found = compare(&spec(false), &library);
    let renamed = Some("shape".to_owned());
    assert!(found.contains(&Confirmation::UnknownParam {
        param: "size".into(),
        renamed
    }));
}

#[test]
fn unknown_parameters_may_be_taken_by_keywords() {
    let mut keywords = param("kwargs", None);
    keywords.kind = "var_keyword".into();
    let library = signature(Some(vec![param("input", None), keywords]));
    let found = compare(&spec(false), &library);
    assert!(
        found.contains(&Confirmation::ThroughKeywords {
            param: "size".into()
        }),
        "{found:?}"
    );
}

#[test]
fn what_the_library_lacks_or_hides_is_said() {
    let mut missing = signature(None);
    missing.missing = Some("module 'torch' has no attribute 'f'".into());
    assert_eq!(
        lines(&spec(false), &missing),
        ["missing in the library: module 'torch' has no attribute 'f'"]
    );
    assert_eq!(
        lines(&spec(false), &signature(None)),
        ["the library does not tell its parameters"]
    );
    let mut value = signature(None);
    value.callable = false;
    let found = compare(&spec(true), &value);
    assert_eq!(
        found,
        [
            Confirmation::NotCallable,
            Confirmation::NotAClass,
            Confirmation::NoSignature
        ]
    );
}
