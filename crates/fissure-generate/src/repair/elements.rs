//! Elements of a tensor, changed to what is wanted of them.

use fissure_model::{Dtype, Scalar, TensorData, TensorValue, Value};
use fissure_solve::write_element;

/// Elements of a changed tensor at most; larger ones repeat the pattern they have.
const WRITTEN: u64 = 512;

/// Elements outside the bounds move to them.
pub(super) fn clamp(tensor: &mut TensorValue, lower: Option<f64>, upper: Option<f64>) -> bool {
    let scalars: Vec<Scalar> = tensor.pattern_scalars().collect();
    let mut bytes = Vec::with_capacity(tensor.data.pattern.len());
    for scalar in scalars {
        let inside = |number: f64| {
            let number = lower.map_or(number, |lower| number.max(lower));
            upper.map_or(number, |upper| number.min(upper))
        };
        let scalar = match scalar {
            Scalar::Int(number) => Scalar::Int(inside(number as f64) as i128),
            Scalar::Float(number) => Scalar::Float(inside(number)),
            other => other,
        };
        write_element(tensor.dtype, scalar, &mut bytes);
    }
    let changed = *bytes != *tensor.data.pattern;
    tensor.data = TensorData {
        pattern: bytes.into(),
    };
    changed
}

/// Elements that are one number become another one.
pub(super) fn replace_elements(tensor: &mut TensorValue, from: i64, to: i64) -> bool {
    let mut bytes = Vec::with_capacity(tensor.data.pattern.len());
    for scalar in tensor.pattern_scalars() {
        let scalar = match scalar {
            Scalar::Int(number) if number == i128::from(from) => Scalar::Int(to.into()),
            other => other,
        };
        write_element(tensor.dtype, converted(scalar, tensor.dtype), &mut bytes);
    }
    let changed = *bytes != *tensor.data.pattern;
    tensor.data = TensorData {
        pattern: bytes.into(),
    };
    changed
}

/// The same elements, the least first.
pub(super) fn in_order(tensor: &TensorValue) -> TensorValue {
    let mut scalars: Vec<(f64, Scalar)> = tensor
        .pattern_scalars()
        .map(|scalar| (fissure_solve::as_number(scalar).unwrap_or_default(), scalar))
        .collect();
    scalars.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut bytes = Vec::with_capacity(tensor.data.pattern.len());
    for (_, scalar) in scalars {
        write_element(tensor.dtype, scalar, &mut bytes);
    }
    TensorValue {
        data: TensorData {
            pattern: bytes.into(),
        },
        ..tensor.clone()
    }
}

/// The same elements, over and over, in another shape and type.
pub(crate) fn reshaped(tensor: &TensorValue, dtype: Dtype, shape: Vec<u64>) -> TensorValue {
    let elements = shape
        .iter()
        .try_fold(1_u64, |product, size| product.checked_mul(*size))
        .unwrap_or(u64::MAX);
    let known: Vec<Scalar> = tensor.pattern_scalars().collect();
    let count = if elements > WRITTEN { 251 } else { elements };
    let mut bytes = Vec::new();
    for at in 0..count {
        let scalar = match known.len() {
            0 => Scalar::Int(i128::from(at % 7) + 1),
            n => known[at as usize % n],
        };
        write_element(dtype, converted(scalar, dtype), &mut bytes);
    }
    TensorValue {
        dtype,
        shape,
        data: TensorData {
            pattern: bytes.into(),
        },
    }
}

fn converted(scalar: Scalar, dtype: Dtype) -> Scalar {
    let whole = dtype.integer_limits();
    match (scalar, whole) {
        (Scalar::Float(number), Some((least, most))) => {
            Scalar::Int((number as i128).clamp(least, most))
        }
        (Scalar::Complex(re, _), Some((least, most))) => {
            Scalar::Int((re as i128).clamp(least, most))
        }
        (Scalar::Int(number), Some((least, most))) => Scalar::Int(number.clamp(least, most)),
        (Scalar::Bool(value), _) => Scalar::Int(value.into()),
        (Scalar::Int(number), None) => Scalar::Float(number as f64),
        (Scalar::Complex(re, _), None) if !dtype.is_complex() => Scalar::Float(re),
        (other, _) => other,
    }
}

/// Nested lists of numbers as a tensor; `None` where they are not all of one length.
pub(super) fn as_tensor(value: &Value) -> Option<TensorValue> {
    let (Value::List(_) | Value::Tuple(_)) = value else {
        return None;
    };
    let mut scalars = Vec::new();
    let shape = shape_of(value, &mut scalars)?;
    let whole = scalars
        .iter()
        .all(|scalar| matches!(scalar, Scalar::Int(_)));
    let dtype = if whole { Dtype::Int32 } else { Dtype::Float32 };
    let mut bytes = Vec::new();
    for scalar in scalars {
        write_element(dtype, converted(scalar, dtype), &mut bytes);
    }
    Some(TensorValue {
        dtype,
        shape,
        data: TensorData {
            pattern: bytes.into(),
        },
    })
}

/// The shape of nested lists of numbers, and their numbers.
fn shape_of(value: &Value, scalars: &mut Vec<Scalar>) -> Option<Vec<u64>> {
    match value {
        Value::Int(number) => scalars.push(Scalar::Int(*number)),
        Value::Float(number) => scalars.push(Scalar::Float(*number)),
        Value::List(items) | Value::Tuple(items) => {
            let mut inner = None;
            for item in items {
                let shape = shape_of(item, scalars)?;
                if *inner.get_or_insert_with(|| shape.clone()) != shape {
                    return None;
                }
            }
            let mut shape = vec![items.len() as u64];
            shape.extend(inner?);
            return Some(shape);
        }
        _ => return None,
    }
    Some(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_lists_of_one_length_are_a_tensor_and_ragged_ones_are_not() {
        let row = |numbers: &[i128]| Value::List(numbers.iter().copied().map(Value::Int).collect());
        let even = Value::List(vec![row(&[1, 2, 3]), row(&[4, 5, 6])]);
        let tensor = as_tensor(&even).unwrap();
        assert_eq!((tensor.dtype, tensor.shape), (Dtype::Int32, vec![2, 3]));
        let ragged = Value::List(vec![row(&[1, 2]), row(&[3])]);
        assert_eq!(as_tensor(&ragged), None);
        assert_eq!(as_tensor(&Value::Int(1)), None);
    }
}
