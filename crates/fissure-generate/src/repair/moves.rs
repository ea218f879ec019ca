//! Which changes of accepted inputs are accepted again.
//!
//! A change is a way to change one argument at one place: a size of its shape, a number of its list,
//! its elements. What was refused before is tried less often and what was accepted more often, so
//! that neighbours of an accepted input stay acceptable however narrow an API is, and become as
//! different from it as the API allows.

use std::collections::BTreeMap;

use fissure_model::{ConcreteInput, Dtype, Passing, Value};
use fissure_solve::Random;

use super::apply::argument;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Move {
    /// Other elements of the same kind.
    Elements,
    /// Another size, wherever the call has it.
    Resize,
    /// Another size of this tensor alone.
    ResizeAlone,
    /// A dimension more or less of this tensor alone.
    Rank,
    /// Another element type, for all tensors that have it.
    Retype,
    RetypeAlone,
    Number,
    Flag,
    /// The argument as another accepted input has it.
    TakeOver,
    LeaveOut,
    /// A tensor as an array, and the other way round.
    Form,
}

impl Move {
    /// How often it is tried, all its places together, before anything is known.
    fn prior(self) -> f32 {
        match self {
            Move::Elements => 4.0,
            Move::Resize => 3.0,
            Move::Number => 2.0,
            Move::TakeOver => 1.5,
            Move::ResizeAlone | Move::Rank | Move::Retype | Move::Flag => 1.0,
            Move::RetypeAlone | Move::LeaveOut | Move::Form => 0.4,
        }
    }
}

/// One way to change an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub how: Move,
    /// The argument.
    pub name: String,
    /// A dimension, a place in a list, or an element type of [`USUAL`].
    pub place: usize,
}

/// Element types that a change leads to; which of them an argument takes is learned one by one.
pub(super) const USUAL: [Dtype; 8] = [
    Dtype::Float32,
    Dtype::Float64,
    Dtype::Float16,
    Dtype::Bfloat16,
    Dtype::Int64,
    Dtype::Int32,
    Dtype::Bool,
    Dtype::Complex64,
];

/// What became of the changes so far.
#[derive(Default)]
pub(super) struct Moves {
    /// How often each was tried and accepted.
    known: BTreeMap<Change, (f32, f32)>,
    /// The same of all changes of one way to one argument, and of all of one way.
    names: BTreeMap<(Move, String), (f32, f32)>,
    ways: BTreeMap<Move, (f32, f32)>,
}

/// Outcomes of a change itself that say as much as those of its likes.
const LIKES: f32 = 2.0;

impl Moves {
    /// A change that fits the input, those first that were accepted before.
    pub(super) fn pick(
        &self,
        input: &ConcreteInput,
        other: &ConcreteInput,
        random: &mut Random,
    ) -> Option<(usize, Change)> {
        let mut possible = possible(input, other);
        if possible.is_empty() {
            return None;
        }
        let mut counts: BTreeMap<Move, f32> = BTreeMap::new();
        for (_, change) in &possible {
            *counts.entry(change.how).or_default() += 1.0;
        }
        let weights: Vec<f32> = possible
            .iter()
            .map(|(_, change)| {
                let score = self.score(change);
                change.how.prior() / counts[&change.how] * score * score
            })
            .collect();
        Some(possible.swap_remove(random.weighted(&weights)))
    }

    /// How likely a change is accepted. Of one that is new, its likes say something: the same way at other places of the
    /// argument, and of other arguments.
    fn score(&self, change: &Change) -> f32 {
        let after = |known: Option<&(f32, f32)>, expected: f32, weight: f32| {
            let (tried, accepted) = known.copied().unwrap_or_default();
            (accepted + weight * expected) / (tried + weight)
        };
        let alike = after(self.ways.get(&change.how), 1.0, 1.0);
        let by_name = self.names.get(&(change.how, change.name.clone()));
        let near = after(by_name, alike, LIKES);
        after(self.known.get(change), near, LIKES)
    }

