//! What an interrupted run had done, taken from its event log.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use fissure_generate::Wish;
use fissure_model::OutcomeKind;

use crate::event_log::{Damage, read_events_and_damage};
use crate::record::{Record, outcome};
use crate::{ApiSummary, EndReason};

/// What of a run need not be done again.
#[derive(Debug, Default)]
pub struct Restored {
    lanes: HashMap<usize, RestoredLane>,
    /// Findings and notes that are written: API, id, whether it is a note.
    pub found: Vec<(usize, String, bool)>,
    pub flaky: u64,
    /// Seconds that earlier processes were at work.
    pub seconds: f64,
    /// Parts of the log that cannot be read: what they told is done again.
    pub damage: Vec<Damage>,
}

/// What of one API need not be done again.
#[derive(Debug, Default)]
pub struct RestoredLane {
    /// Outcomes of batches that came back, by index.
    pub batches: BTreeMap<u64, RestoredBatch>,
    /// Numbers of inputs that the oracles have looked at.
    pub judged: HashSet<u64>,
    /// The API was done.
    pub finished: Option<Box<ApiSummary>>,
    /// All its inputs had run, and the oracles had not looked at them.
    pub fuzzed: Option<Box<ApiSummary>>,
    /// Why inputs were rejected, in the order of the log.
    pub reasons: Vec<String>,
    /// Seconds it had been under way.
    spent: f64,
    /// The batch from which on its inputs were made of learned rules.
    rules_from: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct RestoredBatch {
    pub first: u64,
    pub outcomes: Vec<OutcomeKind>,
    pub busy: f64,
    /// Positions of reasons for rejection, and how many inputs.
    pub rejections: Vec<(usize, u64)>,
    /// What rejections asked for.
    pub wishes: Vec<(u64, Vec<Wish>)>,
}

/// A failure that was seen and whose folder was not written when the process ended.
struct Unwritten {
    at: usize,
    number: u64,
    /// All inputs had run before: an oracle has seen it.
    judging: bool,
}

impl RestoredBatch {
    fn holds(&self, number: u64) -> bool {
        (self.first..self.first + self.outcomes.len() as u64).contains(&number)
    }
}

impl RestoredLane {
    /// Time it had been under way.
    pub fn spent(&self) -> Duration {
        Duration::try_from_secs_f64(self.spent).unwrap_or(Duration::ZERO)
    }

    /// Whether the outcome of this input is known.
    pub fn holds(&self, number: u64) -> bool {
        self.batches.values().any(|batch| batch.holds(number))
    }
}

impl Restored {
    /// Reads the log of a run folder.
    pub fn read(folder: &Path) -> io::Result<Restored> {
        let (records, damage) = read_events_and_damage(folder)?;
        Ok(Restored {
            damage,
            ..Restored::of(records)
        })
    }

    fn of(records: Vec<Record>) -> Restored {
        let mut restored = Restored::default();
        let mut unwritten: HashMap<String, Unwritten> = HashMap::new();
        for record in records {
            match record {
                Record::Batch {
                    at,
                    index,
                    first,
                    outcomes,
                    busy,
                    seconds,
                    spent,
                    rejections,
                    wishes,
                    ..
                } => {
                    restored.seconds = restored.seconds.max(seconds);
                    // Also those of batches that run again: others count their reasons by position.
                    restored.lane(at).reasons.extend(rejections.new);
                    let outcomes: Option<Vec<OutcomeKind>> =
                        outcomes.chars().map(outcome).collect();
                    // A letter of a later version: that batch runs again.
                    if let Some(outcomes) = outcomes {
                        let batch = RestoredBatch {
                            first,
                            outcomes,
                            busy,
                            rejections: rejections.counts,
                            wishes,
                        };
                        let lane = restored.lane(at);
                        lane.spent = lane.spent.max(spent);
                        lane.batches.insert(index, batch);
                    }
                }
                Record::Rules { at, batch, .. } => {
                    restored.lane(at).rules_from.get_or_insert(batch);
                }
                Record::Judged { at, numbers, .. } => restored.lane(at).judged.extend(numbers),
                Record::Seen { at, id, number, .. } => {
                    let judging = restored.lane(at).fuzzed.is_some();
                    let seen = Unwritten {
                        at,
                        number,
                        judging,
                    };
                    unwritten.insert(id, seen);
                }
                Record::Found {
                    at,
                    id,
                    failures,
                    runs,
                    note,
                    ..
                } => {
                    unwritten.remove(&id);
                    restored.flaky += u64::from(!note && failures < runs);
                    restored.found.push((at, id, note));
                }
                // What the user interrupted is not done.
                Record::Finished { summary, .. } | Record::Fuzzed { summary, .. }
                    if summary.end == EndReason::Interrupted => {}
                Record::Finished { at, summary } => {
                    restored.lane(at).finished = Some(summary);
                }
                Record::Fuzzed { at, summary } => restored.lane(at).fuzzed = Some(summary),
                Record::Folded { id, .. } => restored.found.retain(|(_, found, _)| *found != id),
                Record::Run(_)
                | Record::Skipped { .. }
                | Record::Started { .. }
                | Record::End { .. } => {}
            }
        }
        for seen in unwritten.into_values() {
            let lane = restored.lane(seen.at);
            lane.finished = None;
            lane.judged.remove(&seen.number);
            if !seen.judging {
                lane.fuzzed = None;
                lane.batches.retain(|_, batch| !batch.holds(seen.number));
            }
        }
        restored
    }

    fn lane(&mut self, at: usize) -> &mut RestoredLane {
        self.lanes.entry(at).or_default()
    }

    /// The batch from which on an API's inputs were made of learned rules.
    pub fn rules_from(&self, at: usize) -> Option<u64> {
        self.lanes.get(&at)?.rules_from
    }

    /// What is known of an API; to be asked once.
    pub fn take(&mut self, at: usize) -> RestoredLane {
        self.lanes.remove(&at).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchRejections, BehaviourCounts};

    fn batch(index: u64, first: u64, outcomes: &str) -> Record {
        Record::Batch {
            at: 0,
            api: "f".into(),
            index,
            first,
            inputs: outcomes.len() as u64,
            accepted: 0,
            rejected: 0,
            other: 0,
            outcomes: outcomes.into(),
            busy: 0.5,
            reached: BehaviourCounts::default(),
            seconds: 1.0,
            spent: 1.0,
            rejections: BatchRejections::default(),
            wishes: Vec::new(),
        }
    }

    fn seen(number: u64) -> Record {
        Record::Seen {
            at: 0,
            api: "f".into(),
            id: format!("f-crash-{number}"),
            number,
        }
    }

    #[test]
    fn a_failure_that_was_seen_and_not_written_runs_again_with_its_batch() {
        let found = Record::Found {
            at: 0,
            api: "f".into(),
            id: "f-crash-1".into(),
            kind: OutcomeKind::Crash,
            number: 1,
            failures: 3,
            runs: 3,
            note: false,
        };
        let records = vec![
            batch(0, 0, "ac"),
            seen(1),
            batch(1, 2, "ca"),
            seen(2),
            found,
        ];
        let mut restored = Restored::of(records);
        let lane = restored.take(0);
        assert!(lane.holds(1) && !lane.holds(2) && !lane.holds(3));
        assert_eq!(restored.found, [(0, "f-crash-1".to_owned(), false)]);
    }

    #[test]
    fn a_batch_with_a_letter_nobody_knows_runs_again() {
        let mut restored = Restored::of(vec![batch(0, 0, "a?")]);
        assert!(restored.take(0).batches.is_empty());
    }
}
