//! What accepted inputs have in common and refused ones lack: sizes that agree, indices below a size, signs.
//!
//! Every input says of each such statement whether it holds. One without which next to nothing is accepted, and with
//! which much more is, is put into inputs that are drawn later. Neither names nor words are looked at.

use std::collections::BTreeMap;

use fissure_model::ConcreteInput;
use fissure_solve::Random;

use super::apply::argument;
use super::ladder::Ladder;
use super::statements::{Statement, put, statements};

/// Statements that are counted; a call of many tensors has more, and what comes first matters most.
const STATEMENTS: usize = 1500;
/// Statements that are put into one input.
const HELD: usize = 48;
/// Outcomes after which nothing more is learned.
const LEARNED: u32 = 3000;
/// Outcomes between two looks at the counts.
const PERIOD: u32 = 16;
/// Accepted inputs that a statement holds in, and inputs that it does not hold in, before it means something.
const HELD_IN: f32 = 4.0;
const BROKEN_IN: f32 = 6.0;
/// How much rarer an input is accepted that breaks it.
const RARER: f32 = 0.25;

/// Share of drawn inputs that bonds are put into: where as many are accepted with as without them, and at least.
const EQUAL_SHARE: f32 = 0.3;
/// The same where nothing is known but how far inputs came.
const EARLY_SHARE: f32 = 0.75;
const LEAST_SHARE: f32 = 0.03;

/// How often a statement held or not, in accepted and in other inputs.
#[derive(Clone, Copy, Default)]
struct Count {
    accepted: [f32; 2],
    all: [f32; 2],
}

impl Count {
    fn is_bond(&self) -> bool {
        let rate = |held: usize| (self.accepted[held] + 0.2) / (self.all[held] + 0.4);
        self.accepted[1] >= HELD_IN && self.all[0] >= BROKEN_IN && rate(0) < RARER * rate(1)
    }

    /// Of few inputs: all that came further have it, and next to none that failed.
    fn is_early_bond(&self) -> bool {
        let [broken, held] = self.accepted;
        let failed = [self.all[0] - broken, self.all[1] - held];
        broken == 0.0 && held >= 3.0 && failed[0] >= 3.0 && failed[1] <= EARLY_FAILED * failed[0]
    }
}

/// Inputs that failed although they have what all that came further have, of those that failed without it.
const EARLY_FAILED: f32 = 0.7;

#[derive(Default)]
pub(super) struct Bonds {
    /// Names of arguments, by the number they have in statements.
    names: Vec<String>,
    counts: BTreeMap<Statement, Count>,
    held: Vec<Statement>,
    /// What inputs that came further have, as long as nothing else is known.
    early: Vec<Statement>,
    learned: u32,
    /// Of inputs with bonds and of others: how many ran, how many were accepted.
    with: [f32; 2],
    without: [f32; 2],
}

impl Bonds {
    /// An input was accepted or refused.
    pub(super) fn learn(&mut self, input: &ConcreteInput, accepted: bool) {
        if self.learned == LEARNED {
            return;
        }
        self.learned += 1;
        for (statement, holds) in statements(&self.numbered(input), input) {
            let room = self.counts.len() < STATEMENTS;
            let count = match self.counts.get_mut(&statement) {
                Some(count) => count,
                None if room => self.counts.entry(statement).or_default(),
                None => continue,
            };
            count.all[usize::from(holds)] += 1.0;
            count.accepted[usize::from(holds)] += f32::from(u8::from(accepted));
        }
        if self.learned.is_multiple_of(PERIOD) {
            let bonds = self.counts.iter().filter(|(_, count)| count.is_bond());
            self.held = bonds.map(|(statement, _)| *statement).take(HELD).collect();
        }
    }

    /// What inputs that came further have and those that failed before lack.
    pub(super) fn learn_early(&mut self, ladder: &Ladder) {
        let mut found: Vec<Statement> = Vec::new();
        for rung in ladder.rungs() {
            let mut counts: BTreeMap<Statement, Count> = BTreeMap::new();
            let failed = rung.failed.iter().map(|input| (input, false));
            let beyond = rung.beyond.iter().map(|input| (input, true));
            for (input, further) in failed.chain(beyond) {
                for (statement, holds) in statements(&self.numbered(input), input) {
                    let count = counts.entry(statement).or_default();
                    count.all[usize::from(holds)] += 1.0;
                    count.accepted[usize::from(holds)] += f32::from(u8::from(further));
                }
            }
            let bonds = counts.iter().filter(|(_, count)| count.is_early_bond());
            found.extend(bonds.map(|(statement, _)| *statement).take(HELD));
        }
        found.sort();
        found.dedup();
        self.early = found;
    }

    /// The input with what those have that came further.
    pub(super) fn with_early(&self, input: &ConcreteInput, random: &mut Random) -> ConcreteInput {
        let mut tied = input.clone();
        let numbers = self.known(input);
        for statement in &self.early {
            put(&mut tied, &numbers, statement, random);
        }
        tied
    }

