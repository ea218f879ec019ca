//! Calls one step away from a known one: where the boundary of what is accepted lies.

use fissure_model::{Dtype, Scalar, TensorData, TensorValue, Value};
use fissure_solve::{Random, write_element};

use crate::params::Call;

/// The types that are tried. The others (unsigned beyond one byte, 8-bit floats) are supported by
/// so few operators that rules would be about little else.
pub(crate) const DTYPES: [Dtype; 12] = [
    Dtype::Float32,
    Dtype::Float64,
    Dtype::Int64,
    Dtype::Int32,
    Dtype::Bool,
    Dtype::Float16,
    Dtype::Bfloat16,
    Dtype::Complex64,
    Dtype::Complex128,
    Dtype::Uint8,
    Dtype::Int8,
    Dtype::Int16,
];
const SIZES: [u64; 9] = [0, 1, 2, 3, 4, 5, 7, 8, 12];
const WHOLES: [i128; 12] = [0, 1, -1, 2, -2, 3, -3, 4, 5, 8, 16, -6];
const REALS: [f64; 12] = [
    0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 1e-5, 10.0, 0.1, -3.0, 1.5, 100.0,
];
/// Elements of a mutated tensor at most; what is larger costs more than it tells.
const MAXIMUM_ELEMENTS: u64 = 1 << 15;

/// A call that differs from `base` in one step. `others` lend their arguments.
pub(crate) fn mutate(base: &Call, others: &[Call], random: &mut Random) -> Call {
    let mut call = base.clone();
    for _ in 0..8 {
        match random.below(10) {
            0 => resize_everywhere(&mut call, random),
            1 => recast_everywhere(&mut call, random),
            2 => lend(&mut call, others, random),
            3 => leave_out(&mut call, random),
            _ => change_one(&mut call, random),
        }
        if call != *base {
            break;
        }
    }
    call
}

/// One size becomes another wherever it occurs: what belongs together stays together.
fn resize_everywhere(call: &mut Call, random: &mut Random) {
    let mut sizes = Vec::new();
    for value in call.values.iter().flatten() {
        value.walk(&mut |part| {
            if let Value::Tensor(tensor) = part {
                sizes.extend_from_slice(&tensor.shape);
            }
        });
    }
    if sizes.is_empty() {
        return;
    }
    let old = *random.pick(&sizes);
    let new = *random.pick(&SIZES);
    let numbers = random.chance(0.5);
    for value in call.values.iter_mut().flatten() {
        each(value, &mut |part| match part {
            Value::Tensor(tensor) => {
                let mut shape = tensor.shape.clone();
                for dim in shape.iter_mut().filter(|dim| **dim == old) {
                    *dim = new;
                }
                reshape(tensor, shape);
            }
            Value::Int(number) if numbers && *number == i128::from(old) => {
                *number = new.into();
            }
            _ => {}
        });
    }
}

fn recast_everywhere(call: &mut Call, random: &mut Random) {
    let mut dtypes = Vec::new();
    for value in call.values.iter().flatten() {
        value.walk(&mut |part| {
            if let Value::Tensor(tensor) = part {
                dtypes.push(tensor.dtype);
            }
        });
    }
    if dtypes.is_empty() {
        return;
    }
    let old = *random.pick(&dtypes);
    let new = *random.pick(&DTYPES);
    for value in call.values.iter_mut().flatten() {
        each(value, &mut |part| {
            if let Value::Tensor(tensor) = part
                && tensor.dtype == old
            {
                recast(tensor, new);
            }
        });
    }
}

/// Takes one argument from another call.
fn lend(call: &mut Call, others: &[Call], random: &mut Random) {
    if others.is_empty() || call.values.is_empty() {
        return;
    }
    let at = random.index(call.values.len());
    call.values[at] = random.pick(others).values[at].clone();
}

fn leave_out(call: &mut Call, random: &mut Random) {
    // The first argument is the subject of nearly every API.
    if call.values.len() > 1 {
        let at = 1 + random.index(call.values.len() - 1);
        call.values[at] = None;
    }
}

