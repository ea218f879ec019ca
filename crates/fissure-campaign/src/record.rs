//! One line of a run's event log.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use fissure_generate::Wish;
use fissure_model::{Oracle, OutcomeKind};
use serde::{Deserialize, Serialize};

use crate::index::{ApiIndex, BatchIndex};
use crate::{ApiSummary, BatchRejections, BehaviourCounts, OracleTally, RunHeader};

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What happened. `at` is the API's position in the run: overloads share a title.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record {
    /// A process began, or continued, the run.
    Run(RunHeader),
    Skipped {
        at: ApiIndex,
        api: String,
        reason: String,
    },
    Started {
        at: ApiIndex,
        api: String,
    },
    /// From this batch on, inputs of the API are made of rules that were learned beside the run.
    Rules {
        at: ApiIndex,
        api: String,
        batch: BatchIndex,
    },
    /// A batch of new inputs came back.
    Batch {
        at: ApiIndex,
        api: String,
        /// Position of the batch in the API's sequence.
        index: BatchIndex,
        /// Number of its first input.
        first: u64,
        inputs: u64,
        accepted: u64,
        rejected: u64,
        other: u64,
        /// What became of each input, one letter each (see [`letter`]).
        outcomes: String,
        /// Seconds that a worker spent on it.
        busy: f64,
        /// How many distinct things the API's inputs have shown up to here.
        #[serde(default)]
        reached: BehaviourCounts,
        /// Seconds since the run began; interruptions and pauses do not count.
        #[serde(default)]
        seconds: f64,
        /// Seconds that its API had been under way.
        #[serde(default)]
        spent: f64,
        /// Why inputs were rejected; absent in logs of earlier versions.
        #[serde(default, skip_serializing_if = "BatchRejections::is_empty")]
        rejections: BatchRejections,
        /// What rejections ask for, by the number of their input: the next inputs depend on it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        wishes: Vec<(u64, Vec<Wish>)>,
        /// Failures that known issues silenced.
        #[serde(default, skip_serializing_if = "is_zero")]
        silenced: u64,
        /// Where coverage guides: blocks (module, address) by the number of their input. The next inputs depend on it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        blocks: Vec<(u64, Vec<(u16, u32)>)>,
    },
    /// The oracles have looked at these inputs.
    Judged {
        at: ApiIndex,
        api: String,
        numbers: Vec<u64>,
        reports: u64,
        /// The results of these inputs called for certain oracles.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        asked: bool,
        /// What each oracle did.
        #[serde(default)]
        oracles: BTreeMap<Oracle, OracleTally>,
        /// Seconds that a worker spent on it.
        #[serde(default)]
        busy: f64,
        /// Inputs that ran into a limit.
        #[serde(default, skip_serializing_if = "is_zero")]
        hangs: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        silenced: u64,
    },
    /// The oracles look again at the inputs of these batches, named by their first number and whether
    /// the oracles were called for: what was logged of them before does not count.
    Again {
        at: ApiIndex,
        judged: Vec<(u64, bool)>,
    },
    /// A failure met for the first time; with seed and number it can be generated again.
    Seen {
        at: ApiIndex,
        api: String,
        id: String,
        number: u64,
        /// Oracles have met it, not a plain call.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        judging: bool,
    },
    /// A failure whose folder is written.
    Found {
        at: ApiIndex,
        api: String,
        id: String,
        kind: OutcomeKind,
        number: u64,
        failures: u32,
        runs: u32,
        note: bool,
        /// The run was interrupted before a simpler input could show it: a resumed one looks again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        early: bool,
    },
    /// A finding turned out to be another API's, which the other one tells now.
    Folded {
        id: String,
        into: String,
    },
    /// All inputs of an API have run; the oracles look at them in a process of their own.
    Fuzzed {
        at: ApiIndex,
        summary: Box<ApiSummary>,
    },
    Finished {
        at: ApiIndex,
        summary: Box<ApiSummary>,
    },
    End {
        interrupted: bool,
    },
}

/// A line as it stands in the log: what happened, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stamped<R = Record> {
    /// Seconds since 1970; absent in logs of earlier versions.
    #[serde(default)]
    pub time: Option<f64>,
    #[serde(flatten)]
    pub record: R,
}

impl<R> Stamped<R> {
    pub fn now(record: R) -> Self {
        // A clock before 1970 gives no time rather than a wrong one.
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        Stamped {
            time: time
                .ok()
                .map(|time| (time.as_secs_f64() * 1e3).round() / 1e3),
            record,
        }
    }
}

impl Record {
    /// The position of the API that it is about.
    pub(crate) fn position_mut(&mut self) -> Option<&mut ApiIndex> {
        match self {
            Record::Skipped { at, .. }
            | Record::Started { at, .. }
            | Record::Rules { at, .. }
            | Record::Batch { at, .. }
            | Record::Judged { at, .. }
            | Record::Again { at, .. }
            | Record::Seen { at, .. }
            | Record::Found { at, .. }
            | Record::Fuzzed { at, .. }
            | Record::Finished { at, .. } => Some(at),
            Record::Run(_) | Record::Folded { .. } | Record::End { .. } => None,
        }
    }
}

/// The letter of an outcome in [`Record::Batch`].
pub(crate) fn letter(kind: OutcomeKind) -> char {
    match kind {
        OutcomeKind::Accepted => 'a',
        OutcomeKind::Rejected => 'r',
        OutcomeKind::Crash => 'c',
        OutcomeKind::Exit => 'x',
        OutcomeKind::Timeout => 't',
        OutcomeKind::OutOfMemory => 'm',
        OutcomeKind::Corruption => 'o',
        OutcomeKind::Nan => 'n',
        OutcomeKind::Fatal => 'f',
        OutcomeKind::InternalError => 'i',
        OutcomeKind::WrongResult => 'w',
        OutcomeKind::NotBuilt => 'b',
    }
}

/// The outcome of a letter.
pub fn outcome(letter: char) -> Option<OutcomeKind> {
    OutcomeKind::ALL
        .into_iter()
        .find(|kind| self::letter(*kind) == letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_own_letter() {
        for kind in OutcomeKind::ALL {
            assert_eq!(outcome(letter(kind)), Some(kind));
        }
        assert_eq!(outcome('?'), None);
    }
}
