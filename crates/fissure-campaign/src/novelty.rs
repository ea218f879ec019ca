//! Which inputs are alike, for choosing those that the dear oracles look at.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use fissure_model::{Argument, ConcreteInput, Value};

/// Kinds of inputs that are told apart per API; past it, an input of a new kind counts as common.
const KINDS_KEPT: usize = 1 << 16;

/// Counts how often each kind of input was chosen.
#[derive(Debug, Default)]
pub(crate) struct Novelty {
    chosen: HashMap<u64, u32>,
}

impl Novelty {
    /// How often inputs of this kind were chosen before.
    pub(crate) fn times_chosen(&self, kind: u64) -> u32 {
        let unknown = if self.chosen.len() < KINDS_KEPT {
            0
        } else {
            u32::MAX
        };
        self.chosen.get(&kind).copied().unwrap_or(unknown)
    }

    pub(crate) fn choose(&mut self, kind: u64) {
        if self.chosen.len() < KINDS_KEPT || self.chosen.contains_key(&kind) {
            *self.chosen.entry(kind).or_default() += 1;
        }
    }
}

/// The kind of an input: which parameters are given, and of each its type, the rank and the rough
/// size of its dimensions, the rough size of its number, its word. Two inputs of one kind most
/// likely take the same path through the library.
pub(crate) fn kind(input: &ConcreteInput) -> u64 {
    // Fixed keys: the same kind in every run.
    let mut hasher = DefaultHasher::new();
    let layer = input.layer_arguments.iter().flatten();
    for Argument { name, value, .. } in input.arguments.iter().chain(layer) {
        name.hash(&mut hasher);
        value.walk(&mut |value| hash(value, &mut hasher));
    }
    hasher.finish()
}

/// The element types of an input's tensors, by parameter; None where there is no tensor.
pub(crate) fn element_types(input: &ConcreteInput) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let mut any = false;
    let layer = input.layer_arguments.iter().flatten();
    for Argument { name, value, .. } in input.arguments.iter().chain(layer) {
        value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
                (name, &tensor.dtype).hash(&mut hasher);
                any = true;
            }
        });
    }
    any.then(|| hasher.finish())
}

fn hash(value: &Value, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Bool(flag) => flag.hash(hasher),
        Value::Int(number) => {
            (number.signum(), size(number.unsigned_abs())).hash(hasher);
        }
        Value::Float(number) => {
            let magnitude = number.abs();
            let size = [0.0, 1e-6, 1.0, 16.0, 1e6, f64::MAX]
                .iter()
                .position(|limit| magnitude <= *limit);
            (size, number.is_sign_negative()).hash(hasher);
        }
        Value::Text(text) => text.hash(hasher),
        Value::Object(path) | Value::Call { path, .. } => path.hash(hasher),
        Value::Dtype(dtype) => dtype.hash(hasher),
        Value::List(items) | Value::Tuple(items) => items.len().hash(hasher),
        Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
            tensor.dtype.hash(hasher);
            tensor.shape.len().hash(hasher);
            for dim in &tensor.shape {
                size(u128::from(*dim)).hash(hasher);
            }
        }
        Value::None | Value::Complex { .. } | Value::Bytes(_) | Value::Dict(_) => {}
    }
}

/// 0, 1 and 2 are special to many kernels; 8 and 32 are where vectors and blocks begin.
fn size(number: u128) -> u8 {
    match number {
        0 => 0,
        1 => 1,
        2 => 2,
        3..=7 => 3,
        8..=32 => 4,
        33..=1024 => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{Dtype, Intent, Passing, TensorData, TensorValue};

    use super::*;

    fn input(shape: &[u64], dtype: Dtype) -> ConcreteInput {
        let tensor = TensorValue {
            dtype,
            shape: shape.to_vec(),
            data: TensorData {
                pattern: [].as_slice().into(),
            },
        };
        ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "input".into(),
                passing: Passing::Positional,
                value: Value::Tensor(tensor),
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: vec![],
        }
    }

    #[test]
    fn rank_dtype_and_rough_size_make_the_kind() {
        let base = kind(&input(&[3, 9], Dtype::Float32));
        assert_eq!(base, kind(&input(&[5, 20], Dtype::Float32)));
        assert_ne!(base, kind(&input(&[3, 9], Dtype::Float64)));
        assert_ne!(base, kind(&input(&[3, 9, 4], Dtype::Float32)));
        assert_ne!(base, kind(&input(&[3, 0], Dtype::Float32)));
    }

    #[test]
    fn a_kind_that_was_chosen_is_less_novel_than_one_that_was_not() {
        let mut novelty = Novelty::default();
        novelty.choose(7);
        novelty.choose(7);
        assert_eq!((novelty.times_chosen(7), novelty.times_chosen(8)), (2, 0));
    }
}
