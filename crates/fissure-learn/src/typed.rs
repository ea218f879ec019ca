//! Calls guessed from the names of parameters, for an API of which no accepted call is known.
//!
//! Most are rejected; those that the library accepts are seeds like any others.

use std::collections::BTreeMap;

use fissure_model::{Dtype, Scalar, Signature, TensorData, TensorValue, Value};
use fissure_solve::{Random, write_element};

use crate::params::Observed;

/// Calls that are tried.
const CALLS: usize = 1200;
/// How often an argument that may be left out is given.
const GIVEN: f64 = 0.15;

const SHAPES: [&[u64]; 8] = [
    &[],
    &[3],
    &[2, 3],
    &[3, 3],
    &[2, 3, 4],
    &[1],
    &[2, 3, 3],
    &[2, 3, 8, 8],
];

/// Guesses calls of a function with this signature.
pub(crate) fn guess(signature: &Signature, method: bool, random: &mut Random) -> Vec<Observed> {
    let declared = signature.params.as_deref().unwrap_or(&[]);
    let mut calls = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        // Arguments of one call often agree in shape.
        let shape = *random.pick(&SHAPES);
        let mut call = Observed {
            arguments: Vec::new(),
            keywords: BTreeMap::new(),
            call: None,
        };
        if method && declared.first().is_none_or(|first| first.name != "self") {
            call.arguments.push(tensor(shape, random));
        }
        let mut gap = false;
        for param in declared {
            let required = param.default.is_none();
            match param.kind.as_str() {
                "var_keyword" => {}
                "var_positional" if gap => {}
                "var_positional" => {
                    for _ in 0..random.index(3) {
                        call.arguments.push(value(&param.name, shape, random));
                    }
                    gap = true;
                }
                "keyword_only" if required || random.chance(GIVEN) => {
                    let value = value(&param.name, shape, random);
                    call.keywords.insert(param.name.clone(), value);
                }
                "keyword_only" => {}
                _ if required && !gap => call.arguments.push(value(&param.name, shape, random)),
                kind if random.chance(GIVEN) && kind != "positional_only" => {
                    gap = true;
                    let value = value(&param.name, shape, random);
                    call.keywords.insert(param.name.clone(), value);
                }
                _ => gap = true,
            }
        }
        calls.push(call);
    }
    calls
}

/// A value that a parameter of this name may have.
fn value(name: &str, shape: &[u64], random: &mut Random) -> Value {
    let any = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let small = |random: &mut Random| Value::Int(random.index(4) as i128);
    if any(&["dtype"]) {
        return Value::Dtype(*random.pick(&[Dtype::Float32, Dtype::Int64, Dtype::Float64]));
    }
    if any(&["dim", "axis", "axes"]) {
        return match random.below(4) {
            0 => Value::List(vec![Value::Int(0), Value::Int(1)]),
            1 => Value::Int(-1),
            _ => small(random),
        };
    }
    if any(&["keep", "is_", "return", "largest", "descending"]) {
        return Value::Bool(random.chance(0.5));
    }
    if any(&["size", "shape", "kernel", "stride", "padding"]) {
        let length = 1 + random.index(3);
        return match random.below(3) {
            0 => small(random),
            _ => Value::List((0..length).map(|_| small(random)).collect()),
        };
    }
    if any(&["tensors", "arrays", "sequence"]) && random.chance(0.7) {
        let count = 1 + random.index(3);
        return Value::List((0..count).map(|_| tensor(shape, random)).collect());
    }
    match random.below(12) {
        0..=6 => tensor(shape, random),
        7 => {
            let other = *random.pick(&SHAPES);
            tensor(other, random)
        }
        8 => Value::Float(*random.pick(&[0.5, 1.0, 2.0, 0.0])),
        9 => Value::Bool(random.chance(0.5)),
        _ => small(random),
    }
}

fn tensor(shape: &[u64], random: &mut Random) -> Value {
    let dtype = match random.below(8) {
        0 | 1 => Dtype::Int64,
        2 => Dtype::Bool,
        _ => Dtype::Float32,
    };
    let elements: u64 = shape.iter().product();
    let mut bytes = Vec::new();
    for _ in 0..elements {
        let scalar = match dtype {
            Dtype::Int64 => Scalar::Int(random.index(3) as i128),
            Dtype::Bool => Scalar::Bool(random.chance(0.5)),
            _ => Scalar::Float((random.unit() * 64.0).round() / 64.0),
        };
        write_element(dtype, scalar, &mut bytes);
    }
    Value::Tensor(TensorValue {
        dtype,
        shape: shape.to_vec(),
        data: TensorData {
            pattern: bytes.into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::SignatureParam;

    #[test]
    fn every_required_argument_is_guessed_and_names_decide_what_it_is() {
        let param = |name: &str, default: Option<&str>| SignatureParam {
            name: name.into(),
            kind: "positional_or_keyword".into(),
            default: default.map(Into::into),
        };
        let signature = Signature::of_function(
            "1",
            Some(vec![
                param("input", None),
                param("dim", None),
                param("keepdim", Some("False")),
            ]),
        );
        let mut random = Random::new(Random::key(1, "typed"), 0);
        let calls = guess(&signature, false, &mut random);
        assert!(calls.iter().all(|call| call.arguments.len() == 2));
        let is_dim = |value: &Value| matches!(value, Value::Int(_) | Value::List(_));
        assert!(calls.iter().all(|call| is_dim(&call.arguments[1])));
        assert!(
            calls
                .iter()
                .any(|call| call.keywords.contains_key("keepdim"))
        );
    }
}
