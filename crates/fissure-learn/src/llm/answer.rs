//! What the model said: JSON with rules and calls, read with patience.

use std::collections::BTreeMap;

use fissure_generate::concrete_input;
use fissure_model::{
    AbstractArgument, AbstractInput, AbstractValue, Dtype, Fill, FillScheme, Intent, Passing,
    TensorKind, Value,
};
use fissure_solve::Random;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::params::Observed;

/// Elements of a proposed tensor at most.
const LARGEST: u64 = 1 << 16;

/// Proposals that could be read, and what is wrong with the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposals {
    /// Rules as text, not parsed yet.
    pub rules: Vec<String>,
    pub inputs: Vec<Observed>,
    /// One sentence for each proposal that is of no use.
    pub problems: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    signature: Vec<NamedParam>,
    #[serde(default)]
    rules: Vec<Json>,
    #[serde(default)]
    inputs: Vec<Json>,
}

#[derive(Deserialize)]
struct NamedParam {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProposedCall {
    #[serde(default)]
    arguments: Vec<Json>,
    #[serde(default)]
    keywords: BTreeMap<String, Json>,
    #[serde(default)]
    call: Option<Box<ProposedCall>>,
}

/// Reads an answer; the error says why it is none.
pub fn read_proposals(text: &str) -> Result<Proposals, String> {
    let answer: Answer = serde_json::from_str(object(text)?)
        .map_err(|error| format!("not the JSON object that was asked for ({error})"))?;
    let mut proposals = Proposals::default();
    for rule in answer.rules {
        match rule {
            Json::String(text) => proposals.rules.push(text),
            other => proposals.problems.push(format!(
                "the model proposed {other} as a rule, which is no text"
            )),
        }
    }
    // The same elements for the same answer.
    let mut random = Random::new(Random::key(0, "proposals"), 0);
    for input in answer.inputs {
        let read = serde_json::from_value(input.clone())
            .map_err(|error| error.to_string())
            .and_then(|call| observed(call, &answer.signature, &mut random));
        match read {
            Ok(call) => proposals.inputs.push(call),
            Err(reason) => proposals.problems.push(format!(
                "the model proposed a call that is none ({reason}): {input}"
            )),
        }
    }
    Ok(proposals)
}

/// The outermost object of a text: models like to wrap it into words.
fn object(text: &str) -> Result<&str, String> {
    match (text.find('{'), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => Ok(&text[start..=end]),
        _ => Err("there is no JSON object in it".to_owned()),
    }
}

/// Arguments by position get the names of a proposed signature, so that the library's acceptance
/// confirms the names too.
fn observed(
    call: ProposedCall,
    signature: &[NamedParam],
    random: &mut Random,
) -> Result<Observed, String> {
    let mut keywords = BTreeMap::new();
    let mut arguments = Vec::new();
    for (at, value) in call.arguments.iter().enumerate() {
        let value = concrete(value, random)?;
        match signature.get(at) {
            Some(param) => {
                keywords.insert(param.name.clone(), value);
            }
            None if signature.is_empty() => arguments.push(value),
            None => return Err("it has more arguments than the signature".to_owned()),
        }
    }
    for (name, value) in &call.keywords {
        keywords.insert(name.clone(), concrete(value, random)?);
    }
    let inner = call.call.map(|inner| observed(*inner, &[], random));
    Ok(Observed {
        arguments,
        keywords,
        call: inner.transpose()?.map(Box::new),
    })
}

fn concrete(json: &Json, random: &mut Random) -> Result<Value, String> {
    let input = AbstractInput {
        arguments: vec![AbstractArgument {
            name: String::new(),
            passing: Passing::Positional,
            value: value(json)?,
        }],
        layer_arguments: None,
        intent: Intent::Conform,
    };
    let mut concrete = concrete_input(0, input, random).arguments;
    let only = concrete.pop();
    only.map(|argument| argument.value)
        .ok_or_else(|| "it has no value".to_owned())
}

fn value(json: &Json) -> Result<AbstractValue, String> {
    let items = |items: &[Json]| items.iter().map(value).collect::<Result<Vec<_>, _>>();
    Ok(AbstractValue::Literal(match json {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole.into()),
            (None, Some(real)) => Value::Float(real),
            (None, None) => return Err(format!("{number} is no number")),
        },
        Json::Array(list) => return Ok(AbstractValue::List(items(list)?)),
        Json::Object(object) => match object.iter().next() {
            Some((key, Json::Array(list))) if key == "tuple" => {
                return Ok(AbstractValue::Tuple(items(list)?));
            }
            Some((key, Json::String(name))) if key == "dtype" => Value::Dtype(dtype(name)?),
            Some((key, inner)) if key == "tensor" => return tensor(inner),
            _ => return Err(format!("{json} is no value")),
        },
    }))
}

