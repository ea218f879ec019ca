//! One API on its way through the pool.

mod end;
mod judged;
mod part;
mod restored;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fissure_execute::{Batch, Hit};
use fissure_generate::{Generator, Wish};
use fissure_model::{
    Api, ConcreteInput, Execution, Intent, Oracle, Outcome, OutcomeKind, Signature, Spec,
};

use crate::behaviour::Behaviour;
use crate::clock::Clock;
use crate::guide::{Block, Guide, Reached};
use crate::index::{BatchIndex, Place};
use crate::judging::Judging;
use crate::keep::Keeper;
use crate::rejections::{BatchRejections, Rejections};
use crate::restore::RestoredLane;
use crate::schedule::{batch_len, observed_before};
use crate::settled::{Outcomes, Settled};
use crate::slow_calls::SlowCalls;
use crate::turn::Turn;
use crate::{
    ApiSummary, BehaviourCounts, EndReason, OracleTally, Part, RunOptions, StoreError, Tally,
};

pub(crate) use part::{ForOracles, SequencePart};

/// Inputs that an API gets of this weight.
pub(crate) fn share(inputs: Option<u64>, weight: f64) -> Option<u64> {
    inputs.map(|inputs| (inputs as f64 * weight).ceil() as u64)
}

/// An outcome that counts as a hang.
fn is_limit(kind: OutcomeKind) -> bool {
    matches!(kind, OutcomeKind::Timeout | OutcomeKind::OutOfMemory)
}

pub(crate) struct Lane {
    pub api: Arc<Api>,
    pub check_nan: bool,
    pub tally: Tally,
    /// `None` when the inputs are recorded already.
    keeper: Option<Keeper>,
    /// `None` when inputs are not generated but judged again.
    generator: Option<Generator>,
    /// Makes inputs of those that were kept.
    guide: Option<Guide>,
    judging: Judging,
    /// Judging batches handed out and not back.
    judging_in_flight: u64,
    /// Places in the queue of judging that are done, and the first that is not.
    judged_places: BTreeSet<Place>,
    next_place: Place,
    oracles: BTreeMap<Oracle, OracleTally>,
    judged: u64,
    max_inputs: Option<u64>,
    max_time: Option<Duration>,
    max_hangs: u64,
    /// Index of the next batch to generate, and number of its first input.
    next_batch: BatchIndex,
    next_number: u64,
    /// Batches that came back and that the generator has not been told of, by index.
    settled: BTreeMap<BatchIndex, Outcomes>,
    /// Index of the next of those.
    next_settled: BatchIndex,
    /// Batches that came back before an earlier one, which judging hears of first.
    unjudged: BTreeMap<BatchIndex, Settled>,
    next_judged: BatchIndex,
    /// Number of the first input that the present generator makes.
    generated_from: u64,
    /// What was learned meanwhile, and the batch from which on inputs are made of it.
    switch: Option<(BatchIndex, Generator)>,
    /// Batches that came back.
    completed: u64,
    /// Time under way, without that spent waiting for a turn.
    clock: Clock,
    elapsed: Duration,
    part: Part,
    turn: Option<Turn>,
    busy: Duration,
    /// `None`: each call has the usual time limit.
    slow_calls: Option<SlowCalls>,
    hangs: u64,
    /// Tells the pool that the rest of this API's batches is no longer wanted.
    abandoned: Arc<AtomicBool>,
    end: Option<EndReason>,
    expired: bool,
    rejections: Rejections,
    behaviour: Behaviour,
    /// What an interrupted process had done.
    restored: RestoredLane,
}

impl Lane {
    /// Generates inputs, and judges some of them.
    pub(crate) fn new(
        api: Arc<Api>,
        spec: &Spec,
        generator: Generator,
        keeper: Option<Keeper>,
        restored: RestoredLane,
        weight: f64,
        options: &RunOptions,
    ) -> Self {
        let mut lane = Lane {
            restored,
            check_nan: options.check_nan && spec.check_nan,
            keeper,
            generator: Some(generator),
            max_inputs: options.max_inputs,
            end: None,
            ..Lane::idle(api, options)
        };
        lane.rejections = Rejections::known(std::mem::take(&mut lane.restored.reasons));
        for judged in std::mem::take(&mut lane.restored.judged) {
            lane.restore_judged(judged);
        }
        lane.take_share(weight);
        lane.clock = Clock::starting_at(lane.restored.spent());
        lane
    }

