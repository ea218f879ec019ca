//! Small statements about the arguments of one call: does it hold, and what makes it hold.

use fissure_model::{ConcreteInput, Dtype, Fill, FillScheme, TensorValue, Value};
use fissure_solve::Random;

use super::apply::{argument, argument_mut, to_sort};
use super::elements::reshaped;
use super::wish::Sort;
use crate::elements::fill_tensor;

/// Dimensions from either end that are looked at.
const AXES: usize = 4;
/// Sizes beyond this are no sizes of what a test makes.
const LARGEST: i128 = 512;
/// Whole numbers of ordinary size.
const MODERATE: i128 = 16;

/// What can be said of an argument, or of two; arguments by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Statement {
    /// The argument is a tensor.
    Tensor(u8),
    /// The argument is a list or a tuple.
    Listed(u8),
    /// A number is at least this.
    AtLeast(u8, i8),
    /// A number is from 0 to 1.
    Unit(u8),
    /// A whole number is neither large nor far below zero.
    Moderate(u8),
    /// A tensor or a list has entries.
    Filled(u8),
    /// A tensor has so many dimensions.
    Rank(u8, u8),
    /// The elements of a tensor are floating-point numbers of the usual width.
    Usual(u8),
    SameDtype(u8, u8),
    SameShape(u8, u8),
    /// A size is this.
    Is(Place, u8),
    /// A size is even.
    Even(Place),
    /// Two sizes are the same.
    Same(Place, Place),
    /// A whole number divides a size.
    Divides(u8, Place),
    /// Elements are from 0 and below a size.
    Below(u8, Place),
}

/// A size in a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    argument: u8,
    of: Of,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Of {
    /// The plain number itself.
    Number,
    /// A dimension, or an entry of a list of numbers, counted from the first.
    First(u8),
    /// The same from the last.
    Last(u8),
    /// Entries of a list.
    Length,
    /// Dimensions of a tensor.
    Rank,
}

/// What the input says of each statement that it says anything of; `numbers` are those of its arguments.
pub(super) fn statements(numbers: &[Option<u8>], input: &ConcreteInput) -> Vec<(Statement, bool)> {
    let known: Vec<(u8, &Value)> = numbers
        .iter()
        .enumerate()
        .filter_map(|(at, number)| Some(((*number)?, &argument(input, at).value)))
        .collect();
    let mut found = Vec::new();
    let mut sizes: Vec<(Place, i128)> = Vec::new();
    for (number, value) in &known {
        alone(*number, value, &mut found);
        sizes_of(*number, value, &mut sizes);
    }
    for (at, (one, first)) in known.iter().enumerate() {
        for (other, second) in &known[at + 1..] {
            if let (Some(first), Some(second)) = (tensor(first), tensor(second)) {
                let same = first.dtype == second.dtype;
                found.push((Statement::SameDtype(*one, *other), same));
            }
            if let (Some(first), Some(second)) = (shape(first), shape(second)) {
                found.push((Statement::SameShape(*one, *other), first == second));
            }
        }
    }
    for (at, (one, first)) in sizes.iter().enumerate() {
        for (other, second) in &sizes[at + 1..] {
            if one.argument != other.argument && !matches!((one.of, other.of), (Of::Rank, Of::Rank))
            {
                found.push((Statement::Same(*one, *other), first == second));
            }
        }
    }
    for (place, size) in &sizes {
        if !matches!(place.of, Of::Rank) {
            found.extend((1..=4).map(|is| (Statement::Is(*place, is), *size == i128::from(is))));
            found.push((Statement::Even(*place), size % 2 == 0));
        }
        for (number, value) in known.iter().filter(|(number, _)| *number != place.argument) {
            let dimension = matches!(place.of, Of::First(_) | Of::Last(_));
            match value {
                Value::Int(divisor) if dimension => {
                    let divides = *divisor > 0 && size % divisor == 0;
                    found.push((Statement::Divides(*number, *place), divides));
                }
                value => {
                    if let Some((least, most)) = bounds(value).filter(|_| place.of != Of::Length) {
                        let below = least >= 0.0 && most < *size as f64;
                        found.push((Statement::Below(*number, *place), below));
                    }
                }
            }
        }
    }
    found
}

