//! An input changed to what a rejection asks for.

use fissure_functions::{Given, Object, functions};
use fissure_model::{Argument, ConcreteInput, Dtype, TensorData, TensorValue, Value};
use fissure_solve::Random;

use super::alike::{agree, same_dtype, same_shape};
use super::elements::{as_tensor, clamp, in_order, replace_elements, reshaped};
use super::wish::{Sort, Want, Wish};

/// Sizes that a repair makes at most.
const LARGEST: i64 = 4096;

/// The input with the wish fulfilled, once for each argument that the wish can be about; at most
/// `most` of them.
pub(super) fn repaired(
    input: &ConcreteInput,
    wish: &Wish,
    most: usize,
    random: &mut Random,
) -> Vec<ConcreteInput> {
    match &wish.want {
        Want::SameShape => return same_shape(input).into_iter().collect(),
        Want::NotCalled => {
            let mut plain = input.clone();
            return (plain.layer_arguments.take().map(|_| plain))
                .into_iter()
                .collect();
        }
        Want::SameDtype => return same_dtype(input).into_iter().collect(),
        Want::Agree { one, other } => {
            let mut made: Vec<ConcreteInput> = Vec::new();
            for _ in 0..most.max(1) {
                made.extend(agree(input, one, other, random).filter(|new| !made.contains(new)));
            }
            return made;
        }
        _ => {}
    }
    let own = input.arguments.len();
    let layer = input.layer_arguments.as_ref().map_or(0, Vec::len);
    let mut made = Vec::new();
    // Where no parameter is named, not always the first ones.
    let count = own + layer;
    let first = match wish.about.is_none() && count > 1 && random.chance(0.5) {
        true => random.index(count),
        false => 0,
    };
    for at in (first..count).chain(0..first) {
        let named = argument(input, at).name == wish.about.as_deref().unwrap_or_default();
        if wish.about.is_some() && !named {
            continue;
        }
        if let Want::Nothing = wish.want {
            let mut changed = input.clone();
            remove(&mut changed, at);
            made.push(changed);
            continue;
        }
        let mut changed = input.clone();
        if change(
            &mut argument_mut(&mut changed, at).value,
            &wish.want,
            random,
        ) {
            made.push(changed);
        }
        if made.len() >= most {
            break;
        }
    }
    if made.is_empty() && wish.about.is_some() {
        // The name may be that of an inner function's parameter.
        let anywhere = Wish {
            about: None,
            want: wish.want.clone(),
        };
        if !matches!(wish.want, Want::Nothing | Want::Word(_)) {
            return repaired(input, &anywhere, most, random);
        }
    }
    made
}

/// A dimension of a tensor is larger or smaller by as much as a number is wrong that none of them has: `x[:, 2:]` has
/// two columns less than `x`. The last dimension is what most often is cut.
pub(super) fn moved(input: &ConcreteInput, by: i64, random: &mut Random) -> Option<ConcreteInput> {
    let layer = input.layer_arguments.as_ref().map_or(0, Vec::len);
    let tensors: Vec<usize> = (0..input.arguments.len() + layer)
        .filter(|at| match &argument(input, *at).value {
            Value::Tensor(tensor) | Value::NdArray(tensor) => !tensor.shape.is_empty(),
            _ => false,
        })
        .collect();
    if tensors.is_empty() {
        return None;
    }
    let mut changed = input.clone();
    // One of them, or all that have the same size there: what is cut alike was probably to agree.
    let alike = random.chance(0.5);
    let chosen = *random.pick(&tensors);
    let from_end = match random.chance(0.6) {
        true => 0,
        false => random.index(4),
    };
    let place = |shape: &[u64]| shape.len() - 1 - from_end.min(shape.len() - 1);
    let size_of = |input: &ConcreteInput, at: usize| match &argument(input, at).value {
        Value::Tensor(tensor) | Value::NdArray(tensor) => tensor.shape[place(&tensor.shape)],
        _ => 0,
    };
    let same = size_of(input, chosen);
    for at in tensors {
        if at != chosen && !(alike && size_of(input, at) == same) {
            continue;
        }
        let (Value::Tensor(tensor) | Value::NdArray(tensor)) =
            &mut argument_mut(&mut changed, at).value
        else {
            continue;
        };
        let mut shape = tensor.shape.clone();
        let place = place(&shape);
        let size = i64::try_from(shape[place]).ok()?.checked_add(by)?;
        if !(1..=LARGEST).contains(&size) {
            continue;
        }
        shape[place] = size as u64;
        *tensor = reshaped(tensor, tensor.dtype, shape);
    }
    (changed != *input).then_some(changed)
}

