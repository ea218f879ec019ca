//! Another input near a rejected one: one argument becomes something else.

use fissure_model::{
    Argument, ConcreteInput, Dtype, Passing, Scalar, TensorData, TensorValue, Value,
};
use fissure_solve::{Random, write_element};

use super::apply::{argument, argument_mut};
use super::elements::reshaped;

const DTYPES: [Dtype; 8] = [
    Dtype::Float32,
    Dtype::Float32,
    Dtype::Int64,
    Dtype::Int32,
    Dtype::Bool,
    Dtype::Float64,
    Dtype::Complex64,
    Dtype::Uint8,
];
const WORDS: [&str; 8] = [
    "mean", "sum", "none", "same", "valid", "nearest", "constant", "float32",
];

/// How often a tensor becomes like another one of the call.
const LIKE_ANOTHER: f64 = 0.25;

/// How often the argument is changed that the rejection is about.
const BLAMED: f64 = 0.6;

/// Changes one argument, sometimes two; most often the one that the rejection is about, where that is known.
pub(super) fn explored(
    input: &ConcreteInput,
    about: Option<&str>,
    random: &mut Random,
) -> ConcreteInput {
    let mut input = input.clone();
    if random.chance(0.1) {
        // An argument that is always refused goes with the others.
        input = least(&input);
    }
    for _ in 0..1 + u64::from(random.chance(0.35)) {
        let own = input.arguments.len();
        let count = own + input.layer_arguments.as_ref().map_or(0, Vec::len);
        if count == 0 {
            break;
        }
        let blamed = (0..count).find(|at| Some(argument(&input, *at).name.as_str()) == about);
        let at = match blamed.filter(|_| random.chance(BLAMED)) {
            Some(at) => at,
            None => random.index(count),
        };
        let numbers = numbers(&input);
        if argument(&input, at).passing == Passing::Keyword && random.chance(0.15) {
            if at < own {
                input.arguments.remove(at);
            } else if let Some(layer) = &mut input.layer_arguments {
                layer.remove(at - own);
            }
            continue;
        }
        if random.chance(LIKE_ANOTHER)
            && let Some(alike) = like_another(&input, at, random)
        {
            input = alike;
            continue;
        }
        let value = &mut argument_mut(&mut input, at).value;
        *value = other(value, &numbers, random);
    }
    if random.chance(0.12) {
        number_by_sizes(&mut input);
    }
    input
}

/// The least that can be called: without what is given by keyword.
pub(super) fn least(input: &ConcreteInput) -> ConcreteInput {
    let mut input = input.clone();
    let least = |arguments: &mut Vec<Argument>| {
        arguments.retain(|argument| argument.passing == Passing::Positional);
    };
    least(&mut input.arguments);
    input.layer_arguments.as_mut().map(least);
    input
}

/// A tensor gets the shape of another one of the call, or its element type.
pub(super) fn like_another(
    input: &ConcreteInput,
    at: usize,
    random: &mut Random,
) -> Option<ConcreteInput> {
    let tensor = |at: usize| match &argument(input, at).value {
        Value::Tensor(tensor) | Value::NdArray(tensor) => Some(tensor),
        _ => None,
    };
    let own = tensor(at)?;
    let count = input.arguments.len() + input.layer_arguments.as_ref().map_or(0, Vec::len);
    let others: Vec<&TensorValue> = (0..count)
        .filter_map(|other| tensor(other).filter(|_| other != at))
        .filter(|other| (other.dtype, &other.shape) != (own.dtype, &own.shape))
        .collect();
    if others.is_empty() {
        return None;
    }
    let other = *random.pick(&others);
    let new = if other.shape == own.shape || random.chance(0.2) {
        reshaped(own, other.dtype, own.shape.clone())
    } else {
        reshaped(own, own.dtype, other.shape.clone())
    };
    let mut changed = input.clone();
    if let Value::Tensor(tensor) | Value::NdArray(tensor) =
        &mut argument_mut(&mut changed, at).value
    {
        *tensor = new;
    }
    (changed != *input).then_some(changed)
}

/// Plain whole numbers become the sizes of the first tensor, in order: each alone may be refused as
/// long as the others do not agree with it. The last one is what is left of the tensor.
fn number_by_sizes(input: &mut ConcreteInput) {
    let own = input.arguments.len();
    let count = own + input.layer_arguments.as_ref().map_or(0, Vec::len);
    let plain: Vec<usize> = (0..count)
        .filter(|at| matches!(argument(input, *at).value, Value::Int(_)))
        .collect();
    let first = (0..count).find_map(|at| match &argument(input, at).value {
        Value::Tensor(tensor) | Value::NdArray(tensor) => Some(tensor.shape.clone()),
        _ => None,
    });
    let Some(shape) = first.filter(|shape| !shape.is_empty()) else {
        return;
    };
    let mut sizes: Vec<u64> = shape.clone();
    if plain.len() > 1 && plain.len() <= shape.len() {
        sizes.truncate(plain.len() - 1);
        sizes.push(shape[plain.len() - 1..].iter().product());
    }
    // Where there are more numbers than sizes, what follows is of another sort.
    for (at, size) in plain.into_iter().zip(sizes) {
        argument_mut(input, at).value = Value::Int(size.into());
    }
}

/// Sizes, ranks and plain numbers of a call: what must agree is one of them, or a multiple.
fn numbers(input: &ConcreteInput) -> Vec<u64> {
    let mut found = vec![1, 2, 3, 4];
    let layer = input.layer_arguments.iter().flatten();
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| match value {
            Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor) => {
                found.push(tensor.shape.len() as u64);
                found.extend(tensor.shape.iter().filter(|size| **size < 64));
                let all = tensor.elements().filter(|count| *count < 4096);
                found.extend(all);
            }
            Value::Int(number) if (0..64).contains(number) => found.push(*number as u64),
            Value::List(items) | Value::Tuple(items) => found.push(items.len() as u64),
            _ => {}
        });
    }
    let sizes = found.len();
    for at in 4..sizes {
        // Gates of a recurrent cell, corners of a box, real and imaginary parts.
        found.push(found[at] * (2 + at as u64 % 3));
    }
    found
}

