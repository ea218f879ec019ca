//! Inputs drawn from learned rules, as calls.

use fissure_generate::concrete_input;
use fissure_model::{AbstractArgument, AbstractInput, AbstractValue, Intent, Passing, Value};
use fissure_rules::{Datum, Declaration};
use fissure_solve::Random;
use fissure_solve::rules::{BoundRule, Limits, RuleSampler, abstract_value};

use crate::params::{Call, Parameters};

/// Draws calls that satisfy rules.
pub struct CallSampler {
    sampler: RuleSampler,
    random: Random,
    /// What calls have to satisfy: of the bounds that were drawn for its elements a tensor has only
    /// what its element type can hold.
    rules: Vec<BoundRule>,
}

/// Draws in vain before there are said to be no more calls.
const ATTEMPTS: usize = 2000;

impl CallSampler {
    pub fn new(params: &[Declaration], rules: Vec<BoundRule>, seed: u64) -> Self {
        CallSampler {
            rules: rules.clone(),
            sampler: RuleSampler::new(params, rules, Limits::usual(), seed),
            random: Random::new(Random::key(seed, "elements"), 0),
        }
    }

    /// Draws calls that break rule number `broken` and satisfy all others.
    pub fn breaking(
        params: &[Declaration],
        rules: Vec<BoundRule>,
        broken: usize,
        seed: u64,
    ) -> Option<Self> {
        let mut kept = rules.clone();
        if broken < kept.len() {
            kept.remove(broken);
        }
        Some(CallSampler {
            rules: kept,
            sampler: RuleSampler::breaking(params, rules, broken, Limits::usual(), seed)?,
            random: Random::new(Random::key(seed, "elements"), 1),
        })
    }

    /// The next input as rules see it.
    pub fn sample(&mut self) -> Option<Vec<Datum>> {
        self.sampler.sample()
    }

    /// The next call; `None` when no further input is found.
    pub fn next(&mut self, params: &Parameters) -> Option<Call> {
        for _ in 0..ATTEMPTS {
            let data = self.sampler.sample()?;
            let values: Result<Vec<AbstractValue>, _> = data.iter().map(abstract_value).collect();
            // A fact that no fill gives: another input may do without it.
            let Ok(values) = values else { continue };
            let call = params.call_of(concrete_values(values, &mut self.random));
            let seen = params.data(&call);
            let allowed = |rule: &BoundRule| {
                rule.rule.answer(&seen, &rule.binding) != fissure_rules::Answer::Broken
            };
            if self.rules.iter().all(allowed) {
                return Some(call);
            }
        }
        None
    }

    /// Up to `count` calls.
    pub fn take(&mut self, params: &Parameters, count: usize) -> Vec<Call> {
        std::iter::from_fn(|| self.next(params))
            .take(count)
            .collect()
    }
}

fn concrete_values(values: Vec<AbstractValue>, random: &mut Random) -> Vec<Value> {
    let arguments = values.into_iter().map(|value| AbstractArgument {
        name: String::new(),
        passing: Passing::Positional,
        value,
    });
    let input = AbstractInput {
        arguments: arguments.collect(),
        layer_arguments: None,
        intent: Intent::Conform,
    };
    let concrete = concrete_input(0, input, random);
    concrete
        .arguments
        .into_iter()
        .map(|argument| argument.value)
        .collect()
}
