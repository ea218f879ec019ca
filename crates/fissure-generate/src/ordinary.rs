//! Calls as most people make them: all tensors of one element type and one shape.
//!
//! Rules that only ask for types that go together and shapes that broadcast are mostly satisfied by inputs that are
//! neither. A wrong value shows where nothing else is unusual, so a share of what is drawn is made alike where that is
//! allowed.

use fissure_model::{ConcreteInput, Dtype, Value};
use fissure_solve::Random;

use crate::repair::{retyped, same_shape};

/// Share of the drawn inputs that are made alike.
const SHARE: f64 = 0.15;

/// The input with tensors that are alike, now and then, as far as `allowed` goes.
pub(crate) fn alike(
    input: &ConcreteInput,
    random: &mut Random,
    allowed: impl Fn(&ConcreteInput) -> bool,
) -> Option<ConcreteInput> {
    let dtypes = dtypes(input);
    if dtypes.len() < 2 || !random.chance(SHARE) {
        return None;
    }
    let floating = dtypes.iter().copied().find(|dtype| dtype.is_float());
    let dtype = floating.unwrap_or(dtypes[0]);
    let all = retyped(input, dtype, |_| true);
    // Indices and masks stay what they are.
    let some = retyped(input, dtype, Dtype::is_float);
    let shaped = [&all, &some].map(same_shape);
    let candidates = shaped.into_iter().flatten().chain([all, some]);
    candidates
        .filter(|candidate| candidate != input)
        .find(|candidate| allowed(candidate))
}

/// The element types of the tensors, in their order.
fn dtypes(input: &ConcreteInput) -> Vec<Dtype> {
    let mut found = Vec::new();
    let layer = input.layer_arguments.iter().flatten();
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
                found.push(tensor.dtype);
            }
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Intent, Passing, TensorData, TensorValue};

    use super::*;

    fn call(tensors: [(Dtype, &[u64]); 3]) -> ConcreteInput {
        let argument = |(dtype, shape): (Dtype, &[u64])| Argument {
            name: "x".into(),
            passing: Passing::Positional,
            value: Value::Tensor(TensorValue {
                dtype,
                shape: shape.to_vec(),
                data: TensorData {
                    pattern: vec![1; dtype.size().unwrap()].into(),
                },
            }),
        };
        ConcreteInput {
            number: 0,
            arguments: tensors.map(argument).into(),
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    fn made(input: &ConcreteInput, allowed: impl Fn(&ConcreteInput) -> bool) -> Vec<ConcreteInput> {
        let mut random = Random::new([7; 32], 0);
        (0..200)
            .filter_map(|_| alike(input, &mut random, &allowed))
            .collect()
    }

    #[test]
    fn tensors_are_made_alike_as_far_as_it_is_allowed_and_only_now_and_then() {
        let (int, half) = (Dtype::Int64, Dtype::Float16);
        let input = call([(int, &[2]), (half, &[3, 1]), (Dtype::Float64, &[])]);
        let found = made(&input, |_| true);
        assert!((10..60).contains(&found.len()), "{}", found.len());
        assert!(found.iter().all(|one| dtypes(one) == [half; 3]));
        assert!(found.iter().all(|one| same_shape(one).is_none()));

        let index_first = |one: &ConcreteInput| dtypes(one)[0] == int;
        for one in made(&input, index_first) {
            assert_eq!(dtypes(&one), [int, half, half]);
        }
        assert!(made(&input, |_| false).is_empty());
    }

    #[test]
    fn what_is_alike_already_stays_as_it_is() {
        let half = Dtype::Float16;
        assert!(made(&call([(half, &[2]), (half, &[2]), (half, &[2])]), |_| true).is_empty());
    }
}
