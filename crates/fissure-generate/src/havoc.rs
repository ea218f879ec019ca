//! Neighbours of an input that reached new code: changed in a few respects, and otherwise the same bytes.
//!
//! Unlike a fresh draw, what the kept input has achieved stays: most changes touch one dimension, one
//! element type or one element.

use fissure_model::{
    ConcreteInput, Dtype, Fill, FillScheme, Scalar, TensorData, TensorValue, Value,
};
use fissure_solve::{Random, write_element};

use crate::elements::fill_tensor;
use crate::repair::{reshaped, resize_alike};
use crate::wide;

/// What exchanges two dimensions without moving an element, by library of tensors.
const EXCHANGES: [(&str, &str); 2] = [("torch", "torch.transpose"), ("numpy", "numpy.swapaxes")];
/// Sizes that kernels treat in ways of their own, beside small ones.
const SIZES: [u64; 12] = [15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 257];
/// Elements of a list at most.
const LONGEST: usize = 16;
/// Elements of a changed tensor at most.
const ELEMENTS: u64 = 1 << 20;

/// What changes may draw from.
pub(crate) struct Havoc<'a> {
    /// Another kept input, whose arguments may be taken over.
    pub other: &'a ConcreteInput,
    /// Only these element types, where given.
    pub dtypes: Option<&'a [Dtype]>,
    /// Library of the tensors.
    pub library: &'a str,
}

impl Havoc<'_> {
    /// A changed copy.
    pub(crate) fn changed(&self, kept: &ConcreteInput, random: &mut Random) -> ConcreteInput {
        let mut input = kept.clone();
        let changes = match random.below(8) {
            0..=4 => 1,
            5 | 6 => 2,
            _ => 2 + random.below(4),
        };
        for _ in 0..changes {
            self.change(&mut input, random);
        }
        input
    }

    fn change(&self, input: &mut ConcreteInput, random: &mut Random) {
        match random.below(16) {
            0 | 1 => resize_alike(input, random),
            2 => self.take_over(input, random),
            3 => leave_out(input, random),
            _ => {
                let count = values(input).len();
                if count == 0 {
                    return;
                }
                let at = random.index(count);
                let others = numbers(input);
                if let Some(value) = values(input).into_iter().nth(at) {
                    self.change_value(value, &others, random);
                }
            }
        }
    }

    /// An argument as another kept input has it.
    fn take_over(&self, input: &mut ConcreteInput, random: &mut Random) {
        if self.other.arguments.is_empty() {
            return;
        }
        let theirs = random.pick(&self.other.arguments).clone();
        match (input.arguments.iter_mut()).find(|own| own.name == theirs.name) {
            Some(own) => own.value = theirs.value,
            // One that is passed by position would move the others.
            None if theirs.passing == fissure_model::Passing::Keyword => {
                input.arguments.push(theirs);
            }
            None => {}
        }
    }

    fn change_value(&self, value: &mut Value, others: &[i128], random: &mut Random) {
        match value {
            Value::Tensor(_) | Value::NdArray(_) => self.change_tensor(value, others, random),
            Value::SparseTensor(tensor) => change_elements(tensor, random),
            Value::Int(number) => *number = other_whole(*number, others, random),
            Value::Float(number) => *number = other_real(*number, random),
            Value::Bool(truth) => *truth = !*truth,
            Value::Complex { re, im } => {
                let part = if random.chance(0.5) { re } else { im };
                *part = other_real(*part, random);
            }
            Value::List(items) | Value::Tuple(items) => {
                if items.is_empty() {
                    return;
                }
                let at = random.index(items.len());
                match random.below(6) {
                    0 if items.len() < LONGEST => items.insert(at, items[at].clone()),
                    1 => {
                        items.remove(at);
                    }
                    2 => {
                        let to = random.index(items.len());
                        items.swap(at, to);
                    }
                    _ => self.change_value(&mut items[at], others, random),
                }
            }
            Value::Call { path, arguments } => {
                let exchange = EXCHANGES.iter().any(|(_, known)| known == path);
                match arguments.first_mut() {
                    // Back to the usual layout.
                    Some(inner @ Value::Tensor(_)) if exchange && random.chance(0.3) => {
                        *value = inner.clone();
                    }
                    Some(Value::Tensor(tensor)) if exchange => change_elements(tensor, random),
                    Some(inner) => self.change_value(inner, others, random),
                    None => {}
                }
            }
            Value::Dtype(dtype) => *dtype = self.other_dtype(*dtype, random),
            Value::Text(text) => *text = other_text(text, random),
            Value::None | Value::Bytes(_) | Value::Dict(_) | Value::Object(_) => {}
        }
    }

    fn change_tensor(&self, value: &mut Value, others: &[i128], random: &mut Random) {
        let (Value::Tensor(tensor) | Value::NdArray(tensor)) = &mut *value else {
            return;
        };
        match random.below(10) {
            0..=2 => change_shape(tensor, others, random),
            3 | 4 => {
                let dtype = self.other_dtype(tensor.dtype, random);
                *tensor = reshaped(tensor, dtype, tensor.shape.clone());
            }
            5 => exchange_dimensions(value, self.library, random),
            _ => change_elements(tensor, random),
        }
    }

    fn other_dtype(&self, dtype: Dtype, random: &mut Random) -> Dtype {
        const USUAL: [Dtype; 13] = [
            Dtype::Bool,
            Dtype::Uint8,
            Dtype::Int8,
            Dtype::Int16,
            Dtype::Int32,
            Dtype::Int64,
            Dtype::Float16,
            Dtype::Bfloat16,
            Dtype::Float32,
            Dtype::Float64,
            Dtype::Complex64,
            Dtype::Complex128,
            Dtype::Uint16,
        ];
        let choices = self.dtypes.unwrap_or(&USUAL);
        if choices.is_empty() || dtype.size().is_none() {
            return dtype;
        }
        *random.pick(choices)
    }
}