    /// An input that was drawn with or without bonds was accepted or refused.
    pub(super) fn judge(&mut self, with: bool, accepted: bool) {
        let side = if with {
            &mut self.with
        } else {
            &mut self.without
        };
        side[0] += 1.0;
        side[1] += f32::from(u8::from(accepted));
    }

    /// The input with all that is known to belong together, if it is the turn of such a one.
    pub(super) fn tied(&self, input: &ConcreteInput, random: &mut Random) -> Option<ConcreteInput> {
        if self.held.is_empty() {
            if self.early.is_empty() || !random.chance(f64::from(EARLY_SHARE)) {
                return None;
            }
            let tied = self.with_early(input, random);
            return (tied != *input).then_some(tied);
        }
        let rate = |side: &[f32; 2]| (side[1] + 1.0) / (side[0] + 2.0);
        let (with, without) = (rate(&self.with), rate(&self.without));
        // Where they gain nothing, inputs without them say more.
        let share = (EQUAL_SHARE + (with - without) / (with + without)).clamp(LEAST_SHARE, 0.85);
        if !random.chance(f64::from(share)) {
            return None;
        }
        let mut tied = input.clone();
        let numbers = self.known(input);
        for statement in &self.held {
            put(&mut tied, &numbers, statement, random);
        }
        (tied != *input).then_some(tied)
    }

    /// The number of each argument, new ones for new names.
    fn numbered(&mut self, input: &ConcreteInput) -> Vec<Option<u8>> {
        for at in 0..count(input) {
            let name = key(input, at);
            if !self.names.contains(&name) && self.names.len() < 32 {
                self.names.push(name);
            }
        }
        self.known(input)
    }

    fn known(&self, input: &ConcreteInput) -> Vec<Option<u8>> {
        let number = |at| {
            let name = key(input, at);
            let position = self.names.iter().position(|known| *known == name);
            position.and_then(|position| u8::try_from(position).ok())
        };
        (0..count(input)).map(number).collect()
    }
}

fn count(input: &ConcreteInput) -> usize {
    input.arguments.len() + input.layer_arguments.as_ref().map_or(0, Vec::len)
}

/// The name of an argument; those of the call on an object that was made are apart.
fn key(input: &ConcreteInput, at: usize) -> String {
    let name = &argument(input, at).name;
    match at < input.arguments.len() {
        true => name.clone(),
        false => format!("()\u{0}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Dtype, Intent, Passing, TensorData, TensorValue, Value};

    use super::super::elements::reshaped;
    use super::*;

    fn tensor(dtype: Dtype, shape: Vec<u64>) -> Value {
        let none = TensorValue {
            dtype,
            shape: vec![0],
            data: TensorData {
                pattern: Vec::new().into(),
            },
        };
        Value::Tensor(reshaped(&none, dtype, shape))
    }

    fn drawn(number: u64) -> (ConcreteInput, Random) {
        let mut random = Random::new(Random::key(5, "bonds"), number);
        let mut size = || 1 + random.below(6);
        let (rows, columns, more, width) = (size(), size(), size(), size());
        let argument = |name: &str, value| Argument {
            name: name.into(),
            passing: Passing::Positional,
            value,
        };
        let input = ConcreteInput {
            number,
            arguments: vec![
                argument("x", tensor(Dtype::Float32, vec![rows, columns])),
                argument("ids", tensor(Dtype::Int64, vec![more])),
                argument("width", Value::Int(i128::from(width) - 3)),
            ],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        };
        (input, random)
    }

    /// As many ids as rows, each of them below the width.
    fn accepts(input: &ConcreteInput) -> bool {
        let (Value::Tensor(x), Value::Tensor(ids), Value::Int(width)) = (
            &input.arguments[0].value,
            &input.arguments[1].value,
            &input.arguments[2].value,
        ) else {
            return false;
        };
        let below = |id| fissure_solve::as_number(id).is_some_and(|id| id < *width as f64);
        x.shape[0] == ids.shape[0] && *width > 0 && ids.pattern_scalars().all(below)
    }

    #[test]
    fn what_belongs_together_is_learned_and_put_into_inputs() {
        let mut bonds = Bonds::default();
        let (mut before, mut after) = (0, 0);
        for number in 0..600 {
            let (input, mut random) = drawn(number);
            let tied = bonds.tied(&input, &mut random);
            let accepted = accepts(tied.as_ref().unwrap_or(&input));
            before += u32::from(number < 50 && accepted);
            after += u32::from(number >= 400 && accepted);
            bonds.judge(tied.is_some(), accepted);
            bonds.learn(tied.as_ref().unwrap_or(&input), accepted);
        }
        assert!(after > 120 && after > 12 * before, "{before} {after}");
    }

    #[test]
    fn where_nothing_belongs_together_inputs_stay_as_they_are() {
        let mut bonds = Bonds::default();
        for number in 0..600 {
            let (input, mut random) = drawn(number);
            assert_eq!(bonds.tied(&input, &mut random), None);
            bonds.learn(&input, number % 3 == 0);
        }
    }
}
