//! What sort of Python object an argument is.

use fissure_model::{Kind, Param, ParamHints, Spec, Value};

/// Ready values for the kinds that are not drawn from a domain of their own. Empty for kinds
/// that the generator draws (numbers, tensors, …) and for what has no such value.
pub fn objects(kind: &Kind, package: &str) -> Vec<Value> {
    let object = |path: &str| Value::Object(format!("{package}.{path}"));
    let call = |path: &str, arguments: Vec<Value>| Value::Call {
        path: format!("{package}.{path}"),
        arguments,
    };
    match (kind, package) {
        (Kind::Ready(values), _) => values.clone(),
        (Kind::Device, "torch") => {
            vec![
                call("device", vec![Value::Text("cpu".into())]),
                Value::Text("cpu".into()),
            ]
        }
        (Kind::Device, "mxnet") => vec![call("cpu", vec![])],
        (Kind::Device, _) => vec![Value::Text("cpu".into())],
        (Kind::Layout, "torch") => vec![object("strided")],
        (Kind::MemoryFormat, "torch") => {
            vec![object("preserve_format"), object("contiguous_format")]
        }
        (Kind::Generator, "jax") => vec![
            call("random.key", vec![Value::Int(0)]),
            call("random.PRNGKey", vec![Value::Int(1)]),
        ],
        (Kind::Generator, "tensorflow") => {
            vec![call("random.Generator.from_seed", vec![Value::Int(1)])]
        }
        (Kind::Generator, "numpy") => vec![call("random.default_rng", vec![Value::Int(1)])],
        (Kind::Generator, "torch") => vec![call("Generator", vec![])],
        (Kind::Callable, "torch") => ["relu", "sin", "square", "sum"]
            .into_iter()
            .map(object)
            .collect(),
        (Kind::Callable, "tensorflow") => {
            vec![object("nn.relu"), object("math.sin"), object("math.square")]
        }
        (Kind::Callable, "jax") => ["numpy.sin", "numpy.square", "numpy.sum"]
            .into_iter()
            .map(object)
            .collect(),
        (Kind::Callable, "numpy") => ["sin", "square", "sum"].into_iter().map(object).collect(),
        (Kind::Callable, _) => vec![Value::Object("builtins.abs".into())],
        (Kind::Module, "torch") => vec![
            call("nn.Linear", vec![Value::Int(4), Value::Int(4)]),
            call("nn.ReLU", vec![]),
            call(
                "nn.Conv2d",
                vec![Value::Int(3), Value::Int(3), Value::Int(3)],
            ),
        ],
        _ => Vec::new(),
    }
}

/// Names that mean the same wherever they occur; used only where no type is stated.
pub(super) fn from_name(spec: &Spec, param: &Param, hints: &mut ParamHints) {
    let torch = spec.api.package == "torch";
    match param.name.as_str() {
        "out" if torch || spec.api.package == "mxnet" => hints.output = true,
        _ => {}
    }
    if hints.stated {
        return;
    }
    let kind = match param.name.as_str() {
        "device" | "map_location" => Kind::Device,
        "generator" => Kind::Generator,
        "layout" if torch => Kind::Layout,
        "memory_format" => Kind::MemoryFormat,
        "dtype" => Kind::Dtype,
        "requires_grad" | "keepdim" | "keepdims" | "inplace" => Kind::Bool,
        "module" | "model" if torch => Kind::Module,
        "func" | "fn" | "callable" => Kind::Callable,
        "f" | "file" | "filename" | "filepath" | "path" | "fname" => Kind::File,
        _ => return,
    };
    hints.kinds.push(kind);
}
