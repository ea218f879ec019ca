//! Abstract values become concrete ones.

use fissure_model::{
    AbstractArgument, AbstractInput, AbstractValue, Argument, ConcreteInput, Dtype, Scalar,
    TensorKind, TensorValue, Value,
};
use fissure_solve::Random;

use crate::elements::fill_tensor;
use crate::options::TensorsAs;

/// Nested lists with more elements than this stay tensors.
pub(crate) const MAX_LISTED: u64 = 4096;

/// Fills the tensors of an abstract input with elements.
pub fn concrete_input(number: u64, input: AbstractInput, random: &mut Random) -> ConcreteInput {
    let mut convert = |arguments: Vec<AbstractArgument>| -> Vec<Argument> {
        arguments
            .into_iter()
            .map(|argument| Argument {
                name: argument.name,
                passing: argument.passing,
                value: concrete_value(argument.value, random),
            })
            .collect()
    };
    let arguments = convert(input.arguments);
    let layer_arguments = input.layer_arguments.map(convert);
    ConcreteInput {
        number,
        arguments,
        layer_arguments,
        intent: input.intent,
        mutations: vec![],
    }
}

fn concrete_value(value: AbstractValue, random: &mut Random) -> Value {
    let mut all = |items: Vec<AbstractValue>| -> Vec<Value> {
        items
            .into_iter()
            .map(|item| concrete_value(item, random))
            .collect()
    };
    match value {
        AbstractValue::Literal(value) => value,
        AbstractValue::List(items) => Value::List(all(items)),
        AbstractValue::Tuple(items) => Value::Tuple(all(items)),
        AbstractValue::Dict(pairs) => Value::Dict(
            pairs
                .into_iter()
                .map(|(key, entry)| (concrete_value(key, random), concrete_value(entry, random)))
                .collect(),
        ),
        AbstractValue::Tensor {
            kind,
            dtype,
            shape,
            fill,
        } => {
            let tensor = fill_tensor(dtype, shape, fill, random);
            match kind {
                TensorKind::Dense => Value::Tensor(tensor),
                TensorKind::Sparse => Value::SparseTensor(tensor),
                TensorKind::Ragged => ragged(tensor, random),
            }
        }
        AbstractValue::NdArray { dtype, shape, fill } => {
            Value::NdArray(fill_tensor(dtype, shape, fill, random))
        }
    }
}

/// Rows are cut anywhere, also to nothing; very many of them keep their length.
fn ragged(tensor: TensorValue, random: &mut Random) -> Value {
    let lengths = match tensor.shape[..] {
        [rows, length, ..] if rows <= MAX_LISTED => (0..rows)
            .map(|_| Value::Int(random.below(length.saturating_add(1)).into()))
            .collect(),
        _ => Vec::new(),
    };
    Value::ragged(tensor, lengths)
}

/// Hands dense tensors over in another form, where the form can hold them.
pub(crate) fn hand_over(input: &mut ConcreteInput, form: TensorsAs) {
    if matches!(form, TensorsAs::Tensor | TensorsAs::Usual) {
        return;
    }
    let layer = input.layer_arguments.iter_mut().flatten();
    for argument in input.arguments.iter_mut().chain(layer) {
        reform(&mut argument.value, form);
    }
}

/// Arguments that are tensors become NumPy arrays; tensors inside lists stay what they are.
pub(crate) fn arrays_for_tensors(input: &mut ConcreteInput) {
    let layer = input.layer_arguments.iter_mut().flatten();
    for argument in input.arguments.iter_mut().chain(layer) {
        if let Value::Tensor(_) = argument.value {
            reform(&mut argument.value, TensorsAs::NdArray);
        }
    }
}

fn reform(value: &mut Value, form: TensorsAs) {
    match value {
        Value::List(items) | Value::Tuple(items) => {
            items.iter_mut().for_each(|item| reform(item, form));
        }
        Value::Dict(pairs) => pairs.iter_mut().for_each(|(_, entry)| reform(entry, form)),
        Value::Tensor(tensor) | Value::NdArray(tensor) => match form {
            TensorsAs::NdArray if has_numpy_form(tensor.dtype) => {
                *value = Value::NdArray(tensor.clone());
            }
            TensorsAs::List => {
                if let Some(list) = nested_list(tensor, MAX_LISTED) {
                    *value = list;
                }
            }
            _ => {}
        },
        _ => {}
    }
}

fn has_numpy_form(dtype: Dtype) -> bool {
    dtype.family().is_some()
        && !matches!(
            dtype,
            Dtype::Bfloat16 | Dtype::Float8E4m3fn | Dtype::Float8E5m2 | Dtype::String
        )
}

/// The tensor as lists in lists, of at most so many elements, or lists of one level: a tensor of a huge and an empty
/// dimension has no elements, but as many lists.
pub(crate) fn nested_list(tensor: &TensorValue, most: u64) -> Option<Value> {
    let mut lists = 1_u64;
    for size in &tensor.shape {
        lists = lists.checked_mul(*size).filter(|count| *count <= most)?;
    }
    let pattern: Vec<Scalar> = tensor.pattern_scalars().collect();
    let mut next = pattern.iter().cycle();
    Some(list_of(&tensor.shape, &mut next))
}

fn list_of<'a>(shape: &[u64], next: &mut impl Iterator<Item = &'a Scalar>) -> Value {
    match shape {
        [] => match next.next() {
            Some(Scalar::Bool(value)) => Value::Bool(*value),
            Some(Scalar::Int(value)) => Value::Int(*value),
            Some(Scalar::Float(value)) => Value::Float(*value),
            Some(Scalar::Complex(re, im)) => Value::Complex { re: *re, im: *im },
            None => Value::None,
        },
        [count, inner @ ..] => Value::List((0..*count).map(|_| list_of(inner, next)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{Intent, Passing, TensorData};

    use super::*;

    #[test]
    fn a_huge_and_an_empty_dimension_make_no_list() {
        let list = |shape: &[u64]| {
            let data = TensorData {
                pattern: vec![0; 4].into(),
            };
            let tensor = TensorValue {
                dtype: Dtype::Float32,
                shape: shape.to_vec(),
                data,
            };
            nested_list(&tensor, 64)
        };
        assert_eq!(list(&[1 << 40, 0]), None);
        assert_eq!(list(&[65]), None);
        assert_eq!(list(&[0, 1 << 40]), Some(Value::List(Vec::new())));
        let row = Value::List(vec![Value::Float(0.0); 2]);
        assert_eq!(list(&[2, 2]), Some(Value::List(vec![row; 2])));
    }

    fn input(dtype: Dtype) -> ConcreteInput {
        let tensor = TensorValue {
            dtype,
            shape: vec![2, 2],
            data: TensorData {
                pattern: vec![1; dtype.size().unwrap()].into(),
            },
        };
        ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "x".into(),
                passing: Passing::Keyword,
                value: Value::List(vec![Value::Tensor(tensor)]),
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: vec![],
        }
    }

    #[test]
    fn tensors_inside_lists_change_their_form_too() {
        let mut listed = input(Dtype::Int8);
        hand_over(&mut listed, TensorsAs::List);
        let row = Value::List(vec![Value::Int(1), Value::Int(1)]);
        let expected = Value::List(vec![Value::List(vec![row.clone(), row])]);
        assert_eq!(listed.arguments[0].value, expected);
    }

    #[test]
    fn what_numpy_lacks_stays_a_tensor() {
        let mut array = input(Dtype::Bfloat16);
        hand_over(&mut array, TensorsAs::NdArray);
        assert_eq!(array, input(Dtype::Bfloat16));
    }
}
