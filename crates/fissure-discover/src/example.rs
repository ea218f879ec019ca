//! Calls that the documentation makes, as examples of a spec.

use std::collections::BTreeMap;

use fissure_model::{Argument, Example, Passing, Spec, Value};
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
struct Called {
    arguments: Vec<Value>,
    keywords: BTreeMap<String, Value>,
    #[serde(default)]
    call: Option<Box<Called>>,
}

/// The spec with the calls that the worker saw (`discover/examples.py`); one that cannot be read
/// is left out, for it is only an example.
pub fn with_examples(mut spec: Spec, answer: &[u8]) -> Spec {
    let calls: Vec<Json> = serde_json::from_slice(answer).unwrap_or_default();
    let names = |params: &[fissure_model::Param]| -> Vec<String> {
        params.iter().map(|param| param.name.clone()).collect()
    };
    let (own, inner) = (names(&spec.params), names(&spec.layer_params));
    for call in calls {
        let Ok(call) = serde_json::from_value::<Called>(call) else {
            continue;
        };
        spec.examples.push(Example {
            layer_arguments: call.call.map(|call| arguments(*call, &inner)),
            arguments: arguments(Called { call: None, ..call }, &own),
        });
    }
    spec
}

fn arguments(call: Called, names: &[String]) -> Vec<Argument> {
    let by_position = call.arguments.into_iter().enumerate();
    let by_position = by_position.map(|(at, value)| Argument {
        name: match names.get(at) {
            Some(name) => name.clone(),
            None => format!("argument{at}"),
        },
        passing: Passing::Positional,
        value,
    });
    let by_name = call.keywords.into_iter().map(|(name, value)| Argument {
        name,
        passing: Passing::Keyword,
        value,
    });
    by_position.chain(by_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{from_signature, spec_of};
    use fissure_model::{Signature, SignatureParam};

    #[test]
    fn positions_get_the_names_of_the_parameters_and_what_is_unreadable_is_left_out() {
        let param = |name: &str| SignatureParam {
            name: name.into(),
            kind: "positional_or_keyword".into(),
            default: None,
        };
        let signature = Signature::of_function("1", Some(vec![param("x"), param("axis")]));
        let api = fissure_model::Api {
            title: "pkg.f".into(),
            package: "pkg".into(),
            path: "pkg.f".into(),
            ..Default::default()
        };
        let spec = spec_of(&api, &from_signature("pkg.f", &signature)).unwrap();
        let answer = br#"[{"arguments": [{"int": 3}], "keywords": {"axis": "none"}, "call": null},
            {"arguments": [{"unheard": 3}], "keywords": {}}]"#;
        let spec = with_examples(spec, answer);
        let [example] = &spec.examples[..] else {
            panic!("{:?}", spec.examples);
        };
        assert_eq!(example.arguments[0].name, "x");
        assert_eq!(example.arguments[1].value, Value::None);
        assert_eq!(example.arguments[1].passing, Passing::Keyword);
    }
}