    /// An input with these changes was accepted, or not.
    pub(super) fn learn(&mut self, changes: Vec<Change>, accepted: bool) {
        let count = |(tried, kept): &mut (f32, f32)| {
            *tried += 1.0;
            *kept += f32::from(u8::from(accepted));
        };
        for change in changes {
            count(self.ways.entry(change.how).or_default());
            let name = (change.how, change.name.clone());
            count(self.names.entry(name).or_default());
            count(self.known.entry(change).or_default());
        }
    }
}

/// Every change of an input, with the position of its argument.
fn possible(input: &ConcreteInput, other: &ConcreteInput) -> Vec<(usize, Change)> {
    let mut found = Vec::new();
    let own = input.arguments.len();
    let count = own + input.layer_arguments.as_ref().map_or(0, Vec::len);
    for at in 0..count {
        let given = argument(input, at);
        let mut add = |how: Move, place: usize| {
            let name = given.name.clone();
            found.push((at, Change { how, name, place }));
        };
        match &given.value {
            Value::Tensor(tensor) | Value::NdArray(tensor) => {
                add(Move::Elements, 0);
                add(Move::Rank, 0);
                for place in 0..USUAL.len() {
                    add(Move::Retype, place);
                    add(Move::RetypeAlone, place);
                }
                add(Move::Form, 0);
                for place in 0..tensor.shape.len() {
                    add(Move::Resize, place);
                    add(Move::ResizeAlone, place);
                }
            }
            Value::SparseTensor(_) => add(Move::Elements, 0),
            Value::List(items) | Value::Tuple(items) => {
                for (place, item) in items.iter().enumerate().take(8) {
                    match item {
                        Value::Int(_) | Value::Float(_) => add(Move::Number, place),
                        Value::Bool(_) => add(Move::Flag, place),
                        _ => {}
                    }
                }
                if let Some(Value::Tensor(tensor)) = items.first() {
                    (0..USUAL.len()).for_each(|place| add(Move::Retype, place));
                    (0..tensor.shape.len()).for_each(|place| add(Move::Resize, place));
                }
            }
            Value::Int(_) | Value::Float(_) => add(Move::Number, 0),
            Value::Bool(_) => add(Move::Flag, 0),
            _ => {}
        }
        // One that is passed by position would move those after it.
        if given.passing == Passing::Keyword {
            add(Move::LeaveOut, 0);
        }
        if theirs(other, &given.name).is_some_and(|theirs| *theirs != given.value) {
            add(Move::TakeOver, 0);
        }
    }
    found
}

/// The value that another input has for an argument.
pub(super) fn theirs<'a>(other: &'a ConcreteInput, name: &str) -> Option<&'a Value> {
    let layer = other.layer_arguments.iter().flatten();
    let mut all = other.arguments.iter().chain(layer);
    all.find(|argument| argument.name == name)
        .map(|argument| &argument.value)
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Intent};

    use super::*;

    fn input(numbers: [i128; 2]) -> ConcreteInput {
        let number = |name: &str, number| Argument {
            name: name.into(),
            passing: Passing::Positional,
            value: Value::Int(number),
        };
        ConcreteInput {
            number: 0,
            arguments: vec![number("free", numbers[0]), number("fixed", numbers[1])],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    #[test]
    fn what_is_refused_is_tried_less_often_and_never_given_up() {
        let mut moves = Moves::default();
        let input = input([1, 1]);
        let mut picked = [0, 0];
        for number in 0..1000 {
            let mut random = Random::new(Random::key(1, "t"), number);
            let (at, change) = moves.pick(&input, &input, &mut random).unwrap();
            picked[at] += 1;
            moves.learn(vec![change], at == 0);
        }
        assert!(picked[0] > 900 && picked[1] > 3, "{picked:?}");
    }
}
