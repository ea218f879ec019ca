//! Simpler tensors, one at a time.

use std::sync::Arc;

use fissure_model::{ConcreteInput, Dtype, Scalar, TensorData, TensorValue, Value};

use super::number::{simpler_floats, simpler_integers, smaller_sizes};
use super::place::{Place, places};

/// Elements that are simplified one by one, and up to which a part of a tensor is cut out exactly.
const FEW: usize = 64;
const WHOLE: u64 = 1 << 16;

/// The tensors of an input, in order.
pub(crate) fn tensors(input: &ConcreteInput) -> Vec<(Place, TensorValue)> {
    places(input)
        .into_iter()
        .filter_map(|place| {
            let tensor = tensor_of(place.get(input))?.clone();
            Some((place, tensor))
        })
        .collect()
}

pub(crate) fn tensor_of(value: &Value) -> Option<&TensorValue> {
    match value {
        Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
            Some(tensor)
        }
        _ => None,
    }
}

/// The same kind of value with another tensor in it.
pub(crate) fn like(value: &Value, tensor: TensorValue) -> Value {
    match value {
        Value::SparseTensor(_) => Value::SparseTensor(tensor),
        Value::NdArray(_) => Value::NdArray(tensor),
        _ => Value::Tensor(tensor),
    }
}

fn each(
    input: &ConcreteInput,
    group: usize,
    simpler: impl Fn(&TensorValue) -> Vec<TensorValue>,
) -> Option<Vec<ConcreteInput>> {
    let (place, tensor) = tensors(input).into_iter().nth(group)?;
    Some(
        simpler(&tensor)
            .into_iter()
            .map(|tensor| place.with(input, like(place.get(input), tensor)))
            .collect(),
    )
}

/// Elements: all 0, all 1, all like the first; then parts to 0 and single elements simpler.
pub(crate) fn values(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    each(input, group, simpler_values)
}

pub(crate) fn dtype(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    each(input, group, |tensor| {
        simpler_dtypes(tensor.dtype)
            .iter()
            .filter_map(|dtype| converted(tensor, *dtype))
            .collect()
    })
}

/// One dimension less.
pub(crate) fn ranks(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    each(input, group, |tensor| {
        (0..tensor.shape.len())
            .map(|axis| without_axis(tensor, axis))
            .collect()
    })
}

/// One dimension smaller.
pub(crate) fn sizes(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    each(input, group, |tensor| {
        let mut found = Vec::new();
        for (axis, size) in tensor.shape.iter().enumerate() {
            for smaller in smaller_sizes(*size) {
                found.push(resized(tensor, &[(axis, smaller)]));
                // The element that matters may be at the end.
                if !is_uniform(tensor) && smaller < *size {
                    found.push(end_of(tensor, axis, smaller));
                }
            }
        }
        found
    })
}

/// Types that are simpler than this one, simplest first.
pub(crate) fn simpler_dtypes(dtype: Dtype) -> &'static [Dtype] {
    const ORDER: [Dtype; 3] = [Dtype::Float32, Dtype::Int64, Dtype::Float64];
    let rank = ORDER
        .iter()
        .position(|one| *one == dtype)
        // The usual integer is as good as it gets for a small integer or a truth value.
        .unwrap_or(2);
    &ORDER[..rank]
}

/// All elements are the same one.
fn is_uniform(tensor: &TensorValue) -> bool {
    let Some(size) = tensor.dtype.size() else {
        return true;
    };
    let mut elements = tensor.data.pattern.chunks_exact(size);
    let first = elements.next();
    elements.all(|element| Some(element) == first)
}

/// Every element is `number`; `None` for types without a flat form.
pub(crate) fn uniform(tensor: &TensorValue, number: f64) -> Option<TensorValue> {
    let element = encode(tensor.dtype, Scalar::Float(number))?;
    Some(with_pattern(tensor, element))
}

fn with_pattern(tensor: &TensorValue, pattern: Vec<u8>) -> TensorValue {
    let empty = tensor.elements() == Some(0);
    TensorValue {
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        data: TensorData {
            pattern: if empty { Arc::from([]) } else { pattern.into() },
        },
    }
}

