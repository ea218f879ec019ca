//! Abstract inputs: one JSON object a line, and next to it the seconds at which each was found.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::centaur::dtype_of_number;
use crate::centaur::signatures::CentaurType;
use crate::datum::{Datum, TensorFacts};
use crate::number::Number;

/// One abstract input: each parameter with its value, in the order of the line.
pub type CorpusInput = Vec<(String, CorpusValue)>;

/// A value as the file writes it. Texts and dtypes are both one number; only the parameter's type
/// tells them apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CorpusValue {
    Boolean((bool,)),
    /// Shape, dtype, smallest and largest element.
    Tensor(Vec<u64>, i64, (i64, i64)),
    /// Numerator and denominator, dtype.
    Float((i64, i64), i64),
    /// Value, dtype.
    Integer(i64, i64),
    /// A list or tuple.
    Items((Vec<i64>,)),
    /// Position in the list of texts, or a dtype.
    Index((i64,)),
}

#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    #[error("line {line}: {source}")]
    Json {
        line: usize,
        source: serde_json::Error,
    },
    #[error("line {line}: expected {expected}")]
    Form { line: usize, expected: &'static str },
}

/// The inputs of `abstract_inputs.jsonl`.
pub fn read_corpus(text: &str) -> Result<Vec<CorpusInput>, CorpusError> {
    let mut inputs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let failed = |source| CorpusError::Json {
            line: number + 1,
            source,
        };
        let input: super::signatures::Entries<CorpusValue> =
            serde_json::from_str(line).map_err(failed)?;
        inputs.push(input.0);
    }
    Ok(inputs)
}

/// The lines of `abstract_inputs.jsonl`, spaced as theirs.
pub fn write_corpus(inputs: &[CorpusInput]) -> String {
    let mut out = String::new();
    for input in inputs {
        let params: Vec<String> = input
            .iter()
            .map(|(name, value)| {
                let value = serde_json::to_value(value).expect("numbers are always JSON");
                format!("{}: {}", Json::from(name.as_str()), spaced(&value))
            })
            .collect();
        writeln!(out, "{{{}}}", params.join(", ")).expect("writing to a string cannot fail");
    }
    out
}

/// JSON with a blank after each comma, as Python writes it.
fn spaced(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(spaced).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Seconds since the start, by number of the input.
pub fn read_timestamps(text: &str) -> Result<Vec<(u64, f64)>, CorpusError> {
    let mut lines = text.lines().enumerate();
    let form = |line: usize, expected| CorpusError::Form {
        line: line + 1,
        expected,
    };
    match lines.next() {
        Some((_, header)) if header.trim() == "model,timestamp" => {}
        _ => return Err(form(0, "the header model,timestamp")),
    }
    let mut found = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = || form(number, "an index, a comma and seconds");
        let (index, seconds) = line.split_once(',').ok_or_else(wrong)?;
        let index = index.trim().parse().map_err(|_| wrong())?;
        let seconds = seconds.trim().parse().map_err(|_| wrong())?;
        found.push((index, seconds));
    }
    Ok(found)
}

pub fn write_timestamps(times: &[(u64, f64)]) -> String {
    let mut out = String::from("model,timestamp\n");
    for (index, seconds) in times {
        writeln!(out, "{index},{seconds}").expect("writing to a string cannot fail");
    }
    out
}

impl CorpusValue {
    /// The value as rules see it, given the parameter's type and the file's list of texts. `None`
    /// when the value is not of that type.
    pub fn datum(&self, of: CentaurType, texts: &[String]) -> Option<Datum> {
        Some(match (of, self) {
            (CentaurType::Tensor, CorpusValue::Tensor(shape, dtype, (low, high))) => {
                let mut tensor = TensorFacts::new(dtype_of_number(*dtype)?, shape.clone());
                tensor.bounds = Some((Number::Int(*low), Number::Int(*high)));
                Datum::Tensor(tensor)
            }
            (CentaurType::TensorList, CorpusValue::Tensor(..)) => {
                Datum::List(vec![self.datum(CentaurType::Tensor, texts)?])
            }
            (CentaurType::Integer, CorpusValue::Integer(value, _)) => Datum::Int(*value),
            (CentaurType::Float, CorpusValue::Float((numerator, denominator), _)) => {
                Datum::Float(*numerator as f64 / *denominator as f64)
            }
            (CentaurType::Boolean, CorpusValue::Boolean((value,))) => Datum::Bool(*value),
            (CentaurType::List, CorpusValue::Items((items,))) => {
                Datum::List(items.iter().copied().map(Datum::Int).collect())
            }
            (CentaurType::Tuple, CorpusValue::Items((items,))) => {
                Datum::Tuple(items.iter().copied().map(Datum::Int).collect())
            }
            (CentaurType::Dtype, CorpusValue::Index((index,))) => {
                Datum::Dtype(dtype_of_number(*index)?)
            }
            (CentaurType::String | CentaurType::DimensionNumbers, CorpusValue::Index((index,))) => {
                Datum::Text(texts.get(usize::try_from(*index).ok()?)?.clone())
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"x": [[3, 5], 7, [-1, 9]], "dim": [-2, 4], "keep": [true], "p": [[3, 2], 7], "size": [[1, 2]], "how": [1]}"#;

    #[test]
    fn values_are_told_apart_by_their_form_and_written_back_as_they_were() {
        let inputs = read_corpus(LINE).expect("it is read");
        assert_eq!(write_corpus(&inputs), format!("{LINE}\n"));
        let texts = ["mean".to_owned(), "sum".to_owned()];
        let datum = |name: &str, of| {
            let (_, value) = inputs[0].iter().find(|(known, _)| known == name)?;
            value.datum(of, &texts)
        };
        assert_eq!(datum("dim", CentaurType::Integer), Some(Datum::Int(-2)));
        assert_eq!(datum("p", CentaurType::Float), Some(Datum::Float(1.5)));
        assert_eq!(
            datum("how", CentaurType::String),
            Some(Datum::Text("sum".into()))
        );
        assert_eq!(
            datum("how", CentaurType::Dtype),
            Some(Datum::Dtype(fissure_model::Dtype::Int8))
        );
        assert_eq!(
            datum("size", CentaurType::Tuple),
            Some(Datum::Tuple(vec![Datum::Int(1), Datum::Int(2)]))
        );
        assert_eq!(datum("size", CentaurType::Tensor), None, "it is no tensor");
    }

    #[test]
    fn timestamps_go_there_and_back() {
        let text = "model,timestamp\n0,0.5\n1,2.25\n";
        let times = read_timestamps(text).expect("they are read");
        assert_eq!(times, [(0, 0.5), (1, 2.25)]);
        assert_eq!(write_timestamps(&times), text);
        assert!(read_timestamps("0,0.5\n").is_err(), "no header");
        assert!(read_timestamps("model,timestamp\nzero\n").is_err());
    }
}
