//! Python source text as values: defaults and enum entries.
//!
//! The files have lost the quotes of string literals (`default: mean`), so an identifier is read
//! as text unless it can only be something else.

use fissure_model::{Dtype, DtypeFamily, DtypeTerm, Value};

use crate::terms::parse_library_dtype;

/// What the constraint lists say about the type of a value, as far as literals need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub text: bool,
    pub number: bool,
    pub boolean: bool,
    pub dtype_object: bool,
}

impl Expected {
    pub(crate) fn of(dtypes: &[DtypeTerm]) -> Expected {
        let mut expected = Expected::default();
        for term in dtypes {
            match term {
                DtypeTerm::Exact(Dtype::String) | DtypeTerm::Family(DtypeFamily::String) => {
                    expected.text = true;
                }
                DtypeTerm::Exact(Dtype::Bool) | DtypeTerm::Family(DtypeFamily::Bool) => {
                    expected.boolean = true;
                }
                DtypeTerm::DtypeObject => expected.dtype_object = true,
                DtypeTerm::Exact(_) | DtypeTerm::Family(_) | DtypeTerm::Scalar => {
                    expected.number = true;
                }
                DtypeTerm::SameAs(_) | DtypeTerm::Callable => {}
            }
        }
        expected
    }

    fn only_text(self) -> bool {
        self.text && !self.number && !self.boolean && !self.dtype_object
    }
}

/// An enum entry. `plain_number` forms of a parameter that takes only text stay text.
pub(crate) fn enum_value(text: &str, expected: Expected) -> Value {
    match text {
        "None" => return Value::None,
        "np.inf" | "numpy.inf" | "math.inf" => return Value::Float(f64::INFINITY),
        _ => {}
    }
    if let Some(dtype) = dtype_object(text, expected) {
        return Value::Dtype(dtype);
    }
    if !expected.only_text() {
        let listed = text.starts_with('[') || text.starts_with('(');
        if let Some(value) = listed.then(|| numbers(text)).flatten() {
            return value;
        }
        if let Some(value) = number(text) {
            return value;
        }
        if let Some(value) = boolean(text) {
            return value;
        }
    }
    Value::Text(text.to_owned())
}

/// A default as source text, of a parameter with these plain types. `None` when the text names an
/// object that cannot be made from plain data.
pub fn parse_default(text: &str, package: &str, dtypes: &[DtypeTerm]) -> Option<Value> {
    default_value(text, package, Expected::of(dtypes))
}

/// A default. `None` when the text names an object that cannot be made from plain data.
pub(crate) fn default_value(text: &str, package: &str, expected: Expected) -> Option<Value> {
    let text = text.trim();
    if text == "None" {
        return Some(Value::None);
    }
    // `_Null`, `<object object>`: markers for "not given" that only the library itself has.
    if text == "_Null" {
        return None;
    }
    if let Some(class) = text
        .strip_prefix("<class")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        return parse_library_dtype(class.trim()).map(Value::Dtype);
    }
    if text.starts_with('<') {
        return None;
    }
    if text.is_empty() {
        return expected.text.then(|| Value::Text(String::new()));
    }
    if let Some(dtype) = dtype_object(text, expected) {
        return Some(Value::Dtype(dtype));
    }
    if let Some(value) = python(text) {
        return Some(match value {
            Value::Int(_) | Value::Float(_) if expected.only_text() => Value::Text(text.to_owned()),
            value => value,
        });
    }
    if let Some(rest) = text.strip_prefix("torch.").filter(|_| package == "torch") {
        return is_path(rest).then(|| Value::Object(text.to_owned()));
    }
    if package == "mxnet" && text == "cpu(0)" {
        return Some(Value::Call {
            path: "mxnet.cpu".into(),
            arguments: vec![Value::Int(0)],
        });
    }
    let readable = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+'))
            && !text.is_empty()
    };
    (expected.text || readable(text)).then(|| Value::Text(text.to_owned()))
}

fn dtype_object(text: &str, expected: Expected) -> Option<Dtype> {
    // `float32` alone is a dtype only where dtypes are expected: many parameters take the word.
    let qualified = text.contains('.');
    (qualified || expected.dtype_object)
        .then(|| parse_library_dtype(text))
        .flatten()
}

