//! What an interrupted run had done, taken from its event log.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use fissure_generate::Wish;
use fissure_model::{Oracle, OutcomeKind};

use crate::event_log::{Damage, read_events_and_damage};
use crate::guide::Block;
use crate::index::{ApiIndex, BatchIndex};
use crate::record::{Record, outcome};
use crate::schedule::{LAG, batch_len};
use crate::{ApiSummary, EndReason, OracleTally};

/// What of a run need not be done again.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    lanes: BTreeMap<ApiIndex, RestoredLane>,
    /// Findings and notes that are written: API, id, whether it is a note.
    pub found: Vec<(ApiIndex, String, bool)>,
    pub flaky: u64,
    /// Failures that known issues silenced.
    pub silenced: u64,
    /// Seconds that earlier processes were at work.
    pub seconds: f64,
    /// Parts of the log that cannot be read: what they told is done again.
    pub damage: Vec<Damage>,
}

/// What of one API need not be done again.
#[derive(Debug, Default)]
pub(crate) struct RestoredLane {
    /// Outcomes of batches that came back, by index.
    pub batches: BTreeMap<BatchIndex, RestoredBatch>,
    /// What the oracles have looked at.
    pub judged: Vec<RestoredJudged>,
    /// Numbers of those inputs, and whether their results called for the oracles.
    pub judged_numbers: HashSet<(u64, bool)>,
    /// What of it the oracles look at again ([`Record::Again`]).
    pub judged_again: Vec<(u64, bool)>,
    /// The API was done.
    pub finished: Option<Box<ApiSummary>>,
    /// All its inputs had run, and the oracles had not looked at them.
    pub fuzzed: Option<Box<ApiSummary>>,
    /// Why inputs were rejected, in the order of the log.
    pub reasons: Vec<String>,
    /// Seconds it had been under way.
    spent: f64,
    /// The batch from which on its inputs were made of learned rules.
    rules_from: Option<BatchIndex>,
}

#[derive(Clone, Debug)]
pub(crate) struct RestoredBatch {
    pub first: u64,
    pub outcomes: Vec<OutcomeKind>,
    pub busy: f64,
    /// Positions of reasons for rejection, and how many inputs.
    pub rejections: Vec<(usize, u64)>,
    /// What rejections asked for.
    pub wishes: Vec<(u64, Vec<Wish>)>,
    /// Blocks by the number of their input.
    pub blocks: Vec<(u64, Vec<Block>)>,
    silenced: u64,
    /// Position in the log.
    line: usize,
}

/// A batch of inputs that the oracles have looked at.
#[derive(Debug)]
pub(crate) struct RestoredJudged {
    pub numbers: Vec<u64>,
    asked: bool,
    pub oracles: BTreeMap<Oracle, OracleTally>,
    pub busy: f64,
    pub hangs: u64,
    silenced: u64,
    line: usize,
}

/// A failure that was seen, and whose folder was not written, or only as it was, when the process
/// ended. Nothing that came back before can have shown it.
struct Unwritten {
    at: ApiIndex,
    number: u64,
    judging: bool,
    line: usize,
}

impl RestoredJudged {
    /// What tells it from others: its first number, and whether its oracles were called for.
    fn key(&self) -> (u64, bool) {
        (
            self.numbers.first().copied().unwrap_or(u64::MAX),
            self.asked,
        )
    }
}

impl RestoredBatch {
    fn holds(&self, number: u64) -> bool {
        (self.first..self.first + self.outcomes.len() as u64).contains(&number)
    }
}

impl RestoredLane {
    /// Time it had been under way.
    pub(crate) fn spent(&self) -> Duration {
        Duration::try_from_secs_f64(self.spent).unwrap_or(Duration::ZERO)
    }

    /// Forgets batches that were cut short.
    pub(crate) fn keep_whole(&mut self, max_inputs: Option<u64>) {
        self.batches.retain(|index, batch| {
            let left = max_inputs.map_or(u64::MAX, |max| max.saturating_sub(batch.first));
            batch.outcomes.len() as u64 == batch_len(*index).min(left)
        });
    }

    /// Forgets what has to be done again for a failure to be met as it was at first: everything since
    /// that could show it earlier in the sequence, or simpler.
    fn forget_since(&mut self, seen: &Unwritten) {
        self.finished = None;
        if seen.judging {
            let judged = self.judged.extract_if(.., |judged| judged.line > seen.line);
            self.judged_again.extend(judged.map(|judged| judged.key()));
            return;
        }
        self.fuzzed = None;
        let holding = |(_, batch): &(&BatchIndex, &RestoredBatch)| batch.holds(seen.number);
        let index = self.batches.iter().find(holding).map(|(index, _)| *index);
        let part = index.map_or(u64::MAX, |index| index.get() / LAG);
        self.batches
            .retain(|index, batch| batch.line < seen.line || index.get() / LAG > part);
    }

