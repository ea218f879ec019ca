//! What the inputs of an API have reached so far: growth to show, evidence for what a spec says.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use fissure_model::{Category, ConcreteInput, Intent, Mutator, OutcomeKind, Value};
use serde::{Deserialize, Serialize};

use crate::novelty;

/// Distinct things remembered of each sort; past it the count stands still.
const KEPT: usize = 1 << 16;

/// How many distinct things the inputs of one API have shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BehaviourCounts {
    /// A kind of input (types, ranks, rough sizes of its arguments) with one kind of outcome.
    pub behaviours: u64,
    /// Reasons for rejection.
    pub reasons: u64,
    /// Pairs of element type and rank, of all tensors.
    pub dtype_ranks: u64,
    /// Pairs of parameter and boundary-case mutator.
    pub mutations: u64,
}

/// What became of inputs that have something in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    pub inputs: u64,
    pub accepted: u64,
    pub rejected: u64,
}

impl OutcomeCounts {
    fn add(&mut self, kind: OutcomeKind) {
        self.inputs += 1;
        match kind {
            OutcomeKind::Accepted | OutcomeKind::Nan => self.accepted += 1,
            OutcomeKind::Rejected => self.rejected += 1,
            _ => {}
        }
    }
}

/// Inputs with one boundary case in one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutatorEvidence {
    pub param: String,
    pub mutator: Mutator,
    #[serde(flatten)]
    pub counts: OutcomeCounts,
}

/// Inputs that break one constraint of one parameter, and no other: rejected ones speak for the
/// constraint, accepted ones against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstraintEvidence {
    pub param: String,
    pub category: Category,
    #[serde(flatten)]
    pub counts: OutcomeCounts,
}

/// What the inputs of one API have reached so far.
#[derive(Debug, Default)]
pub(crate) struct Behaviour {
    behaviours: HashSet<u64>,
    dtype_ranks: HashSet<u64>,
    mutators: BTreeMap<(String, Mutator), OutcomeCounts>,
    constraints: BTreeMap<(String, Category), OutcomeCounts>,
}

impl Behaviour {
    pub(crate) fn observe(&mut self, input: &ConcreteInput, outcome: OutcomeKind) {
        remember(
            &mut self.behaviours,
            hash_of(&(novelty::kind(input), outcome)),
        );
        let layer = input.layer_arguments.iter().flatten();
        for argument in input.arguments.iter().chain(layer) {
            argument.value.walk(&mut |value| {
                if let Value::Tensor(tensor)
                | Value::SparseTensor(tensor)
                | Value::NdArray(tensor) = value
                {
                    let pair = hash_of(&(tensor.dtype, tensor.shape.len()));
                    remember(&mut self.dtype_ranks, pair);
                }
            });
        }
        for mutation in &input.mutations {
            self.mutators
                .entry((mutation.param.clone(), mutation.mutator))
                .or_default()
                .add(outcome);
        }
        if let Intent::Violate { param, category } = &input.intent {
            self.constraints
                .entry((param.clone(), *category))
                .or_default()
                .add(outcome);
        }
    }

    pub(crate) fn counts(&self, reasons: usize) -> BehaviourCounts {
        BehaviourCounts {
            behaviours: self.behaviours.len() as u64,
            reasons: reasons as u64,
            dtype_ranks: self.dtype_ranks.len() as u64,
            mutations: self.mutators.len() as u64,
        }
    }

    pub(crate) fn mutators(&self) -> Vec<MutatorEvidence> {
        self.mutators
            .iter()
            .map(|((param, mutator), counts)| MutatorEvidence {
                param: param.clone(),
                mutator: *mutator,
                counts: *counts,
            })
            .collect()
    }

    pub(crate) fn constraints(&self) -> Vec<ConstraintEvidence> {
        self.constraints
            .iter()
            .map(|((param, category), counts)| ConstraintEvidence {
                param: param.clone(),
                category: *category,
                counts: *counts,
            })
            .collect()
    }
}

fn remember(set: &mut HashSet<u64>, one: u64) {
    if set.len() < KEPT {
        set.insert(one);
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    // Fixed keys: the same counts in every run.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Mutation, Passing};

    use super::*;

    fn input(number: i128, intent: Intent, mutations: Vec<Mutation>) -> ConcreteInput {
        ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "dim".into(),
                passing: Passing::Positional,
                value: Value::Int(number),
            }],
            layer_arguments: None,
            intent,
            mutations,
        }
    }

    #[test]
    fn the_same_kind_of_input_counts_once_for_each_outcome() {
        let mut behaviour = Behaviour::default();
        for number in [4, 5, 6] {
            let input = input(number, Intent::Conform, vec![]);
            behaviour.observe(&input, OutcomeKind::Accepted);
        }
        assert_eq!(behaviour.counts(0).behaviours, 1);
        behaviour.observe(&input(4, Intent::Conform, vec![]), OutcomeKind::Crash);
        assert_eq!(behaviour.counts(0).behaviours, 2);
    }

    #[test]
    fn broken_constraints_and_mutators_keep_what_became_of_them() {
        let mut behaviour = Behaviour::default();
        let broken = Intent::Violate {
            param: "dim".into(),
            category: Category::Range,
        };
        let zero = Mutation {
            param: "dim".into(),
            mutator: Mutator::Zero,
            element: false,
        };
        behaviour.observe(&input(0, broken.clone(), vec![zero]), OutcomeKind::Rejected);
        behaviour.observe(&input(9, broken, vec![]), OutcomeKind::Accepted);
        let constraint = &behaviour.constraints()[0];
        assert_eq!(constraint.category, Category::Range);
        assert_eq!(
            (constraint.counts.rejected, constraint.counts.accepted),
            (1, 1)
        );
        assert_eq!(behaviour.mutators()[0].counts.rejected, 1);
        let json = serde_json::to_value(constraint).unwrap();
        assert_eq!(json["rejected"], 1, "{json}");
    }
}
