//! Boundary cases put into finished inputs.

use fissure_model::{
    Argument, ConcreteInput, Dtype, Fill, Mutation, Mutator, Scalar, TensorData, TensorValue, Value,
};
use fissure_solve::{Checker, Random, write_element};

use crate::coverage::MutatorCoverage;
use crate::elements::Bounds;
use crate::wide;

/// Limits that break code which was tested with small numbers.
const INT_EXTREMES: [i128; 6] = [
    i64::MAX as i128,
    i64::MIN as i128,
    i32::MAX as i128,
    i32::MIN as i128,
    i64::MAX as i128 + 1,
    u64::MAX as i128,
];

/// Inputs in which one extreme goes into every entry of a list rather than into one.
const WHOLE_LIST: f64 = 0.65;

/// How far a number is pushed.
#[derive(Clone, Copy)]
struct Limits {
    /// Of the parameter's range in this call.
    lower: Option<f64>,
    upper: Option<f64>,
    /// The largest dimension of the call's tensors: what a size is multiplied with.
    widest: u64,
}

/// Puts one boundary case into one parameter, if any fits.
pub(crate) fn mutate(
    input: &mut ConcreteInput,
    checker: &Checker,
    guided: bool,
    special_values: bool,
    coverage: &mut MutatorCoverage,
    random: &mut Random,
) {
    let own = input.arguments.len();
    let layer = input.layer_arguments.as_ref().map_or(0, Vec::len);
    if own + layer == 0 {
        return;
    }
    let all = input.arguments.iter();
    let weights: Vec<f32> = all
        .chain(input.layer_arguments.iter().flatten())
        .map(|argument| {
            // A second boundary case goes into another parameter.
            let taken = |mutation: &Mutation| mutation.param == argument.name;
            if input.mutations.iter().any(taken) {
                0.0
            } else {
                weight(&argument.value)
            }
        })
        .collect();
    if weights.iter().all(|weight| *weight == 0.0) {
        return;
    }
    let at = random.weighted(&weights);
    let argument = argument_at(input, at);
    let mut fitting: Vec<Mutator> = Mutator::ALL
        .into_iter()
        .filter(|mutator| *mutator != Mutator::SpecialValue || special_values)
        .filter(|mutator| fits(*mutator, &argument.value))
        .collect();
    if guided {
        let count = |mutator: &Mutator| coverage.count(&argument.name, *mutator);
        let least = fitting.iter().map(count).min();
        fitting.retain(|mutator| Some(count(mutator)) == least);
    }
    if fitting.is_empty() {
        return;
    }
    let mutator = if guided {
        *random.pick(&fitting)
    } else {
        let likely: Vec<f32> = fitting.iter().map(|mutator| likelihood(*mutator)).collect();
        fitting[random.weighted(&likely)]
    };
    apply(input, at, mutator, checker, coverage, random);
}

/// Numbers and tensors have boundaries worth a try, tensors the most of them; words and flags have
/// hardly any.
fn weight(value: &Value) -> f32 {
    let mut weight: f32 = 1.0;
    value.walk(&mut |inner| {
        weight = weight.max(match inner {
            Value::Tensor(_) | Value::SparseTensor(_) | Value::NdArray(_) => 4.5,
            Value::Int(_) | Value::Float(_) => 3.0,
            _ => 1.0,
        });
    });
    weight
}

/// Nearly every library looks for None; few look for what overflows.
fn likelihood(mutator: Mutator) -> f32 {
    match mutator {
        Mutator::ZeroDimension => 7.0,
        Mutator::ExtremeValue => 3.0,
        Mutator::Zero => 2.0,
        Mutator::EmptyList | Mutator::EmptyString | Mutator::SpecialValue => 1.0,
        Mutator::None => 0.5,
    }
}

/// Puts a special value into one parameter that holds floating-point numbers.
pub(crate) fn put_special_value(
    input: &mut ConcreteInput,
    checker: &Checker,
    coverage: &mut MutatorCoverage,
    random: &mut Random,
) {
    let layer = input.layer_arguments.iter().flatten();
    let floating: Vec<usize> = input
        .arguments
        .iter()
        .chain(layer)
        .enumerate()
        .filter(|(_, argument)| fits(Mutator::SpecialValue, &argument.value))
        .map(|(at, _)| at)
        .collect();
    if !floating.is_empty() {
        let at = *random.pick(&floating);
        apply(input, at, Mutator::SpecialValue, checker, coverage, random);
    }
}

