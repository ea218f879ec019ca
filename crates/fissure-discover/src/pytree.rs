//! Nested containers of tensors and numbers, for parameters that take any such tree.

use fissure_model::{Dtype, TensorData, TensorValue, Value};

/// One tree of each shape: a leaf, a tuple, a dictionary with a list inside, nothing at all.
pub(crate) fn pytrees() -> Vec<Value> {
    let tensor = |size: u64| {
        Value::Tensor(TensorValue {
            dtype: Dtype::Float32,
            shape: vec![size],
            data: TensorData {
                pattern: 1.0_f32.to_le_bytes().to_vec().into(),
            },
        })
    };
    let key = |name: &str| Value::Text(name.to_owned());
    vec![
        Value::Dict(vec![
            (key("a"), tensor(2)),
            (key("b"), Value::List(vec![tensor(3), tensor(1)])),
        ]),
        Value::Tuple(vec![tensor(2), tensor(2)]),
        Value::List(vec![tensor(2), Value::Dict(vec![(key("c"), tensor(4))])]),
        tensor(3),
        Value::Tuple(vec![Value::Float(0.5), Value::None, tensor(2)]),
        Value::Dict(Vec::new()),
    ]
}