fn simpler_values(tensor: &TensorValue) -> Vec<TensorValue> {
    let Some(size) = tensor.dtype.size().filter(|size| *size > 0) else {
        return Vec::new();
    };
    let pattern = &tensor.data.pattern;
    let (Some(zero), Some(one)) = (
        encode(tensor.dtype, Scalar::Int(0)),
        encode(tensor.dtype, Scalar::Int(1)),
    ) else {
        return Vec::new();
    };
    let elements: Vec<&[u8]> = pattern.chunks_exact(size).collect();
    let Some(first) = elements.first() else {
        return Vec::new();
    };
    if is_uniform(tensor) {
        let mut found = Vec::new();
        if elements.len() > 1 {
            found.push(with_pattern(tensor, first.to_vec()));
        }
        let simpler = simpler_elements(tensor.dtype, first);
        found.extend(simpler.into_iter().map(|one| with_pattern(tensor, one)));
        return found;
    }
    let mut found = vec![
        with_pattern(tensor, zero.clone()),
        with_pattern(tensor, one.clone()),
        with_pattern(tensor, first.to_vec()),
    ];
    if elements.len() > 16 * FEW {
        return found;
    }
    let replaced = |range: std::ops::Range<usize>, element: &[u8]| {
        let mut bytes = pattern.to_vec();
        for at in range {
            bytes[at * size..(at + 1) * size].copy_from_slice(element);
        }
        with_pattern(tensor, bytes)
    };
    for plain in [&zero, &one] {
        let mut part = elements.len().div_ceil(2);
        loop {
            for start in (0..elements.len()).step_by(part) {
                let end = elements.len().min(start + part);
                let settled = |element: &&&[u8]| **element == &zero[..] || **element == &one[..];
                // A part that is plain already would only change places.
                if !elements[start..end].iter().all(|element| settled(&element)) {
                    found.push(replaced(start..end, plain));
                }
            }
            if part == 1 || part * FEW <= elements.len() {
                break;
            }
            part = part.div_ceil(2);
        }
    }
    if elements.len() <= FEW {
        for (at, element) in elements.iter().enumerate() {
            for simpler in simpler_elements(tensor.dtype, element) {
                found.push(replaced(at..at + 1, &simpler));
            }
        }
    }
    found
}

fn simpler_elements(dtype: Dtype, element: &[u8]) -> Vec<Vec<u8>> {
    let scalars: Vec<Scalar> = match Scalar::decode(dtype, element) {
        Some(Scalar::Bool(true)) => vec![Scalar::Bool(false)],
        Some(Scalar::Int(number)) => simpler_integers(number)
            .into_iter()
            .map(Scalar::Int)
            .collect(),
        Some(Scalar::Float(number)) => simpler_floats(shortest(dtype, number))
            .into_iter()
            .map(Scalar::Float)
            .collect(),
        Some(Scalar::Complex(re, im)) if im != 0.0 => {
            vec![Scalar::Complex(re, 0.0), Scalar::Complex(im, 0.0)]
        }
        Some(Scalar::Complex(re, _)) => simpler_floats(shortest(dtype, re))
            .into_iter()
            .map(|re| Scalar::Complex(re, 0.0))
            .collect(),
        Some(Scalar::Bool(false)) | None => Vec::new(),
    };
    let mut found: Vec<Vec<u8>> = Vec::new();
    for bytes in scalars
        .into_iter()
        .filter_map(|scalar| encode(dtype, scalar))
    {
        // Narrow types round several proposals to one, or to the element itself.
        if bytes != element && !found.contains(&bytes) {
            found.push(bytes);
        }
    }
    found
}

/// The number as a person would write it: `0.1` for a 32-bit `0.10000000149`.
fn shortest(dtype: Dtype, number: f64) -> f64 {
    match dtype {
        Dtype::Float64 | Dtype::Complex128 => number,
        _ => (number as f32).to_string().parse().unwrap_or(number),
    }
}

