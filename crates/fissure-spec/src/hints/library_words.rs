//! Parameters that every API of a library understands alike, by their names.
//!
//! Documentation seldom says what a `kernel_regularizer` may be: whoever knows the library knows.

use fissure_model::{Param, Spec, Value};

use super::{Kind, ParamHints};

/// Adds ready values for what only such a value can be. A list of values that the file itself
/// gives goes before.
pub(super) fn read(spec: &Spec, param: &Param, hints: &mut ParamHints) {
    if hints.stated || !param.constraint.enums.is_empty() {
        return;
    }
    let values = match spec.api.package.as_str() {
        "tensorflow" => tensorflow(&spec.api.title, &param.name),
        "mxnet" => mxnet(&param.name),
        _ => return,
    };
    if !values.is_empty() {
        hints.kinds.insert(0, Kind::Ready(values));
    }
}

/// In MXNet's documentation `NDArray` is MXNet's own array, which NumPy's is no substitute for.
pub(super) fn own_arrays(text: &str, kinds: &mut Vec<Kind>) {
    if text.starts_with("NDArray[]") {
        *kinds = vec![Kind::List(Some(Box::new(Kind::Tensor)))];
    } else if !text.contains("numpy") && !text.contains("np.") {
        kinds.iter_mut().for_each(own_array);
    }
}

fn own_array(kind: &mut Kind) {
    match kind {
        Kind::NdArray => *kind = Kind::Tensor,
        Kind::List(Some(inner)) | Kind::Tuple(Some(inner)) | Kind::Sequence(Some(inner)) => {
            own_array(inner);
        }
        _ => {}
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<Value> {
    words.map(|word| Value::Text(word.into())).into()
}

fn or_none(mut values: Vec<Value>) -> Vec<Value> {
    values.push(Value::None);
    values
}

fn call(path: &str, arguments: Vec<Value>) -> Value {
    Value::Call {
        path: path.into(),
        arguments,
    }
}

fn ints<const N: usize>(items: [i128; N]) -> Value {
    Value::List(items.map(Value::Int).into())
}

fn tensorflow(title: &str, name: &str) -> Vec<Value> {
    let keras = title.starts_with("tf.keras.");
    let updates = [".update", ".moving_average_update", ".set_value", ".assign"];
    match name {
        "activation" | "recurrent_activation" => {
            or_none(words(["relu", "tanh", "sigmoid", "linear"]))
        }
        "optimizer" => words(["sgd", "adam"]),
        "loss" if keras => words(["mse", "mae"]),
        "data_format" if keras => words(["channels_last", "channels_first"]),
        "data_format" => words(["NHWC", "NCHW"]),
        "padding" if keras => words(["valid", "same"]),
        "padding" => words(["VALID", "SAME"]),
        "ksizes" | "rates" => vec![ints([1, 2, 2, 1]), ints([1, 1, 1, 1])],
        "strides" if !keras && title.starts_with("tf.image.") => {
            vec![ints([1, 1, 1, 1]), ints([1, 2, 2, 1])]
        }
        "x" | "variable" | "ref" if updates.iter().any(|part| title.contains(part)) => {
            let numbers = [1.0, 2.0, 3.0].map(Value::Float);
            vec![call(
                "tensorflow.Variable",
                vec![Value::List(numbers.into())],
            )]
        }
        _ if name.ends_with("initializer") => {
            words(["zeros", "ones", "glorot_uniform", "random_normal"])
        }
        _ if name.ends_with("regularizer") => or_none(words(["l1", "l2"])),
        _ if name.ends_with("_constraint") => or_none(words(["non_neg", "unit_norm"])),
        _ if name.ends_with("signature") || name.ends_with("_spec") => {
            vec![
                call("tensorflow.TensorSpec", vec![ints([2, 3])]),
                Value::List(vec![call("tensorflow.TensorSpec", vec![ints([3])])]),
            ]
        }
        _ => Vec::new(),
    }
}

fn mxnet(name: &str) -> Vec<Value> {
    match name {
        "ctx" => vec![call("mxnet.cpu", vec![])],
        "act_type" | "activation" => words(["relu", "tanh", "sigmoid"]),
        "init" | "initializer" => vec![
            call("mxnet.init.Zero", vec![]),
            call("mxnet.init.Normal", vec![]),
            call("mxnet.init.Xavier", vec![]),
        ],
        "stype" => words(["default", "row_sparse", "csr"]),
        "params" => vec![Value::None],
        _ if name.ends_with("_initializer") => words(["zeros", "ones", "normal", "uniform"]),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn kinds(package: &str, title: &str, constraint: &str) -> Vec<Kind> {
        let text = format!(
            "title: {title}\npackage: {package}\ntarget: f\nversion: '1'\nlink: x\n\
             inputs:\n  required: [kernel_regularizer, ctx]\n  optional: []\n\
             constraints:\n  kernel_regularizer: {constraint}\n"
        );
        let spec = crate::load_text(Path::new("f.yaml"), &text).unwrap().spec;
        crate::hints(&spec)
            .into_iter()
            .flat_map(|hints| hints.kinds)
            .collect()
    }

    #[test]
    fn a_regularizer_is_one_of_keras_own_whatever_the_extraction_made_of_it() {
        let found = kinds("tensorflow", "tf.keras.layers.F", "{structure: [list]}");
        let expected = Kind::Ready(vec![
            Value::Text("l1".into()),
            Value::Text("l2".into()),
            Value::None,
        ]);
        assert_eq!(found, [expected]);
    }

    #[test]
    fn what_a_file_lists_goes_before_what_a_name_says() {
        assert_eq!(
            kinds("tensorflow", "tf.keras.layers.F", "{enum: [l1, l2]}"),
            []
        );
    }

    #[test]
    fn a_context_of_mxnet_is_made_by_a_call() {
        let found = kinds("mxnet", "mxnet.nd.f", "{}");
        let context = call("mxnet.cpu", vec![]);
        assert_eq!(found, [Kind::Ready(vec![context])]);
    }
}
