//! How well a model answers: macro-F1 over the labels that occur.

use serde::{Deserialize, Serialize};

use crate::label::Label;

/// Counts of (true label, answer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    counts: [[u32; 3]; 3],
}

impl Confusion {
    pub fn add(&mut self, truth: Label, answer: Label) {
        self.counts[truth as usize][answer as usize] += 1;
    }

    pub fn samples(&self) -> u32 {
        self.counts.iter().flatten().sum()
    }

    /// Per label: how many samples have it.
    pub fn support(&self) -> [u32; 3] {
        self.counts.map(|row| row.iter().sum())
    }

    pub fn accuracy(&self) -> f64 {
        let right: u32 = (0..3).map(|label| self.counts[label][label]).sum();
        f64::from(right) / f64::from(self.samples().max(1))
    }

    /// The mean of the labels' F1. A label that neither occurs nor is answered does not count: there
    /// is no `increase` to find in `log`.
    pub fn macro_f1(&self) -> f64 {
        let mut sum = 0.0;
        let mut labels = 0.0;
        for label in 0..3 {
            let right = f64::from(self.counts[label][label]);
            let truth: u32 = self.counts[label].iter().sum();
            let answers: u32 = self.counts.iter().map(|row| row[label]).sum();
            if truth + answers > 0 {
                sum += 2.0 * right / f64::from(truth + answers);
                labels += 1.0;
            }
        }
        if labels > 0.0 { sum / labels } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_never_occurs_costs_as_much_as_a_label_that_is_never_found() {
        let mut confusion = Confusion::default();
        for _ in 0..9 {
            confusion.add(Label::Increase, Label::Increase);
        }
        assert_eq!(confusion.macro_f1(), 1.0);
        confusion.add(Label::Increase, Label::Decrease);
        // F1 of `increase` is 18/19, that of `decrease` is 0.
        assert!((confusion.macro_f1() - 9.0 / 19.0).abs() < 1e-12);
    }

    #[test]
    fn rare_labels_count_as_much_as_frequent_ones() {
        let mut confusion = Confusion::default();
        for _ in 0..98 {
            confusion.add(Label::NoChange, Label::NoChange);
        }
        confusion.add(Label::Decrease, Label::NoChange);
        confusion.add(Label::Decrease, Label::NoChange);
        assert!(confusion.accuracy() > 0.97);
        assert!(confusion.macro_f1() < 0.5);
    }
}
