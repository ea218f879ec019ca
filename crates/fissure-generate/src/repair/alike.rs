//! What all tensors of a call have in common.

use fissure_model::{ConcreteInput, Dtype, Value};
use fissure_solve::Random;

use super::elements::{as_tensor, reshaped};
use crate::construct::{MAX_LISTED, nested_list};

/// All tensors get the shape of the first.
pub(crate) fn same_shape(input: &ConcreteInput) -> Option<ConcreteInput> {
    let layer = input.layer_arguments.iter().flatten();
    let mut shape = None;
    for argument in input.arguments.iter().chain(layer) {
        if let Value::Tensor(tensor) = &argument.value {
            shape = Some(tensor.shape.clone());
            break;
        }
    }
    let shape = shape?;
    let mut changed = input.clone();
    let layer = changed.layer_arguments.iter_mut().flatten();
    for argument in changed.arguments.iter_mut().chain(layer) {
        if let Value::Tensor(tensor) | Value::NdArray(tensor) = &mut argument.value
            && tensor.shape != shape
        {
            *tensor = reshaped(tensor, tensor.dtype, shape.clone());
        }
    }
    (changed != *input).then_some(changed)
}

/// All tensors get the element type of the first.
pub(super) fn same_dtype(input: &ConcreteInput) -> Option<ConcreteInput> {
    let mut first = None;
    let layer = input.layer_arguments.iter().flatten();
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
                first.get_or_insert(tensor.dtype);
            }
        });
    }
    let changed = retyped(input, first?, |_| true);
    (changed != *input).then_some(changed)
}

/// The tensors with an element type that is to be changed get this one.
pub(crate) fn retyped(
    input: &ConcreteInput,
    dtype: Dtype,
    changes: fn(Dtype) -> bool,
) -> ConcreteInput {
    fn retype(value: &mut Value, dtype: Dtype, changes: fn(Dtype) -> bool) {
        match value {
            Value::Tensor(tensor) | Value::NdArray(tensor)
                if tensor.dtype != dtype && changes(tensor.dtype) =>
            {
                *tensor = reshaped(tensor, dtype, tensor.shape.clone());
            }
            Value::List(items) | Value::Tuple(items) => {
                items
                    .iter_mut()
                    .for_each(|item| retype(item, dtype, changes));
            }
            _ => {}
        }
    }
    let mut changed = input.clone();
    let layer = changed.layer_arguments.iter_mut().flatten();
    for argument in changed.arguments.iter_mut().chain(layer) {
        retype(&mut argument.value, dtype, changes);
    }
    changed
}

/// A tensor of one shape gets what it may have to have in common with one of the other: all of it, the
/// first dimensions, the last ones, or, as factors of a product do, the last of one before the last of the other.
pub(super) fn agree(
    input: &ConcreteInput,
    one: &[u64],
    other: &[u64],
    random: &mut Random,
) -> Option<ConcreteInput> {
    let (from, to) = match random.chance(0.5) {
        true => (one, other),
        false => (other, one),
    };
    let common = from.len().min(to.len());
    let mut shape = from.to_vec();
    match random.below(5) {
        0 => shape = to.to_vec(),
        1 => shape[..common].copy_from_slice(&to[..common]),
        2 => {
            let (start, theirs) = (from.len() - common, to.len() - common);
            shape[start..].copy_from_slice(&to[theirs..]);
        }
        3 if common > 0 => shape[0] = to[0],
        _ if !shape.is_empty() && !to.is_empty() => {
            // The second factor's rows are the first one's columns.
            let first = from == one;
            match (first, to.len().checked_sub(2), shape.len().checked_sub(2)) {
                (true, Some(rows), _) => *shape.last_mut()? = to[rows],
                (false, _, Some(rows)) => shape[rows] = *to.last()?,
                _ => *shape.last_mut()? = *to.last()?,
            }
        }
        _ => {}
    }
    let mut changed = input.clone();
    let layer = changed.layer_arguments.iter_mut().flatten();
    for argument in changed.arguments.iter_mut().chain(layer) {
        if let Some(new) = with_shape(&argument.value, from, &shape) {
            argument.value = new;
            return (changed != *input).then_some(changed);
        }
    }
    None
}

/// The value in another shape, where it has the first one: a tensor, or a list of as many numbers.
fn with_shape(value: &Value, from: &[u64], to: &[u64]) -> Option<Value> {
    match value {
        Value::Tensor(tensor) if tensor.shape == from => {
            Some(Value::Tensor(reshaped(tensor, tensor.dtype, to.to_vec())))
        }
        Value::NdArray(tensor) if tensor.shape == from => {
            Some(Value::NdArray(reshaped(tensor, tensor.dtype, to.to_vec())))
        }
        Value::List(_) | Value::Tuple(_) => {
            let tensor = as_tensor(value).filter(|tensor| tensor.shape == from)?;
            let new = reshaped(&tensor, tensor.dtype, to.to_vec());
            nested_list(&new, MAX_LISTED)
        }
        _ => None,
    }
}
