//! Decision trees with a vector at each leaf, grown on features that are sorted once.
//!
//! One grower serves both kinds of ensemble. Each sample brings a target vector `t` and a weight
//! vector `w` (one entry per label); a split is as good as the rise of `Σ T²/(W + λ)`. With one-hot
//! targets and equal weights that is Gini's criterion (random forest), with gradients and hessians
//! it is the gain of gradient boosting.
//!
//! Splits are exact, not on histograms: where a function begins to fail is known down to neighbouring
//! numbers, and the data have both.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::features::Scale;

pub(crate) const LABELS: usize = 3;
pub(crate) type Vector = [f64; LABELS];

/// Marks a leaf in [`Node::feature`].
pub(crate) const LEAF: u16 = u16::MAX;

/// A split (`value <= threshold` goes to `child`, else to `child + 1`) or a leaf (`child` is the
/// index of its vector).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    pub threshold: f64,
    pub child: u32,
    pub feature: u16,
}

/// The samples as columns, each with the order of its values.
pub struct Columns {
    values: Vec<Vec<f64>>,
    order: Vec<Vec<u32>>,
    scales: Vec<Scale>,
    samples: usize,
}

impl Columns {
    pub fn new(rows: &[Vec<f64>], scales: &[Scale]) -> Columns {
        let values: Vec<Vec<f64>> = (0..scales.len())
            .map(|feature| rows.iter().map(|row| row[feature]).collect())
            .collect();
        let order = values
            .iter()
            .map(|column| {
                let mut order: Vec<u32> = (0..).take(column.len()).collect();
                order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
                order
            })
            .collect();
        Columns {
            values,
            order,
            scales: scales.to_vec(),
            samples: rows.len(),
        }
    }

    pub fn features(&self) -> usize {
        self.values.len()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Growth {
    pub depth: usize,
    /// Samples on either side of a split at least.
    pub smallest: usize,
    /// Features looked at per split; all of them when it is as large.
    pub features: usize,
    /// λ of the criterion: shrinks leaves with little weight.
    pub regularisation: f64,
    /// Multiplies the leaves.
    pub rate: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    pub leaves: Vec<[f32; LABELS]>,
}

impl Tree {
    pub fn leaf(&self, features: &[f64]) -> &[f32; LABELS] {
        let mut node = &self.nodes[0];
        while node.feature != LEAF {
            let right = features[usize::from(node.feature)] > node.threshold;
            node = &self.nodes[node.child as usize + usize::from(right)];
        }
        &self.leaves[node.child as usize]
    }

    /// The leaf of a sample of the columns.
    pub fn leaf_of(&self, columns: &Columns, sample: usize) -> &[f32; LABELS] {
        let mut node = &self.nodes[0];
        while node.feature != LEAF {
            let right = columns.values[usize::from(node.feature)][sample] > node.threshold;
            node = &self.nodes[node.child as usize + usize::from(right)];
        }
        &self.leaves[node.child as usize]
    }

    /// Grows a tree; samples whose weights are all zero take no part.
    pub fn grow(
        columns: &Columns,
        targets: &[Vector],
        weights: &[Vector],
        growth: Growth,
        random: &mut ChaCha8Rng,
    ) -> Tree {
        let takes_part = |&sample: &u32| weights[sample as usize].iter().any(|w| *w > 0.0);
        let order: Vec<Vec<u32>> = columns
            .order
            .iter()
            .map(|order| order.iter().copied().filter(takes_part).collect())
            .collect();
        let mut grower = Grower {
            columns,
            targets,
            weights,
            growth,
            random,
            tree: Tree::default(),
            left: vec![false; columns.samples],
        };
        grower.tree.nodes.push(unfinished());
        grower.node(0, order, 0);
        grower.tree
    }
}

/// Takes the place of a node until its content is known.
fn unfinished() -> Node {
    Node {
        threshold: 0.0,
        child: 0,
        feature: LEAF,
    }
}

struct Grower<'a> {
    columns: &'a Columns,
    targets: &'a [Vector],
    weights: &'a [Vector],
    growth: Growth,
    random: &'a mut ChaCha8Rng,
    tree: Tree,
    left: Vec<bool>,
}

struct Split {
    gain: f64,
    feature: usize,
    threshold: f64,
}

impl Grower<'_> {
    fn node(&mut self, at: usize, order: Vec<Vec<u32>>, depth: usize) {
        let samples = &order[0];
        let (targets, weights) = self.sums(samples);
        let split = if depth < self.growth.depth && samples.len() >= 2 * self.growth.smallest {
            self.best(&order, targets, weights)
        } else {
            None
        };
        let Some(split) = split else {
            let leaf = std::array::from_fn(|label| {
                let value = targets[label] / (weights[label] + self.growth.regularisation);
                (value * self.growth.rate) as f32
            });
            self.tree.nodes[at].child = index(self.tree.leaves.len());
            self.tree.leaves.push(leaf);
            return;
        };
        let column = &self.columns.values[split.feature];
        for &sample in samples {
            self.left[sample as usize] = column[sample as usize] <= split.threshold;
        }
        let (left, right): (Vec<Vec<u32>>, Vec<Vec<u32>>) = order
            .into_iter()
            .map(|order| {
                order
                    .into_iter()
                    .partition(|&sample| self.left[sample as usize])
            })
            .unzip();
        let child = self.tree.nodes.len();
        self.tree.nodes.push(unfinished());
        self.tree.nodes.push(unfinished());
        self.tree.nodes[at] = Node {
            threshold: split.threshold,
            child: index(child),
            feature: u16::try_from(split.feature).expect("there are few features"),
        };
        self.node(child, left, depth + 1);
        self.node(child + 1, right, depth + 1);
    }

