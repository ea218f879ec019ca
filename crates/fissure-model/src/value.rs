//! A Python argument as plain data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Dtype;

/// A value that can be passed to an API: everything Fissure generates, stores and replays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    None,
    Bool(bool),
    /// Python's integers are unbounded; 128 bits hold every bound of every dtype and its neighbours.
    #[serde(with = "int_text")]
    Int(i128),
    #[serde(with = "float_text")]
    Float(f64),
    Complex {
        #[serde(with = "float_text")]
        re: f64,
        #[serde(with = "float_text")]
        im: f64,
    },
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// A tensor of the library under test.
    Tensor(TensorValue),
    /// The same elements as a sparse (COO) tensor of the library under test.
    SparseTensor(TensorValue),
    /// A NumPy array.
    NdArray(TensorValue),
    /// A dtype object of the library under test (`torch.float32`).
    Dtype(Dtype),
    /// A named object of an importable module, by dotted path (`torch.strided`, `torch.relu`).
    Object(String),
    /// The result of calling a named object (`torch.device("cpu")`, `torch.nn.Linear(4, 4)`).
    Call {
        path: String,
        arguments: Vec<Value>,
    },
}

/// Elements of a tensor, row-major.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorValue {
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    pub data: TensorData,
}

/// The bytes of a tensor: `pattern`, repeated from its start until every element has a value.
///
/// A large tensor is a short pattern repeated, so that a finding about a 64 MiB input is still a
/// small file. `pattern` holds a whole number of elements (little-endian); it is empty only for a
/// tensor without elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorData {
    #[serde(with = "hex_bytes")]
    pub pattern: Arc<[u8]>,
}

impl TensorValue {
    /// Number of elements; `None` if it does not fit 64 bits.
    pub fn elements(&self) -> Option<u64> {
        self.shape
            .iter()
            .try_fold(1u64, |product, dim| product.checked_mul(*dim))
    }

    /// Bytes of the whole tensor (pattern repeated).
    pub fn byte_len(&self) -> Option<u64> {
        self.elements()?.checked_mul(self.dtype.size()? as u64)
    }
}

/// What makes a ragged tensor of a dense one and the lengths of its rows.
const RAGGED: &str = "tensorflow.RaggedTensor.from_tensor";

impl Value {
    /// The tensor with only the first elements of each row; `lengths` has one number per row.
    pub fn ragged(tensor: TensorValue, lengths: Vec<Value>) -> Value {
        let mut arguments = vec![Value::Tensor(tensor)];
        // An empty list would be one of floats.
        if !lengths.is_empty() {
            arguments.push(Value::List(lengths));
        }
        Value::Call {
            path: RAGGED.to_owned(),
            arguments,
        }
    }

    /// The dense tensor that a ragged one is cut from.
    pub fn ragged_from(&self) -> Option<&Value> {
        match self {
            Value::Call { path, arguments } if path == RAGGED => arguments.first(),
            _ => None,
        }
    }

    /// Calls `visit` on this value and on every value inside it.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Value)) {
        visit(self);
        match self {
            Value::List(items) | Value::Tuple(items) => {
                items.iter().for_each(|item| item.walk(visit));
            }
            Value::Call { arguments, .. } => arguments.iter().for_each(|item| item.walk(visit)),
            Value::Dict(pairs) => {
                for (key, value) in pairs {
                    key.walk(visit);
                    value.walk(visit);
                }
            }
            _ => {}
        }
    }
}

/// Integers as JSON numbers when a 64-bit reader can hold them, as decimal text otherwise.
mod int_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(i64),
        Text(String),
    }

    pub(super) fn serialize<S: Serializer>(value: &i128, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(*value) {
            Ok(small) => serializer.serialize_i64(small),
            Err(_) => serializer.serialize_str(&value.to_string()),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<i128, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Number(number) => Ok(number.into()),
            Form::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// Floats as JSON numbers when finite, as `"nan"`, `"inf"`, `"-inf"` otherwise.
mod float_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(f64),
        Text(String),
    }

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_str(match value {
                v if v.is_nan() => "nan",
                v if *v > 0.0 => "inf",
                _ => "-inf",
            })
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Number(number) => Ok(number),
            Form::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

mod hex_bytes {
    use std::fmt::Write;
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        bytes: &Arc<[u8]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(bytes.len() * 2);
        for byte in bytes.iter() {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        }
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[u8]>, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !text.is_ascii() || text.len() % 2 != 0 {
            return Err(D::Error::custom("not an even number of hexadecimal digits"));
        }
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).map_err(D::Error::custom))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_json() {
        let value = Value::Tuple(vec![
            Value::None,
            Value::Int(i128::from(u64::MAX) + 1),
            Value::Int(-3),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(-0.0),
            Value::Dict(vec![(
                Value::Text("k".into()),
                Value::Dtype(Dtype::Bfloat16),
            )]),
            Value::Tensor(TensorValue {
                dtype: Dtype::Int16,
                shape: vec![2, 3],
                data: TensorData {
                    pattern: vec![1, 0, 255, 127].into(),
                },
            }),
        ]);
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            value,
            "{text}"
        );
    }
}
