//! Why inputs of an API were rejected.
//!
//! A reason is told once in the log, with the first batch that met it; later batches name it by its
//! position. What a resumed run shows is so what an uninterrupted one would.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Distinct reasons remembered per API; the rest are only counted as rejections.
const KEPT: usize = 64;

/// The reasons that one batch met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BatchRejections {
    /// Those that no earlier batch of the API in the log has met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<String>,
    /// Position among all, and how many inputs of the batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<(usize, u64)>,
}

impl BatchRejections {
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.counts.is_empty()
    }
}

#[derive(Default)]
pub(crate) struct Rejections {
    /// Reason, number of inputs, and how many of them the log does not tell yet.
    reasons: Vec<(String, u64, u64)>,
    positions: HashMap<String, usize>,
    /// How many of the reasons the log has.
    told: usize,
}

impl Rejections {
    /// With the reasons of an earlier process, whose batches are yet to be counted.
    pub(crate) fn known(reasons: Vec<String>) -> Rejections {
        let positions = reasons.iter().cloned().zip(0..).collect();
        Rejections {
            told: reasons.len(),
            reasons: reasons.into_iter().map(|reason| (reason, 0, 0)).collect(),
            positions,
        }
    }

    pub(crate) fn count(&mut self, class: &str, message: &str) {
        let first_line = message.lines().next().unwrap_or("");
        let reason = fissure_triage::mask(&format!("{class}: {first_line}"));
        let at = match self.positions.get(&reason) {
            Some(at) => *at,
            None if self.reasons.len() >= KEPT => return,
            None => {
                self.positions.insert(reason.clone(), self.reasons.len());
                self.reasons.push((reason, 0, 0));
                self.reasons.len() - 1
            }
        };
        let (_, inputs, untold) = &mut self.reasons[at];
        *inputs += 1;
        *untold += 1;
    }

    /// Counts a batch of an earlier process.
    pub(crate) fn restore(&mut self, counts: &[(usize, u64)]) {
        for (at, inputs) in counts {
            // A log that was written otherwise names none that is not there.
            if let Some(reason) = self.reasons.get_mut(*at) {
                reason.1 += inputs;
            }
        }
    }

    /// What was counted since this was last asked, for the log.
    pub(crate) fn tell(&mut self) -> BatchRejections {
        let new = &self.reasons[self.told..];
        let new = new.iter().map(|(reason, ..)| reason.clone()).collect();
        self.told = self.reasons.len();
        let mut counts = Vec::new();
        for (at, (_, _, untold)) in self.reasons.iter_mut().enumerate() {
            if *untold > 0 {
                counts.push((at, std::mem::take(untold)));
            }
        }
        BatchRejections { new, counts }
    }

    /// How many distinct ones were met.
    pub(crate) fn len(&self) -> usize {
        let met = self.reasons.iter().filter(|(_, inputs, _)| *inputs > 0);
        met.count()
    }

    /// The commonest first.
    pub(crate) fn sorted(&self) -> Vec<(String, u64)> {
        let met = self.reasons.iter().filter(|(_, inputs, _)| *inputs > 0);
        let mut sorted: Vec<(String, u64)> = met
            .map(|(reason, inputs, _)| (reason.clone(), *inputs))
            .collect();
        sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_log_tells_gives_the_same_counts_again() {
        let mut first = Rejections::default();
        let mut log = Vec::new();
        for batch in [&["a", "b", "a"][..], &["a"], &["c", "b"]] {
            batch.iter().for_each(|text| first.count("Error", text));
            log.push(first.tell());
        }
        assert_eq!(log[1].new, [""; 0], "told once");
        let reasons = log.iter().flat_map(|batch| batch.new.clone()).collect();
        let mut second = Rejections::known(reasons);
        assert_eq!(second.len(), 0);
        // The second batch has not come back.
        second.restore(&log[0].counts);
        second.restore(&log[2].counts);
        second.count("Error", "a");
        assert_eq!(second.sorted(), first.sorted());
        assert_eq!(second.tell(), log[1]);
    }
}
