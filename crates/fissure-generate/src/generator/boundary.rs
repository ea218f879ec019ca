//! Boundary cases in an input that was made, and what may then be learned from it.

use fissure_model::{ConcreteInput, Intent, Mode};
use fissure_solve::Random;

use super::Generator;
use crate::mutate::{mutate, put_special_value};
use crate::source::Source;

/// Share of inputs that get a special value when asked for, besides those by the mutators.
const SPECIAL: f64 = 0.25;
/// Share of inputs with a boundary case that get a second one.
const TWICE: f64 = 0.25;
/// Share of boundary cases that break a rule and stay, where rules are broken anyway.
const BEYOND_RULES: f64 = 0.3;
/// Share of the usual boundary cases while nothing is accepted.
const SEARCHING: f64 = 0.25;

impl Generator {
    pub(super) fn put_boundary_cases(&mut self, input: &mut ConcreteInput, random: &mut Random) {
        let options = &self.options;
        let before = match &self.source {
            Source::Constraints(_) => None,
            // A boundary case that breaks a rule is taken back.
            Source::Rules(_) | Source::Both(..) => Some(input.clone()),
        };
        let checker = match &self.source {
            Source::Constraints(forms) => forms.checker(),
            Source::Rules(_) | Source::Both(..) => &self.checker,
        };
        // As long as nothing is accepted, a boundary case hides what the rest of the input would have come to.
        let ratio = match self.is_searching() {
            true => options.mutate_ratio * SEARCHING,
            false => options.mutate_ratio,
        };
        let (guided, special) = (options.guided_mutation, options.special_values);
        let mut put = |input: &mut ConcreteInput, random: &mut Random| {
            mutate(input, checker, guided, special, &mut self.coverage, random);
        };
        if random.chance(ratio) {
            put(input, random);
        }
        // Two boundary cases in one input meet where one alone is looked for.
        if !input.mutations.is_empty() && random.chance(TWICE) {
            put(input, random);
        }
        if options.special_values && random.chance(SPECIAL) {
            put_special_value(input, checker, &mut self.coverage, random);
        }
        if input.mutations.is_empty() {
            return;
        }
        let options = &self.options;
        match &mut self.source {
            // The outcome now says little about the choices.
            Source::Constraints(solver) => solver.forget(input.number),
            Source::Rules(rules) | Source::Both(_, rules, _) => {
                if let Some(before) = before.filter(|_| !rules.allows(input)) {
                    // Breaks a rule by far: a share of its own, and no evidence for anything.
                    if options.mode == Mode::Mixed && random.chance(BEYOND_RULES) {
                        input.intent = Intent::Ignore;
                    } else {
                        *input = before;
                    }
                }
            }
        }
        if let Some(repairs) = &mut self.repairs {
            repairs.doubt(input);
        }
        if let Some(alternative) = &mut self.alternative {
            alternative.forget(input.number);
        }
    }
}
