//! Neighbours of an accepted input: changed in one respect, and alike in what must agree.

use fissure_model::{ConcreteInput, Dtype, Fill, FillScheme, Value};
use fissure_solve::Random;

use super::apply::{argument, argument_mut, reshaped};
use crate::elements::fill_tensor;

/// Another input of the same build.
pub(super) fn neighbour(accepted: &ConcreteInput, random: &mut Random) -> ConcreteInput {
    let mut input = accepted.clone();
    // Most often one change; sometimes several meet.
    let changes = 1 + u64::from(random.chance(0.3)) + u64::from(random.chance(0.1));
    for _ in 0..changes {
        match random.below(10) {
            0..=3 => new_elements(&mut input, random),
            4..=6 => resize(&mut input, random),
            7 => other_dtype(&mut input, random),
            _ => other_number(&mut input, random),
        }
    }
    input
}

fn count(input: &ConcreteInput) -> usize {
    input.arguments.len() + input.layer_arguments.as_ref().map_or(0, Vec::len)
}

/// Positions of the arguments that a predicate holds for.
fn positions(input: &ConcreteInput, wanted: impl Fn(&Value) -> bool) -> Vec<usize> {
    (0..count(input))
        .filter(|at| wanted(&argument(input, *at).value))
        .collect()
}

fn is_tensor(value: &Value) -> bool {
    matches!(value, Value::Tensor(_) | Value::NdArray(_))
}

fn new_elements(input: &mut ConcreteInput, random: &mut Random) {
    let tensors = positions(input, is_tensor);
    if tensors.is_empty() {
        return;
    }
    let at = *random.pick(&tensors);
    let (Value::Tensor(tensor) | Value::NdArray(tensor)) = &mut argument_mut(input, at).value
    else {
        return;
    };
    // Whole numbers may be indices or lengths: they stay in their range.
    let scheme = if tensor.dtype.is_integer() {
        let largest = tensor
            .pattern_scalars()
            .filter_map(fissure_solve::as_number)
            .fold(0.0, f64::max);
        FillScheme::Index(largest.clamp(0.0, 1e6) as u64 + 1)
    } else {
        *random.pick(&[FillScheme::Mixed, FillScheme::Unit, FillScheme::Positive])
    };
    let fill = Fill {
        scheme,
        ..Fill::default()
    };
    *tensor = fill_tensor(tensor.dtype, tensor.shape.clone(), fill, random);
}

/// Every dimension of one size gets another one, so that sizes which must agree still do.
pub(crate) fn resize(input: &mut ConcreteInput, random: &mut Random) {
    let mut sizes: Vec<u64> = Vec::new();
    for at in 0..count(input) {
        argument(input, at).value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
                sizes.extend(tensor.shape.iter().filter(|size| **size < 64));
            }
        });
    }
    if sizes.is_empty() {
        return;
    }
    let from = *random.pick(&sizes);
    let to = random.below(9);
    // A number that equals the size may be that size.
    let numbers = random.chance(0.5);
    for at in 0..count(input) {
        replace_size(&mut argument_mut(input, at).value, from, to, numbers);
    }
}

fn replace_size(value: &mut Value, from: u64, to: u64, numbers: bool) {
    match value {
        Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor)
            if tensor.shape.contains(&from) =>
        {
            let replaced = |size: &u64| if *size == from { to } else { *size };
            let shape = tensor.shape.iter().map(replaced).collect();
            *tensor = reshaped(tensor, tensor.dtype, shape);
        }
        Value::List(items) | Value::Tuple(items) => {
            for item in items {
                replace_size(item, from, to, numbers);
            }
        }
        Value::Int(number) if numbers && *number == i128::from(from) => *number = to.into(),
        _ => {}
    }
}

/// All tensors of one element type get another one.
fn other_dtype(input: &mut ConcreteInput, random: &mut Random) {
    const USUAL: [Dtype; 8] = [
        Dtype::Float32,
        Dtype::Float64,
        Dtype::Float16,
        Dtype::Bfloat16,
        Dtype::Int64,
        Dtype::Int32,
        Dtype::Bool,
        Dtype::Complex64,
    ];
    let tensors = positions(input, is_tensor);
    if tensors.is_empty() {
        return;
    }
    let chosen = *random.pick(&tensors);
    let from = match &argument(input, chosen).value {
        Value::Tensor(tensor) | Value::NdArray(tensor) => tensor.dtype,
        _ => return,
    };
    let to = *random.pick(&USUAL);
    for at in tensors {
        if let Value::Tensor(tensor) = &mut argument_mut(input, at).value
            && tensor.dtype == from
        {
            *tensor = reshaped(tensor, to, tensor.shape.clone());
        }
    }
}

fn other_number(input: &mut ConcreteInput, random: &mut Random) {
    let plain = positions(input, |value| {
        matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_))
    });
    if plain.is_empty() {
        return;
    }
    let at = *random.pick(&plain);
    match &mut argument_mut(input, at).value {
        Value::Int(number) => {
            *number = match random.below(4) {
                0 => *number + 1,
                1 => *number - 1,
                _ => random.between(-2, 8),
            };
        }
        Value::Float(number) => {
            *number *= *random.pick(&[0.5, 2.0, -1.0, 10.0, 0.1]);
        }
        Value::Bool(value) => *value = !*value,
        _ => {}
    }
}