/// Every argument's value.
fn values(input: &mut ConcreteInput) -> Vec<&mut Value> {
    let layer = input.layer_arguments.iter_mut().flatten();
    let all = input.arguments.iter_mut().chain(layer);
    all.map(|argument| &mut argument.value).collect()
}

/// Sizes and ranks of all tensors, and whole numbers: others often have to do with them.
fn numbers(input: &ConcreteInput) -> Vec<i128> {
    let mut numbers = Vec::new();
    let layer = input.layer_arguments.iter().flatten();
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| match value {
            Value::Tensor(tensor) | Value::NdArray(tensor) => {
                numbers.extend(tensor.shape.iter().map(|size| i128::from(*size)));
                numbers.push(tensor.shape.len() as i128);
            }
            Value::Int(number) => numbers.push(*number),
            _ => {}
        });
    }
    numbers
}

/// What has to do with one of these numbers.
fn related(numbers: &[i128], random: &mut Random) -> i128 {
    let (one, two) = (*random.pick(numbers), *random.pick(numbers));
    match random.below(8) {
        0 | 1 => one,
        2 => one.saturating_sub(1),
        3 => one.saturating_add(1),
        4 => one.saturating_mul(2),
        5 => one.div_euclid(2),
        6 => one.saturating_add(two),
        _ => one.saturating_mul(two),
    }
}

/// Optional arguments have defaults, which are another way through the code.
fn leave_out(input: &mut ConcreteInput, random: &mut Random) {
    let named: Vec<usize> = (0..input.arguments.len())
        .filter(|at| input.arguments[*at].passing == fissure_model::Passing::Keyword)
        .collect();
    if !named.is_empty() {
        input.arguments.remove(*random.pick(&named));
    }
}

fn other_size(size: u64, random: &mut Random) -> u64 {
    match random.below(8) {
        0..=2 => size.saturating_add(1),
        3 | 4 => size.saturating_sub(1),
        5 => random.below(9),
        6 => size.saturating_mul(2).min(4096),
        _ => *random.pick(&SIZES),
    }
}

fn change_shape(tensor: &mut TensorValue, others: &[i128], random: &mut Random) {
    let mut shape = tensor.shape.clone();
    let rank = shape.len();
    match random.below(9) {
        0 if rank < 6 => shape.insert(random.index(rank + 1), 1 + random.below(4)),
        1 if rank > 0 => {
            shape.remove(random.index(rank));
        }
        2 if rank > 1 => shape.swap(random.index(rank), random.index(rank)),
        3 if rank > 1 => {
            // Many paths are for dimensions that are alike.
            let size = *random.pick(&shape);
            shape[random.index(rank)] = size;
        }
        4 if rank > 0 && !others.is_empty() => {
            if let Ok(size) = u64::try_from(related(others, random)) {
                shape[random.index(rank)] = size;
            }
        }
        _ if rank > 0 => {
            let at = random.index(rank);
            shape[at] = other_size(shape[at], random);
        }
        _ => shape.push(1 + random.below(4)),
    }
    let elements = shape
        .iter()
        .try_fold(1_u64, |all, size| all.checked_mul(*size));
    if elements.is_some_and(|elements| elements <= ELEMENTS) {
        *tensor = reshaped(tensor, tensor.dtype, shape);
    }
}

/// The same tensor with the two last dimensions exchanged in memory.
fn exchange_dimensions(value: &mut Value, library: &str, random: &mut Random) {
    let (Value::Tensor(tensor) | Value::NdArray(tensor)) = &*value else {
        return;
    };
    let library = if matches!(value, Value::NdArray(_)) {
        "numpy"
    } else {
        library
    };
    let known = EXCHANGES.iter().find(|(of, _)| *of == library);
    let (Some((_, path)), rank @ 2..) = (known, tensor.shape.len()) else {
        return;
    };
    let (one, two) = (random.index(rank), random.index(rank));
    if one == two {
        return;
    }
    let mut inner = tensor.clone();
    inner.shape.swap(one, two);
    let inner = match value {
        Value::NdArray(_) => Value::NdArray(inner),
        _ => Value::Tensor(inner),
    };
    *value = Value::Call {
        path: (*path).to_owned(),
        arguments: vec![inner, Value::Int(one as i128), Value::Int(two as i128)],
    };
}

