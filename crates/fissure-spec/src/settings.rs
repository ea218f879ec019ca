//! YAML as plain values, for files of settings: scalars without quotes get the types that YAML's
//! core schema gives them.

use serde_json::{Map, Number, Value};

use crate::yaml::{self, Node, NodeKind};

/// Why a text is no YAML.
#[derive(Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct YamlError {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

/// The only document of `text`.
pub fn yaml_value(text: &str) -> Result<Value, YamlError> {
    let document = yaml::parse(text).map_err(|error| YamlError {
        line: error.line,
        column: error.column,
        message: error.message,
    })?;
    value(&document)
}

fn value(node: &Node) -> Result<Value, YamlError> {
    match &node.kind {
        NodeKind::Text { text, plain: false } => Ok(Value::String(text.clone())),
        NodeKind::Text { text, plain: true } => Ok(scalar(text)),
        NodeKind::List(items) => items.iter().map(value).collect(),
        NodeKind::Map(entries) => {
            let mut map = Map::new();
            for (key, entry) in entries {
                let Some(name) = key.text() else {
                    return Err(YamlError {
                        line: key.line,
                        column: key.column,
                        message: format!("{} cannot be a key", key.kind_name()),
                    });
                };
                map.insert(name.to_owned(), value(entry)?);
            }
            Ok(Value::Object(map))
        }
    }
}

fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    // `inf` and `nan` are words here, as in YAML; JSON has no such numbers anyway.
    let digits = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    if digits {
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        if let Ok(number) = unsigned.parse::<i64>() {
            return Value::from(number);
        }
        if let Ok(number) = unsigned.parse::<u64>() {
            return Value::from(number);
        }
        if let Some(number) = unsigned.parse::<f64>().ok().and_then(Number::from_f64) {
            return Value::Number(number);
        }
    }
    Value::String(text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_scalars_have_the_types_of_the_core_schema() {
        let text = "a: 1\nb: -2.5e3\nc: true\nd: ~\ne: '1'\nf: [x, .5, no]\ng:\n  h: 1.10\n";
        assert_eq!(
            yaml_value(text).unwrap(),
            json!({ "a": 1, "b": -2500.0, "c": true, "d": null, "e": "1",
                    "f": ["x", 0.5, "no"], "g": { "h": 1.1 } })
        );
    }

    #[test]
    fn what_is_no_yaml_is_said_with_its_line() {
        let error = yaml_value("a: 1\nb: [1,\n").unwrap_err();
        assert!(error.line >= 2, "{error}");
    }
}
