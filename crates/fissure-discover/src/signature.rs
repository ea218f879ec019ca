//! A description from nothing but a signature.

use fissure_model::Signature;

use crate::description::{Description, FormDescription, ParamDescription};

/// What a plain signature tells: names, kinds, defaults. A library that tells no parameters at all
/// still gets a form: one required argument, and more of them sometimes.
pub fn from_signature(path: &str, signature: &Signature) -> Description {
    let params = match &signature.params {
        Some(params) => params
            .iter()
            .map(|param| ParamDescription {
                name: param.name.clone(),
                kind: param.kind.clone(),
                required: param.default.is_none() && !param.kind.starts_with("var_"),
                default: param.default.clone(),
                ..ParamDescription::default()
            })
            .collect(),
        None => vec![
            ParamDescription {
                name: "argument0".into(),
                kind: "positional_only".into(),
                required: true,
                ..ParamDescription::default()
            },
            ParamDescription {
                name: "arguments".into(),
                kind: "var_positional".into(),
                ..ParamDescription::default()
            },
        ],
    };
    Description {
        path: path.to_owned(),
        kind: if signature.is_class {
            "class"
        } else {
            "function"
        }
        .to_owned(),
        forms: vec![FormDescription {
            source: "signature".into(),
            params,
            ..FormDescription::default()
        }],
        ..Description::default()
    }
}