fn change_one(call: &mut Call, random: &mut Random) {
    let given: Vec<usize> = (0..call.values.len())
        .filter(|at| call.values[*at].is_some())
        .collect();
    if given.is_empty() {
        return;
    }
    if let Some(value) = &mut call.values[*random.pick(&given)] {
        change(value, random);
    }
}

fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Bool(truth) => *truth = !*truth,
        Value::Int(number) => *number = whole(*number, random),
        Value::Float(number) => {
            *number = if random.chance(0.2) {
                -*number
            } else {
                *random.pick(&REALS)
            }
        }
        Value::Text(text) => {
            if random.chance(0.5) {
                text.push('x');
            } else {
                text.clear();
            }
        }
        Value::Dtype(dtype) => *dtype = *random.pick(&DTYPES),
        Value::Tensor(tensor) => change_tensor(tensor, random),
        Value::List(items) => change_list(items, random),
        _ => {}
    }
}

fn whole(number: i128, random: &mut Random) -> i128 {
    match random.below(6) {
        0 => number + 1,
        1 => number - 1,
        2 => -number,
        3 => number * 2,
        _ => *random.pick(&WHOLES),
    }
}

fn change_list(items: &mut Vec<Value>, random: &mut Random) {
    match random.below(8) {
        0 => items.clear(),
        1 | 2 if !items.is_empty() => {
            let at = random.index(items.len());
            items.remove(at);
        }
        3 | 4 if !items.is_empty() => {
            let copy = random.pick(items).clone();
            let at = random.index(items.len() + 1);
            items.insert(at, copy);
        }
        5 if items.len() > 1 => items.reverse(),
        _ if !items.is_empty() => {
            let at = random.index(items.len());
            change(&mut items[at], random);
        }
        _ => {}
    }
}

fn change_tensor(tensor: &mut TensorValue, random: &mut Random) {
    let rank = tensor.shape.len();
    let mut shape = tensor.shape.clone();
    match random.below(12) {
        0 | 1 => recast(tensor, *random.pick(&DTYPES)),
        2 => shape.insert(random.index(rank + 1), 1),
        3 => shape.insert(random.index(rank + 1), *random.pick(&SIZES)),
        4 | 5 if rank > 0 => {
            shape.remove(random.index(rank));
        }
        6 if rank > 1 => shape.swap(random.index(rank), random.index(rank)),
        7 if rank > 0 => {
            let at = random.index(rank);
            shape[at] += 1;
        }
        8 if rank > 0 => {
            let at = random.index(rank);
            shape[at] = shape[at].saturating_sub(1);
        }
        9 => shift(tensor, random),
        10 => scale(tensor, random),
        _ if rank > 0 => {
            let at = random.index(rank);
            shape[at] = *random.pick(&SIZES);
        }
        _ => {}
    }
    reshape(tensor, shape);
}

/// Adds the same to all elements: bounds of elements are found so.
fn shift(tensor: &mut TensorValue, random: &mut Random) {
    let by = *random.pick(&[-8.0, -2.0, -1.0, 1.0, 2.0, 8.0]);
    change_elements(tensor, |number| number + by);
}

fn scale(tensor: &mut TensorValue, random: &mut Random) {
    let by = *random.pick(&[-1.0, 0.0, 0.5, 2.0, 10.0]);
    change_elements(tensor, |number| number * by);
}

fn change_elements(tensor: &mut TensorValue, change: impl Fn(f64) -> f64) {
    let mut bytes = Vec::with_capacity(tensor.data.pattern.len());
    for scalar in tensor.pattern_scalars() {
        let changed = match scalar {
            Scalar::Bool(value) => Scalar::Bool(!value),
            Scalar::Int(value) => Scalar::Int(within(tensor.dtype, change(value as f64))),
            Scalar::Float(value) => Scalar::Float(change(value)),
            Scalar::Complex(re, im) => Scalar::Complex(change(re), im),
        };
        write_element(tensor.dtype, changed, &mut bytes);
    }
    tensor.data.pattern = bytes.into();
}

