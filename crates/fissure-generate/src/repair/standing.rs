//! What refusals ask for again and again.
//!
//! An input that has three things wrong is refused for one of them, and the next one has all three again. What several
//! refusals asked for in words that name a plain property (a length, a word, a rank, a sort of value) is put into
//! later inputs before they are tried.

use std::collections::BTreeMap;

use fissure_model::{ConcreteInput, Value};
use fissure_solve::Random;

use super::apply::{argument, repaired};
use super::waiting::Rate;
use super::wish::{Want, Wish};

/// Refusals that ask for the same before it means something, and of how many one has to.
const SEVERAL: u32 = 4;
const ONE_OF: u32 = 12;
/// Wishes that are remembered, and that are put into one input.
const REMEMBERED: usize = 64;
const MOST: usize = 12;
/// Share of inputs that get them, where as many are accepted with as without, and at most.
const EQUAL_SHARE: f64 = 0.6;
const LARGEST_SHARE: f64 = 0.85;
const LEAST_SHARE: f64 = 0.05;

#[derive(Default)]
pub(super) struct Standing {
    /// By the wish as text, for an order that does not depend on anything else.
    asked: BTreeMap<String, (Wish, u32)>,
    refused: u32,
    with: Rate,
    without: Rate,
}

/// Does a wish ask for a property that does not depend on the rest of the call?
fn is_plain(want: &Want) -> bool {
    matches!(
        want,
        Want::Rank(_)
            | Want::Dtype { .. }
            | Want::Length(_)
            | Want::Sort(_)
            | Want::Word(_)
            | Want::Filled
            | Want::Nothing
            | Want::NotCalled
    )
}

impl Standing {
    pub(super) fn learn(&mut self, wishes: &[Wish]) {
        self.refused += 1;
        // The first is what the refusal most likely means.
        let mut plain = wishes.iter().filter(|wish| is_plain(&wish.want));
        for wish in plain.by_ref().take(2) {
            let Ok(text) = serde_json::to_string(wish) else {
                continue;
            };
            let room = self.asked.len() < REMEMBERED;
            match self.asked.get_mut(&text) {
                Some((_, count)) => *count += 1,
                None if room => {
                    self.asked.insert(text, (wish.clone(), 1));
                }
                None => {}
            }
        }
    }

    /// An input with or without them was accepted or refused.
    pub(super) fn judge(&mut self, with: bool, accepted: bool) {
        let side = match with {
            true => &mut self.with,
            false => &mut self.without,
        };
        side.count(accepted);
    }

    /// The input with what is asked for, if it is the turn of such a one and it lacks something.
    pub(super) fn fulfilled(
        &self,
        input: &ConcreteInput,
        random: &mut Random,
    ) -> Option<ConcreteInput> {
        let mut asked: Vec<&(Wish, u32)> = self.asked.values().collect();
        asked.retain(|(_, count)| self.is_several(*count));
        let (with, without) = (self.with.value(), self.without.value());
        let gained = (with - without) / (with + without);
        let share = (EQUAL_SHARE + gained).clamp(LEAST_SHARE, LARGEST_SHARE);
        if asked.is_empty() || !random.chance(share) {
            return None;
        }
        asked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut better = input.clone();
        for (wish, _) in asked.iter().take(MOST) {
            if self.is_fine(&better, wish) || !random.chance(0.9) {
                continue;
            }
            if let Some(mended) = repaired(&better, wish, 1, random).pop() {
                better = mended;
            }
        }
        (better != *input).then_some(better)
    }

    fn is_several(&self, count: u32) -> bool {
        count >= SEVERAL && count * ONE_OF >= self.refused
    }

    /// The argument is a word already that is asked for: either of several will do.
    fn is_fine(&self, input: &ConcreteInput, wish: &Wish) -> bool {
        let (Some(about), Want::Word(_)) = (wish.about.as_deref(), &wish.want) else {
            return matches!(wish.want, Want::Word(_));
        };
        let count = input.arguments.len() + input.layer_arguments.as_ref().map_or(0, Vec::len);
        let mut given = (0..count).map(|at| argument(input, at));
        given
            .find(|given| given.name == about)
            .is_some_and(|given| match &given.value {
                Value::Text(text) => self.asked.values().any(|(other, count)| {
                    self.is_several(*count)
                        && other.about.as_deref() == Some(about)
                        && other.want == Want::Word(text.clone())
                }),
                _ => true,
            })
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Intent, Passing};

    use super::*;

    fn input(sizes: usize, word: &str) -> ConcreteInput {
        let argument = |name: &str, value| Argument {
            name: name.into(),
            passing: Passing::Keyword,
            value,
        };
        ConcreteInput {
            number: 0,
            arguments: vec![
                argument("sizes", Value::List(vec![Value::Int(1); sizes])),
                argument("mode", Value::Text(word.into())),
            ],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    fn wish(about: &str, want: Want) -> Wish {
        let about = Some(about.to_owned());
        Wish { about, want }
    }

    #[test]
    fn what_several_refusals_ask_for_is_put_into_one_input_together() {
        let mut standing = Standing::default();
        let length = [wish("sizes", Want::Length(4))];
        let words = [
            wish("mode", Want::Word("same".into())),
            wish("mode", Want::Word("valid".into())),
        ];
        let mut random = Random::new(Random::key(3, "s"), 0);
        for _ in 0..SEVERAL {
            assert_eq!(standing.fulfilled(&input(2, "x"), &mut random), None);
            standing.learn(&length);
            standing.learn(&words);
        }
        let all = (0..200).filter_map(|_| standing.fulfilled(&input(2, "x"), &mut random));
        let fit = |made: &ConcreteInput| {
            let word = |word| made.arguments[1] == input(0, word).arguments[1];
            made.arguments[0] == input(4, "").arguments[0] && (word("same") || word("valid"))
        };
        let fitting = all.filter(fit).count();
        assert!((60..180).contains(&fitting), "{fitting}: most, not all");
        for _ in 0..50 {
            let made = standing.fulfilled(&input(4, "valid"), &mut random);
            assert_eq!(made, None, "nothing is missing");
        }
    }

    #[test]
    fn what_does_not_help_is_seldom_put_in() {
        let mut standing = Standing::default();
        for _ in 0..60 {
            standing.learn(&[wish("sizes", Want::Length(4))]);
            standing.judge(true, false);
            standing.judge(false, true);
        }
        let mut random = Random::new(Random::key(3, "s"), 0);
        let put = |random: &mut Random| standing.fulfilled(&input(2, "x"), random).is_some();
        let count = (0..400).filter(|_| put(&mut random)).count();
        assert!(count < 50, "{count}");
    }
}
