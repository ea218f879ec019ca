//! Fewer arguments.

use fissure_model::{ConcreteInput, Passing};

/// Without some arguments: all that can go, then halves, quarters and so on down to one at a time,
/// as delta debugging does. An argument that is required makes the call fail in another way, at no
/// cost worth knowing which it is beforehand. The order of those that stay is kept.
pub(crate) fn fewer(input: &ConcreteInput, group: usize) -> Option<Vec<ConcreteInput>> {
    if group > 0 {
        return None;
    }
    let removable = removable(input);
    let mut candidates = Vec::new();
    let mut size = removable.len();
    while size > 0 {
        for chunk in removable.chunks(size) {
            candidates.push(without(input, chunk));
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    if let Some(last) = last_positional(input) {
        candidates.push(without(input, &[last]));
    }
    Some(candidates)
}

/// Layer or not, and position.
type Position = (bool, usize);

fn removable(input: &ConcreteInput) -> Vec<Position> {
    let named = |layer: bool, arguments: &[fissure_model::Argument]| {
        arguments
            .iter()
            .enumerate()
            .filter(|(_, argument)| argument.passing == Passing::Keyword)
            .map(|(at, _)| (layer, at))
            .collect::<Vec<_>>()
    };
    let mut found = named(false, &input.arguments);
    found.extend(named(true, input.layer_arguments.as_deref().unwrap_or(&[])));
    found
}

/// Removing any other positional argument would move those after it.
fn last_positional(input: &ConcreteInput) -> Option<Position> {
    let last = |arguments: &[fissure_model::Argument]| {
        arguments
            .iter()
            .rposition(|argument| argument.passing == Passing::Positional)
    };
    input
        .layer_arguments
        .as_deref()
        .and_then(last)
        .map(|at| (true, at))
        .or_else(|| last(&input.arguments).map(|at| (false, at)))
}

fn without(input: &ConcreteInput, gone: &[Position]) -> ConcreteInput {
    let mut smaller = input.clone();
    let mut at = 0;
    smaller.arguments.retain(|_| {
        at += 1;
        !gone.contains(&(false, at - 1))
    });
    if let Some(arguments) = &mut smaller.layer_arguments {
        let mut at = 0;
        arguments.retain(|_| {
            at += 1;
            !gone.contains(&(true, at - 1))
        });
    }
    smaller
}

/// The input without the argument at this position.
pub(crate) fn without_argument(input: &ConcreteInput, layer: bool, at: usize) -> ConcreteInput {
    without(input, &[(layer, at)])
}
