//! Centaur's `signatures.json` and what it is here: from what a library says of its callables, and as constraint files.
//!
//! A class has beside its parameters those of the call of its object (`inner`). An API with several signatures has a
//! number behind its name.

use std::fmt::Write as _;

use fissure_discover::{Description, ParamDescription, TypeDescription};
use fissure_rules::api_named;
use fissure_rules::centaur::{CallSignature, CentaurSignature, CentaurType, Params};

/// The constraint file that says what a signature says. `named` is its name in their file.
pub(crate) fn constraint_file(named: &str, signature: &CentaurSignature) -> String {
    let title = without_number(named);
    let package = api_named(title).package;
    let (args, kwargs) = (&signature.call.args, &signature.call.kwargs);
    let target = title.rsplit('.').next().unwrap_or(title);
    let mut text = format!("title: {title}\npackage: {package}\ntarget: {target}\n");
    if signature.inner.is_some() {
        text.push_str("layer_constructor: true\n");
    }
    let _ = writeln!(text, "inputs:");
    let _ = writeln!(text, "  required: [{}]", names(args));
    let _ = writeln!(text, "  optional: [{}]", names(kwargs));
    // What the call of an object may be given besides is left out: a constraint file has no word for it.
    let called = signature.inner.as_ref().map(|inner| &inner.args);
    if let Some(called) = called {
        let _ = writeln!(text, "  layer: [{}]", names(called));
    }
    text.push_str("constraints:\n");
    let called = called.into_iter().flat_map(|called| &called.0);
    for (name, kind) in args.0.iter().chain(&kwargs.0).chain(called) {
        let _ = writeln!(text, "  {name}:");
        for line in constraints(*kind, &package) {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn names(params: &Params) -> String {
    let names: Vec<&str> = params.0.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}

/// `torch.nn.MaxPool2d_13` is the thirteenth signature of `torch.nn.MaxPool2d`.
fn without_number(named: &str) -> &str {
    match named.rsplit_once('_') {
        Some((title, number))
            if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) =>
        {
            title
        }
        _ => named,
    }
}

/// What a constraint file says of a parameter of this type. Lists do not say there what they hold, and hold whole
/// numbers.
fn constraints(kind: CentaurType, package: &str) -> Vec<String> {
    let prefix = match package {
        "tensorflow" => "tf",
        other => other,
    };
    let tensor = format!("tensor_t: [{prefix}.tensor]");
    let scalar = |dtype: &str| vec![format!("dtype: [{dtype}]"), "ndim: ['0']".to_owned()];
    match kind {
        CentaurType::Tensor => vec![tensor],
        CentaurType::TensorList => vec!["structure: [list]".to_owned(), tensor],
        CentaurType::Integer => scalar("int"),
        CentaurType::Float => scalar("float"),
        CentaurType::Boolean => scalar("boolean"),
        CentaurType::String | CentaurType::DimensionNumbers => scalar("string"),
        CentaurType::Tuple => vec!["structure: [tuple(int)]".to_owned()],
        CentaurType::List => vec!["structure: [list(int)]".to_owned()],
        CentaurType::Dtype => vec![format!("dtype: [{prefix}.dtype]")],
    }
}

/// The signatures of what the library says of an API, by their names; or why it has none in this form.
pub(crate) fn signatures(api: &Description) -> Result<Vec<(String, CentaurSignature)>, String> {
    let mut found: Vec<CentaurSignature> = Vec::new();
    let mut problem = "nothing is known of its parameters".to_owned();
    for form in &api.forms {
        let made = call(&form.params).and_then(|call| {
            let inner = api.layer.then(|| call_of_object(&form.call_params));
            Ok(CentaurSignature {
                call,
                inner: inner.transpose()?,
            })
        });
        match made {
            Ok(signature) if found.contains(&signature) => {}
            Ok(signature) => found.push(signature),
            Err(reason) => problem = reason,
        }
    }
    let numbered = found.len() > 1;
    let named = found.into_iter().zip(1..).map(|(signature, number)| {
        let name = match numbered {
            true => format!("{}_{number}", api.path),
            false => api.path.clone(),
        };
        (name, signature)
    });
    let named: Vec<(String, CentaurSignature)> = named.collect();
    if named.is_empty() {
        return Err(problem);
    }
    Ok(named)
}

/// A call of which nothing is known takes one tensor, as there.
fn call_of_object(params: &[ParamDescription]) -> Result<CallSignature, String> {
    if params.is_empty() {
        return Ok(CallSignature {
            args: Params(vec![("input".to_owned(), CentaurType::Tensor)]),
            kwargs: Params::default(),
        });
    }
    call(params)
}

fn call(params: &[ParamDescription]) -> Result<CallSignature, String> {
    let mut call = CallSignature::default();
    for param in params {
        let name = &param.name;
        match (param.types.iter().find_map(type_of), param.required) {
            (Some(kind), true) => call.args.0.push((name.clone(), kind)),
            (Some(kind), false) => call.kwargs.0.push((name.clone(), kind)),
            // What may be left out is left out.
            (None, false) => {}
            (None, true) => return Err(format!("no type of its own for the parameter {name}")),
        }
    }
    Ok(call)
}

fn type_of(kind: &TypeDescription) -> Option<CentaurType> {
    let of = kind.of.as_deref().map(|of| of.sort.as_str());
    Some(match (kind.sort.as_str(), of) {
        ("tensor" | "index_tensor" | "array", _) => CentaurType::Tensor,
        ("tensors", _) | ("list" | "tuple", Some("tensor")) => CentaurType::TensorList,
        ("int" | "axis", _) => CentaurType::Integer,
        ("float" | "number", _) => CentaurType::Float,
        ("bool", _) => CentaurType::Boolean,
        ("string", _) => CentaurType::String,
        ("tuple" | "shape", _) => CentaurType::Tuple,
        ("list", _) => CentaurType::List,
        ("dtype", _) => CentaurType::Dtype,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use fissure_discover::FormDescription;
    use fissure_rules::centaur::{read_signatures, write_signatures};

    use super::*;

    fn parameter(name: &str, sort: &str, required: bool) -> ParamDescription {
        ParamDescription {
            name: name.to_owned(),
            required,
            types: vec![TypeDescription {
                sort: sort.to_owned(),
                ..TypeDescription::default()
            }],
            ..ParamDescription::default()
        }
    }

    fn form(params: Vec<ParamDescription>) -> FormDescription {
        FormDescription {
            params,
            ..FormDescription::default()
        }
    }

    #[test]
    fn what_a_library_says_is_written_as_there_and_what_has_no_type_there_is_told() {
        let dim = || parameter("dim", "int", false);
        let described = Description {
            path: "torch.argmin".to_owned(),
            forms: vec![
                form(vec![parameter("input", "tensor", true), dim()]),
                form(vec![parameter("input", "tensor", true)]),
                form(vec![
                    parameter("input", "tensor", true),
                    dim(),
                    parameter("out", "device", false),
                ]),
            ],
            ..Description::default()
        };
        let written = signatures(&described).unwrap();
        let text = write_signatures(&written);
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            r#"{ "torch.argmin_1": { "args": { "input": "tensor" }, "kwargs": { "dim": "integer" } }, "torch.argmin_2": { "args": { "input": "tensor" }, "kwargs": {} } }"#,
            "the third form is the first one again"
        );
        assert_eq!(read_signatures(&text).unwrap(), written);
        let strange = Description {
            forms: vec![form(vec![parameter("device", "device", true)])],
            ..Description::default()
        };
        assert!(signatures(&strange).unwrap_err().contains("device"));
    }

    #[test]
    fn a_signature_becomes_a_constraint_file_that_loads() {
        let text = r#"{"torch.nn.GroupNorm_2": {
            "args": {"num_groups": "integer"},
            "kwargs": {"eps": "float", "dtype": "dtype"},
            "inner": {"args": {"input": "tensor"}, "kwargs": {}}}}"#;
        let read = read_signatures(text).unwrap();
        let text = constraint_file(&read[0].0, &read[0].1);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        std::fs::write(&file, &text).unwrap();
        let loaded =
            fissure_spec::load_file(&file).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        assert_eq!(loaded.spec.api.title, "torch.nn.GroupNorm");
        assert!(loaded.spec.api.layer);
        assert_eq!(loaded.spec.params.len(), 3);
        assert_eq!(loaded.spec.layer_params.len(), 1);
    }
}
