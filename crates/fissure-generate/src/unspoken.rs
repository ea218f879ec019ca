//! Parameters of the signature that rules do not speak of: `out`, and what a newer version has.
//!
//! Now and then one of them is given, by name. Nothing is known of what it takes but its name and
//! its default, so such an input is no evidence for or against anything.

use fissure_model::{
    Argument, ConcreteInput, Dtype, Intent, Passing, Scalar, Signature, SignatureParam, TensorData,
    TensorValue, Value,
};
use fissure_solve::{Random, write_element};

use crate::repair::reshaped;
use crate::wide::size_of_nothing;

/// Share of the inputs that get one.
const SHARE: f64 = 0.08;

const DTYPES: [Dtype; 8] = [
    Dtype::Float32,
    Dtype::Float64,
    Dtype::Int64,
    Dtype::Int32,
    Dtype::Bool,
    Dtype::Uint8,
    Dtype::Float16,
    Dtype::Complex64,
];

#[derive(Debug, Default)]
pub(crate) struct Unspoken {
    params: Vec<(String, Option<String>)>,
}

impl Unspoken {
    /// Those of a signature that are not among the known names and can be given by name.
    pub(crate) fn new(signature: Option<&Signature>, known: &[&str]) -> Self {
        let params = signature.and_then(|signature| signature.params.as_ref());
        let by_name = |param: &&SignatureParam| {
            matches!(
                param.kind.as_str(),
                "keyword_only" | "positional_or_keyword"
            ) && param.default.is_some()
                && !known.contains(&param.name.as_str())
        };
        let params = params.into_iter().flatten().filter(by_name);
        Unspoken {
            params: params
                .map(|param| (param.name.clone(), param.default.clone()))
                .collect(),
        }
    }

    /// Gives one of them to some of the inputs; tells whether it did.
    pub(crate) fn give(&self, input: &mut ConcreteInput, random: &mut Random) -> bool {
        if self.params.is_empty() || !random.chance(SHARE) {
            return false;
        }
        let (name, default) = random.pick(&self.params);
        let given = |argument: &Argument| argument.name == *name;
        if input.arguments.iter().any(given) {
            return false;
        }
        let value = match name.as_str() {
            "out" => Some(result_place(input, random)),
            "dtype" | "out_dtype" => Some(Value::Dtype(*random.pick(&DTYPES))),
            _ => default.as_deref().and_then(|text| like(text, random)),
        };
        let Some(value) = value else {
            return false;
        };
        input.arguments.push(Argument {
            name: name.clone(),
            passing: Passing::Keyword,
            value,
        });
        input.intent = Intent::Ignore;
        true
    }
}

/// A tensor for the result: like the first one of the call, or not at all.
fn result_place(input: &ConcreteInput, random: &mut Random) -> Value {
    let mut first = None;
    for argument in &input.arguments {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) = value {
                first.get_or_insert_with(|| tensor.clone());
            }
        });
    }
    let first = first.unwrap_or_else(|| ones(Dtype::Float32));
    let dtype = match random.chance(0.5) {
        true => first.dtype,
        false => *random.pick(&DTYPES),
    };
    let mut shape = first.shape.clone();
    match random.below(8) {
        0 => shape = vec![0],
        1 => shape = vec![0, size_of_nothing(random)],
        2 => shape.push(1 + random.below(3)),
        3 => {
            shape.pop();
        }
        4 if !shape.is_empty() => {
            let at = random.index(shape.len());
            shape[at] = random.below(9);
        }
        _ => {}
    }
    Value::Tensor(reshaped(&first, dtype, shape))
}

/// Something of the sort of a default.
fn like(default: &str, random: &mut Random) -> Option<Value> {
    Some(match default {
        "True" | "False" => Value::Bool(random.chance(0.5)),
        "None" => match random.below(4) {
            0 => Value::Int(random.between(-2, 4)),
            1 => Value::Bool(true),
            2 => Value::Float(0.5),
            _ => Value::Tensor(ones(*random.pick(&DTYPES))),
        },
        text => {
            if let Ok(number) = text.parse::<i128>() {
                let near = [number, -number, 0, number + 1, 1 << 40, -(1 << 62)];
                Value::Int(*random.pick(&near))
            } else if let Ok(number) = text.parse::<f64>() {
                let near = [number, -number, 0.0, f64::NAN, f64::INFINITY, 1e30];
                Value::Float(*random.pick(&near))
            } else {
                let inner = text.strip_prefix(['\'', '"'])?.strip_suffix(['\'', '"'])?;
                let word = if random.chance(0.8) { inner } else { "" };
                Value::Text(word.to_owned())
            }
        }
    })
}

fn ones(dtype: Dtype) -> TensorValue {
    let mut bytes = Vec::new();
    write_element(dtype, Scalar::Int(1), &mut bytes);
    TensorValue {
        dtype,
        shape: vec![1],
        data: TensorData {
            pattern: bytes.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature() -> Signature {
        let param = |name: &str, kind: &str, default: Option<&str>| SignatureParam {
            name: name.into(),
            kind: kind.into(),
            default: default.map(str::to_owned),
        };
        Signature::of_function(
            "1",
            Some(vec![
                param("input", "positional_or_keyword", None),
                param("rounding", "keyword_only", Some("'floor'")),
                param("out", "keyword_only", Some("None")),
                param("rest", "var_keyword", None),
            ]),
        )
    }

    #[test]
    fn a_parameter_that_rules_do_not_know_is_given_now_and_then_and_a_known_one_never() {
        let known = ["input", "rounding"];
        let unspoken = Unspoken::new(Some(&signature()), &known);
        let input = ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "input".into(),
                passing: Passing::Positional,
                value: Value::Tensor(ones(Dtype::Float32)),
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        };
        let mut random = Random::new(Random::key(7, "f"), 0);
        let (mut fitting, mut other, mut none) = (0, 0, 0);
        for _ in 0..2000 {
            let mut changed = input.clone();
            if !unspoken.give(&mut changed, &mut random) {
                assert_eq!(changed, input);
                none += 1;
                continue;
            }
            let out = &changed.arguments[1];
            assert_eq!((out.name.as_str(), out.passing), ("out", Passing::Keyword));
            assert_eq!(changed.intent, Intent::Ignore);
            let Value::Tensor(tensor) = &out.value else {
                panic!("{out:?}");
            };
            let fits = tensor.dtype == Dtype::Float32 && tensor.shape == [1];
            *if fits { &mut fitting } else { &mut other } += 1;
        }
        assert!(
            none > 1000 && fitting > 10 && other > 10,
            "{none} {fitting} {other}"
        );
        assert!(Unspoken::new(None, &[]).params.is_empty());
    }
}
