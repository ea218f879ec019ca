//! One API on its way through the pool.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fissure_execute::Batch;
use fissure_generate::{Generator, Wish};
use fissure_model::{Api, ConcreteInput, Execution, Intent, Outcome, OutcomeKind, Spec};

use crate::behaviour::Behaviour;
use crate::clock::Clock;
use crate::judging::Judging;
use crate::keep::Keeper;
use crate::rejections::{BatchRejections, Rejections};
use crate::restore::{RestoredBatch, RestoredLane};
use crate::schedule::{LAG, batch_len};
use crate::settled::{Outcomes, Settled};
use crate::turn::Turn;
use crate::{
    ApiSummary, BehaviourCounts, EndReason, OracleTally, Part, RunOptions, StoreError, Tally,
};

pub struct Lane {
    pub api: Arc<Api>,
    pub check_nan: bool,
    pub tally: Tally,
    /// `None` when the inputs are recorded already.
    keeper: Option<Keeper>,
    /// `None` when inputs are not generated but judged again.
    generator: Option<Generator>,
    judging: Judging,
    /// Judging batches handed out and not back.
    judging_in_flight: u64,
    oracles: BTreeMap<String, OracleTally>,
    judged: u64,
    max_inputs: Option<u64>,
    max_time: Option<Duration>,
    max_hangs: u64,
    /// Index of the next batch to generate, and number of its first input.
    next_batch: u64,
    next_number: u64,
    /// Batches that came back and that the generator has not been told of, by index.
    settled: BTreeMap<u64, Outcomes>,
    /// Index of the next of those.
    next_settled: u64,
    /// Batches that came back before an earlier one, which judging hears of first.
    unjudged: BTreeMap<u64, Settled>,
    next_judged: u64,
    /// Number of the first input that the present generator makes.
    generated_from: u64,
    /// What was learned meanwhile, and the batch from which on inputs are made of it.
    switch: Option<(u64, Generator)>,
    /// Batches that came back.
    completed: u64,
    /// Time under way, without that spent waiting for a turn.
    clock: Clock,
    elapsed: Duration,
    part: Part,
    turn: Option<Turn>,
    busy: Duration,
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
    pub fn new(
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
        lane.take_share(weight);
        lane.clock = Clock::starting_at(lane.restored.spent());
        lane
    }

    /// Others have their turns between those of this API, the first of which begins now.
    pub fn take_turns(&mut self, weight: f64) {
        self.turn = Some(Turn::first(weight));
    }

    /// Gives the API more or less than the usual.
    fn take_share(&mut self, weight: f64) {
        self.max_inputs = self
            .max_inputs
            .map(|inputs| (inputs as f64 * weight).ceil() as u64);
        self.max_time = self.max_time.map(|time| time.mul_f64(weight));
    }

    /// Inputs are made by this generator from the batch `at` on, or from the next one. Gives the
    /// batch at which it begins.
    pub fn switch_to(&mut self, generator: Generator, at: Option<u64>) -> u64 {
        let at = at.unwrap_or(self.next_batch);
        self.switch = Some((at, generator));
        // What it was stopped for may no longer be so.
        if self.next_batch == 0 && self.end == Some(EndReason::Complete) {
            self.end = None;
        }
        at
    }