pub(super) fn argument(input: &ConcreteInput, at: usize) -> &Argument {
    let layer = input.layer_arguments.iter().flatten();
    let mut all = input.arguments.iter().chain(layer);
    all.nth(at).expect("a position among all arguments")
}

pub(super) fn argument_mut(input: &mut ConcreteInput, at: usize) -> &mut Argument {
    let layer = input.layer_arguments.iter_mut().flatten();
    let mut all = input.arguments.iter_mut().chain(layer);
    all.nth(at).expect("a position among all arguments")
}

pub(super) fn remove(input: &mut ConcreteInput, at: usize) {
    let own = input.arguments.len();
    if at < own {
        input.arguments.remove(at);
    } else if let Some(layer) = &mut input.layer_arguments {
        layer.remove(at - own);
    }
}

/// Changes a value; false if the wish does not fit it.
fn change(value: &mut Value, want: &Want, random: &mut Random) -> bool {
    match (value, want) {
        (value, Want::Sort(sort)) => to_sort(value, *sort, random),
        (value @ (Value::Tensor(_) | Value::SparseTensor(_)), Want::Through(name)) => {
            let inner = match &*value {
                Value::SparseTensor(tensor) => Value::Tensor(tensor.clone()),
                other => other.clone(),
            };
            let changed = through(name, inner, random);
            changed.map(|changed| *value = changed).is_some()
        }
        (value, Want::Made(name)) => {
            let Some(object) = made(name, random).filter(|object| object != value) else {
                return false;
            };
            *value = object;
            true
        }
        (value @ (Value::Text(_) | Value::None), Want::Word(word)) => {
            let new = Value::Text(word.clone());
            let differs = *value != new;
            *value = new;
            differs
        }
        (Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor), want) => {
            change_tensor(tensor, want, random)
        }
        (Value::List(items) | Value::Tuple(items), want) => change_list(items, want, random),
        // A tensor inside the call that gives it its form.
        (Value::Call { arguments, .. }, Want::Rank(_) | Want::Number { .. } | Want::Square) => {
            match arguments.first_mut() {
                Some(inner @ Value::Tensor(_)) => change(inner, want, random),
                _ => false,
            }
        }
        (Value::Int(number), want) => {
            let before = *number;
            match want {
                Want::Number { from, to } if before == i128::from(*from) => *number = (*to).into(),
                Want::AtLeast(least) => *number = before.max((*least).into()),
                Want::AtMost(most) => *number = before.min((*most).into()),
                Want::Multiple(divisor) => {
                    let divisor = i128::from(*divisor);
                    *number = (before.max(1) + divisor - 1) / divisor * divisor;
                }
                Want::Small => *number = i128::from(before != 0 && random.chance(0.3)),
                _ => return false,
            }
            *number != before
        }
        (Value::Float(number), want) => {
            let before = *number;
            match want {
                Want::AtLeast(least) if before < *least as f64 => *number = *least as f64,
                Want::AtMost(most) if before > *most as f64 => *number = *most as f64,
                _ => return false,
            }
            true
        }
        _ => false,
    }
}

/// What the table of functions says of a call that makes something of an argument, or of nothing.
fn object(name: &str, random: &mut Random) -> Option<&'static Object> {
    let objects = functions().objects().iter();
    let same: Vec<&Object> = objects.filter(|object| object.name() == name).collect();
    (!same.is_empty()).then(|| *random.pick(&same))
}

/// Further arguments of such a call; one that cannot be read is left out.
fn arguments_of(object: &Object) -> Vec<Value> {
    let read = |json: &serde_json::Value| serde_json::from_value(json.clone()).ok();
    object.with.iter().filter_map(read).collect()
}

/// A tensor handed through a function that gives it another form.
fn through(name: &str, tensor: Value, random: &mut Random) -> Option<Value> {
    let object = object(name, random)?;
    // What is quantised, compressed or handed to another library has to be `float32`.
    let tensor = match tensor {
        Value::Tensor(tensor) => {
            let shape = tensor.shape.clone();
            Value::Tensor(reshaped(&tensor, Dtype::Float32, shape))
        }
        other => other,
    };
    formed(object, tensor)
}

/// The call of the table that gives a tensor another form.
pub(crate) fn formed(object: &Object, tensor: Value) -> Option<Value> {
    let first = match object.given? {
        Given::Tensor => tensor,
        Given::Tensors => Value::List(vec![tensor.clone(), tensor]),
    };
    let mut arguments = vec![first];
    arguments.extend(arguments_of(object));
    Some(Value::Call {
        path: object.call.clone(),
        arguments,
    })
}

