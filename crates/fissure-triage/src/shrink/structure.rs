//! Simpler values that are not tensors: numbers, texts, lists.

use fissure_model::{ConcreteInput, Dtype, Value};

use super::number::{simpler_floats, simpler_integers};
use super::place::places;

/// One group per value: what could stand there instead.
pub(super) fn simpler(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let place = places(input).into_iter().nth(group)?;
    let value = place.get(input);
    let mut instead = Vec::new();
    if !matches!(value, Value::None) && place.is_whole_argument() {
        instead.push(Value::None);
    }
    instead.extend(simpler_value(value));
    Some(
        instead
            .into_iter()
            .map(|value| place.with(input, value))
            .collect(),
    )
}

fn simpler_value(value: &Value) -> Vec<Value> {
    match value {
        Value::None | Value::Bool(false) => Vec::new(),
        Value::Bool(true) => vec![Value::Bool(false)],
        Value::Int(number) => simpler_integers(*number)
            .into_iter()
            .map(Value::Int)
            .collect(),
        Value::Float(number) => simpler_floats(*number)
            .into_iter()
            .map(Value::Float)
            .collect(),
        Value::Complex { re, im } => vec![Value::Float(*re), Value::Float(*im)],
        Value::Text(text) => shorter(&text.chars().collect::<Vec<_>>())
            .into_iter()
            .map(|rest| Value::Text(rest.into_iter().collect()))
            .collect(),
        Value::Bytes(bytes) => shorter(bytes).into_iter().map(Value::Bytes).collect(),
        Value::List(items) => sequence(items, Value::List),
        Value::Tuple(items) => sequence(items, Value::Tuple),
        Value::Dict(pairs) => shorter(pairs).into_iter().map(Value::Dict).collect(),
        Value::SparseTensor(tensor) | Value::NdArray(tensor) => vec![Value::Tensor(tensor.clone())],
        Value::Tensor(_) => Vec::new(),
        Value::Dtype(dtype) => [Dtype::Float32, Dtype::Int64]
            .into_iter()
            .take_while(|simpler| simpler != dtype)
            .map(Value::Dtype)
            .collect(),
        Value::Object(_) | Value::Call { .. } => Vec::new(),
    }
}

/// Shorter ones, and an element by itself: `kernel_size=(3, 3)` is often as good as `3`.
fn sequence(items: &[Value], make: impl Fn(Vec<Value>) -> Value) -> Vec<Value> {
    let mut found: Vec<Value> = shorter(items).into_iter().map(&make).collect();
    if let Some(first) = items.first() {
        found.push(first.clone());
    }
    found
}

/// Nothing, then without halves, quarters and so on down to single elements.
fn shorter<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let mut found = Vec::new();
    let mut size = items.len();
    while size > 0 {
        let mut start = 0;
        while start < items.len() {
            let end = items.len().min(start + size);
            found.push([&items[..start], &items[end..]].concat());
            start = end;
        }
        size /= 2;
    }
    // A long text or list is not worth a proposal for each of its elements.
    found.truncate(64);
    found
}
