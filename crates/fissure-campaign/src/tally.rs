//! Counting, and the summaries made of it.

use std::collections::BTreeMap;
use std::time::Duration;

use fissure_model::{Api, Intent, Obstacle, Oracle, OutcomeKind};
use serde::{Deserialize, Serialize};

use crate::{BehaviourCounts, ConstraintEvidence, MutatorEvidence};

/// Counts of one API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub inputs: u64,
    /// One count per [`OutcomeKind`], in the order of [`OutcomeKind::ALL`].
    #[serde(with = "counts_by_name")]
    counts: [u64; OutcomeKind::ALL.len()],
    pub conforming: u64,
    pub conforming_accepted: u64,
    pub violating: u64,
    pub violating_accepted: u64,
}

impl Tally {
    pub fn add(&mut self, kind: OutcomeKind, intent: &Intent) {
        self.inputs += 1;
        self.counts[kind as usize] += 1;
        // A NaN is a result: the call was accepted.
        let accepted = u64::from(matches!(kind, OutcomeKind::Accepted | OutcomeKind::Nan));
        match intent {
            Intent::Conform => {
                self.conforming += 1;
                self.conforming_accepted += accepted;
            }
            Intent::Violate { .. } | Intent::BreakRule { .. } => {
                self.violating += 1;
                self.violating_accepted += accepted;
            }
            Intent::Ignore => {}
        }
    }

    pub fn count(&self, kind: OutcomeKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Calls that returned, with or without a NaN in the result.
    pub fn accepted(&self) -> u64 {
        self.count(OutcomeKind::Accepted) + self.count(OutcomeKind::Nan)
    }

    /// Accepted share in percent; `None` before the first input.
    pub fn accepted_percent(&self) -> Option<f64> {
        (self.inputs > 0).then(|| 100.0 * self.accepted() as f64 / self.inputs as f64)
    }

    /// Accepted share of the conforming inputs in percent.
    pub fn conforming_percent(&self) -> Option<f64> {
        (self.conforming > 0)
            .then(|| 100.0 * self.conforming_accepted as f64 / self.conforming as f64)
    }

    pub fn merge(&mut self, other: &Tally) {
        self.inputs += other.inputs;
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.conforming += other.conforming;
        self.conforming_accepted += other.conforming_accepted;
        self.violating += other.violating;
        self.violating_accepted += other.violating_accepted;
    }
}

/// Why an API's inputs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// All inputs asked for were run.
    Complete,
    /// The time per API was up.
    TimeUp,
    /// Too many inputs hung or exhausted memory.
    TooManyHangs,
    /// The user stopped the run.
    Interrupted,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApiSummary {
    pub api: Api,
    pub tally: Tally,
    /// From the first batch handed out to the last one back.
    #[serde(with = "seconds")]
    pub elapsed: Duration,
    /// What workers spent on this API's inputs.
    #[serde(with = "seconds")]
    pub busy: Duration,
    pub end: EndReason,
    /// Inputs that the comparing oracles looked at.
    #[serde(default)]
    pub judged: u64,
    /// What each of those oracles looked at, said and cost.
    #[serde(default)]
    pub oracles: BTreeMap<Oracle, OracleTally>,
    /// Ids of its findings; notes are not among them.
    pub findings: Vec<String>,
    pub notes: Vec<String>,
    /// The commonest reasons for rejection, most frequent first.
    pub rejections: Vec<(String, u64)>,
    /// How many distinct things its inputs have shown.
    #[serde(default)]
    pub reached: BehaviourCounts,
    /// What became of inputs with boundary cases.
    #[serde(default)]
    pub mutators: Vec<MutatorEvidence>,
    /// What became of inputs that break one constraint.
    #[serde(default)]
    pub constraints: Vec<ConstraintEvidence>,
}

/// Counts of one oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OracleTally {
    /// Inputs it looked at.
    pub inputs: u64,
    /// Reports it made, before they were merged.
    pub reports: u64,
    #[serde(with = "seconds")]
    pub time: Duration,
}