fn other(value: &Value, numbers: &[u64], random: &mut Random) -> Value {
    // Now and then something else altogether.
    if random.chance(0.12) {
        return anything(numbers, random);
    }
    match value {
        Value::Tensor(tensor) => match random.below(12) {
            0 => Value::NdArray(tensor.clone()),
            1 => Value::SparseTensor(tensor.clone()),
            2 => Value::List(vec![value.clone(); 1 + random.index(3)]),
            3 => Value::Tuple(vec![value.clone(); 2]),
            _ => Value::Tensor(other_tensor(tensor, numbers, random)),
        },
        Value::NdArray(tensor) => Value::NdArray(other_tensor(tensor, numbers, random)),
        Value::SparseTensor(tensor) => Value::SparseTensor(other_tensor(tensor, numbers, random)),
        Value::Int(number) => match random.below(8) {
            0 => Value::List(vec![value.clone(); 1 + random.index(4)]),
            1 => Value::Float(*number as f64),
            2 => Value::Bool(*number != 0),
            3 => Value::Int(-number),
            _ => Value::Int((*random.pick(numbers)).into()),
        },
        Value::Float(number) => match random.below(5) {
            0 => Value::Int(*number as i128),
            1 => Value::List(vec![value.clone(); 1 + random.index(3)]),
            2 => Value::Float(number.abs().fract()),
            _ => Value::Float(*random.pick(&[0.0, 0.1, 0.5, 1.0, 2.0, -1.0])),
        },
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Text(_) => match random.below(5) {
            0 => Value::List(vec![value.clone(); 2]),
            _ => Value::Text((*random.pick(&WORDS)).into()),
        },
        Value::List(items) => other_list(items, numbers, random, Value::List),
        Value::Tuple(items) => other_list(items, numbers, random, Value::Tuple),
        Value::Dtype(_) => Value::Dtype(*random.pick(&DTYPES)),
        _ => anything(numbers, random),
    }
}

fn anything(numbers: &[u64], random: &mut Random) -> Value {
    match random.below(9) {
        0 => Value::None,
        1 => Value::Int((*random.pick(numbers)).into()),
        2 => Value::Float(0.5),
        3 => Value::Text((*random.pick(&WORDS)).into()),
        4 => Value::List(vec![Value::Int(1); 1 + random.index(3)]),
        5 => Value::Dtype(*random.pick(&DTYPES)),
        _ => {
            let rank = random.index(4);
            let shape = (0..rank).map(|_| *random.pick(numbers)).collect();
            Value::Tensor(filled(*random.pick(&DTYPES), shape))
        }
    }
}

fn other_list(
    items: &[Value],
    numbers: &[u64],
    random: &mut Random,
    make: fn(Vec<Value>) -> Value,
) -> Value {
    let mut items = items.to_vec();
    let last = items.last().cloned().unwrap_or(Value::Int(1));
    match random.below(8) {
        0 => return last,
        1 => return Value::Tuple(items),
        2 => return Value::List(items),
        3 => items.push(last),
        4 => {
            items.pop();
        }
        5 => return Value::List(vec![make(items)]),
        6 => {
            let length = *random.pick(numbers) as usize;
            items.resize(length.min(8), last);
        }
        _ => {
            let changed = other(&last, numbers, random);
            if items.is_empty() {
                items.push(changed);
            } else if random.chance(0.5) {
                items.fill(changed);
            } else {
                let at = random.index(items.len());
                items[at] = other(&items[at].clone(), numbers, random);
            }
        }
    }
    make(items)
}

fn other_tensor(tensor: &TensorValue, numbers: &[u64], random: &mut Random) -> TensorValue {
    let mut shape = tensor.shape.clone();
    let mut dtype = tensor.dtype;
    match random.below(9) {
        0 | 1 => {
            let at = random.index(shape.len() + 1);
            shape.insert(at, *random.pick(numbers));
        }
        2 | 3 if !shape.is_empty() => {
            shape.remove(random.index(shape.len()));
        }
        4 | 5 if !shape.is_empty() => {
            let at = random.index(shape.len());
            shape[at] = *random.pick(numbers);
        }
        6 => dtype = *random.pick(&DTYPES),
        7 => return filled(dtype, shape),
        _ => {
            let all = *random.pick(numbers);
            shape.fill(all);
        }
    }
    shape.truncate(6);
    let elements = shape
        .iter()
        .try_fold(1_u64, |all, size| all.checked_mul(*size));
    if elements.is_none_or(|count| count > 1 << 20) {
        shape.iter_mut().for_each(|size| *size = (*size).min(4));
    }
    reshaped(tensor, dtype, shape)
}

/// Zeros and ones: fine for an index, a probability, a mask.
fn filled(dtype: Dtype, shape: Vec<u64>) -> TensorValue {
    let mut bytes = Vec::new();
    for at in 0..2 {
        let scalar = match dtype {
            Dtype::Bool => Scalar::Bool(at == 1),
            _ if dtype.is_integer() => Scalar::Int(at),
            _ => Scalar::Float(at as f64),
        };
        write_element(dtype, scalar, &mut bytes);
    }
    let pattern = TensorValue {
        dtype,
        shape: vec![2],
        data: TensorData {
            pattern: bytes.into(),
        },
    };
    reshaped(&pattern, dtype, shape)
}
