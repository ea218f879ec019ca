//! Several values at once: sizes, types and ranks that have to agree can only change together.

use std::collections::BTreeSet;

use fissure_model::{ConcreteInput, Dtype, TensorValue, Value};

use super::number::{simpler_integers, smaller_sizes};
use super::place::places;
use super::tensor::{
    converted, like, resized, simpler_dtypes, tensor_of, tensors, uniform, without_axis,
};

/// Every tensor changed by `change`; `None` when that changes nothing.
fn all(
    input: &ConcreteInput,
    change: impl Fn(&TensorValue) -> Option<TensorValue>,
) -> Option<ConcreteInput> {
    let mut changed = input.clone();
    for (place, tensor) in tensors(input) {
        if let Some(new) = change(&tensor) {
            let value = like(place.get(input), new);
            place.put(&mut changed, value);
        }
    }
    (changed != *input).then_some(changed)
}

fn only(group: usize, candidates: Vec<Option<ConcreteInput>>) -> Option<Vec<ConcreteInput>> {
    (group == 0).then(|| candidates.into_iter().flatten().collect())
}

/// All elements of all tensors 0, or 1.
pub(super) fn plain_tensors(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let is_zero = |tensor: &TensorValue| tensor.data.pattern.iter().all(|byte| *byte == 0);
    let zeros = all(input, |tensor| uniform(tensor, 0.0));
    // Never from zeros to ones: that would go round in circles.
    let ones = all(input, |tensor| {
        uniform(tensor, 1.0).filter(|_| !is_zero(tensor))
    });
    only(group, vec![zeros, ones])
}

/// All dimensions of all tensors 1 (those that are 0 may be the reason, and stay).
pub(super) fn smallest_tensors(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let to = |limit: u64| {
        all(input, |tensor| {
            let axes: Vec<(usize, u64)> = tensor
                .shape
                .iter()
                .enumerate()
                .filter(|(_, size)| **size > limit)
                .map(|(axis, _)| (axis, limit))
                .collect();
            (!axes.is_empty()).then(|| resized(tensor, &axes))
        })
    };
    only(group, vec![to(1), to(2), to(4)])
}

/// All sizes above 1 less by the same number: sizes that differ and keep an order (`m ≥ n ≥ k`)
/// can only become smaller together.
pub(super) fn lesser_sizes(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let smallest = tensors(input)
        .iter()
        .flat_map(|(_, tensor)| tensor.shape.clone())
        .filter(|size| *size > 1)
        .min();
    let mut candidates = Vec::new();
    let mut less = smallest.map_or(0, |size| size - 1);
    while less > 0 {
        candidates.push(all(input, |tensor| {
            let axes: Vec<(usize, u64)> = tensor
                .shape
                .iter()
                .enumerate()
                .filter(|(_, size)| **size > 1)
                .map(|(axis, size)| (axis, size - less))
                .collect();
            (!axes.is_empty()).then(|| resized(tensor, &axes))
        }));
        less /= 2;
    }
    only(group, candidates)
}

/// All tensors and dtype objects of one type to a simpler one: a group per type.
pub(super) fn dtypes(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let mut found: BTreeSet<&'static str> = BTreeSet::new();
    let mut present: Vec<Dtype> = Vec::new();
    for place in places(input) {
        let dtype = match place.get(input) {
            Value::Dtype(dtype) => Some(*dtype),
            value => tensor_of(value).map(|tensor| tensor.dtype),
        };
        if let Some(dtype) = dtype
            && found.insert(dtype.name())
        {
            present.push(dtype);
        }
    }
    let from = *present.get(group)?;
    let candidates = simpler_dtypes(from)
        .iter()
        .filter_map(|to| {
            let mut changed = input.clone();
            for place in places(input) {
                let value = place.get(input);
                let new = match value {
                    Value::Dtype(dtype) if *dtype == from => Value::Dtype(*to),
                    value => match tensor_of(value).filter(|tensor| tensor.dtype == from) {
                        Some(tensor) => like(value, converted(tensor, *to)?),
                        None => continue,
                    },
                };
                place.put(&mut changed, new);
            }
            Some(changed)
        })
        .collect();
    Some(candidates)
}

