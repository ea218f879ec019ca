//! Numbers that made calls too long for a run that ends by the clock.
//!
//! A window of 2³⁰ points or a padding of a million takes its time whatever else the input says. Ending such a call costs
//! as much as a thousand others; after the first, most inputs that are as large in the same places are made small there.

use std::collections::BTreeMap;

use fissure_model::{ConcreteInput, Value};
use fissure_solve::Random;

use crate::repair::{Want, Wish};

/// From here on a number may be why a call takes long.
const LARGE: i128 = 4096;
/// Numbers that take the place of too large ones are below this.
const SMALL: usize = 64;
/// Share of such inputs that are left as they are: what is slow today may crash with the next number.
const LEFT: f64 = 0.1;
/// Calls that are remembered.
const MOST: usize = 16;

/// What is large in an input whose call had to be ended, as wishes about its parameters.
pub fn too_large(input: &ConcreteInput) -> Vec<Wish> {
    let layer = input.layer_arguments.iter().flatten();
    let all = input.arguments.iter().chain(layer);
    all.filter_map(|argument| {
        let number = largest(&argument.value).filter(|number| *number >= LARGE)?;
        Some(Wish {
            about: Some(argument.name.clone()),
            want: Want::Below(i64::try_from(number).unwrap_or(i64::MAX)),
        })
    })
    .collect()
}

/// By parameter, of each such call, the numbers that were large together.
#[derive(Default)]
pub(crate) struct Ceilings(Vec<BTreeMap<String, i128>>);

impl Ceilings {
    pub(crate) fn learn(&mut self, wishes: &[Wish]) {
        let large: BTreeMap<String, i128> = wishes
            .iter()
            .filter_map(|wish| match (&wish.about, &wish.want) {
                (Some(name), Want::Below(number)) => Some((name.clone(), (*number).into())),
                _ => None,
            })
            .collect();
        let says_more = |other: &BTreeMap<String, i128>| {
            let covered = |(name, number): (&String, &i128)| {
                large.get(name).is_some_and(|here| here >= number)
            };
            other.iter().all(covered)
        };
        if !large.is_empty() && self.0.len() < MOST && !self.0.iter().any(says_more) {
            self.0.push(large);
        }
    }

    /// Makes an input small that is as large as one that took too long; the parameter that was changed.
    pub(crate) fn keep_below(
        &self,
        input: &mut ConcreteInput,
        random: &mut Random,
    ) -> Option<String> {
        let value_of = |name: &String| {
            let layer = input.layer_arguments.iter().flatten();
            let mut all = input.arguments.iter().chain(layer);
            all.find(|argument| argument.name == *name)
        };
        let reached = |(name, number): (&String, &i128)| {
            let here = value_of(name).and_then(|argument| largest(&argument.value));
            here.is_some_and(|here| here >= *number)
        };
        let heavy = self.0.iter().find(|one| one.iter().all(reached))?;
        if random.chance(LEFT) {
            return None;
        }
        let names: Vec<&String> = heavy.keys().collect();
        let name = *random.pick(&names);
        let layer = input.layer_arguments.iter_mut().flatten();
        let mut all = input.arguments.iter_mut().chain(layer);
        let argument = all.find(|argument| argument.name == *name)?;
        make_small(&mut argument.value, random);
        Some(name.clone())
    }
}

/// The largest number in a value that is a number or numbers.
fn largest(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(*number),
        // Saturates; what is not a number is none.
        Value::Float(number) if number.is_finite() => Some(*number as i128),
        Value::List(items) | Value::Tuple(items) => items.iter().filter_map(largest).max(),
        _ => None,
    }
}

fn make_small(value: &mut Value, random: &mut Random) {
    match value {
        Value::Int(number) if *number >= LARGE => *number = 1 + random.index(SMALL) as i128,
        Value::Float(number) if number.is_finite() && *number >= LARGE as f64 => {
            *number = 1.0 + random.index(SMALL) as f64;
        }
        Value::List(items) | Value::Tuple(items) => {
            items.iter_mut().for_each(|item| make_small(item, random));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Intent, Passing};

    use super::*;

    fn input(points: i128, sizes: [i128; 2]) -> ConcreteInput {
        let argument = |name: &str, value| Argument {
            name: name.into(),
            passing: Passing::Keyword,
            value,
        };
        ConcreteInput {
            number: 0,
            arguments: vec![
                argument("points", Value::Int(points)),
                argument("sizes", Value::List(sizes.map(Value::Int).into())),
            ],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    #[test]
    fn an_input_as_large_as_one_that_took_too_long_is_made_small_in_one_of_those_places() {
        let mut ceilings = Ceilings::default();
        ceilings.learn(&too_large(&input(3, [2, 2])));
        let mut random = Random::new(Random::key(7, "f"), 0);
        let mut free = input(1 << 40, [2, 1 << 40]);
        assert_eq!(ceilings.keep_below(&mut free, &mut random), None);

        ceilings.learn(&too_large(&input(1 << 30, [2, 1 << 20])));
        let mut changed = 0;
        for _ in 0..100 {
            for small in [input(1 << 30, [9, 9]), input(9, [1 << 30, 9])] {
                let mut same = small.clone();
                assert_eq!(ceilings.keep_below(&mut same, &mut random), None);
                assert_eq!(same, small, "only one of the two is large");
            }
            let mut large = input(1 << 31, [5, 1 << 21]);
            let Some(name) = ceilings.keep_below(&mut large, &mut random) else {
                continue;
            };
            changed += 1;
            let at = large.arguments.iter().position(|one| one.name == name);
            let value = &large.arguments[at.unwrap()].value;
            assert!(largest(value).unwrap() <= SMALL as i128);
            if let Value::List(items) = value {
                assert_eq!(items[0], Value::Int(5), "what is small stays");
            }
        }
        assert!((70..100).contains(&changed), "{changed}: most, not all");
    }

    #[test]
    fn what_a_smaller_one_said_is_not_kept_again() {
        let mut ceilings = Ceilings::default();
        ceilings.learn(&too_large(&input(1 << 20, [2, 2])));
        ceilings.learn(&too_large(&input(1 << 30, [2, 1 << 30])));
        assert_eq!(ceilings.0.len(), 1);
        ceilings.learn(&too_large(&input(9, [2, 1 << 30])));
        assert_eq!(ceilings.0.len(), 2);
    }
}
