//! Tensors in a form that few callers use: sparse, nested, quantised, ragged, a variable, a plain number, a list.
//!
//! The forms of each library are those of `data/functions/objects.toml`. What an input of this kind comes to says little
//! about anything else, so nothing is learned from it.

use fissure_functions::{Object, functions};
use fissure_model::{ConcreteInput, Dtype, Intent, TensorValue, Value};
use fissure_solve::Random;

use crate::construct::nested_list;
use crate::repair::{formed, reshaped};
use crate::source::tensor_bytes;

/// Share of the inputs in which one tensor is something else.
const SHARE: f64 = 0.03;
/// Elements of a tensor at most that becomes a list.
const LISTED: u64 = 64;

/// Gives one tensor of some inputs another form, of at most `most` bytes for all tensors; tells whether it did.
pub(crate) fn hand_over(
    input: &mut ConcreteInput,
    library: &str,
    most: u64,
    random: &mut Random,
) -> bool {
    if !random.chance(SHARE) {
        return false;
    }
    let mut changed = input.clone();
    // Another element type, or the same tensor twice, may be larger.
    let took = put_on(&mut changed, library, random) && tensor_bytes(&changed) <= most;
    if took {
        *input = changed;
    }
    took
}

fn put_on(input: &mut ConcreteInput, library: &str, random: &mut Random) -> bool {
    let layer = input.layer_arguments.iter_mut().flatten();
    let tensors: Vec<&mut Value> = input
        .arguments
        .iter_mut()
        .chain(layer)
        .map(|argument| &mut argument.value)
        .filter(|value| matches!(value, Value::Tensor(_)))
        .collect();
    let count = tensors.len();
    if count == 0 {
        return false;
    }
    let chosen = random.index(count);
    let Some(value) = tensors.into_iter().nth(chosen) else {
        return false;
    };
    let Value::Tensor(tensor) = &*value else {
        return false;
    };
    let Some(new) = other_form(tensor, library, random) else {
        return false;
    };
    *value = new;
    input.intent = Intent::Ignore;
    true
}

fn other_form(tensor: &TensorValue, library: &str, random: &mut Random) -> Option<Value> {
    let of_library = |object: &&Object| {
        let rest = object.call.strip_prefix(library);
        object.given.is_some() && rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let forms: Vec<&Object> = functions().objects().iter().filter(of_library).collect();
    // Those of the table, and three that every library has.
    match random.index(forms.len() + 3) {
        0 => Some(Value::SparseTensor(tensor.clone())),
        1 => nested_list(&reshaped(tensor, tensor.dtype, Vec::new()), LISTED)
            .filter(|number| *number != Value::None),
        2 => nested_list(tensor, LISTED),
        at => {
            // Most forms are for one element type, others for all of them.
            let dtype = match random.chance(0.5) {
                true => tensor.dtype,
                false => Dtype::Float32,
            };
            let plain = reshaped(tensor, dtype, tensor.shape.clone());
            formed(forms[at - 3], Value::Tensor(plain))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fissure_model::{Argument, Passing, TensorData};

    use super::*;

    fn input(value: Value) -> ConcreteInput {
        ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "x".into(),
                passing: Passing::Positional,
                value,
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    fn tensor() -> Value {
        Value::Tensor(TensorValue {
            dtype: Dtype::Int8,
            shape: vec![2, 2],
            data: TensorData {
                pattern: vec![1, 2, 3, 4].into(),
            },
        })
    }

    /// The forms that a tensor is given in 4,000 inputs of a library.
    fn forms(library: &str) -> BTreeSet<String> {
        let mut random = Random::new(Random::key(3, "f"), 0);
        let mut found = BTreeSet::new();
        for _ in 0..4000 {
            let mut changed = input(tensor());
            if !hand_over(&mut changed, library, 64, &mut random) {
                assert_eq!(changed, input(tensor()));
                continue;
            }
            assert_eq!(changed.intent, Intent::Ignore);
            found.insert(match &changed.arguments[0].value {
                Value::Call { path, .. } => path.clone(),
                Value::SparseTensor(_) => "sparse".into(),
                Value::List(_) => "list".into(),
                Value::Int(_) => "number".into(),
                other => panic!("{other:?}"),
            });
        }
        found
    }

    #[test]
    fn every_form_of_a_library_occurs_and_none_of_another() {
        for (library, own) in [
            ("torch", "torch._nested_tensor_from_tensor_list"),
            ("torch", "torch.quantize_per_tensor"),
            ("torch", "torch.Tensor.to_sparse_csr"),
            ("tensorflow", "tensorflow.RaggedTensor.from_tensor"),
            ("jax", "jax.experimental.sparse.BCSR.fromdense"),
        ] {
            let found = forms(library);
            assert!(found.contains(own), "{library}: {found:?}");
            assert!(found.contains("sparse") && found.contains("number") && found.contains("list"));
            let others = |path: &&String| path.contains('.') && !path.starts_with(library);
            assert_eq!(found.iter().find(others), None);
        }
    }

    #[test]
    fn an_input_without_tensors_stays_as_it_is() {
        let mut random = Random::new(Random::key(3, "f"), 0);
        for _ in 0..1000 {
            let mut plain = input(Value::Int(3));
            assert!(!hand_over(&mut plain, "torch", 64, &mut random));
            assert_eq!(plain, input(Value::Int(3)));
        }
    }

    #[test]
    fn no_form_makes_an_input_larger_than_it_may_be() {
        let mut random = Random::new(Random::key(3, "f"), 0);
        for _ in 0..4000 {
            let mut changed = input(tensor());
            hand_over(&mut changed, "torch", 4, &mut random);
            assert!(tensor_bytes(&changed) <= 4, "{changed:?}");
        }
    }
}
