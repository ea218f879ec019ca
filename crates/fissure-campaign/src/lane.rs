//! One API on its way through the pool.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fissure_execute::Batch;
use fissure_generate::Generator;
use fissure_model::{Api, Execution, Intent, Outcome, OutcomeKind, Spec};

use crate::keep::Keeper;
use crate::schedule::{LAG, batch_len};
use crate::{ApiSummary, EndReason, RunOptions, StoreError, Tally};

/// Distinct rejection messages remembered per API; the rest are only counted.
const REJECTIONS_KEPT: usize = 64;

pub struct Lane {
    pub api: Arc<Api>,
    pub check_nan: bool,
    pub tally: Tally,
    pub keeper: Keeper,
    generator: Generator,
    max_inputs: Option<u64>,
    max_time: Option<Duration>,
    max_hangs: u64,
    /// Index of the next batch to generate, and number of its first input.
    next_batch: u64,
    next_number: u64,
    /// Outcomes of batches that the generator has not been told yet, by index.
    outcomes: BTreeMap<u64, Vec<(u64, bool)>>,
    /// Batches that came back.
    completed: u64,
    started: Instant,
    elapsed: Duration,
    busy: Duration,
    hangs: u64,
    /// Tells the pool that the rest of this API's batches is no longer wanted.
    abandoned: Arc<AtomicBool>,
    end: Option<EndReason>,
    rejections: BTreeMap<String, u64>,
}

impl Lane {
    pub fn new(spec: &Spec, generator: Generator, keeper: Keeper, options: &RunOptions) -> Self {
        Lane {
            api: Arc::new(spec.api.clone()),
            check_nan: options.check_nan && spec.check_nan,
            tally: Tally::default(),
            keeper,
            generator,
            max_inputs: options.max_inputs,
            max_time: options.max_time,
            max_hangs: options.max_hangs,
            next_batch: 0,
            next_number: 0,
            outcomes: BTreeMap::new(),
            completed: 0,
            started: Instant::now(),
            elapsed: Duration::ZERO,
            busy: Duration::ZERO,
            hangs: 0,
            abandoned: Arc::new(AtomicBool::new(false)),
            end: None,
            rejections: BTreeMap::new(),
        }
    }

    pub fn max_inputs(&self) -> Option<u64> {
        self.max_inputs
    }

    /// The next batch (its index, its inputs), if it may be generated now.
    pub fn next_batch(&mut self) -> Option<(u64, Batch)> {
        if self.end.is_some() {
            return None;
        }
        if self
            .max_time
            .is_some_and(|limit| self.started.elapsed() >= limit)
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
        if let Some(observed) = self.next_batch.checked_sub(LAG) {
            for (number, accepted) in self.outcomes.remove(&observed)? {
                self.generator.observe(number, accepted);
            }
        }
        let first = self.next_number;
        let inputs = (first..first + len)
            .map(|number| self.generator.generate(number))
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

    /// Counts a batch that came back. Batches may come back in any order; the generator hears of
    /// each when the batch [`LAG`] after it is generated, never earlier.
    pub fn complete(
        &mut self,
        index: u64,
        intents: impl Iterator<Item = Intent>,
        executions: &[Execution],
        busy: Duration,
    ) {
        let mut outcomes = Vec::with_capacity(executions.len());
        for (execution, intent) in executions.iter().zip(intents) {
            let kind = fissure_judge::kind(execution);
            self.tally.add(kind, &intent);
            if let Outcome::Rejected(exception) | Outcome::NotBuilt(exception) = &execution.outcome
            {
                self.count_rejection(&exception.class, &exception.message);
            }
            let accepted = matches!(kind, OutcomeKind::Accepted | OutcomeKind::Nan);
            outcomes.push((execution.number, accepted));
        }
        self.busy += busy;
        self.elapsed = self.started.elapsed();
        self.outcomes.insert(index, outcomes);
        self.completed += 1;
    }

    /// Counts an input that ran into a limit; after too many, the rest of the API is not wanted.
    pub fn count_hang(&mut self) {
        self.hangs += 1;
        if self.hangs >= self.max_hangs {
            self.end.get_or_insert(EndReason::TooManyHangs);
            self.abandoned.store(true, Ordering::Relaxed);
        }
    }

    fn count_rejection(&mut self, class: &str, message: &str) {
        let first_line = message.lines().next().unwrap_or("");
        let reason = fissure_triage::mask(&format!("{class}: {first_line}"));
        if self.rejections.len() < REJECTIONS_KEPT || self.rejections.contains_key(&reason) {
            *self.rejections.entry(reason).or_default() += 1;
        }
    }

    pub fn interrupt(&mut self) {
        self.end.get_or_insert(EndReason::Interrupted);
    }

    /// All that was generated has come back and nothing more will be generated.
    pub fn is_finished(&self) -> bool {
        self.end.is_some() && self.completed == self.next_batch
    }

    pub fn summary(&self) -> ApiSummary {
        let mut rejections: Vec<(String, u64)> = self
            .rejections
            .iter()
            .map(|(reason, count)| (reason.clone(), *count))
            .collect();
        rejections.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ApiSummary {
            api: (*self.api).clone(),
            tally: self.tally.clone(),
            elapsed: self.elapsed,
            busy: self.busy,
            end: self.end.unwrap_or(EndReason::Interrupted),
            findings: Vec::new(),
            notes: Vec::new(),
            rejections,
        }
    }

    /// Ends the records of the API.
    pub fn close(self) -> Result<(), StoreError> {
        let mut csv = Vec::new();
        self.generator
            .coverage()
            .write_csv(&mut csv)
            .expect("writing to memory cannot fail");
        self.keeper
            .finish(self.elapsed, &String::from_utf8_lossy(&csv))
    }
}