/// One dimension less for every tensor that has it: counted from the front, then from the back.
pub(super) fn ranks(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let most = tensors(input)
        .iter()
        .map(|(_, tensor)| tensor.shape.len())
        .max()
        .unwrap_or(0);
    let mut candidates = Vec::new();
    for axis in 0..most {
        candidates.push(all(input, |tensor| {
            (axis < tensor.shape.len()).then(|| without_axis(tensor, axis))
        }));
        candidates.push(all(input, |tensor| {
            let axis = tensor.shape.len().checked_sub(axis + 1)?;
            Some(without_axis(tensor, axis))
        }));
    }
    only(group, candidates)
}

/// A group per size that occurs: smaller wherever it occurs in a tensor, alone or together with
/// the integers that equal it.
pub(super) fn sizes(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let mut present: Vec<u64> = tensors(input)
        .iter()
        .flat_map(|(_, tensor)| tensor.shape.clone())
        .filter(|size| *size != 1)
        .collect();
    present.sort_unstable_by(|left, right| right.cmp(left));
    present.dedup();
    let from = *present.get(group)?;
    let mut candidates = Vec::new();
    for to in smaller_sizes(from) {
        let tensors_only = all(input, |tensor| {
            let axes: Vec<(usize, u64)> = tensor
                .shape
                .iter()
                .enumerate()
                .filter(|(_, size)| **size == from)
                .map(|(axis, _)| (axis, to))
                .collect();
            (!axes.is_empty()).then(|| resized(tensor, &axes))
        });
        let Some(tensors_only) = tensors_only else {
            continue;
        };
        let with_numbers = from_to(&tensors_only, from.into(), to.into());
        candidates.push(tensors_only);
        // From 0 to 1 would make a number less simple, and then back again without end.
        candidates.extend(with_numbers.filter(|_| to < from));
    }
    Some(candidates)
}

/// Two dimensions of equal size, of one or of two tensors, or a dimension and an integer that
/// equals it: a group per pair. For sizes that agree by chance with others that must stay.
pub(super) fn pairs(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let mut sizes = Vec::new();
    for (place, tensor) in tensors(input) {
        for (axis, size) in tensor.shape.iter().enumerate() {
            if *size != 1 {
                sizes.push((place.clone(), Some(axis), *size));
            }
        }
    }
    for place in places(input) {
        if let Value::Int(number) = place.get(input)
            && let Ok(size @ 2..) = u64::try_from(*number)
        {
            sizes.push((place, None, size));
        }
    }
    let mut found = Vec::new();
    for (at, (place, axis, size)) in sizes.iter().enumerate() {
        for (other, other_axis, other_size) in &sizes[at + 1..] {
            if size == other_size && axis.is_some() {
                found.push([(place, *axis), (other, *other_axis)]);
            }
        }
    }
    let [one, other] = found.get(group)?;
    let from = tensor_of(one.0.get(input))?.shape[one.1?];
    let candidates = smaller_sizes(from)
        .into_iter()
        .filter(|to| *to < from)
        .map(|to| {
            let mut changed = input.clone();
            for (place, axis) in [one, other] {
                let value = place.get(&changed);
                let new = match (axis, tensor_of(value)) {
                    (Some(axis), Some(tensor)) => like(value, resized(tensor, &[(*axis, to)])),
                    _ => Value::Int(to.into()),
                };
                place.put(&mut changed, new);
            }
            changed
        })
        .collect();
    Some(candidates)
}

/// A group per integer that occurs more than once: simpler in all places together.
pub(super) fn integers(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    let mut present: Vec<i128> = places(input)
        .iter()
        .filter_map(|place| match place.get(input) {
            Value::Int(number) => Some(*number),
            _ => None,
        })
        .collect();
    present.sort_unstable();
    let mut repeated: Vec<i128> = present
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    repeated.dedup();
    let from = *repeated.get(group)?;
    Some(
        simpler_integers(from)
            .into_iter()
            .filter_map(|to| from_to(input, from, to))
            .collect(),
    )
}

/// Every integer `from` replaced; `None` when there is none.
fn from_to(input: &ConcreteInput, from: i128, to: i128) -> Option<ConcreteInput> {
    let mut changed = input.clone();
    let mut any = false;
    for place in places(input) {
        if *place.get(input) == Value::Int(from) {
            place.put(&mut changed, Value::Int(to));
            any = true;
        }
    }
    any.then_some(changed)
}