fn argument_at(input: &mut ConcreteInput, at: usize) -> &mut Argument {
    let own = input.arguments.len();
    if at < own {
        return &mut input.arguments[at];
    }
    let layer = input.layer_arguments.as_mut();
    &mut layer.expect("positions past the own arguments are the layer's")[at - own]
}

fn apply(
    input: &mut ConcreteInput,
    at: usize,
    mutator: Mutator,
    checker: &Checker,
    coverage: &mut MutatorCoverage,
    random: &mut Random,
) {
    let name = argument_at(input, at).name.clone();
    let (lower, upper) = match mutator {
        Mutator::ExtremeValue => checker.bounds(&name, input),
        _ => (None, None),
    };
    let limits = Limits {
        lower,
        upper,
        widest: widest(input),
    };
    let element = put(mutator, &mut argument_at(input, at).value, limits, random);
    coverage.add(&name, mutator);
    input.mutations.push(Mutation {
        param: name,
        mutator,
        element,
    });
}

fn widest(input: &ConcreteInput) -> u64 {
    let layer = input.layer_arguments.iter().flatten();
    let mut widest = 1;
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) =
                value
            {
                widest = tensor.shape.iter().copied().fold(widest, u64::max);
            }
        });
    }
    widest
}

/// Can this mutator change this value?
fn fits(mutator: Mutator, value: &Value) -> bool {
    let inside = |items: &[Value]| items.iter().any(|item| fits(mutator, item));
    match (mutator, value) {
        (Mutator::None, value) => *value != Value::None,
        (Mutator::EmptyList, Value::List(items) | Value::Tuple(items)) => !items.is_empty(),
        (Mutator::EmptyString, Value::Text(text)) => !text.is_empty(),
        (_, Value::List(items) | Value::Tuple(items)) => inside(items),
        (Mutator::ExtremeValue | Mutator::Zero, Value::Int(_) | Value::Float(_)) => true,
        (Mutator::SpecialValue, Value::Float(_)) => true,
        (_, Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor)) => {
            let filled = !tensor.data.pattern.is_empty();
            match mutator {
                Mutator::ExtremeValue | Mutator::Zero => filled,
                Mutator::ZeroDimension => tensor.shape.iter().any(|size| *size > 0),
                Mutator::SpecialValue => {
                    filled && (tensor.dtype.is_float() || tensor.dtype.is_complex())
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Changes the value; true if only one element of it changed.
fn put(mutator: Mutator, value: &mut Value, limits: Limits, random: &mut Random) -> bool {
    match value {
        Value::List(items) | Value::Tuple(items) => {
            let whole = match mutator {
                Mutator::EmptyList | Mutator::None => {
                    items.iter().all(|item| !fits(mutator, item)) || random.chance(0.7)
                }
                _ => false,
            };
            if whole {
                if mutator == Mutator::None {
                    *value = Value::None;
                } else {
                    items.clear();
                }
                return false;
            }
            let fitting: Vec<usize> = (0..items.len())
                .filter(|at| fits(mutator, &items[*at]))
                .collect();
            let numbers = items.iter().all(|item| matches!(item, Value::Int(_)));
            if mutator == Mutator::ExtremeValue
                && numbers
                && items.len() > 1
                && random.chance(WHOLE_LIST)
            {
                // Sizes each of which passes the checks, and whose product does not fit.
                if random.chance(0.3) {
                    // What no check expects side by side.
                    for item in items.iter_mut() {
                        *item = Value::Int(match random.below(5) {
                            0 => 0,
                            1 => 1,
                            2 => -random.between(1, 4),
                            3 => large(limits.widest, random),
                            _ => wide::parameter(random),
                        });
                    }
                    return false;
                }
                let extreme = if random.chance(0.25) {
                    plain(mutator, &items[0], limits, random)
                } else {
                    Value::Int(large(limits.widest, random))
                };
                items.fill(extreme);
                return false;
            }
            put(mutator, &mut items[*random.pick(&fitting)], limits, random);
            true
        }
        Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor)
            if mutator != Mutator::None =>
        {
            put_in_tensor(mutator, tensor, limits, random)
        }
        _ => {
            *value = plain(mutator, value, limits, random);
            false
        }
    }
}

fn plain(mutator: Mutator, value: &Value, limits: Limits, random: &mut Random) -> Value {
    let upwards = random.chance(0.5);
    let bound = match (limits.lower, limits.upper) {
        (Some(lower), Some(upper)) => Some(if upwards { upper } else { lower }),
        // The open side is as extreme as the bounded one.
        (Some(bound), None) | (None, Some(bound)) => upwards.then_some(bound),
        (None, None) => None,
    };
    match (mutator, value) {
        (Mutator::ExtremeValue, Value::Int(_)) => match bound {
            Some(bound) => Value::Int(bound as i128),
            None if random.chance(0.4) => Value::Int(*random.pick(&INT_EXTREMES)),
            None if random.chance(0.3) => Value::Int(wide::parameter(random)),
            None => Value::Int(large(limits.widest, random)),
        },
        (Mutator::ExtremeValue, _) => {
            let limits = [f64::MAX, f64::MIN, f64::from(f32::MAX), f64::from(f32::MIN)];
            Value::Float(bound.unwrap_or_else(|| match random.below(4) {
                0 => special(Dtype::Float64, random),
                1 => wide::float(Dtype::Float32, random),
                _ => *random.pick(&limits),
            }))
        }
        (Mutator::Zero, Value::Int(_)) => Value::Int(0),
        (Mutator::Zero, _) => Value::Float(0.0),
        (Mutator::SpecialValue, _) => Value::Float(special(Dtype::Float64, random)),
        (Mutator::EmptyString, _) => Value::Text(String::new()),
        _ => Value::None,
    }
}

/// A size that memory cannot hold: just short of 32 bits once it is multiplied with a dimension,
/// or a neighbour of a power of two.
fn large(widest: u64, random: &mut Random) -> i128 {
    let divisor = match random.below(5) {
        0 | 1 => widest.into(),
        2 => random.between(1, 8),
        _ => return (1_i128 << random.between(26, 62)) + random.between(-1, 1),
    };
    i128::from(i32::MAX) / divisor
}

fn special(dtype: Dtype, random: &mut Random) -> f64 {
    let subnormal = match dtype {
        Dtype::Float16 | Dtype::Float8E5m2 => 5.960_464_477_539_063e-8,
        Dtype::Bfloat16 | Dtype::Float32 | Dtype::Complex64 => 1.0e-40,
        Dtype::Float8E4m3fn => 0.001_953_125,
        _ => 5.0e-324,
    };
    *random.pick(&[
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        subnormal,
        -subnormal,
    ])
}

fn put_in_tensor(
    mutator: Mutator,
    tensor: &mut TensorValue,
    limits: Limits,
    random: &mut Random,
) -> bool {
    if mutator == Mutator::ZeroDimension {
        let filled: Vec<usize> = (0..tensor.shape.len())
            .filter(|at| tensor.shape[*at] > 0)
            .collect();
        // Most often the first: a batch without samples.
        let at = if random.chance(0.7) {
            filled[0]
        } else {
            *random.pick(&filled)
        };
        tensor.shape[at] = 0;
        // No memory is behind the other dimensions now, whatever their size.
        if tensor.shape.len() > 1 && random.chance(0.2) {
            let other = (at + 1 + random.index(tensor.shape.len() - 1)) % tensor.shape.len();
            tensor.shape[other] = wide::size_of_nothing(random);
        }
        tensor.data = TensorData {
            pattern: Vec::new().into(),
        };
        return false;
    }
    let Some(size) = tensor.dtype.size() else {
        return false;
    };
    let mut bytes = Vec::with_capacity(size);
    match mutator {
        Mutator::ExtremeValue => {
            let bounds = Bounds::new(
                tensor.dtype,
                Fill {
                    lower: limits.lower,
                    upper: limits.upper,
                    ..Fill::default()
                },
            );
            let (least, most) = bounds.extremes();
            bounds.write(if random.chance(0.5) { least } else { most }, &mut bytes);
        }
        Mutator::SpecialValue => {
            let value = special(tensor.dtype, random);
            write_element(tensor.dtype, Scalar::Float(value), &mut bytes);
        }
        _ => write_element(tensor.dtype, Scalar::Int(0), &mut bytes),
    }
    let mut pattern = tensor.data.pattern.to_vec();
    let count = pattern.len() / size;
    let element = count > 1 && random.chance(0.5);
    if element {
        let at = random.index(count) * size;
        pattern[at..at + size].copy_from_slice(&bytes);
    } else {
        pattern
            .chunks_exact_mut(size)
            .for_each(|chunk| chunk.copy_from_slice(&bytes));
    }
    tensor.data = TensorData {
        pattern: pattern.into(),
    };
    element
}
