//! What can be said about a finished value: its facts, its ranks, its numbers.

use fissure_model::{AbstractValue, FillScheme, TensorValue, Value};

use crate::constraints::expressions::Facts;
use crate::constraints::meaning::Leaf;
use crate::element::as_number;

pub(crate) fn tensor_of(value: &Value) -> Option<&TensorValue> {
    match value {
        Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
            Some(tensor)
        }
        _ => None,
    }
}

fn items_of(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) | Value::Tuple(items) => Some(items),
        _ => None,
    }
}

/// A plain number as a float.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(u8::from(*value).into()),
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// Facts about a value, for the expressions of other parameters.
pub(crate) fn facts_of(value: &Value, with_maximum: bool) -> Facts {
    let mut facts = Facts {
        value: number_of(value),
        ..Facts::default()
    };
    if let Some(tensor) = tensor_of(value) {
        facts.dtype = Some(tensor.dtype);
        facts.ndim = Some(tensor.shape.len() as f64);
        facts.length = tensor.shape.first().map(|size| *size as f64);
        facts.shape = Some(tensor.shape.clone());
        if tensor.shape.is_empty() {
            facts.value = tensor.pattern_scalars().next().and_then(as_number);
        }
    } else if let Some(items) = items_of(value) {
        facts.length = Some(items.len() as f64);
        let shape = nested_shape(value);
        facts.ndim = shape.as_ref().map(|shape| shape.len() as f64);
        facts.shape = shape;
        if let Some(dtype) = items.first().and_then(tensor_of).map(|tensor| tensor.dtype) {
            facts.dtype = Some(dtype);
        } else if let Some(leaf) = items.first().and_then(Leaf::of) {
            facts.dtype = leaf.dtype();
            facts.plain = true;
        }
    } else if let Some(leaf) = Leaf::of(value) {
        facts.dtype = leaf.dtype();
        facts.plain = true;
        if leaf.dtype().is_some() {
            facts.ndim = Some(0.0);
            facts.shape = Some(Vec::new());
        }
        if let Value::Text(text) = value {
            facts.length = Some(text.chars().count() as f64);
        }
    }
    if with_maximum {
        for_each_number(value, &mut |number, _| {
            facts.maximum = Some(facts.maximum.map_or(number, |known: f64| known.max(number)));
        });
    }
    facts
}

/// The same for a value whose tensors have no elements yet.
pub(crate) fn facts_of_abstract(value: &AbstractValue) -> Facts {
    match value {
        AbstractValue::Literal(value) => facts_of(value, true),
        AbstractValue::Tensor {
            dtype, shape, fill, ..
        }
        | AbstractValue::NdArray { dtype, shape, fill } => {
            let known = fill.scheme == FillScheme::Peak && !dtype.is_complex();
            let peak = fill.upper.filter(|_| known);
            let empty = shape.contains(&0);
            Facts {
                value: peak.filter(|_| shape.is_empty()),
                length: shape.first().map(|size| *size as f64),
                ndim: Some(shape.len() as f64),
                maximum: peak.filter(|_| !empty),
                dtype: Some(*dtype),
                plain: false,
                shape: Some(shape.clone()),
            }
        }
        AbstractValue::List(items) | AbstractValue::Tuple(items) => {
            let inner: Vec<Facts> = items.iter().map(facts_of_abstract).collect();
            let holds_tensors = items
                .iter()
                .any(|item| matches!(item, AbstractValue::Tensor { .. }));
            let regular = !holds_tensors
                && inner.iter().all(|facts| facts.shape.is_some())
                && inner.windows(2).all(|pair| pair[0].shape == pair[1].shape);
            let shape = if holds_tensors {
                Some(vec![items.len() as u64])
            } else {
                regular.then(|| {
                    let mut shape = vec![items.len() as u64];
                    shape.extend(
                        inner
                            .first()
                            .and_then(|f| f.shape.clone())
                            .unwrap_or_default(),
                    );
                    shape
                })
            };
            let first = inner.first();
            Facts {
                value: None,
                length: Some(items.len() as f64),
                ndim: shape.as_ref().map(|shape| shape.len() as f64),
                maximum: inner
                    .iter()
                    .filter_map(|facts| facts.maximum)
                    .reduce(f64::max),
                dtype: first.and_then(|facts| facts.dtype),
                plain: first.is_some_and(|facts| facts.plain),
                shape,
            }
        }
        AbstractValue::Dict(_) => Facts::default(),
    }
}

/// The sizes of regularly nested lists of plain values; tensors inside count as entries.
pub(crate) fn nested_shape(value: &Value) -> Option<Vec<u64>> {
    let Some(items) = items_of(value) else {
        return Some(Vec::new());
    };
    let mut shape = vec![items.len() as u64];
    if let Some(first) = items.first() {
        let inner = nested_shape(first)?;
        if items[1..]
            .iter()
            .any(|item| nested_shape(item).as_ref() != Some(&inner))
        {
            return None;
        }
        shape.extend(inner);
    }
    Some(shape)
}

/// What a number was found in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'a> {
    Leaf(Leaf),
    Tensor(&'a TensorValue),
}

/// Calls `visit` with every number inside a value: plain ones and elements of tensors.
pub(crate) fn for_each_number<'a>(value: &'a Value, visit: &mut impl FnMut(f64, Holder<'a>)) {
    value.walk(&mut |value| {
        if let Some(tensor) = tensor_of(value) {
            for number in tensor.pattern_scalars().filter_map(as_number) {
                visit(number, Holder::Tensor(tensor));
            }
        } else if let (Some(number), Some(leaf)) = (number_of(value), Leaf::of(value)) {
            visit(number, Holder::Leaf(leaf));
        }
    });
}

/// Is every entry of this list a tensor?
pub(crate) fn tensors_inside(value: &Value) -> Option<Vec<&TensorValue>> {
    let items = items_of(value)?;
    if items.is_empty() {
        return None;
    }
    items.iter().map(tensor_of).collect()
}