    /// Calls that are not quick share one time limit.
    pub(crate) fn limit_slow_calls(&mut self, slow_calls: SlowCalls) {
        self.slow_calls = Some(slow_calls);
    }

    /// Part of the inputs is made of those that were kept.
    pub(crate) fn follow(&mut self, guide: Guide) {
        self.guide = Some(guide);
    }

    /// Inputs are made by this generator from the batch `at` on, or from the next one. Gives the
    /// batch at which it begins.
    pub(crate) fn switch_to(&mut self, generator: Generator, at: Option<BatchIndex>) -> BatchIndex {
        let at = at.unwrap_or(self.next_batch);
        self.switch = Some((at, generator));
        // What it was stopped for may no longer be so.
        if self.next_batch == BatchIndex::FIRST && self.end == Some(EndReason::Complete) {
            self.end = None;
        }
        at
    }

    /// Most of what its file or rules allow is refused, and the library has not been asked.
    pub(crate) fn asks_the_library(&self) -> bool {
        let generator = self.generator.as_ref();
        self.end.is_none() && generator.is_some_and(Generator::asks_the_library)
    }

    /// What the library said of itself.
    pub(crate) fn hear_the_library(&mut self, answer: Option<(&Spec, &Signature)>) {
        if let Some(generator) = &mut self.generator {
            generator.hear_the_library(answer);
        }
    }

    /// Judges inputs that exist already; generates none.
    pub(crate) fn again(api: Arc<Api>, inputs: Vec<ConcreteInput>, options: &RunOptions) -> Self {
        let mut lane = Lane::idle(api, options);
        inputs
            .into_iter()
            .for_each(|input| lane.judging.push(input));
        lane
    }

    fn idle(api: Arc<Api>, options: &RunOptions) -> Self {
        Lane {
            api,
            check_nan: false,
            tally: Tally::default(),
            keeper: None,
            generator: None,
            guide: None,
            judging: Judging::new(&options.judging),
            judging_in_flight: 0,
            judged_places: BTreeSet::new(),
            next_place: Place::default(),
            oracles: BTreeMap::new(),
            judged: 0,
            max_inputs: Some(0),
            max_time: options.max_time,
            max_hangs: options.max_hangs,
            next_batch: BatchIndex::FIRST,
            next_number: 0,
            settled: BTreeMap::new(),
            next_settled: BatchIndex::FIRST,
            unjudged: BTreeMap::new(),
            next_judged: BatchIndex::FIRST,
            generated_from: 0,
            switch: None,
            completed: 0,
            clock: Clock::starting_at(Duration::ZERO),
            elapsed: Duration::ZERO,
            part: options.division.part,
            turn: None,
            busy: Duration::ZERO,
            slow_calls: None,
            hangs: 0,
            abandoned: Arc::new(AtomicBool::new(false)),
            end: Some(EndReason::Complete),
            expired: false,
            rejections: Rejections::default(),
            behaviour: Behaviour::default(),
            restored: RestoredLane::default(),
        }
    }

    /// Seconds under way.
    pub(crate) fn spent(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }

    pub(crate) fn max_inputs(&self) -> Option<u64> {
        self.max_inputs
    }

