//! What sort of Python object an argument is.

use fissure_model::{Dtype, Kind, Param, ParamHints, Spec, Value};

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
        (Kind::List(Some(inner)) | Kind::Sequence(Some(inner)), _) => {
            lists_of(inner, package, Value::List)
        }
        (Kind::Tuple(Some(inner)), _) => lists_of(inner, package, Value::Tuple),
        (Kind::Device, "torch") => {
            vec![
                call("device", vec![Value::Text("cpu".into())]),
                Value::Text("cpu".into()),
            ]
        }
        (Kind::Device, "mxnet") => vec![call("cpu", vec![])],
        (Kind::Device, _) => vec![Value::Text("cpu".into())],
        (Kind::Layout, "torch") => ["strided", "strided", "sparse_coo", "sparse_csr"]
            .into_iter()
            .map(object)
            .collect(),
        (Kind::MemoryFormat, "torch") => [
            "preserve_format",
            "contiguous_format",
            "channels_last",
            "channels_last_3d",
        ]
        .into_iter()
        .map(object)
        .collect(),
        (Kind::Generator, "jax") => vec![
            call("random.key", vec![Value::Int(0)]),
            call("random.PRNGKey", vec![Value::Int(1)]),
        ],
        (Kind::Generator, "tensorflow") => {
            vec![call("random.Generator.from_seed", vec![Value::Int(1)])]
        }
        (Kind::Generator, "numpy") => vec![call("random.default_rng", vec![Value::Int(1)])],
        (Kind::Generator, "torch") => vec![call("Generator", vec![])],
        // Without an argument it gives a number, and of a number a number.
        (Kind::Callable, library @ ("torch" | "tensorflow" | "jax" | "numpy")) => {
            let own: &[&str] = match library {
                "torch" => &["relu", "sin", "square", "sum", "add"],
                "tensorflow" => &["nn.relu", "math.sin", "math.square", "math.add"],
                "jax" => &["numpy.sin", "numpy.square", "numpy.sum", "numpy.add"],
                _ => &["sin", "square", "sum", "add"],
            };
            let mut values: Vec<Value> = own.iter().copied().map(object).collect();
            values.push(Value::Object("builtins.float".into()));
            values
        }
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

/// Lists of what no list of plain values or tensors has: objects, dtypes, lists of sizes.
fn lists_of(inner: &Kind, package: &str, list: fn(Vec<Value>) -> Value) -> Vec<Value> {
    let sizes = |sizes: &[i128]| Value::List(sizes.iter().copied().map(Value::Int).collect());
    let items = match inner {
        Kind::Dtype => [Dtype::Float32, Dtype::Int32, Dtype::Int64, Dtype::Bool]
            .map(Value::Dtype)
            .to_vec(),
        // Shapes, and pairs of paddings: a few of them, and others next to what is accepted.
        Kind::Sequence(of) | Kind::List(of) if of.as_deref().is_none_or(|of| *of == Kind::Int) => {
            vec![sizes(&[1, 1]), sizes(&[0, 1]), sizes(&[2, 3]), sizes(&[])]
        }
        Kind::Sequence(_) | Kind::List(_) => Vec::new(),
        kind => objects(kind, package),
    };
    let alone = items.iter().map(|item| list(vec![item.clone()]));
    let alike = items.iter().map(|item| list(vec![item.clone(); 2]));
    let several = (items.len() > 1).then(|| list(items.iter().take(3).cloned().collect()));
    alone.chain(alike).chain(several).collect()
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
