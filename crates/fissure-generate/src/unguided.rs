//! The types of an API's parameters and nothing else, as a rule file without rules.

use fissure_model::{Signature, Spec, Value};
use fissure_rules::{Declaration, FileParam, Place, RuleFile, Type};

/// The parameters that a rule file declares, else those that the installed library declares, else
/// those of the constraint file. A type that nobody states is one of all.
pub(crate) fn types_only(
    declared: Option<RuleFile>,
    spec: &Spec,
    signature: Option<&Signature>,
) -> RuleFile {
    if let Some(mut file) = declared {
        file.rules.clear();
        return file;
    }
    let params = match signature.and_then(|signature| signature.params.as_deref()) {
        Some(params) => params
            .iter()
            .filter(|param| param.kind != "var_keyword")
            .map(|param| match param.kind.as_str() {
                "var_positional" => typed(&param.name, Some("()".to_owned())),
                _ => typed(&param.name, param.default.clone()),
            })
            .collect(),
        None => spec
            .params
            .iter()
            .map(|param| typed(&param.name, param.default_text.clone()))
            .collect(),
    };
    let call = spec
        .layer_params
        .iter()
        .map(|param| typed(&param.name, param.default_text.clone()));
    RuleFile {
        params,
        call_params: call.collect(),
        ..RuleFile::default()
    }
}

/// The default says which type an argument has.
fn typed(name: &str, default: Option<String>) -> FileParam {
    let mut param = FileParam {
        declaration: Declaration {
            name: name.to_owned(),
            of: Type::None,
        },
        place: Place::default(),
        default,
    };
    param.declaration.of = match param.default_value() {
        _ if param.default.as_deref() == Some("()") => Type::list(anything()),
        Some(Value::Bool(_)) => Type::Bool,
        Some(Value::Int(_)) => Type::Int,
        Some(Value::Float(_)) => Type::Float,
        Some(Value::Text(_)) => Type::Str,
        Some(Value::None) => Type::any_of([vec![Type::None], alternatives()].concat()),
        _ => anything(),
    };
    param
}

fn anything() -> Type {
    Type::any_of(alternatives())
}

/// What an argument can be when nobody says.
fn alternatives() -> Vec<Type> {
    vec![
        Type::Tensor,
        Type::Int,
        Type::Float,
        Type::Bool,
        Type::Str,
        Type::Dtype,
        Type::list(Type::Int),
        Type::list(Type::Tensor),
    ]
}