    /// The next batch (its index, its inputs), if it may be generated now.
    pub(crate) fn next_batch(&mut self) -> Option<(BatchIndex, Batch)> {
        if self.end.is_some() || self.turn_is_over() {
            return None;
        }
        if self.part == Part::Judge {
            if !self.restored.batches.contains_key(&self.next_batch) {
                self.end = Some(EndReason::Complete);
                return None;
            }
        } else if self
            .max_time
            .is_some_and(|limit| self.clock.elapsed() >= limit)
        {
            self.end = Some(EndReason::TimeUp);
            return None;
        }
        let mut len = batch_len(self.next_batch);
        if let Some(max) = self.max_inputs {
            len = len.min(max - self.next_number);
        }
        if len == 0 {
            self.end = Some(EndReason::Complete);
            return None;
        }
        while self.next_settled < observed_before(self.next_batch) {
            if !self.settle() {
                return None;
            }
        }
        if let Some((_, generator)) = self.switch.take_if(|(at, _)| *at <= self.next_batch) {
            self.generator = Some(generator);
            self.generated_from = self.next_number;
        }
        let generator = self.generator.as_mut()?;
        let first = self.next_number;
        let guide = &mut self.guide;
        let inputs = (first..first + len)
            .map(|number| {
                let guided = guide.as_mut();
                let guided = guided.and_then(|guide| guide.propose(number, generator));
                guided.unwrap_or_else(|| generator.generate(number))
            })
            .collect();
        let index = self.next_batch.advance();
        let under_way = index.get().saturating_sub(self.completed);
        self.next_number += len;
        let batch = Batch {
            id: 0,
            api: self.api.clone(),
            check_nan: self.check_nan,
            oracles: Arc::default(),
            inputs,
            abandoned: self.abandoned.clone(),
            slow_calls: self.slow_calls.map(|slow| slow.for_batch(under_way)),
        };
        Some((index, batch))
    }

    /// Tells the generator of the next batch in the sequence, if it has come back.
    fn settle(&mut self) -> bool {
        let Some(outcomes) = self.settled.remove(&self.next_settled) else {
            return false;
        };
        let batch = self.next_settled.advance();
        if let Some(generator) = &mut self.generator {
            let mut wishes = outcomes.wishes.iter().peekable();
            let guide = self.guide.as_ref();
            for (number, accepted) in &outcomes.accepted {
                let asked = wishes.next_if(|(asking, _)| asking == number);
                let asked = asked.map_or(&[][..], |(_, asked)| asked);
                // What an earlier generator made, or another source, is nothing to this one.
                let guided = guide.is_some_and(|guide| guide.is_own(*number));
                if *number >= self.generated_from && !guided {
                    generator.observe_reason(*number, *accepted, asked);
                }
            }
        }
        if let Some(guide) = &mut self.guide {
            let numbers: Vec<u64> = outcomes
                .accepted
                .iter()
                .map(|(number, _)| *number)
                .collect();
            guide.settle(batch, &numbers, outcomes.reached);
        }
        true
    }

    /// Tells judging what came back, in the order of the sequence: what it chooses does not steer
    /// generation, so it need not wait for the point at which feedback enters.
    fn offer(&mut self, index: BatchIndex, mut settled: Settled) {
        let told = Outcomes {
            accepted: std::mem::take(&mut settled.outcomes),
            wishes: std::mem::take(&mut settled.wishes),
            reached: std::mem::take(&mut settled.reached),
        };
        self.settled.insert(index, told);
        self.unjudged.insert(index, settled);
        while let Some(settled) = self.unjudged.remove(&self.next_judged) {
            self.next_judged.advance();
            for (oracles, input) in &settled.asking {
                self.judging.ask(Arc::clone(oracles), input);
            }
            self.judging
                .offer(settled.calls, settled.busy, settled.accepted);
        }
    }