fn alone(number: u8, value: &Value, found: &mut Vec<(Statement, bool)>) {
    found.push((Statement::Tensor(number), tensor(value).is_some()));
    let listed = matches!(value, Value::List(_) | Value::Tuple(_));
    found.push((Statement::Listed(number), listed));
    match value {
        Value::Int(value) => {
            found.push((Statement::AtLeast(number, 0), *value >= 0));
            found.push((Statement::AtLeast(number, 1), *value >= 1));
            let moderate = (-MODERATE..=MODERATE).contains(value);
            found.push((Statement::Moderate(number), moderate));
        }
        Value::Float(value) => {
            found.push((Statement::AtLeast(number, 0), *value >= 0.0));
            let unit = (0.0..=1.0).contains(value);
            found.push((Statement::Unit(number), unit));
        }
        value => {
            let filled = match value {
                Value::List(items) | Value::Tuple(items) => Some(!items.is_empty()),
                value => tensor(value).map(|tensor| !tensor.shape.contains(&0)),
            };
            found.extend(filled.map(|filled| (Statement::Filled(number), filled)));
            if let Some(tensor) = tensor(value) {
                let rank = |rank: u8| {
                    let has = tensor.shape.len() == usize::from(rank);
                    (Statement::Rank(number, rank), has)
                };
                found.extend((0..=5).map(rank));
                let usual = tensor.dtype == Dtype::Float32;
                found.push((Statement::Usual(number), usual));
            }
        }
    }
}

fn tensor(value: &Value) -> Option<&TensorValue> {
    match value {
        Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor) => {
            Some(tensor)
        }
        _ => None,
    }
}

fn tensor_mut(value: &mut Value) -> Option<&mut TensorValue> {
    match value {
        Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor) => {
            Some(tensor)
        }
        _ => None,
    }
}

