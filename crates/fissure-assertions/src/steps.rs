//! A model of one feature as the step function it is: sorted thresholds and the label after each.
//!
//! Exact: the ensemble answers the same for every number between two thresholds of its trees.

use crate::ensemble::Ensemble;
use crate::label::Label;
use crate::tree::LEAF;

/// Labels by intervals: `labels[i]` holds up to and including `ends[i]`, the last one beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    ends: Vec<f64>,
    labels: Vec<Label>,
}

impl Steps {
    /// `None` for a model that looks at more than the value.
    pub fn of(ensemble: &Ensemble) -> Option<Steps> {
        let mut thresholds = Vec::new();
        for node in ensemble.trees.iter().flat_map(|tree| &tree.nodes) {
            match node.feature {
                LEAF => {}
                0 => thresholds.push(node.threshold),
                _ => return None,
            }
        }
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let mut steps = Steps {
            ends: Vec::new(),
            labels: Vec::new(),
        };
        for value in thresholds.into_iter().chain([f64::INFINITY]) {
            let label = ensemble.label(&[value]);
            if steps.labels.last() == Some(&label) {
                if let Some(end) = steps.ends.last_mut() {
                    *end = value;
                }
            } else {
                steps.labels.push(label);
                steps.ends.push(value);
            }
        }
        // The last interval has no end.
        steps.ends.pop();
        Some(steps)
    }

    pub fn label(&self, value: f64) -> Label {
        // Few steps are the rule: looking at each costs less than bisection mispredicts.
        let at = if self.ends.len() <= 8 {
            self.ends.iter().filter(|end| value > **end).count()
        } else {
            self.ends.partition_point(|end| value > *end)
        };
        self.labels[at]
    }

    /// (exclusive start, inclusive end, label) of each interval, ascending.
    pub fn intervals(&self) -> impl Iterator<Item = (f64, f64, Label)> {
        let starts = [f64::NEG_INFINITY]
            .into_iter()
            .chain(self.ends.iter().copied());
        let ends = self.ends.iter().copied().chain([f64::INFINITY]);
        starts
            .zip(ends)
            .zip(&self.labels)
            .map(|((start, end), label)| (start, end, *label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::Kind;
    use crate::features::Scale;
    use crate::tree::Columns;

    #[test]
    fn the_steps_answer_as_the_trees_do() {
        let rows: Vec<Vec<f64>> = (-300..300).map(|n| vec![f64::from(n) / 7.0]).collect();
        let labels: Vec<Label> = rows
            .iter()
            .map(|row| match row[0] {
                x if !(-16.0..=30.0).contains(&x) => Label::NoChange,
                x if x < 2.5 => Label::Decrease,
                _ => Label::Increase,
            })
            .collect();
        let columns = Columns::new(&rows, &[Scale::Number]);
        for kind in Kind::ALL {
            let model = Ensemble::train(kind, &columns, &labels, 1);
            let steps = Steps::of(&model).expect("there is one feature");
            for number in -5000..5000 {
                let value = f64::from(number) / 91.0;
                assert_eq!(steps.label(value), model.label(&[value]), "{value}");
            }
            assert_eq!(steps.intervals().count(), 4);
        }
    }
}