    /// Counts and records a batch that came back. Batches may come back in any order; the generator
    /// hears of each at a fixed point of the sequence ([`observed_before`]), never earlier.
    pub(crate) fn complete(
        &mut self,
        index: BatchIndex,
        inputs: Vec<ConcreteInput>,
        executions: &[Execution],
        hits: &[Hit],
        busy: Duration,
    ) -> Result<(), StoreError> {
        let mut settled = Settled::with_capacity(executions.len());
        if let (Some(guide), None) = (&mut self.guide, self.max_inputs) {
            for (input, execution) in inputs.iter().zip(executions) {
                guide.took(input.number, execution.duration);
            }
        }
        let guide = self.guide.as_ref();
        let mut blocks = guide.map_or_else(Default::default, |guide| guide.matters(hits));
        for (at, (input, execution)) in (0..).zip(inputs.into_iter().zip(executions)) {
            if let Some(keeper) = &mut self.keeper {
                keeper.keep(&self.api, &input, execution)?;
            }
            if let Some(slow) = &mut self.slow_calls {
                slow.count(execution.duration);
                if execution.outcome == Outcome::Timeout {
                    settled.note_too_large(&input);
                }
            }
            let kind = fissure_judge::kind(execution);
            self.tally.add(kind, &input.intent);
            self.behaviour.observe(&input, kind);
            if let Outcome::Rejected(exception) | Outcome::NotBuilt(exception) = &execution.outcome
            {
                self.rejections.count(&exception.class, &exception.message);
                if !matches!(
                    input.intent,
                    Intent::Violate { .. } | Intent::BreakRule { .. }
                ) {
                    settled.read(&input, exception);
                }
            }
            let slow = guide.is_some_and(|guide| guide.is_slow(execution.duration));
            if let Some(blocks) = blocks.remove(&at)
                && !slow
            {
                settled.reached.push(Reached {
                    input: input.clone(),
                    kind,
                    blocks,
                });
            }
            let judging = self.judging.wants(execution.duration);
            settled.add(&self.api, input, kind, judging);
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.flush()?;
        }
        self.flush_corpus()?;
        self.busy += busy;
        self.elapsed = self.clock.elapsed();
        settled.busy = busy;
        self.offer(index, settled);
        self.completed += 1;
        Ok(())
    }

    pub(crate) fn summary(&self) -> ApiSummary {
        if let Some(fuzzed) = &self.restored.fuzzed {
            // The inputs ran in another process, which knows more than their outcomes.
            return ApiSummary {
                judged: self.judged,
                oracles: self.oracles.clone(),
                busy: self.busy,
                end: match self.end {
                    Some(EndReason::Interrupted) => EndReason::Interrupted,
                    _ => fuzzed.end,
                },
                ..ApiSummary::clone(fuzzed)
            };
        }
        ApiSummary {
            api: (*self.api).clone(),
            tally: self.tally.clone(),
            elapsed: self.elapsed,
            busy: self.busy,
            end: self.end.unwrap_or(EndReason::Interrupted),
            judged: self.judged,
            oracles: self.oracles.clone(),
            findings: Vec::new(),
            notes: Vec::new(),
            rejections: self.rejections.sorted(),
            reached: self.reached(),
            mutators: self.behaviour.mutators(),
            constraints: self.behaviour.constraints(),
        }
    }

    /// What the rejections of a batch that came back and waits ask for.
    pub(crate) fn wishes(&self, index: BatchIndex) -> Vec<(u64, Vec<Wish>)> {
        let settled = self.settled.get(&index);
        settled.map_or_else(Vec::new, |settled| settled.wishes.clone())
    }

    /// Blocks that guide, of a batch that came back and waits, by the number of their input.
    pub(crate) fn blocks(&self, index: BatchIndex) -> Vec<(u64, Vec<Block>)> {
        let reached = self.settled.get(&index).map(|settled| &settled.reached);
        let each = |one: &Reached| (one.input.number, one.blocks.clone());
        reached.map_or_else(Vec::new, |reached| reached.iter().map(each).collect())
    }

    /// Writes the inputs that guidance has kept.
    fn flush_corpus(&mut self) -> Result<(), StoreError> {
        let Some(guide) = &mut self.guide else {
            return Ok(());
        };
        let path = guide
            .path()
            .map(std::path::Path::to_owned)
            .unwrap_or_default();
        guide.flush().map_err(StoreError::at("write", &path))
    }

    /// Reasons for rejection that were met since this was last asked.
    pub(crate) fn tell_rejections(&mut self) -> BatchRejections {
        self.rejections.tell()
    }

    /// How many distinct things the inputs so far have shown.
    pub(crate) fn reached(&self) -> BehaviourCounts {
        self.behaviour.counts(self.rejections.len())
    }

    /// Ends the records of the API.
    pub(crate) fn close(mut self) -> Result<(), StoreError> {
        // What came back last was not heard of: nothing more was generated.
        while self.settle() {}
        self.flush_corpus()?;
        let (Some(keeper), Some(generator)) = (self.keeper, self.generator) else {
            return Ok(());
        };
        let mut csv = Vec::new();
        generator
            .coverage()
            .write_csv(&mut csv)
            .expect("writing to memory cannot fail");
        keeper.finish(self.elapsed, &String::from_utf8_lossy(&csv))
    }
}