/// An object that is made without anything of the call.
fn made(name: &str, random: &mut Random) -> Option<Value> {
    let object = object(name, random)?;
    Some(Value::Call {
        path: object.call.clone(),
        arguments: arguments_of(object),
    })
}

fn change_list(items: &mut Vec<Value>, want: &Want, random: &mut Random) -> bool {
    let resize = |items: &mut Vec<Value>, length: usize| {
        let last = items.last().cloned().unwrap_or(Value::Int(1));
        let changed = items.len() != length && length <= 16;
        if changed {
            items.resize(length, last);
        }
        changed
    };
    match want {
        Want::Length(length) => resize(items, *length),
        Want::Axis { at: 0, size } => resize(items, *size as usize),
        Want::Shape(shape)
            if shape.len() == 1 && items.iter().all(|item| matches!(item, Value::Int(_))) =>
        {
            resize(items, shape[0] as usize)
        }
        Want::Rank(ranks) if items.iter().all(|item| matches!(item, Value::Int(_))) => {
            // Axes and sizes: as many as there are dimensions.
            ranks.first().is_some_and(|rank| resize(items, *rank))
        }
        Want::Filled if items.is_empty() => resize(items, 1),
        Want::Number { from, to }
            if items.len() as i64 == *from && (0..=16).contains(to) && random.chance(0.5) =>
        {
            resize(items, *to as usize)
        }
        want => {
            let mut changed = false;
            for item in items {
                changed |= change(item, want, random);
            }
            changed
        }
    }
}

/// The place of a dimension; beyond what there is where it is counted from the start.
fn axis(at: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let place = if at < 0 { rank.max(-at) + at } else { at };
    usize::try_from(place).ok().filter(|place| *place < 8)
}

fn change_tensor(tensor: &mut TensorValue, want: &Want, random: &mut Random) -> bool {
    let mut shape = tensor.shape.clone();
    match want {
        Want::Rank(ranks) => {
            if ranks.is_empty() || ranks.contains(&shape.len()) {
                return false;
            }
            let rank = *random.pick(ranks);
            while shape.len() > rank {
                shape.remove(0);
            }
            while shape.len() < rank {
                shape.insert(0, random.below(3) + 1);
            }
        }
        Want::Dtype { from, to } => {
            let fits = from.is_none_or(|from| from == tensor.dtype) && !to.contains(&tensor.dtype);
            if !fits || to.is_empty() {
                return false;
            }
            let dtype = *random.pick(to);
            *tensor = reshaped(tensor, dtype, shape);
            return true;
        }
        Want::Number { from, to } => {
            if !(0..=LARGEST).contains(to) {
                return false;
            }
            let sizes: Vec<usize> = (0..shape.len())
                .filter(|at| shape[*at] as i64 == *from)
                .collect();
            let whole = tensor.dtype.is_integer();
            if whole && (sizes.is_empty() || random.chance(0.3)) {
                return replace_elements(tensor, *from, *to);
            }
            if sizes.is_empty() {
                return false;
            }
            shape[*random.pick(&sizes)] = *to as u64;
        }
        Want::Filled | Want::AtLeast(1) if shape.contains(&0) => {
            shape.iter_mut().for_each(|size| *size = (*size).max(1));
        }
        Want::AtLeast(least) => {
            return clamp(tensor, Some(*least as f64), None);
        }
        Want::AtMost(most) => {
            return clamp(tensor, None, Some(*most as f64));
        }
        Want::Multiple(divisor) => {
            let odd: Vec<usize> = (0..shape.len())
                .filter(|at| shape[*at] == 0 || !shape[*at].is_multiple_of(*divisor))
                .filter(|at| shape[*at] <= LARGEST as u64)
                .collect();
            if odd.is_empty() {
                return false;
            }
            // Channels come second, in what most libraries take.
            let at = match odd.contains(&1) && random.chance(0.5) {
                true => 1,
                false => *random.pick(&odd),
            };
            shape[at] = shape[at].max(1).div_ceil(*divisor) * divisor;
        }
        Want::Small if tensor.dtype.is_integer() => {
            return clamp(
                tensor,
                Some(0.0),
                Some(if random.chance(0.5) { 0.0 } else { 1.0 }),
            );
        }
        Want::Ordered => {
            let ordered = in_order(tensor);
            let changed = ordered != *tensor;
            *tensor = ordered;
            return changed;
        }
        Want::Length(length) if shape.len() == 1 && shape[0] != *length as u64 => {
            shape[0] = *length as u64;
        }
        Want::Length(length) if shape.len() != 1 => shape = vec![*length as u64],
        Want::Last(size) => match shape.last_mut() {
            Some(last) if last != size => *last = *size,
            _ => return false,
        },
        Want::Axis { at, size } => {
            let Some(place) = axis(*at, shape.len()) else {
                return false;
            };
            // A size that is missed needs the dimensions before it.
            while shape.len() <= place {
                shape.push(random.below(3) + 1);
            }
            if std::mem::replace(&mut shape[place], *size) == *size {
                return false;
            }
        }
        Want::Shape(wanted) if shape != *wanted => shape.clone_from(wanted),
        Want::Square if shape.len() >= 2 => {
            let last = shape.len() - 1;
            if shape[last] == shape[last - 1] {
                return false;
            }
            shape[last] = shape[last - 1];
        }
        _ => return false,
    }
    *tensor = reshaped(tensor, tensor.dtype, shape);
    true
}

