//! Neighbours of an accepted input: changed in one respect, and alike in what must agree.

use fissure_model::{ConcreteInput, Dtype, Fill, FillScheme, Value};
use fissure_solve::Random;

use super::apply::{argument, argument_mut, remove};
use super::elements::{clamp, in_order, reshaped};
use super::moves::{Change, Move, Moves, USUAL, theirs};
use crate::elements::fill_tensor;

/// Dimensions of a changed tensor at most.
const LARGEST_RANK: usize = 6;

/// Another input of the same build, and what was changed; `other` is another accepted input.
pub(super) fn neighbour(
    accepted: &ConcreteInput,
    other: &ConcreteInput,
    moves: &Moves,
    random: &mut Random,
) -> (ConcreteInput, Vec<Change>) {
    let mut input = accepted.clone();
    let mut made = Vec::new();
    // Most often one change; sometimes several meet.
    let changes = 1 + u64::from(random.chance(0.3)) + u64::from(random.chance(0.1));
    for _ in 0..changes {
        if let Some((at, change)) = moves.pick(&input, other, random) {
            carry_out(&mut input, other, at, &change, random);
            made.push(change);
        }
    }
    (input, made)
}

/// The same tensors with other elements.
pub(super) fn refilled(input: &ConcreteInput, random: &mut Random) -> ConcreteInput {
    let mut input = input.clone();
    for at in 0..count(&input) {
        new_elements(&mut argument_mut(&mut input, at).value, random);
    }
    input
}

fn carry_out(
    input: &mut ConcreteInput,
    other: &ConcreteInput,
    at: usize,
    change: &Change,
    random: &mut Random,
) {
    let value = &mut argument_mut(input, at).value;
    match change.how {
        Move::Elements => new_elements(value, random),
        Move::Resize | Move::ResizeAlone => {
            let Some(from) = size_at(value, change.place) else {
                return;
            };
            let to = other_size(from, random);
            if change.how == Move::ResizeAlone {
                resize_alone(value, change.place, to);
                return;
            }
            // A number that equals the size may be that size.
            let numbers = random.chance(0.5);
            for at in 0..count(input) {
                replace_size(&mut argument_mut(input, at).value, from, to, numbers);
            }
        }
        Move::Rank => other_rank(value, random),
        Move::Retype => other_dtype(input, at, USUAL[change.place]),
        Move::RetypeAlone => {
            if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
                let shape = tensor.shape.clone();
                *tensor = reshaped(tensor, USUAL[change.place], shape);
            }
        }
        Move::Number | Move::Flag => match value {
            Value::List(items) | Value::Tuple(items) => {
                if let Some(item) = items.get_mut(change.place) {
                    other_number(item, random);
                }
            }
            plain => other_number(plain, random),
        },
        Move::TakeOver => {
            if let Some(theirs) = theirs(other, &change.name) {
                *value = theirs.clone();
            }
        }
        Move::LeaveOut => remove(input, at),
        Move::Form => {
            *value = match value.clone() {
                Value::Tensor(tensor) => Value::NdArray(tensor),
                Value::NdArray(tensor) => Value::Tensor(tensor),
                same => same,
            };
        }
    }
}

fn count(input: &ConcreteInput) -> usize {
    input.arguments.len() + input.layer_arguments.as_ref().map_or(0, Vec::len)
}

fn new_elements(value: &mut Value, random: &mut Random) {
    let (Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor)) = value
    else {
        return;
    };
    let known: Vec<f64> = tensor
        .pattern_scalars()
        .filter_map(fissure_solve::as_number)
        .collect();
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    let most = known.iter().copied().fold(0.0, f64::max);
    // Whole numbers may be indices or lengths: they stay in their range, and in order.
    if tensor.dtype.is_integer() {
        let fill = Fill {
            scheme: FillScheme::Index(most.clamp(0.0, 1e6) as u64 + 1),
            ..Fill::default()
        };
        let new = fill_tensor(tensor.dtype, tensor.shape.clone(), fill, random);
        let sorted = known.len() > 1 && known.is_sorted();
        *tensor = if sorted { in_order(&new) } else { new };
        if least == 1.0 {
            // Indices that count from one.
            clamp(tensor, Some(1.0), None);
        }
        return;
    }
    // Probabilities, scales and widths stay above zero, most of the time.
    let schemes: &[FillScheme] = match least >= 0.0 && random.chance(0.7) {
        true if most <= 1.0 => &[FillScheme::Unit],
        true => &[FillScheme::Unit, FillScheme::Positive],
        false => &[FillScheme::Mixed, FillScheme::Unit, FillScheme::Positive],
    };
    let fill = Fill {
        scheme: *random.pick(schemes),
        ..Fill::default()
    };
    *tensor = fill_tensor(tensor.dtype, tensor.shape.clone(), fill, random);
}

/// The size of a dimension of a tensor, or of the first one of a list.
fn size_at(value: &Value, place: usize) -> Option<u64> {
    match value {
        Value::Tensor(tensor) | Value::NdArray(tensor) => tensor.shape.get(place).copied(),
        Value::List(items) | Value::Tuple(items) => size_at(items.first()?, place),
        _ => None,
    }
}

fn other_size(from: u64, random: &mut Random) -> u64 {
    match random.below(8) {
        0 | 1 => from.saturating_add(1).min(4096),
        2 => from.saturating_sub(1),
        3 => random.below(9),
        4 => from.saturating_mul(2).clamp(1, 64),
        _ => 1 + random.below(8),
    }
}

fn other_rank(value: &mut Value, random: &mut Random) {
    if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
        let mut shape = tensor.shape.clone();
        if !shape.is_empty() && random.chance(0.5) {
            shape.remove(random.index(shape.len()));
        } else if shape.len() < LARGEST_RANK {
            shape.insert(random.index(shape.len() + 1), 1 + random.below(3));
        }
        *tensor = reshaped(tensor, tensor.dtype, shape);
    }
}

fn resize_alone(value: &mut Value, place: usize, to: u64) {
    if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
        let mut shape = tensor.shape.clone();
        shape[place] = to;
        *tensor = reshaped(tensor, tensor.dtype, shape);
    }
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
fn other_dtype(input: &mut ConcreteInput, chosen: usize, to: Dtype) {
    let mut from = None;
    argument(input, chosen).value.walk(&mut |value| {
        if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
            from.get_or_insert(tensor.dtype);
        }
    });
    let Some(from) = from else {
        return;
    };
    for at in 0..count(input) {
        retype(&mut argument_mut(input, at).value, from, to);
    }
}

fn retype(value: &mut Value, from: Dtype, to: Dtype) {
    match value {
        Value::Tensor(tensor) | Value::NdArray(tensor) if tensor.dtype == from => {
            *tensor = reshaped(tensor, to, tensor.shape.clone());
        }
        Value::List(items) | Value::Tuple(items) => {
            items.iter_mut().for_each(|item| retype(item, from, to));
        }
        Value::Dtype(dtype) if *dtype == from => *dtype = to,
        _ => {}
    }
}

fn other_number(value: &mut Value, random: &mut Random) {
    match value {
        Value::Int(number) => {
            *number = match random.below(6) {
                0 | 1 => *number + 1,
                2 => *number - 1,
                3 => random.between(-2, 8),
                _ => random.between(0, 8),
            };
        }
        Value::Float(number) => {
            *number *= *random.pick(&[0.5, 2.0, -1.0, 10.0, 0.1]);
        }
        Value::Bool(value) => *value = !*value,
        _ => {}
    }
}