#[derive(Deserialize)]
struct ProposedTensor {
    dtype: String,
    shape: Vec<u64>,
    low: Option<f64>,
    high: Option<f64>,
}

fn tensor(json: &Json) -> Result<AbstractValue, String> {
    let proposed: ProposedTensor =
        serde_json::from_value(json.clone()).map_err(|error| error.to_string())?;
    let elements = proposed
        .shape
        .iter()
        .try_fold(1u64, |product, dim| product.checked_mul(*dim));
    if elements.is_none_or(|elements| elements > LARGEST) {
        return Err("the tensor is too large".to_owned());
    }
    let dtype = dtype(&proposed.dtype)?;
    // Whole numbers are most often indices.
    let scheme = match (dtype.integer_limits(), proposed.low, proposed.high) {
        (Some(_), None, None) => FillScheme::Zeros,
        _ => FillScheme::Mixed,
    };
    Ok(AbstractValue::Tensor {
        kind: TensorKind::Dense,
        dtype,
        shape: proposed.shape,
        fill: Fill {
            lower: proposed.low,
            upper: proposed.high,
            scheme,
        },
    })
}

fn dtype(name: &str) -> Result<Dtype, String> {
    let name = name.rsplit('.').next().unwrap_or(name);
    let short = match name {
        "float" => "float32",
        "double" => "float64",
        "half" => "float16",
        "int" => "int32",
        "long" => "int64",
        other => other,
    };
    let mut all = Dtype::ALL.into_iter();
    all.find(|dtype| dtype.name() == short)
        .ok_or_else(|| format!("`{name}` is no dtype"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_out_of_the_words_around_it_and_bad_parts_are_told() {
        let text = r#"Sure! ```json
            {"signature": [{"name": "input"}, {"name": "dim", "default": "0"}],
             "rules": ["ndim(input) > 0", 3],
             "inputs": [{"arguments": [{"tensor": {"dtype": "torch.float32", "shape": [2]}}, 1]},
                        {"arguments": [{"tensor": {"dtype": "float31", "shape": [2]}}]},
                        {"arguments": [1, 2, 3]}, {"args": []}]}
            ``` Good luck {"#;
        let proposals = read_proposals(text).unwrap();
        assert_eq!(proposals.rules, ["ndim(input) > 0"]);
        assert_eq!(proposals.inputs.len(), 1);
        assert_eq!(proposals.inputs[0].keywords["dim"], Value::Int(1));
        assert!(matches!(
            &proposals.inputs[0].keywords["input"],
            Value::Tensor(tensor) if tensor.shape == [2]
        ));
        assert_eq!(proposals.problems.len(), 4, "{:?}", proposals.problems);
    }

    #[test]
    fn what_is_no_object_is_no_answer() {
        for text in ["", "I cannot do that.", "[1, 2]", "{\"rules\": 3}", "}{"] {
            assert!(read_proposals(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_class_has_a_call_and_a_huge_tensor_is_refused() {
        let text = r#"{"inputs": [
            {"arguments": [3], "call": {"arguments": [{"tensor": {"dtype": "long", "shape": [4]}}]}},
            {"arguments": [{"tensor": {"dtype": "int8", "shape": [99999, 99999]}}]}]}"#;
        let proposals = read_proposals(text).unwrap();
        let call = proposals.inputs[0].call.as_ref().unwrap();
        assert_eq!(call.arguments.len(), 1);
        assert_eq!(proposals.problems.len(), 1);
    }
}
