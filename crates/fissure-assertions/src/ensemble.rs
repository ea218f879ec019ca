//! Ensembles of trees: a random forest and gradient-boosted trees, trained on the same columns.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::label::Label;
use crate::tree::{Columns, Growth, LABELS, Tree, Vector};

/// A kind of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Trees on bootstrap samples and random subsets of features vote.
    RandomForest,
    /// Each tree corrects the sum of those before it.
    BoostedTrees,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::RandomForest, Kind::BoostedTrees];
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Kind::RandomForest => "random forest",
            Kind::BoostedTrees => "boosted trees",
        })
    }
}

/// Trees whose leaves are added up; the largest sum is the label.
#[derive(Clone, Debug)]
pub struct Ensemble {
    pub kind: Kind,
    pub trees: Vec<Tree>,
}

const FOREST_TREES: usize = 12;
const FOREST: Growth = Growth {
    depth: 14,
    smallest: 1,
    features: usize::MAX,
    regularisation: 0.0,
    rate: 1.0,
};
const BOOSTING_ROUNDS: usize = 24;
const BOOSTING: Growth = Growth {
    depth: 6,
    smallest: 2,
    features: usize::MAX,
    regularisation: 0.5,
    rate: 0.4,
};

impl Ensemble {
    /// Trains on samples with their labels; every label counts the same in all, however many
    /// samples it has.
    pub fn train(kind: Kind, columns: &Columns, labels: &[Label], seed: u64) -> Ensemble {
        let balance = balance(labels);
        let trees = match kind {
            Kind::RandomForest => forest(columns, labels, balance, seed),
            Kind::BoostedTrees => boosted(columns, labels, balance, seed),
        };
        Ensemble { kind, trees }
    }

    pub fn label(&self, features: &[f64]) -> Label {
        let mut sums = [0.0; LABELS];
        for tree in &self.trees {
            for (sum, part) in sums.iter_mut().zip(tree.leaf(features)) {
                *sum += part;
            }
        }
        largest(&sums)
    }

    pub fn nodes(&self) -> usize {
        self.trees.iter().map(|tree| tree.nodes.len()).sum()
    }
}

/// The label of the largest sum; of equal ones `no change` last, because a direction that is tried
/// in vain costs less than one that is not tried.
pub(crate) fn largest(sums: &[f32; LABELS]) -> Label {
    let mut best = Label::Increase;
    for label in [Label::Decrease, Label::NoChange] {
        if sums[label as usize] > sums[best as usize] {
            best = label;
        }
    }
    best
}

fn balance(labels: &[Label]) -> Vector {
    let mut counts = [0.0; LABELS];
    for label in labels {
        counts[*label as usize] += 1.0;
    }
    let present = counts.iter().filter(|count| **count > 0.0).count() as f64;
    // The root softens it: a label with a handful of samples should not outweigh its neighbours.
    counts.map(|count: f64| {
        if count > 0.0 {
            (labels.len() as f64 / present / count).sqrt()
        } else {
            0.0
        }
    })
}

fn forest(columns: &Columns, labels: &[Label], balance: Vector, seed: u64) -> Vec<Tree> {
    (0..FOREST_TREES)
        .into_par_iter()
        .map(|number| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(number as u64 + 1);
            let mut drawn = vec![0.0; labels.len()];
            for _ in 0..labels.len() {
                drawn[(random.next_u64() % labels.len() as u64) as usize] += 1.0;
            }
            let mut targets = vec![[0.0; LABELS]; labels.len()];
            let mut weights = vec![[0.0; LABELS]; labels.len()];
            for (sample, label) in labels.iter().enumerate() {
                let weight = drawn[sample] * balance[*label as usize];
                targets[sample][*label as usize] = weight;
                weights[sample] = [weight; LABELS];
            }
            // A third of the features: the usual root is too few where one relation decides.
            let growth = Growth {
                features: columns
                    .features()
                    .div_ceil(3)
                    .max(columns.features().min(4)),
                ..FOREST
            };
            Tree::grow(columns, &targets, &weights, growth, &mut random)
        })
        .collect()
}