/// One element; `None` when the type has no flat form, or the number no place in it.
pub(crate) fn encode(dtype: Dtype, scalar: Scalar) -> Option<Vec<u8>> {
    let (re, im) = match scalar {
        Scalar::Bool(truth) => (f64::from(u8::from(truth)), 0.0),
        Scalar::Int(number) => (number as f64, 0.0),
        Scalar::Float(number) => (number, 0.0),
        Scalar::Complex(re, im) => (re, im),
    };
    if let Some((low, high)) = dtype.integer_limits() {
        let number = match scalar {
            Scalar::Int(number) => number,
            _ if re.is_finite() => re as i128,
            _ => 0,
        };
        let number = number.clamp(low, high);
        let bytes = number.to_le_bytes();
        return Some(bytes[..dtype.size()?].to_vec());
    }
    Some(match dtype {
        Dtype::Bool => vec![u8::from(re != 0.0)],
        Dtype::Float32 => (re as f32).to_le_bytes().to_vec(),
        Dtype::Float64 => re.to_le_bytes().to_vec(),
        Dtype::Float16 => half::f16::from_f64(re).to_le_bytes().to_vec(),
        Dtype::Bfloat16 => half::bf16::from_f64(re).to_le_bytes().to_vec(),
        Dtype::Complex64 => [(re as f32).to_le_bytes(), (im as f32).to_le_bytes()].concat(),
        Dtype::Complex128 => [re.to_le_bytes(), im.to_le_bytes()].concat(),
        // The upper half of a float16: exact for the plain numbers that are put here.
        Dtype::Float8E5m2 => vec![(half::f16::from_f64(re).to_bits() >> 8) as u8],
        _ if re == 0.0 => vec![0; dtype.size()?],
        _ => return None,
    })
}

/// The same numbers in another type.
pub(crate) fn converted(tensor: &TensorValue, dtype: Dtype) -> Option<TensorValue> {
    let mut pattern = Vec::new();
    for scalar in tensor.pattern_scalars() {
        pattern.extend(encode(dtype, scalar)?);
    }
    (pattern.is_empty() == tensor.data.pattern.is_empty()).then(|| TensorValue {
        dtype,
        shape: tensor.shape.clone(),
        data: TensorData {
            pattern: pattern.into(),
        },
    })
}

/// The last part along one axis.
fn end_of(tensor: &TensorValue, axis: usize, size: u64) -> TensorValue {
    let start = tensor.shape[axis] - size;
    part(tensor, &[(axis, size)], Some((axis, start)))
}

/// Without one dimension: its first slice.
pub(crate) fn without_axis(tensor: &TensorValue, axis: usize) -> TensorValue {
    let mut cut = resized(tensor, &[(axis, 1)]);
    cut.shape.remove(axis);
    cut
}

/// With other sizes along some axes: the first part where it becomes smaller, the last elements
/// again where it becomes larger, zeros where an empty tensor gets its first elements.
pub(crate) fn resized(tensor: &TensorValue, axes: &[(usize, u64)]) -> TensorValue {
    part(tensor, axes, None)
}

/// [`resized`], with the axis and position at which one of the parts begins, if not at 0.
fn part(tensor: &TensorValue, axes: &[(usize, u64)], start: Option<(usize, u64)>) -> TensorValue {
    let mut shape = tensor.shape.clone();
    for (axis, size) in axes {
        shape[*axis] = *size;
    }
    let mut changed = TensorValue {
        dtype: tensor.dtype,
        shape,
        data: tensor.data.clone(),
    };
    let Some(size) = tensor.dtype.size() else {
        return changed;
    };
    let new = changed.elements().unwrap_or(u64::MAX);
    let old = tensor.elements().unwrap_or(u64::MAX);
    if new == 0 {
        changed.data.pattern = Arc::from([]);
    } else if old == 0 {
        changed.data.pattern = vec![0; size].into();
    } else if !is_uniform(tensor) {
        let pattern = &tensor.data.pattern;
        let length = (pattern.len() / size) as u64;
        let bytes: Vec<u8> = if new <= WHOLE {
            (0..new)
                .flat_map(|at| {
                    let from = index_in(at, &changed.shape, &tensor.shape, start) % length;
                    let from = from as usize;
                    pattern[from * size..(from + 1) * size].iter().copied()
                })
                .collect()
        } else {
            pattern.to_vec()
        };
        changed.data.pattern = bytes.into();
    }
    changed
}

/// Position in the old tensor of the element at position `at` of the new one.
fn index_in(mut at: u64, new: &[u64], old: &[u64], start: Option<(usize, u64)>) -> u64 {
    let mut position = 0u64;
    let mut stride = 1u64;
    for (axis, (new, old)) in new.iter().zip(old).enumerate().rev() {
        let offset = start
            .filter(|(started, _)| *started == axis)
            .map_or(0, |(_, offset)| offset);
        let index = (at % new + offset).min(old - 1);
        position = position.wrapping_add(index.wrapping_mul(stride));
        at /= new;
        stride = stride.wrapping_mul(*old);
    }
    position
}
