//! A call in one line: types and shapes instead of elements.

use std::fmt::{self, Write};

use crate::{Argument, ConcreteInput, TensorValue, Value};

/// Longer values are cut.
const VALUE_CHARS: usize = 40;

impl ConcreteInput {
    /// `input=float32[2, 3], dim=-1`; for a layer the call on the object follows in a second pair
    /// of parentheses: `(4, 2)(input=float32[3, 4])`.
    pub fn summary(&self) -> String {
        let mut text = format!("({})", arguments(&self.arguments));
        if let Some(layer) = &self.layer_arguments {
            let _ = write!(text, "({})", arguments(layer));
        }
        text
    }
}

impl Argument {
    /// Its value in a few words: `float32[2, 3]`, `-1`.
    pub fn brief(&self) -> String {
        cut(&Brief(&self.value).to_string())
    }
}

fn arguments(arguments: &[Argument]) -> String {
    let parts: Vec<String> = arguments
        .iter()
        .map(|argument| format!("{}={}", argument.name, argument.brief()))
        .collect();
    parts.join(", ")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE_CHARS {
        return text.to_owned();
    }
    text.chars().take(VALUE_CHARS - 1).chain(['…']).collect()
}

struct Brief<'a>(&'a Value);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::None => f.write_str("None"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Complex { re, im } => write!(f, "complex({re:?}, {im:?})"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Bytes(bytes) => write!(f, "bytes[{}]", bytes.len()),
            Value::List(items) => sequence(f, "[", items, "]"),
            Value::Tuple(items) => sequence(f, "(", items, ")"),
            Value::Dict(pairs) => write!(f, "dict[{}]", pairs.len()),
            Value::Tensor(tensor) => shape(f, "", tensor),
            Value::SparseTensor(tensor) => shape(f, "sparse ", tensor),
            Value::NdArray(tensor) => shape(f, "ndarray ", tensor),
            Value::Dtype(dtype) => write!(f, "{dtype}"),
            Value::Object(path) => f.write_str(path),
            Value::Call { path, arguments } => {
                f.write_str(path)?;
                sequence(f, "(", arguments, ")")
            }
        }
    }
}

fn sequence(f: &mut fmt::Formatter<'_>, open: &str, items: &[Value], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{}", if at > 0 { ", " } else { "" }, Brief(item))?;
    }
    f.write_str(close)
}

fn shape(f: &mut fmt::Formatter<'_>, kind: &str, tensor: &TensorValue) -> fmt::Result {
    write!(f, "{kind}{}{:?}", tensor.dtype, tensor.shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dtype, Intent, Passing, TensorData};

    fn argument(name: &str, value: Value) -> Argument {
        Argument {
            name: name.into(),
            passing: Passing::Keyword,
            value,
        }
    }

    #[test]
    fn a_call_is_one_line_whatever_its_size() {
        let tensor = TensorValue {
            dtype: Dtype::Float32,
            shape: vec![2, 3],
            data: TensorData {
                pattern: vec![0; 24].into(),
            },
        };
        let input = ConcreteInput {
            number: 0,
            arguments: vec![
                argument("size", Value::Tuple(vec![Value::Int(1), Value::None])),
                argument("text", Value::Text("x".repeat(100))),
            ],
            layer_arguments: Some(vec![argument("input", Value::Tensor(tensor))]),
            intent: Intent::Conform,
            mutations: vec![],
        };
        let summary = input.summary();
        assert!(
            summary.starts_with("(size=(1, None), text=\"xxx"),
            "{summary}"
        );
        assert!(summary.ends_with("…)(input=float32[2, 3])"), "{summary}");
        assert!(summary.len() < 120, "{summary}");
    }
}