fn boosted(columns: &Columns, labels: &[Label], balance: Vector, seed: u64) -> Vec<Tree> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut scores = vec![[0.0f64; LABELS]; labels.len()];
    let mut trees = Vec::new();
    let growth = Growth {
        features: columns
            .features()
            .div_ceil(2)
            .max(columns.features().min(4)),
        ..BOOSTING
    };
    for _ in 0..BOOSTING_ROUNDS {
        let mut targets = vec![[0.0; LABELS]; labels.len()];
        let mut weights = vec![[0.0; LABELS]; labels.len()];
        let mut loss = 0.0;
        for (sample, label) in labels.iter().enumerate() {
            let weight = balance[*label as usize];
            let shares = softmax(&scores[sample]);
            for (index, share) in shares.into_iter().enumerate() {
                let wanted = f64::from(u8::from(index == *label as usize));
                targets[sample][index] = weight * (wanted - share);
                weights[sample][index] = weight * share * (1.0 - share) + 1e-9;
            }
            loss += weight * (1.0 - shares[*label as usize]);
        }
        let tree = Tree::grow(columns, &targets, &weights, growth, &mut random);
        for (sample, score) in scores.iter_mut().enumerate() {
            let leaf = tree.leaf_of(columns, sample);
            for (sum, part) in score.iter_mut().zip(leaf) {
                *sum += f64::from(*part);
            }
        }
        trees.push(tree);
        // Everything is told apart: further trees would only repeat it.
        if loss < 1e-3 * labels.len() as f64 {
            break;
        }
    }
    trees
}

fn softmax(scores: &Vector) -> Vector {
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let powers = scores.map(|score| (score - most).exp());
    let sum: f64 = powers.iter().sum();
    powers.map(|power| power / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Scale;

    fn samples() -> (Vec<Vec<f64>>, Vec<Label>) {
        let mut rows = Vec::new();
        let mut labels = Vec::new();
        for number in 0..400 {
            let (x, y) = (f64::from(number % 20) - 10.0, f64::from(number / 20) - 10.0);
            rows.push(vec![x, y]);
            labels.push(if x + y > 3.5 {
                Label::NoChange
            } else if x > y {
                Label::Increase
            } else {
                Label::Decrease
            });
        }
        (rows, labels)
    }

    #[test]
    fn both_kinds_learn_an_oblique_rule() {
        let (rows, labels) = samples();
        let columns = Columns::new(&rows, &[Scale::Even, Scale::Even]);
        for kind in Kind::ALL {
            let model = Ensemble::train(kind, &columns, &labels, 7);
            let right = rows
                .iter()
                .zip(&labels)
                .filter(|(row, label)| model.label(row) == **label)
                .count();
            assert!(right >= 390, "{kind}: {right} of 400");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_trees() {
        let (rows, labels) = samples();
        let columns = Columns::new(&rows, &[Scale::Even, Scale::Even]);
        for kind in Kind::ALL {
            let one = Ensemble::train(kind, &columns, &labels, 3);
            let two = Ensemble::train(kind, &columns, &labels, 3);
            for (a, b) in one.trees.iter().zip(&two.trees) {
                assert_eq!(a.nodes, b.nodes);
                assert_eq!(a.leaves, b.leaves);
            }
        }
    }

    #[test]
    fn a_boundary_between_neighbouring_numbers_is_learned_exactly() {
        let edge = 88.722_839_355_468_75_f64;
        let below = f64::from((edge as f32).next_down());
        let mut rows: Vec<Vec<f64>> = (0..60).map(|power| vec![1.5f64.powi(power)]).collect();
        rows.extend([vec![below], vec![edge]]);
        let labels: Vec<Label> = rows
            .iter()
            .map(|row| {
                if row[0] >= edge {
                    Label::NoChange
                } else {
                    Label::Increase
                }
            })
            .collect();
        let columns = Columns::new(&rows, &[Scale::Number]);
        let model = Ensemble::train(Kind::BoostedTrees, &columns, &labels, 0);
        assert_eq!(model.label(&[below]), Label::Increase);
        assert_eq!(model.label(&[edge]), Label::NoChange);
    }
}
