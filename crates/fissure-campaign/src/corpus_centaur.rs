//! Centaur's `abstract_inputs.jsonl` as a corpus: shapes, element types and ranges become tensors with elements.
//!
//! A line does not name its API: the inputs are for any API of the run (Centaur keeps one file for each). Texts are
//! positions in a list that the file does not have; such arguments are left out.

use fissure_model::{
    Argument, ConcreteInput, Intent, Passing, Scalar, TensorData, TensorValue, Value,
};
use fissure_rules::centaur::{CorpusInput, CorpusValue, dtype_of_number, read_corpus};
use fissure_solve::{Random, write_element};
use serde_json::Map;

/// Elements that are drawn; a larger tensor repeats them.
const DRAWN: u64 = 64;
/// Larger tensors are not made.
const MOST_ELEMENTS: u64 = 1 << 22;

/// Whether these lines are Centaur's: each an object with a list for every argument.
pub(crate) fn is_one(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let object =
        first.and_then(|line| serde_json::from_str::<Map<String, serde_json::Value>>(line).ok());
    object.is_some_and(|object| !object.is_empty() && object.values().all(|value| value.is_array()))
}

/// The inputs of a file, those with a value that cannot be made left out; an error names its line.
pub(crate) fn read(text: &str) -> Result<Vec<ConcreteInput>, String> {
    let inputs = read_corpus(text).map_err(|error| error.to_string())?;
    let numbered = (0..).zip(&inputs);
    Ok(numbered
        .filter_map(|(number, input)| concrete(number, input))
        .collect())
}

fn concrete(number: u64, input: &CorpusInput) -> Option<ConcreteInput> {
    // The same elements in every run.
    let mut random = Random::new([0x63; 32], number);
    let mut arguments = Vec::new();
    for (name, value) in input {
        let value = match value {
            CorpusValue::Boolean((value,)) => Value::Bool(*value),
            CorpusValue::Integer(value, _) => Value::Int((*value).into()),
            CorpusValue::Float((numerator, denominator), _) => {
                Value::Float(*numerator as f64 / *denominator as f64)
            }
            CorpusValue::Items((items,)) => Value::List(
                items
                    .iter()
                    .map(|item| Value::Int((*item).into()))
                    .collect(),
            ),
            CorpusValue::Tensor(shape, dtype, range) => {
                Value::Tensor(tensor(shape, *dtype, *range, &mut random)?)
            }
            // Its name tells a type from a text.
            CorpusValue::Index((index,)) if name == "dtype" => {
                Value::Dtype(dtype_of_number(*index)?)
            }
            CorpusValue::Index(_) => continue,
        };
        arguments.push(Argument {
            name: name.clone(),
            passing: Passing::Keyword,
            value,
        });
    }
    Some(ConcreteInput {
        number,
        arguments,
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: Vec::new(),
    })
}

fn tensor(
    shape: &[u64],
    dtype: i64,
    (low, high): (i64, i64),
    random: &mut Random,
) -> Option<TensorValue> {
    let dtype = dtype_of_number(dtype)?;
    let elements = (shape.iter()).try_fold(1_u64, |product, dim| product.checked_mul(*dim))?;
    if elements > MOST_ELEMENTS || low > high {
        return None;
    }
    let mut pattern = Vec::new();
    for _ in 0..elements.min(DRAWN) {
        let span = (i128::from(high) - i128::from(low)) as f64;
        let drawn = low as f64 + random.unit() * span;
        let scalar = match dtype.is_float() || dtype.is_complex() {
            true => Scalar::Float(drawn),
            false => Scalar::Int(drawn.round() as i128),
        };
        write_element(dtype, scalar, &mut pattern);
    }
    Some(TensorValue {
        dtype,
        shape: shape.to_vec(),
        data: TensorData {
            pattern: pattern.into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::Dtype;

    #[test]
    fn abstract_inputs_become_calls_with_elements_in_their_ranges() {
        let text = "{\"input\": [[3, 5, 100], 7, [-127, 32767]], \"dim\": [-2, 4], \"keepdim\": [true]}\n\
                    {\"input\": [[2, 4], 8, [0, 6]], \"p\": [[3, 2], 7], \"size\": [[1, 2]], \"reduction\": [7]}\n";
        let inputs = read(text).unwrap();
        assert_eq!(inputs.len(), 2);
        let names = |at: usize| -> Vec<&str> {
            inputs[at]
                .arguments
                .iter()
                .map(|it| it.name.as_str())
                .collect()
        };
        assert_eq!(names(0), ["input", "dim", "keepdim"]);
        assert_eq!(names(1), ["input", "p", "size"], "texts are left out");
        assert_eq!(inputs[0].arguments[1].value, Value::Int(-2));
        assert_eq!(inputs[1].arguments[1].value, Value::Float(1.5));
        let Value::Tensor(tensor) = &inputs[1].arguments[0].value else {
            panic!("a tensor: {:?}", inputs[1]);
        };
        assert_eq!(Some(tensor.dtype), dtype_of_number(8));
        assert_eq!(tensor.shape, [2, 4]);
        let size = tensor.dtype.size().unwrap();
        assert_eq!(tensor.data.pattern.len(), 8 * size);
        if tensor.dtype == Dtype::Float64 {
            let first = tensor.data.pattern[..8].try_into().unwrap();
            assert!((0.0..=6.0).contains(&f64::from_le_bytes(first)));
        }
        assert_eq!(read(text).unwrap(), inputs, "the same in every run");
        assert!(read("{\"input\": 3}\n").is_err());
    }
}
