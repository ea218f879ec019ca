//! Where a value is inside an input.

use fissure_model::{Argument, ConcreteInput, Value};

/// A value of an input, by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Among the arguments of the call on a layer.
    pub layer: bool,
    pub argument: usize,
    /// Positions inside lists, tuples, dictionaries (their values) and calls.
    path: Vec<usize>,
}

/// Every value of the input, outer ones before those inside them.
pub(crate) fn places(input: &ConcreteInput) -> Vec<Place> {
    let mut found = Vec::new();
    let mut add = |layer: bool, arguments: &[Argument]| {
        for (argument, given) in arguments.iter().enumerate() {
            below(&given.value, Place::argument(layer, argument), &mut found);
        }
    };
    add(false, &input.arguments);
    add(true, input.layer_arguments.as_deref().unwrap_or(&[]));
    found
}

fn below(value: &Value, place: Place, found: &mut Vec<Place>) {
    found.push(place.clone());
    let mut inside = |at: usize, value: &Value| {
        let mut place = place.clone();
        place.path.push(at);
        below(value, place, found);
    };
    match value {
        Value::List(items) | Value::Tuple(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, item)| inside(at, item)),
        Value::Call { arguments, .. } => arguments
            .iter()
            .enumerate()
            .for_each(|(at, item)| inside(at, item)),
        Value::Dict(pairs) => pairs
            .iter()
            .enumerate()
            .for_each(|(at, (_, value))| inside(at, value)),
        _ => {}
    }
}

impl Place {
    /// A whole argument.
    pub(crate) fn argument(layer: bool, argument: usize) -> Self {
        Place {
            layer,
            argument,
            path: Vec::new(),
        }
    }

    pub(crate) fn get<'a>(&self, input: &'a ConcreteInput) -> &'a Value {
        let arguments = if self.layer {
            input.layer_arguments.as_deref().unwrap_or(&[])
        } else {
            &input.arguments
        };
        let mut value = &arguments[self.argument].value;
        for at in &self.path {
            value = match value {
                Value::List(items) | Value::Tuple(items) => &items[*at],
                Value::Call { arguments, .. } => &arguments[*at],
                Value::Dict(pairs) => &pairs[*at].1,
                _ => unreachable!("a path only leads through containers"),
            };
        }
        value
    }

    /// The input with another value here.
    pub(crate) fn with(&self, input: &ConcreteInput, new: Value) -> ConcreteInput {
        let mut changed = input.clone();
        self.put(&mut changed, new);
        changed
    }

    pub(crate) fn put(&self, input: &mut ConcreteInput, new: Value) {
        let arguments = if self.layer {
            input
                .layer_arguments
                .as_mut()
                .expect("a place among them came from them")
        } else {
            &mut input.arguments
        };
        let mut value = &mut arguments[self.argument].value;
        for at in &self.path {
            value = match value {
                Value::List(items) | Value::Tuple(items) => &mut items[*at],
                Value::Call { arguments, .. } => &mut arguments[*at],
                Value::Dict(pairs) => &mut pairs[*at].1,
                _ => unreachable!("a path only leads through containers"),
            };
        }
        *value = new;
    }

    /// The argument itself, not something inside it.
    pub(crate) fn is_whole_argument(&self) -> bool {
        self.path.is_empty()
    }
}
