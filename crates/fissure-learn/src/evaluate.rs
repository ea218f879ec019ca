//! How good learned rules are: precision and recall, on inputs that had no part in learning.

use std::collections::HashSet;

use fissure_rules::{Datum, Type};

use crate::cover::Clause;
use crate::error::LearnError;
use crate::learner::Learner;
use crate::mutate::mutate;
use crate::params::{Call, Parameters};
use crate::runner::Answer;
use crate::spec::CallSampler;
use crate::vocabulary::type_of;

/// Inputs drawn from the rules for the precision.
const DRAWN: usize = 400;
/// Neighbours of the seeds kept apart, for the recall.
const NEIGHBOURS: usize = 400;

/// Measured in this run.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Inputs drawn from the rules: how many the library accepted.
    pub accepted: usize,
    pub drawn: usize,
    /// Accepted inputs that had no part in learning: how many the rules allow.
    pub allowed: usize,
    pub apart: usize,
    /// Why drawn inputs were rejected, the most frequent first.
    pub rejections: Vec<(String, usize)>,
}

impl Evaluation {
    pub fn precision(&self) -> f64 {
        share(self.accepted, self.drawn)
    }

    pub fn recall(&self) -> f64 {
        share(self.allowed, self.apart)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Keeps a third of the seeds apart, chosen by what they are, not by where they stand. Of each
/// combination of types at least one seed stays: types come from seeds alone.
pub(crate) fn split(
    seeds: Vec<Call>,
    params: &Parameters,
    evaluate: bool,
) -> (Vec<Call>, Vec<Call>) {
    if !evaluate {
        return (seeds, Vec::new());
    }
    let (mut kept, mut apart) = (Vec::new(), Vec::new());
    let mut known: HashSet<Vec<Option<Type>>> = HashSet::new();
    for call in seeds {
        let types = params.data(&call).iter().map(type_of).collect();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in format!("{call:?}").bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        if known.insert(types) || !(hash >> 32).is_multiple_of(3) {
            kept.push(call);
        } else {
            apart.push(call);
        }
    }
    // Few seeds: one of those that share their types with another.
    if apart.is_empty()
        && let Some(at) = (1..kept.len()).rev().find(|at| {
            let of = |call: &Call| -> Vec<Option<Type>> {
                params.data(call).iter().map(type_of).collect()
            };
            let types = of(&kept[*at]);
            (0..kept.len()).any(|other| other != *at && of(&kept[other]) == types)
        })
    {
        apart.push(kept.remove(at));
    }
    (kept, apart)
}

pub(crate) fn measure(
    learner: &mut Learner,
    clauses: &[Clause],
    apart: &[Call],
) -> Result<Evaluation, LearnError> {
    let rules = clauses.iter().map(|clause| clause.rule.clone()).collect();
    let seed = learner.seed.wrapping_add(77);
    let mut sampler = CallSampler::new(&learner.vocabulary.params, rules, seed);
    let calls = sampler.take(&learner.params, DRAWN);
    let answers = learner.runner.run(&learner.params, &calls)?;
    let mut evaluation = Evaluation {
        accepted: 0,
        drawn: 0,
        allowed: 0,
        apart: 0,
        rejections: Vec::new(),
    };
    for answer in answers {
        evaluation.drawn += usize::from(answer != Answer::Unknown);
        match answer {
            Answer::Accepted => evaluation.accepted += 1,
            Answer::Rejected(words) => {
                let line = words.lines().next().map_or("", |line| line).to_owned();
                match evaluation
                    .rejections
                    .iter_mut()
                    .find(|(other, _)| *other == line)
                {
                    Some((_, count)) => *count += 1,
                    None => evaluation.rejections.push((line, 1)),
                }
            }
            Answer::Unknown => {}
        }
    }
    evaluation
        .rejections
        .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let pool = independent(learner, apart)?;
    evaluation.apart = pool.len();
    evaluation.allowed = pool
        .iter()
        .filter(|input| {
            let typed = input.iter().zip(&learner.vocabulary.params);
            typed.clone().all(|(datum, param)| datum.is(&param.of))
                && clauses.iter().all(|clause| {
                    let rule = &clause.rule;
                    rule.rule.answer(input, &rule.binding) != fissure_rules::Answer::Broken
                })
        })
        .count();
    Ok(evaluation)
}

/// The seeds kept apart and their accepted neighbours.
fn independent(learner: &mut Learner, apart: &[Call]) -> Result<Vec<Vec<Datum>>, LearnError> {
    let mut pool: Vec<Vec<Datum>> = apart.iter().map(|call| learner.params.data(call)).collect();
    if apart.is_empty() {
        return Ok(pool);
    }
    let mutants: Vec<Call> = (0..NEIGHBOURS)
        .map(|_| {
            let base = learner.random.index(apart.len());
            mutate(&apart[base], apart, &mut learner.random)
        })
        .collect();
    let answers = learner.runner.run(&learner.params, &mutants)?;
    for (call, answer) in mutants.iter().zip(answers) {
        if answer == Answer::Accepted {
            pool.push(learner.params.data(call));
        }
    }
    Ok(pool)
}