pub(super) fn to_sort(value: &mut Value, sort: Sort, random: &mut Random) -> bool {
    let new = match (sort, &*value) {
        (Sort::Int, Value::Int(_))
        | (Sort::Float, Value::Float(_))
        | (Sort::Bool, Value::Bool(_))
        | (Sort::Text, Value::Text(_))
        | (Sort::List, Value::List(_))
        | (Sort::Tuple, Value::Tuple(_))
        | (Sort::Dtype, Value::Dtype(_))
        | (Sort::Array, Value::NdArray(_))
        | (Sort::Sparse, Value::SparseTensor(_))
        | (Sort::Dict, Value::Dict(_))
        | (Sort::Tensor, Value::Tensor(_)) => return false,
        (Sort::Array, Value::Tensor(tensor)) => Value::NdArray(tensor.clone()),
        (Sort::Sparse, Value::Tensor(tensor) | Value::NdArray(tensor)) => {
            Value::SparseTensor(tensor.clone())
        }
        // No elements to make it of.
        (Sort::Array | Sort::Sparse, _) => return false,
        (Sort::Text, Value::Tensor(tensor) | Value::NdArray(tensor)) if tensor.shape.len() == 1 => {
            let count = tensor.shape[0].min(8) as usize;
            Value::List(vec![Value::Text("abc".to_owned()); count])
        }
        (Sort::Text, Value::List(items)) => {
            Value::List(vec![Value::Text("abc".to_owned()); items.len()])
        }
        (Sort::Dict, Value::None) => Value::Dict(Vec::new()),
        (Sort::Dict, value) => Value::Dict(vec![(Value::Text("a".to_owned()), value.clone())]),
        (Sort::Int, _) => Value::Int(random.between(1, 4)),
        (Sort::Float, Value::Int(number)) => Value::Float(*number as f64),
        (Sort::Float, _) => Value::Float(random.unit()),
        (Sort::Bool, _) => Value::Bool(random.chance(0.5)),
        (Sort::Text, _) => Value::Text("sum".to_owned()),
        (Sort::List, Value::Tuple(items)) => Value::List(items.clone()),
        (Sort::Tuple, Value::List(items)) => Value::Tuple(items.clone()),
        (Sort::List, item) => Value::List(vec![item.clone(); 2]),
        (Sort::Tuple, item) => Value::Tuple(vec![item.clone(); 2]),
        (Sort::Dtype, _) => Value::Dtype(Dtype::Float32),
        (Sort::Tensor, Value::NdArray(tensor) | Value::SparseTensor(tensor)) => {
            Value::Tensor(tensor.clone())
        }
        (Sort::Tensor, Value::List(items) | Value::Tuple(items))
            if matches!(items.first(), Some(Value::Tensor(_))) =>
        {
            items[0].clone()
        }
        (Sort::Tensor, list @ (Value::List(_) | Value::Tuple(_))) if as_tensor(list).is_some() => {
            as_tensor(list).map(Value::Tensor).unwrap_or(Value::None)
        }
        (Sort::Tensor, _) => {
            let rank = random.between(1, 3) as usize;
            let shape = (0..rank).map(|_| random.below(4) + 1).collect();
            let empty = TensorValue {
                dtype: Dtype::Float32,
                shape: vec![0],
                data: TensorData {
                    pattern: Vec::new().into(),
                },
            };
            Value::Tensor(reshaped(&empty, Dtype::Float32, shape))
        }
        // No value of its own to put there.
        (Sort::Callable, _) => return false,
    };
    *value = new;
    true
}