impl OracleTally {
    pub fn merge(&mut self, other: &OracleTally) {
        self.inputs += other.inputs;
        self.reports += other.reports;
        self.time += other.time;
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunSummary {
    pub apis: Vec<ApiSummary>,
    pub skipped: Vec<(String, String)>,
    /// How many of the skipped ones the installed library does not have.
    #[serde(default)]
    pub missing: u64,
    pub findings: u64,
    pub flaky: u64,
    pub notes: u64,
    /// Failures that known issues silenced, each time counted.
    #[serde(default)]
    pub silenced: u64,
    /// Oracles that were asked for and could not run, or only in part.
    #[serde(default)]
    pub obstacles: Vec<Obstacle>,
    /// Blocks of native code that the run reached beyond the import; 0 where that was not asked for.
    #[serde(default)]
    pub blocks: usize,
    #[serde(with = "seconds")]
    pub elapsed: Duration,
    pub interrupted: bool,
}

impl RunSummary {
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for api in &self.apis {
            total.merge(&api.tally);
        }
        total
    }

    /// Nothing can be said: every API was left out before its first input.
    pub fn ran_nothing(&self) -> bool {
        self.total().inputs == 0 && !self.skipped.is_empty() && !self.interrupted
    }

    /// Counts per oracle over all APIs.
    pub fn oracles(&self) -> BTreeMap<&str, OracleTally> {
        let mut total: BTreeMap<&str, OracleTally> = BTreeMap::new();
        for (oracle, tally) in self.apis.iter().flat_map(|api| &api.oracles) {
            total.entry(oracle.as_str()).or_default().merge(tally);
        }
        total
    }

    /// Mean over APIs of the accepted share of conforming inputs, in percent.
    pub fn mean_conforming_percent(&self) -> Option<f64> {
        let shares: Vec<f64> = self
            .apis
            .iter()
            .filter_map(|api| api.tally.conforming_percent())
            .collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }
}

/// Durations as seconds: what every reader of JSON understands.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        value: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(value.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Counts under the names of their kinds.
mod counts_by_name {
    use std::collections::BTreeMap;

    use fissure_model::OutcomeKind;
    use serde::{Deserialize, Deserializer, Serializer};

    type Counts = [u64; OutcomeKind::ALL.len()];

    pub(super) fn serialize<S: Serializer>(
        counts: &Counts,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(OutcomeKind::ALL.into_iter().zip(counts))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Counts, D::Error> {
        let named = BTreeMap::<OutcomeKind, u64>::deserialize(deserializer)?;
        Ok(OutcomeKind::ALL.map(|kind| named.get(&kind).copied().unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_counts_as_accepted_and_a_crash_does_not() {
        let mut tally = Tally::default();
        tally.add(OutcomeKind::Nan, &Intent::Conform);
        tally.add(OutcomeKind::Crash, &Intent::Conform);
        assert_eq!(tally.conforming_percent(), Some(50.0));
        assert_eq!(tally.accepted(), 1);
    }

    #[test]
    fn counts_follow_the_order_of_all_kinds() {
        let mut tally = Tally::default();
        for kind in OutcomeKind::ALL {
            tally.add(kind, &Intent::Ignore);
        }
        assert!(
            OutcomeKind::ALL
                .into_iter()
                .all(|kind| tally.count(kind) == 1)
        );
    }

    #[test]
    fn a_tally_in_json_names_its_counts_and_reads_back() {
        let mut tally = Tally::default();
        tally.add(OutcomeKind::OutOfMemory, &Intent::Conform);
        let json = serde_json::to_value(&tally).unwrap();
        assert_eq!(json["counts"]["out-of-memory"], 1);
        assert_eq!(json["counts"]["crash"], 0);
        assert_eq!(serde_json::from_value::<Tally>(json).unwrap(), tally);
    }
}