/// The shape of a tensor, or a list of numbers, which may be one.
fn shape(value: &Value) -> Option<Vec<i128>> {
    match value {
        Value::List(items) | Value::Tuple(items) if !items.is_empty() => {
            items.iter().map(whole).collect()
        }
        value => tensor(value).map(|tensor| tensor.shape.iter().copied().map(Into::into).collect()),
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

/// The least and the largest element of a tensor of whole numbers.
fn bounds(value: &Value) -> Option<(f64, f64)> {
    let tensor = tensor(value).filter(|tensor| tensor.dtype.is_integer())?;
    let mut elements = tensor
        .pattern_scalars()
        .filter_map(fissure_solve::as_number);
    let first = elements.next()?;
    Some(elements.fold((first, first), |(least, most), element| {
        (least.min(element), most.max(element))
    }))
}

fn sizes_of(argument: u8, value: &Value, found: &mut Vec<(Place, i128)>) {
    let mut add = |of, size| {
        if (0..=LARGEST).contains(&size) {
            found.push((Place { argument, of }, size));
        }
    };
    if let Value::Int(number) = value {
        add(Of::Number, *number);
    }
    if let Value::List(items) | Value::Tuple(items) = value {
        add(Of::Length, items.len() as i128);
    } else if let Some(tensor) = tensor(value) {
        add(Of::Rank, tensor.shape.len() as i128);
    }
    if let Some(shape) = shape(value) {
        for at in 0..shape.len().min(AXES) {
            add(Of::First(at as u8), shape[at]);
            add(Of::Last(at as u8), shape[shape.len() - 1 - at]);
        }
    }
}

fn size_at(value: &Value, of: Of) -> Option<i128> {
    let mut all = Vec::new();
    sizes_of(0, value, &mut all);
    let mut all = all.into_iter();
    all.find(|(place, _)| place.of == of).map(|(_, size)| size)
}

/// Makes the statement hold, as far as the input has what it is about.
pub(super) fn put(
    input: &mut ConcreteInput,
    numbers: &[Option<u8>],
    statement: &Statement,
    random: &mut Random,
) {
    let place = |number: u8| numbers.iter().position(|known| *known == Some(number));
    match *statement {
        Statement::Tensor(number) => {
            if let Some(at) = place(number)
                && tensor(&argument(input, at).value).is_none()
            {
                to_sort(&mut argument_mut(input, at).value, Sort::Tensor, random);
            }
        }
        Statement::Listed(number) => {
            if let Some(at) = place(number) {
                let value = &mut argument_mut(input, at).value;
                if !matches!(value, Value::List(_) | Value::Tuple(_)) {
                    to_sort(value, Sort::List, random);
                }
            }
        }
        Statement::AtLeast(number, least) => {
            if let Some(at) = place(number) {
                match &mut argument_mut(input, at).value {
                    Value::Int(value) if *value < i128::from(least) => {
                        *value = i128::from(least).max(value.abs().min(LARGEST));
                    }
                    Value::Float(value) if *value < f64::from(least) => *value = value.abs(),
                    _ => {}
                }
            }
        }
        Statement::Unit(number) => {
            if let Some(at) = place(number)
                && let Value::Float(value) = &mut argument_mut(input, at).value
                && !(0.0..=1.0).contains(value)
            {
                *value = random.unit();
            }
        }
        Statement::Moderate(number) => {
            if let Some(at) = place(number)
                && let Value::Int(value) = &mut argument_mut(input, at).value
                && value.abs() > MODERATE
            {
                *value %= MODERATE;
            }
        }
        Statement::Filled(number) => {
            if let Some(at) = place(number) {
                fill(&mut argument_mut(input, at).value, random);
            }
        }
        Statement::Rank(number, rank) => {
            if let Some(at) = place(number)
                && let Some(tensor) = tensor_mut(&mut argument_mut(input, at).value)
                && tensor.shape.len() != usize::from(rank)
            {
                let mut shape = tensor.shape.clone();
                while shape.len() > usize::from(rank) {
                    shape.remove(0);
                }
                while shape.len() < usize::from(rank) {
                    shape.insert(0, 1 + random.below(4));
                }
                *tensor = reshaped(tensor, tensor.dtype, shape);
            }
        }
        Statement::Usual(number) => {
            if let Some(at) = place(number)
                && let Some(tensor) = tensor_mut(&mut argument_mut(input, at).value)
                && tensor.dtype != Dtype::Float32
            {
                *tensor = reshaped(tensor, Dtype::Float32, tensor.shape.clone());
            }
        }
        Statement::Is(of, size) => {
            if let Some(at) = place(of.argument) {
                set_size(&mut argument_mut(input, at).value, of.of, size.into());
            }
        }
        Statement::Even(of) => {
            if let Some(at) = place(of.argument) {
                let value = &mut argument_mut(input, at).value;
                if let Some(size) = size_at(value, of.of).filter(|size| size % 2 == 1) {
                    set_size(value, of.of, size + 1);
                }
            }
        }
        Statement::SameDtype(one, other) => {
            if let (Some(one), Some(other)) = (place(one), place(other))
                && let Some(dtype) = tensor(&argument(input, one).value).map(|it| it.dtype)
                && let Some(tensor) = tensor_mut(&mut argument_mut(input, other).value)
                && tensor.dtype != dtype
            {
                *tensor = reshaped(tensor, dtype, tensor.shape.clone());
            }
        }
        Statement::SameShape(one, other) => {
            if let (Some(one), Some(other)) = (place(one), place(other))
                && let Some(wanted) = shape(&argument(input, one).value)
            {
                reshape(&mut argument_mut(input, other).value, &wanted);
            }
        }
        Statement::Same(one, other) => agree(input, numbers, [one, other]),
        Statement::Divides(number, of) => {
            if let (Some(at), Some(other)) = (place(number), place(of.argument))
                && let Some(size) = size_at(&argument(input, other).value, of.of)
                && let Value::Int(value) = &mut argument_mut(input, at).value
                && size > 0
                && (*value <= 0 || size % *value != 0)
            {
                let divisors: Vec<i128> = (1..=size).filter(|it| size % it == 0).collect();
                *value = *random.pick(&divisors);
            }
        }
        Statement::Below(number, of) => {
            if let (Some(at), Some(other)) = (place(number), place(of.argument))
                && let Some(size) = size_at(&argument(input, other).value, of.of)
                && let Some((least, most)) = bounds(&argument(input, at).value)
                && size > 0
                && (least < 0.0 || most >= size as f64)
                && let Some(tensor) = tensor_mut(&mut argument_mut(input, at).value)
            {
                *tensor = indices(tensor.dtype, tensor.shape.clone(), size as u64, random);
            }
        }
    }
}

fn indices(dtype: Dtype, shape: Vec<u64>, bound: u64, random: &mut Random) -> TensorValue {
    let fill = Fill {
        scheme: FillScheme::Index(bound),
        ..Fill::default()
    };
    fill_tensor(dtype, shape, fill, random)
}

fn fill(value: &mut Value, random: &mut Random) {
    match value {
        Value::List(items) | Value::Tuple(items) => {
            if items.is_empty() {
                items.push(Value::Int(1));
            }
        }
        value => {
            if let Some(tensor) = tensor_mut(value).filter(|tensor| tensor.shape.contains(&0)) {
                let some = |size: &u64| {
                    if *size == 0 {
                        1 + random.below(3)
                    } else {
                        *size
                    }
                };
                let shape = tensor.shape.iter().map(some).collect();
                *tensor = reshaped(tensor, tensor.dtype, shape);
            }
        }
    }
}

fn reshape(value: &mut Value, wanted: &[i128]) {
    match value {
        Value::List(items) | Value::Tuple(items) => {
            *items = wanted.iter().copied().map(Value::Int).collect();
        }
        value => {
            let sizes: Option<Vec<u64>> = wanted.iter().map(|it| u64::try_from(*it).ok()).collect();
            if let (Some(tensor), Some(shape)) = (tensor_mut(value), sizes)
                && tensor.shape != shape
            {
                *tensor = reshaped(tensor, tensor.dtype, shape);
            }
        }
    }
}

/// The second size becomes the first one; what cannot be set, like the rank of a tensor, is the one that is kept.
fn agree(input: &mut ConcreteInput, numbers: &[Option<u8>], places: [Place; 2]) {
    let at = |place: Place| {
        let mut known = numbers.iter();
        known.position(|known| *known == Some(place.argument))
    };
    let [mut kept, mut set] = places;
    if set.of == Of::Rank {
        std::mem::swap(&mut kept, &mut set);
    }
    let (Some(from), Some(to)) = (at(kept), at(set)) else {
        return;
    };
    let Some(size) = size_at(&argument(input, from).value, kept.of) else {
        return;
    };
    set_size(&mut argument_mut(input, to).value, set.of, size);
}

fn set_size(value: &mut Value, of: Of, size: i128) {
    if size_at(value, of).is_none_or(|known| known == size) {
        return;
    }
    match (value, of) {
        (Value::Int(number), Of::Number) => *number = size,
        (Value::List(items) | Value::Tuple(items), Of::Length) => {
            if let Some(last) = items.last().cloned() {
                items.resize(size.clamp(0, 16) as usize, last);
            }
        }
        (Value::List(items) | Value::Tuple(items), of) => {
            if let Some(item) = position(of, items.len()).and_then(|at| items.get_mut(at)) {
                *item = Value::Int(size);
            }
        }
        (value, of) => {
            let Some(tensor) = tensor_mut(value) else {
                return;
            };
            let mut shape = tensor.shape.clone();
            if let (Some(at), Ok(size)) = (position(of, shape.len()), u64::try_from(size)) {
                shape[at] = size;
                *tensor = reshaped(tensor, tensor.dtype, shape);
            }
        }
    }
}

fn position(of: Of, length: usize) -> Option<usize> {
    match of {
        Of::First(at) => Some(at.into()).filter(|at| *at < length),
        Of::Last(at) => length.checked_sub(1 + usize::from(at)),
        _ => None,
    }
}