    /// Judges inputs that exist already; generates none.
    pub fn again(api: Arc<Api>, inputs: Vec<ConcreteInput>, options: &RunOptions) -> Self {
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
            judging: Judging::new(&options.judging),
            judging_in_flight: 0,
            oracles: BTreeMap::new(),
            judged: 0,
            max_inputs: Some(0),
            max_time: options.max_time,
            max_hangs: options.max_hangs,
            next_batch: 0,
            next_number: 0,
            settled: BTreeMap::new(),
            next_settled: 0,
            unjudged: BTreeMap::new(),
            next_judged: 0,
            generated_from: 0,
            switch: None,
            completed: 0,
            clock: Clock::starting_at(Duration::ZERO),
            elapsed: Duration::ZERO,
            part: options.division.part,
            turn: None,
            busy: Duration::ZERO,
            hangs: 0,
            abandoned: Arc::new(AtomicBool::new(false)),
            end: Some(EndReason::Complete),
            expired: false,
            rejections: Rejections::default(),
            behaviour: Behaviour::default(),
            restored: RestoredLane::default(),
        }
    }

    fn turn_is_over(&mut self) -> bool {
        let elapsed = self.clock.elapsed();
        let turn = self.turn.as_mut();
        turn.is_some_and(|turn| turn.follow(elapsed, self.next_number))
    }

    /// The user wants a pause, or its end.
    pub fn pause(&mut self, pause: bool) {
        if pause {
            self.clock.stand_still();
        } else {
            self.clock.go_on();
        }
    }

    /// The turn is over and nothing is under way.
    pub fn is_waiting_for_turn(&self) -> bool {
        self.end.is_none() && self.turn.as_ref().is_some_and(Turn::is_over) && self.is_idle()
    }

    /// Leaves the place to another API.
    pub fn end_turn(&mut self) {
        self.clock.stand_still();
        let news = self.news();
        if let Some(turn) = &mut self.turn {
            turn.end(news);
        }
    }

    /// Begins the next turn.
    pub fn begin_turn(&mut self, full: Duration) {
        self.clock.go_on();
        if let Some(turn) = &mut self.turn {
            turn.begin(self.clock.elapsed(), full);
        }
    }

    /// Did its last turn show nothing new?
    pub fn is_stale(&self) -> bool {
        self.turn.as_ref().is_some_and(Turn::is_stale)
    }

    /// Grows with every reason for rejection and kind of outcome not met before, and when the kinds
    /// of behaviour have become twice as many: single new ones come for ever.
    fn news(&self) -> usize {
        let outcomes = OutcomeKind::ALL
            .iter()
            .filter(|kind| self.tally.count(**kind) > 0);
        let behaviours = self.reached().behaviours;
        self.rejections.len() + outcomes.count() + behaviours.checked_ilog2().unwrap_or(0) as usize
    }

    /// Seconds under way.
    pub fn spent(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }

    pub fn max_inputs(&self) -> Option<u64> {
        self.max_inputs
    }

    /// The next batch (its index, its inputs), if it may be generated now.
    pub fn next_batch(&mut self) -> Option<(u64, Batch)> {
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
        if let Some(observed) = self.next_batch.checked_sub(LAG)
            && observed == self.next_settled
            && !self.settle()
        {
            return None;
        }
        if let Some((_, generator)) = self.switch.take_if(|(at, _)| *at <= self.next_batch) {
            self.generator = Some(generator);
            self.generated_from = self.next_number;
        }
        let generator = self.generator.as_mut()?;
        let first = self.next_number;
        let inputs = (first..first + len)
            .map(|number| generator.generate(number))
            .collect();
        let index = self.next_batch;
        self.next_batch += 1;
        self.next_number += len;
        let batch = Batch {
            id: 0,
            api: self.api.clone(),
            check_nan: self.check_nan,
            oracles: Arc::default(),
            inputs,
            abandoned: self.abandoned.clone(),
        };
        Some((index, batch))
    }

    /// Tells the generator of the next batch in the sequence, if it has come back.
    fn settle(&mut self) -> bool {
        let Some((outcomes, wishes)) = self.settled.remove(&self.next_settled) else {
            return false;
        };
        self.next_settled += 1;
        if let Some(generator) = &mut self.generator {
            let mut wishes = wishes.iter().peekable();
            for (number, accepted) in &outcomes {
                let asked = wishes.next_if(|(asking, _)| asking == number);
                let asked = asked.map_or(&[][..], |(_, asked)| asked);
                // What an earlier generator made is nothing to this one.
                if *number >= self.generated_from {
                    generator.observe_reason(*number, *accepted, asked);
                }
            }
        }
        true
    }

    /// Tells judging what came back, in the order of the sequence: what it chooses does not steer
    /// generation, so it need not wait for the point at which feedback enters.
    fn offer(&mut self, index: u64, mut settled: Settled) {
        let told = (
            std::mem::take(&mut settled.outcomes),
            std::mem::take(&mut settled.wishes),
        );
        self.settled.insert(index, told);
        self.unjudged.insert(index, settled);
        while let Some(settled) = self.unjudged.remove(&self.next_judged) {
            self.next_judged += 1;
            for (oracles, input) in &settled.asking {
                self.judging.ask(Arc::clone(oracles), input);
            }
            self.judging
                .offer(settled.calls, settled.busy, settled.accepted);
        }
    }

    /// Inputs for the oracles, if any wait.
    pub fn next_judging(&mut self) -> Option<Batch> {
        if self.is_cut_short() {
            self.judging.clear();
        }
        if self.part == Part::Fuzz {
            // Chosen again, by the same rules, when the oracles have their turn.
            self.judging.clear();
            return None;
        }
        let judged = &self.restored.judged;
        let (oracles, inputs) = self.judging.next(|number| !judged.contains(&number))?;
        self.judging_in_flight += 1;
        Some(Batch {
            id: 0,
            api: self.api.clone(),
            check_nan: false,
            oracles,
            inputs,
            abandoned: self.abandoned.clone(),
        })
    }

    /// Counts a batch of judged inputs that came back.
    pub fn complete_judging(&mut self, executions: &[Execution], busy: Duration) {
        self.judging_in_flight -= 1;
        self.judged += executions.len() as u64;
        self.busy += busy;
        self.judging.count(executions, busy);
        self.elapsed = self.clock.elapsed();
        for execution in executions {
            for cost in &execution.oracle_costs {
                let tally = self.oracles.entry(cost.oracle.clone()).or_default();
                tally.inputs += 1;
                tally.time += cost.duration;
            }
            for report in &execution.reports {
                self.oracles
                    .entry(report.oracle.clone())
                    .or_default()
                    .reports += 1;
            }
        }
    }

    /// Counts and records a batch that came back. Batches may come back in any order; the generator
    /// hears of each when the batch [`LAG`] after it is generated, never earlier.
    pub fn complete(
        &mut self,
        index: u64,
        inputs: Vec<ConcreteInput>,
        executions: &[Execution],
        busy: Duration,
    ) -> Result<(), StoreError> {
        let mut settled = Settled::with_capacity(executions.len());
        for (input, execution) in inputs.into_iter().zip(executions) {
            if let Some(keeper) = &mut self.keeper {
                keeper.keep(&self.api, &input, execution)?;
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
                    settled.read(&input, &exception.message);
                }
            }
            settled.add(&self.api, input, kind, self.judging.is_on());
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.flush()?;
        }
        self.busy += busy;
        self.elapsed = self.clock.elapsed();
        settled.busy = busy;
        self.offer(index, settled);
        self.completed += 1;
        Ok(())
    }

    /// The outcomes of this batch, if an earlier process ran it.
    pub fn take_restored(&mut self, index: u64) -> Option<RestoredBatch> {
        self.restored.batches.remove(&index)
    }

    /// Counts a batch that an earlier process ran.
    pub fn complete_restored(
        &mut self,
        index: u64,
        inputs: Vec<ConcreteInput>,
        batch: &RestoredBatch,
    ) {
        let mut settled = Settled::with_capacity(inputs.len());
        for (input, kind) in inputs.into_iter().zip(&batch.outcomes) {
            self.tally.add(*kind, &input.intent);
            self.behaviour.observe(&input, *kind);
            settled.add(&self.api, input, *kind, self.judging.is_on());
        }
        settled.wishes = batch.wishes.clone();
        self.rejections.restore(&batch.rejections);
        settled.busy = Duration::try_from_secs_f64(batch.busy).unwrap_or_default();
        self.busy += settled.busy;
        self.offer(index, settled);
        self.completed += 1;
    }

    /// Counts an input that ran into a limit; after too many, the rest of the API is not wanted.
    pub fn count_hang(&mut self) {
        self.hangs += 1;
        if let Some(turn) = &mut self.turn {
            // It took as long as the turns of many others.
            turn.cut_short();
        }
        if self.hangs >= self.max_hangs {
            self.end.get_or_insert(EndReason::TooManyHangs);
            self.abandoned.store(true, Ordering::Relaxed);
        }
    }

    pub fn interrupt(&mut self) {
        self.end.get_or_insert(EndReason::Interrupted);
    }

    /// The time of the whole run is up: what has not been handed out is no longer wanted.
    pub fn expire(&mut self) {
        self.end = Some(match self.end {
            Some(EndReason::Interrupted) => EndReason::Interrupted,
            _ => EndReason::TimeUp,
        });
        self.expired = true;
    }

    /// What has not been handed out is no longer wanted.
    fn is_cut_short(&self) -> bool {
        self.expired
            || matches!(
                self.end,
                Some(EndReason::Interrupted | EndReason::TooManyHangs)
            )
    }

    /// All that was generated has come back and nothing more will be generated.
    pub fn is_finished(&self) -> bool {
        self.end.is_some() && self.is_idle()
    }

    fn is_idle(&self) -> bool {
        self.completed == self.next_batch && self.judging_in_flight == 0 && self.judging.is_empty()
    }

    pub fn summary(&self) -> ApiSummary {
        if let Some(fuzzed) = &self.restored.fuzzed {
            // The inputs ran in another process, which knows more than their outcomes.
            return ApiSummary {
                judged: self.judged,
                oracles: self.oracles.clone(),
                busy: self.busy,
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
    pub fn wishes(&self, index: u64) -> Vec<(u64, Vec<Wish>)> {
        let settled = self.settled.get(&index);
        settled.map_or_else(Vec::new, |settled| settled.1.clone())
    }

    /// Reasons for rejection that were met since this was last asked.
    pub fn tell_rejections(&mut self) -> BatchRejections {
        self.rejections.tell()
    }

    /// How many distinct things the inputs so far have shown.
    pub fn reached(&self) -> BehaviourCounts {
        self.behaviour.counts(self.rejections.len())
    }

    /// Ends the records of the API.
    pub fn close(self) -> Result<(), StoreError> {
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
