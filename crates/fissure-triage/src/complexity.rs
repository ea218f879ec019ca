//! How much of an input a person has to read.

use fissure_model::{ConcreteInput, Dtype, Value};

/// Smaller is simpler: few arguments, few elements, small numbers, usual types.
pub fn complexity(input: &ConcreteInput) -> u64 {
    let mut total: u64 = 0;
    for argument in input
        .arguments
        .iter()
        .chain(input.layer_arguments.iter().flatten())
    {
        total += 4;
        argument
            .value
            .walk(&mut |value| total = total.saturating_add(weight(value)));
    }
    total
}

fn weight(value: &Value) -> u64 {
    let bits = |number: u128| u64::from(u128::BITS - number.leading_zeros());
    match value {
        Value::None | Value::Bool(_) => 0,
        Value::Int(number) => bits(number.unsigned_abs()),
        Value::Float(number) if number.fract() == 0.0 => bits(number.abs() as u128),
        Value::Float(_) => 16,
        Value::Complex { .. } => 24,
        Value::Text(text) => 1 + text.len() as u64,
        Value::Bytes(bytes) => 1 + bytes.len() as u64,
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) => 1,
        Value::Dtype(_) | Value::Object(_) => 2,
        Value::Call { .. } => 4,
        Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
            let unusual = u64::from(tensor.dtype != Dtype::Float32)
                + 2 * u64::from(!matches!(value, Value::Tensor(_)));
            // What has to be printed counts in full, what is only repeated by its logarithm.
            let printed = tensor
                .dtype
                .size()
                .map_or(0, |size| tensor.data.pattern.len() / size);
            4 + unusual
                + 2 * tensor.shape.len() as u64
                + bits(tensor.elements().unwrap_or(u64::MAX).into())
                + printed as u64
        }
    }
}