    /// Whether the outcome of this input is known.
    pub(crate) fn holds(&self, number: u64) -> bool {
        self.batches.values().any(|batch| batch.holds(number))
    }
}

impl Restored {
    /// Reads the log of a run folder.
    pub(crate) fn read(folder: &Path) -> io::Result<Restored> {
        let (records, damage) = read_events_and_damage(folder)?;
        Ok(Restored {
            damage,
            ..Restored::of(records)
        })
    }

    fn of(records: Vec<Record>) -> Restored {
        let mut restored = Restored::default();
        let mut unwritten: HashMap<String, Unwritten> = HashMap::new();
        // A finding may be noted twice: after forks, and after a plain interpreter.
        let mut flaky: HashSet<String> = HashSet::new();
        let mut judges = false;
        for (line, record) in records.into_iter().enumerate() {
            if let Record::Run(header) = &record {
                judges = header.is_of_judge();
            }
            // Its positions are those of inputs that were kept, and what it did is not of the run's sequence.
            if judges && !matches!(record, Record::Found { .. } | Record::Folded { .. }) {
                continue;
            }
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
                    silenced,
                    blocks,
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
                            blocks,
                            silenced,
                            line,
                        };
                        let lane = restored.lane(at);
                        lane.spent = lane.spent.max(spent);
                        lane.batches.insert(index, batch);
                    }
                }
                Record::Rules { at, batch, .. } => {
                    restored.lane(at).rules_from.get_or_insert(batch);
                }
                Record::Judged {
                    at,
                    numbers,
                    asked,
                    oracles,
                    busy,
                    hangs,
                    silenced,
                    ..
                } => restored.lane(at).judged.push(RestoredJudged {
                    numbers,
                    asked,
                    oracles,
                    busy,
                    hangs,
                    silenced,
                    line,
                }),
                Record::Again { at, judged, .. } => {
                    let known = &mut restored.lane(at).judged;
                    known.retain(|one| !judged.contains(&one.key()));
                }
                Record::Seen {
                    at,
                    id,
                    number,
                    judging,
                    ..
                } => {
                    // Logs of earlier versions do not say it: all inputs had run before.
                    let judging = judging || restored.lane(at).fuzzed.is_some();
                    unwritten.entry(id).or_insert(Unwritten {
                        at,
                        number,
                        judging,
                        line,
                    });
                }
                Record::Found {
                    at,
                    id,
                    failures,
                    runs,
                    note,
                    early,
                    ..
                } => {
                    if !note && failures < runs {
                        flaky.insert(id.clone());
                    }
                    // One that was written as it was when the process ended is met again.
                    if runs > 0 || (note && !early) {
                        unwritten.remove(&id);
                    }
                    if !restored.found.iter().any(|(_, found, _)| *found == id) {
                        restored.found.push((at, id, note));
                    }
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
        restored.flaky = flaky.len() as u64;
        for seen in unwritten.into_values() {
            restored.lane(seen.at).forget_since(&seen);
        }
        for lane in restored.lanes.values_mut() {
            let judged = lane.judged.iter();
            lane.judged_numbers = judged
                .flat_map(|one| one.numbers.iter().map(|number| (*number, one.asked)))
                .collect();
            let batches: u64 = lane.batches.values().map(|batch| batch.silenced).sum();
            let judged: u64 = lane.judged.iter().map(|judged| judged.silenced).sum();
            restored.silenced += batches + judged;
        }
        restored
    }

    fn lane(&mut self, at: ApiIndex) -> &mut RestoredLane {
        self.lanes.entry(at).or_default()
    }

    /// The batch from which on an API's inputs were made of learned rules.
    pub(crate) fn rules_from(&self, at: ApiIndex) -> Option<BatchIndex> {
        self.lanes.get(&at)?.rules_from
    }

    /// Whether an API needs nothing more.
    pub(crate) fn is_finished(&self, at: ApiIndex) -> bool {
        self.lanes
            .get(&at)
            .is_some_and(|lane| lane.finished.is_some())
    }

    /// What is known of an API; to be asked once.
    pub(crate) fn take(&mut self, at: ApiIndex) -> RestoredLane {
        self.lanes.remove(&at).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchRejections, BehaviourCounts};

    fn batch(index: u64, first: u64, outcomes: &str) -> Record {
        Record::Batch {
            at: ApiIndex::default(),
            api: "f".into(),
            index: BatchIndex::new(index),
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
            silenced: 0,
            blocks: Vec::new(),
        }
    }

    fn found(runs: u32) -> Record {
        Record::Found {
            at: ApiIndex::default(),
            api: "f".into(),
            id: "f-crash-1".into(),
            kind: OutcomeKind::Crash,
            number: 1,
            failures: runs,
            runs,
            note: false,
            early: false,
        }
    }

    fn seen(number: u64) -> Record {
        Record::Seen {
            at: ApiIndex::default(),
            api: "f".into(),
            id: format!("f-crash-{number}"),
            number,
            judging: false,
        }
    }

    #[test]
    fn a_failure_that_was_seen_and_not_written_runs_again_with_its_batch() {
        let records = vec![
            seen(1),
            batch(0, 0, "ac"),
            seen(2),
            batch(1, 2, "ca"),
            found(3),
        ];
        let mut restored = Restored::of(records);
        let lane = restored.take(ApiIndex::default());
        assert!(lane.holds(1) && !lane.holds(2) && !lane.holds(3));
        assert_eq!(
            restored.found,
            [(ApiIndex::default(), "f-crash-1".to_owned(), false)]
        );
    }

    #[test]
    fn a_failure_that_was_written_and_never_tried_is_met_again() {
        let records = vec![seen(1), batch(0, 0, "ac"), found(0)];
        let mut restored = Restored::of(records);
        assert!(!restored.take(ApiIndex::default()).holds(1));
        assert_eq!(restored.found.len(), 1);
    }

    #[test]
    fn a_note_that_was_written_before_its_time_is_met_again_and_another_is_not() {
        let told = |was_early: bool| {
            let mut record = found(0);
            if let Record::Found { note, early, .. } = &mut record {
                (*note, *early) = (true, was_early);
            }
            let records = vec![seen(1), batch(0, 0, "aa"), record];
            Restored::of(records).take(ApiIndex::default()).holds(1)
        };
        assert!(told(false));
        assert!(!told(true));
    }

    #[test]
    fn what_came_later_in_the_same_part_of_the_sequence_runs_again_and_what_came_before_does_not() {
        let last = LAG;
        let records = vec![
            batch(1, 8, "aaaaaaaa"),
            seen(16),
            batch(2, 16, "caaaaaaa"),
            batch(0, 0, "aaaaaaaa"),
            batch(last, 64, "caaaaaaa"),
        ];
        let lane = Restored::of(records).take(ApiIndex::default());
        let kept: Vec<u64> = lane.batches.keys().map(|index| index.get()).collect();
        assert_eq!(kept, [1, last]);
    }

    #[test]
    fn oracles_look_again_at_what_came_after_a_failure_and_it_is_counted_once() {
        let judged = |numbers: &[u64]| Record::Judged {
            at: ApiIndex::default(),
            api: "f".into(),
            numbers: numbers.to_vec(),
            reports: 0,
            asked: false,
            oracles: BTreeMap::new(),
            busy: 0.0,
            hangs: 0,
            silenced: 0,
        };
        let mut reported = seen(4);
        if let Record::Seen { judging, .. } = &mut reported {
            *judging = true;
        }
        let begin = [judged(&[1, 2]), reported, judged(&[4, 5])];
        let lane = Restored::of(begin.to_vec()).take(ApiIndex::default());
        assert_eq!(lane.judged_numbers, HashSet::from([(1, false), (2, false)]));
        assert_eq!(lane.judged_again, [(4, false)]);
        let again = Record::Again {
            at: ApiIndex::default(),
            judged: lane.judged_again,
        };
        let mut written = found(3);
        if let Record::Found { id, .. } = &mut written {
            *id = "f-crash-4".into();
        }
        let records = [begin.as_slice(), &[again, judged(&[4, 5]), written]].concat();
        let lane = Restored::of(records).take(ApiIndex::default());
        let counted: usize = lane.judged.iter().map(|judged| judged.numbers.len()).sum();
        assert_eq!(counted, 4);
    }

    #[test]
    fn a_batch_that_was_cut_short_runs_again_unless_it_is_the_last() {
        let records = vec![batch(0, 0, "aaaaaaaa"), batch(1, 8, "aaa")];
        let mut lane = Restored::of(records).take(ApiIndex::default());
        lane.keep_whole(Some(11));
        assert_eq!(lane.batches.len(), 2);
        lane.keep_whole(None);
        assert_eq!(lane.batches.len(), 1);
    }

    #[test]
    fn a_batch_with_a_letter_nobody_knows_runs_again() {
        let mut restored = Restored::of(vec![batch(0, 0, "a?")]);
        assert!(restored.take(ApiIndex::default()).batches.is_empty());
    }
}
