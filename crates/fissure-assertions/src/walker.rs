//! An ensemble laid out for answering many elements at once.
//!
//! Walking down a tree waits for memory and guesses branches at every node. Here a block of elements goes
//! down together, each tree to its full depth: a leaf leads to itself, so there is nothing to guess, and
//! while one element waits the others go on. The sums are those of [`Ensemble::label`], in the same order.

use crate::ensemble::{Ensemble, largest};
use crate::features::MOST_FEATURES;
use crate::label::Label;
use crate::tree::{LABELS, LEAF, Tree};

/// Elements that go down together.
pub(crate) const BLOCK: usize = 16;

/// `value <= threshold` goes to `child`, else to the one after it.
#[derive(Clone, Copy, Debug)]
struct Step {
    threshold: f64,
    child: u32,
    feature: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Walker {
    steps: Vec<Step>,
    /// Per step: what a leaf adds, nothing for a split.
    leaves: Vec<[f32; LABELS]>,
    /// Root and depth of each tree.
    trees: Vec<(u32, usize)>,
}

impl Walker {
    pub(crate) fn of(ensemble: &Ensemble) -> Walker {
        let mut walker = Walker {
            steps: Vec::new(),
            leaves: Vec::new(),
            trees: Vec::new(),
        };
        for tree in &ensemble.trees {
            walker.add(tree);
        }
        walker
    }

    fn add(&mut self, tree: &Tree) {
        let root = u32::try_from(self.steps.len()).expect("a model has fewer than 2³² nodes");
        for (own, node) in (root..).zip(&tree.nodes) {
            if node.feature == LEAF {
                self.steps.push(Step {
                    threshold: f64::INFINITY,
                    child: own,
                    feature: 0,
                });
                self.leaves.push(tree.leaves[node.child as usize]);
            } else {
                self.steps.push(Step {
                    threshold: node.threshold,
                    child: root + node.child,
                    feature: u32::from(node.feature),
                });
                self.leaves.push([0.0; LABELS]);
            }
        }
        self.trees.push((root, depth(tree, 0)));
    }

    /// The labels of a block, whose features must be finite.
    pub(crate) fn labels(&self, features: &[[f64; MOST_FEATURES]; BLOCK]) -> [Label; BLOCK] {
        let mut sums = [[0.0f32; LABELS]; BLOCK];
        for &(root, depth) in &self.trees {
            let mut at = [root; BLOCK];
            for _ in 0..depth {
                for (at, features) in at.iter_mut().zip(features) {
                    let step = self.steps[*at as usize];
                    let right = features[step.feature as usize] > step.threshold;
                    *at = step.child + u32::from(right);
                }
            }
            for (sums, at) in sums.iter_mut().zip(at) {
                for (sum, part) in sums.iter_mut().zip(self.leaves[at as usize]) {
                    *sum += part;
                }
            }
        }
        sums.map(|sums| largest(&sums))
    }
}

fn depth(tree: &Tree, node: usize) -> usize {
    let here = tree.nodes[node];
    if here.feature == LEAF {
        return 0;
    }
    let child = here.child as usize;
    1 + depth(tree, child).max(depth(tree, child + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::Kind;
    use crate::features::Scale;
    use crate::tree::Columns;

    #[test]
    fn a_block_gets_the_answers_of_its_elements() {
        let rows: Vec<Vec<f64>> = (0..300u32)
            .map(|number| vec![f64::from(number % 17), f64::from(number % 23)])
            .collect();
        let labels: Vec<Label> = rows
            .iter()
            .map(|row| Label::ALL[((row[0] * row[1]) as usize / 40) % 3])
            .collect();
        let columns = Columns::new(&rows, &[Scale::Even, Scale::Even]);
        for kind in Kind::ALL {
            let ensemble = Ensemble::train(kind, &columns, &labels, 1);
            let walker = Walker::of(&ensemble);
            for block in rows.as_chunks::<BLOCK>().0 {
                let mut features = [[0.0; MOST_FEATURES]; BLOCK];
                for (into, row) in features.iter_mut().zip(block) {
                    into[..2].copy_from_slice(row);
                }
                let wanted = block.each_ref().map(|row| ensemble.label(row));
                assert_eq!(walker.labels(&features), wanted, "{kind}");
            }
        }
    }
}