    fn sums(&self, samples: &[u32]) -> (Vector, Vector) {
        let (mut targets, mut weights) = ([0.0; LABELS], [0.0; LABELS]);
        for &sample in samples {
            for label in 0..LABELS {
                targets[label] += self.targets[sample as usize][label];
                weights[label] += self.weights[sample as usize][label];
            }
        }
        (targets, weights)
    }

    fn score(&self, targets: &Vector, weights: &Vector) -> f64 {
        (0..LABELS)
            .map(|label| {
                targets[label] * targets[label] / (weights[label] + self.growth.regularisation)
            })
            .sum()
    }

    fn best(&mut self, order: &[Vec<u32>], targets: Vector, weights: Vector) -> Option<Split> {
        let own = self.score(&targets, &weights);
        let mut best: Option<Split> = None;
        for feature in self.chosen() {
            self.best_of(
                feature,
                &order[feature],
                (&targets, &weights),
                own,
                &mut best,
            );
        }
        best
    }

    fn best_of(
        &self,
        feature: usize,
        order: &[u32],
        (all_targets, all_weights): (&Vector, &Vector),
        own: f64,
        best: &mut Option<Split>,
    ) {
        let column = &self.columns.values[feature];
        let (mut targets, mut weights) = ([0.0; LABELS], [0.0; LABELS]);
        for (number, pair) in order.windows(2).enumerate() {
            let sample = pair[0] as usize;
            for label in 0..LABELS {
                targets[label] += self.targets[sample][label];
                weights[label] += self.weights[sample][label];
            }
            let (here, next) = (column[sample], column[pair[1] as usize]);
            let smaller = (number + 1).min(order.len() - number - 1);
            if here == next || smaller < self.growth.smallest {
                continue;
            }
            let rest_targets = std::array::from_fn(|label| all_targets[label] - targets[label]);
            let rest_weights = std::array::from_fn(|label| all_weights[label] - weights[label]);
            let gain =
                self.score(&targets, &weights) + self.score(&rest_targets, &rest_weights) - own;
            if gain > best.as_ref().map_or(1e-9, |split| split.gain) {
                *best = Some(Split {
                    gain,
                    feature,
                    threshold: self.columns.scales[feature].between(here, next),
                });
            }
        }
    }

    /// The features looked at: a random subset without repetition.
    fn chosen(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.columns.values.len()).collect();
        let wanted = self.growth.features.min(all.len());
        for position in 0..wanted {
            let rest = all.len() - position;
            let other = position + (self.random.next_u64() % rest as u64) as usize;
            all.swap(position, other);
        }
        all.truncate(wanted);
        all
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).expect("a tree has fewer than 2³² nodes")
}