/// A literal of Python that needs no name: numbers, booleans, quoted text, tuples, lists.
fn python(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Some(inner) = strip(text, '(', ')') {
        return match items(inner)? {
            values if values.len() == 1 && !inner.trim_end().ends_with(',') => {
                values.into_iter().next()
            }
            values => Some(Value::Tuple(values)),
        };
    }
    if let Some(inner) = strip(text, '[', ']') {
        return Some(Value::List(items(inner)?));
    }
    if text == "{}" {
        return Some(Value::Dict(Vec::new()));
    }
    for quote in ['\'', '"'] {
        if let Some(inner) = strip(text, quote, quote)
            && !inner.contains([quote, '\\'])
        {
            return Some(Value::Text(inner.to_owned()));
        }
    }
    match text {
        "None" => Some(Value::None),
        "nan" | "float(nan)" => Some(Value::Float(f64::NAN)),
        "inf" | "float(inf)" => Some(Value::Float(f64::INFINITY)),
        "-inf" | "float(-inf)" => Some(Value::Float(f64::NEG_INFINITY)),
        _ => number(text).or_else(|| boolean(text)),
    }
}

fn strip(text: &str, open: char, close: char) -> Option<&str> {
    (text.len() >= 2)
        .then(|| text.strip_prefix(open)?.strip_suffix(close))
        .flatten()
}

/// Comma-separated literals; words become text because their quotes are lost.
fn items(text: &str) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    let mut push = |part: &str| -> Option<()> {
        let part = part.trim();
        if !part.is_empty() {
            let word = || is_path(part).then(|| Value::Text(part.to_owned()));
            values.push(python(part).or_else(word)?);
        }
        Some(())
    };
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                push(&text[start..at])?;
                start = at + 1;
            }
            _ => {}
        }
        // Nesting in real defaults is two deep; deeper text is no default.
        if depth > 8 {
            return None;
        }
    }
    push(&text[start..])?;
    Some(values)
}

/// A list or tuple of nothing but numbers.
fn numbers(text: &str) -> Option<Value> {
    let value = python(text)?;
    let (Value::List(items) | Value::Tuple(items)) = &value else {
        return None;
    };
    let plain = |item: &Value| matches!(item, Value::Int(_) | Value::Float(_));
    (!items.is_empty() && items.iter().all(plain)).then_some(value)
}

fn number(text: &str) -> Option<Value> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return None;
    }
    if let Ok(integer) = text.parse::<i128>() {
        return Some(Value::Int(integer));
    }
    let is_decimal = text
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'));
    is_decimal
        .then(|| text.parse().ok().map(Value::Float))
        .flatten()
}

