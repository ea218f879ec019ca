//! Descriptions as the worker writes them become specs.

use fissure_discover::{Description, from_signature, spec_of};
use fissure_model::{Api, DtypeTerm, Kind, Passing, Role, Signature, SignatureParam, Value};

fn described(json: &str) -> Description {
    Description::from_json(json.as_bytes()).expect("the answer is readable")
}

fn api() -> Api {
    Api {
        title: "lib.f".into(),
        package: "lib".into(),
        path: "lib.f".into(),
        ..Api::default()
    }
}

const TWO_FORMS: &str = r#"{"path": "lib.f", "kind": "function", "callable_path": null, "layer": false,
 "forms": [
  {"source": "schema", "name": "f.Tensor", "call_params": null, "params": [
   {"name": "self", "kind": "positional_only", "required": true, "default": null, "types": [{"sort": "tensor"}]},
   {"name": "mode", "kind": "positional_or_keyword", "required": false, "default": "'a'",
    "types": [{"sort": "string", "choices": ["a", "b"]}]}],
   "relations": []},
  {"source": "schema", "name": "f.Scalar", "params": [
   {"name": "self", "kind": "positional_only", "required": true, "types": [{"sort": "tensor"}]},
   {"name": "other", "kind": "keyword_only", "required": true, "types": [{"sort": "number"}]}],
   "relations": [{"kind": "same_dtype", "params": ["other", "self"]}]}],
 "problem": null, "something new": 1}"#;

#[test]
fn every_overload_becomes_a_form() {
    let spec = spec_of(&api(), &described(TWO_FORMS)).unwrap();
    assert_eq!(spec.params.len(), 2);
    assert_eq!(spec.forms.len(), 1);
    assert_eq!(spec.forms[0].params[1].name, "other");
}

#[test]
fn types_steer_and_only_choices_of_exact_sources_bind() {
    let spec = spec_of(&api(), &described(TWO_FORMS)).unwrap();
    let hints = spec.params[0].hints.as_ref().unwrap();
    assert_eq!(hints.kinds, [Kind::Tensor]);
    assert!(hints.exact && spec.params[0].constraint.is_empty());
    let choices = [Value::Text("a".into()), Value::Text("b".into())];
    assert_eq!(spec.params[1].constraint.enums, choices);
    assert_eq!(spec.params[1].default, Some(Value::Text("a".into())));
}

#[test]
fn required_arguments_go_by_position_unless_only_a_name_will_do() {
    let spec = spec_of(&api(), &described(TWO_FORMS)).unwrap();
    let passing = |param: &fissure_model::Param| param.hints.as_ref().unwrap().passing;
    assert_eq!(passing(&spec.params[0]), Some(Passing::Positional));
    assert_eq!(passing(&spec.forms[0].params[1]), Some(Passing::Keyword));
}

#[test]
fn a_relation_leads_from_a_parameter_to_one_before_it() {
    let spec = spec_of(&api(), &described(TWO_FORMS)).unwrap();
    let [first, second] = &spec.forms[0].params[..] else {
        panic!("two parameters");
    };
    assert!(first.constraint.dtypes.is_empty(), "no circle");
    assert_eq!(second.constraint.dtypes, [DtypeTerm::SameAs("self".into())]);
}

#[test]
fn a_plain_signature_is_enough_for_a_spec() {
    let param = |name: &str, kind: &str, default: Option<&str>| SignatureParam {
        name: name.into(),
        kind: kind.into(),
        default: default.map(str::to_owned),
    };
    let signature = Signature::of_function(
        "1",
        Some(vec![
            param("x", "positional_or_keyword", None),
            param("rest", "var_positional", None),
            param("scale", "keyword_only", Some("2.0")),
        ]),
    );
    let spec = spec_of(&api(), &from_signature("lib.f", &signature)).unwrap();
    let roles: Vec<Role> = spec.params.iter().map(|param| param.role).collect();
    assert_eq!(
        roles,
        [Role::Required, Role::VarPositional, Role::KeywordOnly]
    );
    let silent = Signature {
        params: None,
        ..signature
    };
    assert!(spec_of(&api(), &from_signature("lib.f", &silent)).is_some());
}
