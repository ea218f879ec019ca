//! One API of a run.

use std::collections::BTreeMap;

use fissure_campaign::{
    ApiSummary, BehaviourCounts, ConstraintEvidence, EndReason, MutatorEvidence, OracleTally,
};
use fissure_model::OutcomeKind;
use serde::Serialize;

use super::percent;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApiState {
    UnderWay,
    Finished,
}

/// What became of an API's inputs.
#[derive(Clone, Debug, Serialize)]
pub struct ApiReport {
    pub title: String,
    pub state: ApiState,
    /// Why its inputs ended: `complete`, `time-up`, `too-many-hangs`, `interrupted`.
    pub end: Option<String>,
    pub inputs: u64,
    pub accepted: u64,
    pub accepted_percent: Option<f64>,
    /// Inputs made to satisfy every constraint; known when the API is finished.
    pub conforming: Option<u64>,
    pub conforming_percent: Option<f64>,
    /// Inputs made to break exactly one constraint.
    pub violating: Option<u64>,
    /// Of those, the share that was not accepted.
    pub violating_rejected_percent: Option<f64>,
    pub outcomes: BTreeMap<String, u64>,
    pub judged: u64,
    pub oracles: BTreeMap<String, OracleCounts>,
    pub busy_seconds: f64,
    pub findings: Vec<String>,
    pub notes: Vec<String>,
    /// The commonest reasons for rejection, most frequent first.
    pub rejections: Vec<(String, u64)>,
    pub reached: BehaviourCounts,
    pub mutators: Vec<MutatorCounts>,
    pub constraints: Vec<ConstraintCounts>,
}

/// What an oracle looked at, said and cost.
#[derive(Clone, Debug, Serialize)]
pub struct OracleCounts {
    pub inputs: u64,
    pub reports: u64,
    pub seconds: f64,
}

impl From<&OracleTally> for OracleCounts {
    fn from(tally: &OracleTally) -> Self {
        OracleCounts {
            inputs: tally.inputs,
            reports: tally.reports,
            seconds: tally.time.as_secs_f64(),
        }
    }
}

/// Inputs with one boundary case in one parameter.
#[derive(Clone, Debug, Serialize)]
pub struct MutatorCounts {
    pub param: String,
    pub mutator: String,
    pub inputs: u64,
    pub accepted: u64,
    pub rejected: u64,
}

impl From<MutatorEvidence> for MutatorCounts {
    fn from(evidence: MutatorEvidence) -> Self {
        MutatorCounts {
            mutator: evidence.mutator.name().to_owned(),
            param: evidence.param,
            inputs: evidence.counts.inputs,
            accepted: evidence.counts.accepted,
            rejected: evidence.counts.rejected,
        }
    }
}

/// Inputs that break one constraint of one parameter, and no other.
#[derive(Clone, Debug, Serialize)]
pub struct ConstraintCounts {
    pub param: String,
    pub category: String,
    pub inputs: u64,
    pub accepted: u64,
    pub rejected: u64,
}

impl From<ConstraintEvidence> for ConstraintCounts {
    fn from(evidence: ConstraintEvidence) -> Self {
        ConstraintCounts {
            category: evidence.category.to_string(),
            param: evidence.param,
            inputs: evidence.counts.inputs,
            accepted: evidence.counts.accepted,
            rejected: evidence.counts.rejected,
        }
    }
}

impl ApiReport {
    /// An API whose first input is about to run.
    pub(super) fn begun(title: &str) -> ApiReport {
        ApiReport {
            title: title.to_owned(),
            state: ApiState::UnderWay,
            end: None,
            inputs: 0,
            accepted: 0,
            accepted_percent: None,
            conforming: None,
            conforming_percent: None,
            violating: None,
            violating_rejected_percent: None,
            outcomes: BTreeMap::new(),
            judged: 0,
            oracles: BTreeMap::new(),
            busy_seconds: 0.0,
            findings: Vec::new(),
            notes: Vec::new(),
            rejections: Vec::new(),
            reached: BehaviourCounts::default(),
            mutators: Vec::new(),
            constraints: Vec::new(),
        }
    }

    /// Counts a batch of an API under way.
    pub(super) fn add(&mut self, outcomes: impl Iterator<Item = OutcomeKind>, accepted: u64) {
        for kind in outcomes {
            self.inputs += 1;
            *self.outcomes.entry(kind.name().to_owned()).or_default() += 1;
        }
        self.accepted += accepted;
        self.accepted_percent = percent(self.accepted, self.inputs);
    }

    /// Takes the counts of an API that is done in place of those of its batches. A process that
    /// only judged has none.
    pub(super) fn finish(&mut self, summary: ApiSummary) {
        self.state = ApiState::Finished;
        self.end = Some(end_name(summary.end).to_owned());
        self.judged = summary.judged.max(self.judged);
        if !summary.oracles.is_empty() {
            self.oracles = summary
                .oracles
                .iter()
                .map(|(oracle, tally)| (oracle.to_string(), tally.into()))
                .collect();
        }
        if summary.tally.inputs > 0 {
            self.fuzzed(summary);
        }
    }

    /// Takes the counts of an API whose inputs have all run.
    pub(super) fn fuzzed(&mut self, summary: ApiSummary) {
        let tally = &summary.tally;
        self.inputs = tally.inputs;
        self.accepted = tally.accepted();
        self.accepted_percent = tally.accepted_percent();
        self.conforming = Some(tally.conforming);
        self.conforming_percent = tally.conforming_percent();
        self.violating = Some(tally.violating);
        self.violating_rejected_percent =
            percent(tally.violating - tally.violating_accepted, tally.violating);
        self.outcomes = OutcomeKind::ALL
            .into_iter()
            .filter(|kind| tally.count(*kind) > 0)
            .map(|kind| (kind.name().to_owned(), tally.count(kind)))
            .collect();
        self.busy_seconds = summary.busy.as_secs_f64();
        self.rejections = summary.rejections;
        if summary.reached != BehaviourCounts::default() {
            self.reached = summary.reached;
        }
        self.mutators = summary.mutators.into_iter().map(Into::into).collect();
        self.constraints = summary.constraints.into_iter().map(Into::into).collect();
    }
}

fn end_name(end: EndReason) -> &'static str {
    match end {
        EndReason::Complete => "complete",
        EndReason::TimeUp => "time-up",
        EndReason::TooManyHangs => "too-many-hangs",
        EndReason::Interrupted => "interrupted",
    }
}