fn boolean(text: &str) -> Option<Value> {
    match text {
        "True" | "true" => Some(Value::Bool(true)),
        "False" | "false" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn is_path(text: &str) -> bool {
    text.split('.').all(crate::terms::is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Expected = Expected {
        text: true,
        number: false,
        boolean: false,
        dtype_object: false,
    };
    const NUMBER: Expected = Expected {
        text: false,
        number: true,
        boolean: false,
        dtype_object: false,
    };
    const DTYPE: Expected = Expected {
        text: false,
        number: false,
        boolean: false,
        dtype_object: true,
    };
    const OPEN: Expected = Expected {
        text: false,
        number: false,
        boolean: false,
        dtype_object: false,
    };

    fn text(word: &str) -> Value {
        Value::Text(word.into())
    }

    #[test]
    fn defaults_become_values_where_they_can() {
        let torch = |source, expected| default_value(source, "torch", expected);
        assert_eq!(torch("None", OPEN), Some(Value::None));
        assert_eq!(torch("True", OPEN), Some(Value::Bool(true)));
        assert_eq!(torch("-1", NUMBER), Some(Value::Int(-1)));
        assert_eq!(torch("1e-05", NUMBER), Some(Value::Float(1e-5)));
        assert_eq!(torch("2.0", OPEN), Some(Value::Float(2.0)));
        assert_eq!(torch("mean", TEXT), Some(text("mean")));
        assert_eq!(torch("mean", OPEN), Some(text("mean")));
        assert_eq!(torch("'mean'", OPEN), Some(text("mean")));
        assert_eq!(torch("1", TEXT), Some(text("1")));
        assert_eq!(
            torch("(1,1)", NUMBER),
            Some(Value::Tuple(vec![Value::Int(1), Value::Int(1)]))
        );
        assert_eq!(
            torch("(1,)", NUMBER),
            Some(Value::Tuple(vec![Value::Int(1)]))
        );
        assert_eq!(torch("()", NUMBER), Some(Value::Tuple(vec![])));
        assert_eq!(torch("(1)", NUMBER), Some(Value::Int(1)));
        assert_eq!(
            torch("[1, 2]", NUMBER),
            Some(Value::List(vec![Value::Int(1), Value::Int(2)]))
        );
        assert_eq!(
            torch("((1, 1), (0, 0))", OPEN),
            Some(Value::Tuple(vec![
                Value::Tuple(vec![Value::Int(1), Value::Int(1)]),
                Value::Tuple(vec![Value::Int(0), Value::Int(0)]),
            ]))
        );
        assert_eq!(
            torch("torch.strided", OPEN),
            Some(Value::Object("torch.strided".into()))
        );
        assert_eq!(
            torch("torch.float32", OPEN),
            Some(Value::Dtype(Dtype::Float32))
        );
        assert_eq!(torch("torch.long", OPEN), Some(Value::Dtype(Dtype::Int64)));
        assert_eq!(
            torch("float(-inf)", OPEN),
            Some(Value::Float(f64::NEG_INFINITY))
        );
        assert_eq!(torch("{}", OPEN), Some(Value::Dict(vec![])));
        assert_eq!(torch("", TEXT), Some(text("")));
        assert_eq!(
            default_value("tf.dtypes.int32", "tensorflow", OPEN),
            Some(Value::Dtype(Dtype::Int32))
        );
        assert_eq!(
            default_value("<class numpy.float32>", "mxnet", OPEN),
            Some(Value::Dtype(Dtype::Float32))
        );
        assert_eq!(
            default_value("<classnumpy.float32>", "mxnet", OPEN),
            Some(Value::Dtype(Dtype::Float32))
        );
    }

    #[test]
    fn markers_for_not_given_are_no_values() {
        for source in [
            "_Null",
            "<objectobject>",
            "<object object>",
            "<function fuse>",
            "ReduceOp.SUM",
        ] {
            assert_eq!(default_value(source, "torch", OPEN), None, "{source}");
        }
        assert_eq!(default_value(&"(".repeat(10_000), "torch", OPEN), None);
        assert_eq!(
            default_value("(((((((((((1)))))))))))", "torch", OPEN),
            None
        );
    }

    #[test]
    fn lists_of_numbers_are_choices_where_numbers_are() {
        let window = enum_value("[1, 2, 2, 1]", NUMBER);
        assert_eq!(window, Value::List([1, 2, 2, 1].map(Value::Int).to_vec()));
        assert_eq!(enum_value("[1, 2]", TEXT), Value::Text("[1, 2]".to_owned()));
        assert_eq!(
            enum_value("[a, b]", NUMBER),
            Value::Text("[a, b]".to_owned())
        );
    }

    #[test]
    fn enum_entries_follow_the_dtype_of_their_parameter() {
        assert_eq!(enum_value("None", TEXT), Value::None);
        assert_eq!(enum_value("1", NUMBER), Value::Int(1));
        assert_eq!(enum_value("1", TEXT), text("1"));
        assert_eq!(enum_value("1", OPEN), Value::Int(1));
        assert_eq!(enum_value("0.5", OPEN), Value::Float(0.5));
        assert_eq!(enum_value("True", OPEN), Value::Bool(true));
        assert_eq!(enum_value("true", TEXT), text("true"));
        assert_eq!(enum_value("tf.int32", OPEN), Value::Dtype(Dtype::Int32));
        assert_eq!(
            enum_value("torch.float32", DTYPE),
            Value::Dtype(Dtype::Float32)
        );
        assert_eq!(enum_value("float32", DTYPE), Value::Dtype(Dtype::Float32));
        assert_eq!(enum_value("float32", TEXT), text("float32"));
        assert_eq!(enum_value("same", TEXT), text("same"));
        assert_eq!(enum_value("np.inf", OPEN), Value::Float(f64::INFINITY));
        assert_eq!(enum_value("-inf-", OPEN), text("-inf-"));
    }
}
