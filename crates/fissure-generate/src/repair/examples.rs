//! Calls that are known to work, as inputs.

use std::collections::VecDeque;

use fissure_model::{ConcreteInput, Example, Intent, Value};

use super::elements;

/// Examples as inputs, each twice, for a boundary case may come into it: as it stands, and with its
/// nested lists of numbers as tensors, of which there are more neighbours.
pub(super) fn twice(examples: &[Example]) -> VecDeque<ConcreteInput> {
    let input = |example: &Example| ConcreteInput {
        number: 0,
        arguments: example.arguments.clone(),
        layer_arguments: example.layer_arguments.clone(),
        intent: Intent::Conform,
        mutations: Vec::new(),
    };
    let with_tensors = |example: &Example| {
        let mut input = input(example);
        let layer = input.layer_arguments.iter_mut().flatten();
        for argument in input.arguments.iter_mut().chain(layer) {
            if let Some(tensor) = elements::as_tensor(&argument.value) {
                argument.value = Value::Tensor(tensor);
            }
        }
        input
    };
    let plain = examples.iter().map(input);
    plain.chain(examples.iter().map(with_tensors)).collect()
}