fn change_elements(tensor: &mut TensorValue, random: &mut Random) {
    let Some(size) = tensor.dtype.size() else {
        return;
    };
    let scalars: Vec<Scalar> = tensor.pattern_scalars().collect();
    if scalars.is_empty() || size == 0 {
        return;
    }
    let mut pattern = tensor.data.pattern.to_vec();
    let count = scalars.len();
    // The first and the last are looked at most often.
    let at = match random.below(4) {
        0 => 0,
        1 => count - 1,
        _ => random.index(count),
    };
    let place = |at: usize| at * size..(at + 1) * size;
    match random.below(10) {
        0 => {
            let fill = Fill {
                scheme: *random.pick(&[FillScheme::Mixed, FillScheme::Unit, FillScheme::Positive]),
                ..Fill::default()
            };
            *tensor = fill_tensor(tensor.dtype, tensor.shape.clone(), fill, random);
            return;
        }
        1 => {
            // All alike.
            let one = pattern[place(at)].to_vec();
            for other in 0..count {
                pattern[place(other)].copy_from_slice(&one);
            }
        }
        2 => {
            let from = random.index(count);
            let one = pattern[place(from)].to_vec();
            pattern[place(at)].copy_from_slice(&one);
        }
        3 if tensor.dtype != Dtype::Bool => {
            let bit = random.index(size * 8);
            pattern[at * size + bit / 8] ^= 1 << (bit % 8);
        }
        _ => {
            let mut bytes = Vec::with_capacity(size);
            write_element(
                tensor.dtype,
                other_scalar(scalars[at], tensor.dtype, random),
                &mut bytes,
            );
            if bytes.len() == size {
                pattern[place(at)].copy_from_slice(&bytes);
            }
        }
    }
    tensor.data = TensorData {
        pattern: pattern.into(),
    };
}

fn other_scalar(scalar: Scalar, dtype: Dtype, random: &mut Random) -> Scalar {
    match scalar {
        Scalar::Bool(truth) => Scalar::Bool(!truth),
        Scalar::Int(number) => {
            let (least, most) = dtype.integer_limits().unwrap_or((0, 1));
            Scalar::Int(other_whole(number, &[], random).clamp(least, most))
        }
        Scalar::Float(number) => Scalar::Float(other_real(number, random)),
        Scalar::Complex(re, im) if random.chance(0.5) => {
            Scalar::Complex(other_real(re, random), im)
        }
        Scalar::Complex(re, im) => Scalar::Complex(re, other_real(im, random)),
    }
}

/// One letter more, less, or another.
fn other_text(text: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let letter = char::from(b' ' + random.below(95) as u8);
    let letter = match random.below(3) {
        0 => letter,
        _ => char::from(b'a' + random.below(26) as u8),
    };
    let at = random.index(letters.len() + 1);
    match random.below(5) {
        0 if letters.len() < LONGEST => letters.insert(at, letter),
        1 if !letters.is_empty() => {
            letters.remove(at.min(letters.len() - 1));
        }
        _ => match letters.get_mut(at) {
            Some(one) => *one = letter,
            None => letters.push(letter),
        },
    }
    letters.into_iter().collect()
}

fn other_whole(number: i128, others: &[i128], random: &mut Random) -> i128 {
    match random.below(15) {
        0 | 1 => number.saturating_add(1),
        2 | 3 => number.saturating_sub(1),
        4 => number.saturating_neg(),
        5 => number.saturating_mul(2),
        6 | 10..=12 => random.between(-4, 17),
        7 | 13 if !others.is_empty() => related(others, random),
        8 => (1_i128 << random.below(40)) - i128::from(random.below(2)),
        14 => number ^ (1_i128 << random.below(16)),
        _ => wide::parameter(random),
    }
}

fn other_real(number: f64, random: &mut Random) -> f64 {
    match random.below(14) {
        0 => number + 1.0,
        1 => number - 1.0,
        2 => -number,
        3 => number * 2.0,
        4 => number * 0.5,
        5 => number.round(),
        6 | 7 | 12 | 13 => random.between(-4, 17) as f64,
        8 => *random.pick(&[
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ]),
        9 => number * *random.pick(&[10.0, 0.1, 1e3, 1e-3, 1e6, 1e-6]),
        10 => number.powi(2),
        _ => wide::float(Dtype::Float32, random),
    }
}

#[cfg(test)]
mod tests;