fn within(dtype: Dtype, number: f64) -> i128 {
    let (least, largest) = dtype.integer_limits().unwrap_or((i128::MIN, i128::MAX));
    (number as i128).clamp(least, largest)
}

/// The same numbers, as far as the type holds them.
fn recast(tensor: &mut TensorValue, dtype: Dtype) {
    let mut bytes = Vec::new();
    for scalar in tensor.pattern_scalars() {
        let number = match scalar {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) | Scalar::Complex(value, _) => value,
        };
        let scalar = if dtype == Dtype::Bool {
            Scalar::Bool(number != 0.0)
        } else if dtype.is_integer() {
            Scalar::Int(within(dtype, number))
        } else if dtype.is_complex() {
            Scalar::Complex(number, 0.0)
        } else {
            Scalar::Float(number)
        };
        write_element(dtype, scalar, &mut bytes);
    }
    tensor.dtype = dtype;
    tensor.data = TensorData {
        pattern: bytes.into(),
    };
}

/// Another shape over the same elements, repeated or cut.
fn reshape(tensor: &mut TensorValue, shape: Vec<u64>) {
    let elements = shape
        .iter()
        .try_fold(1u64, |product, dim| product.checked_mul(*dim))
        .filter(|elements| *elements <= MAXIMUM_ELEMENTS);
    let (Some(elements), Some(size)) = (elements, tensor.dtype.size()) else {
        return;
    };
    let wanted = elements as usize * size;
    let mut bytes = tensor.data.pattern.to_vec();
    if bytes.is_empty() && wanted > 0 {
        let one = match tensor.dtype {
            Dtype::Bool => Scalar::Bool(true),
            dtype if dtype.is_integer() => Scalar::Int(1),
            dtype if dtype.is_complex() => Scalar::Complex(1.0, 0.0),
            _ => Scalar::Float(1.0),
        };
        write_element(tensor.dtype, one, &mut bytes);
    }
    bytes.truncate(wanted);
    tensor.shape = shape;
    tensor.data.pattern = bytes.into();
}

/// Calls `visit` on every value inside, leaves last.
fn each(value: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    if let Value::List(items) = value {
        items.iter_mut().for_each(|item| each(item, visit));
    }
    visit(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[u64], elements: &[f32]) -> TensorValue {
        TensorValue {
            dtype: Dtype::Float32,
            shape: shape.to_vec(),
            data: TensorData {
                pattern: elements
                    .iter()
                    .flat_map(|e| e.to_le_bytes())
                    .collect::<Vec<_>>()
                    .into(),
            },
        }
    }

    #[test]
    fn every_mutant_has_whole_elements_and_differs_from_its_base() {
        let base = Call {
            values: vec![
                Some(Value::Tensor(tensor(&[2, 2], &[0.5, 1.0, 2.0, -3.0]))),
                Some(Value::List(vec![Value::Int(2), Value::Int(1)])),
                None,
            ],
        };
        let mut random = Random::new(Random::key(1, "mutate"), 0);
        let mut same = 0;
        for _ in 0..3000 {
            let mutant = mutate(&base, std::slice::from_ref(&base), &mut random);
            same += usize::from(mutant == base);
            for value in mutant.values.iter().flatten() {
                value.walk(&mut |part| {
                    if let Value::Tensor(tensor) = part {
                        let size = tensor.dtype.size().unwrap();
                        let length = tensor.data.pattern.len();
                        assert_eq!(length % size, 0);
                        assert_eq!(length == 0, tensor.elements() == Some(0), "{tensor:?}");
                        assert!(length as u64 <= tensor.byte_len().unwrap());
                    }
                });
            }
        }
        assert!(same < 30, "{same} of 3000 are the base itself");
    }

    #[test]
    fn a_cast_keeps_numbers_and_clamps_what_does_not_fit() {
        let mut value = tensor(&[2], &[-3.0, 300.0]);
        recast(&mut value, Dtype::Uint8);
        assert_eq!(&value.data.pattern[..], [0, 255]);
    }
}
