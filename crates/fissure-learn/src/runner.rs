//! Runs calls and says which the library accepts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fissure_execute::{Batch, Event, Pool};
use fissure_model::{Api, ConcreteInput, Execution, Outcome};

use crate::core_clock::Budget;
use crate::error::LearnError;
use crate::params::{Call, Parameters};

const BATCH: usize = 256;
/// After a batch with calls that did not end: each of them costs seconds.
const SLOW_BATCH: usize = 24;
/// How often a batch that lasts is asked whether it is worth it.
const LOOK: Duration = Duration::from_secs(1);

/// What the library said to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted,
    /// With its own words.
    Rejected(String),
    /// Says nothing about the call.
    Unknown,
}

/// Runs the calls of one API, one batch after the other.
pub(crate) struct Runner<'a> {
    pool: &'a Pool,
    api: Arc<Api>,
    stop: &'a AtomicBool,
    number: u64,
    /// Calls that would begin when this share of the budget is gone get no answer.
    pub limit: Option<(Budget, f64)>,
    pub executed: u64,
    /// Inputs that ended their process, and how.
    pub crashes: Vec<(ConcreteInput, Execution)>,
    /// Blocks of the library's code that calls reached (module, address), where coverage is taken.
    pub reached: BTreeSet<(u16, u32)>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(pool: &'a Pool, api: Arc<Api>, stop: &'a AtomicBool) -> Self {
        Runner {
            pool,
            api,
            stop,
            number: 0,
            limit: None,
            executed: 0,
            crashes: Vec::new(),
            reached: BTreeSet::new(),
        }
    }

    /// One answer for each call.
    pub(crate) fn run(
        &mut self,
        params: &Parameters,
        calls: &[Call],
    ) -> Result<Vec<Answer>, LearnError> {
        let mut answers = vec![Answer::Unknown; calls.len()];
        let mut positions = Vec::new();
        let mut inputs = Vec::new();
        for (position, call) in calls.iter().enumerate() {
            if let Some(input) = params.concrete(call, self.number) {
                self.number += 1;
                positions.push(position);
                inputs.push(input);
            }
        }
        let (mut begin, mut size) = (0, BATCH);
        while begin < inputs.len() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(LearnError::Interrupted);
            }
            if self.is_over() {
                break;
            }
            let end = (begin + size).min(inputs.len());
            let executions = self.execute(inputs[begin..end].to_vec())?;
            let hangs = |execution: &&Execution| execution.outcome == Outcome::Timeout;
            if executions.iter().filter(hangs).count() > 1 {
                size = SLOW_BATCH;
            }
            for (at, execution) in (begin..end).zip(executions) {
                answers[positions[at]] = answer(&execution.outcome);
                if matches!(
                    execution.outcome,
                    Outcome::Crash { .. } | Outcome::Exit { .. } | Outcome::Corruption
                ) {
                    self.crashes.push((inputs[at].clone(), execution));
                }
            }
            begin = end;
        }
        Ok(answers)
    }

    fn is_over(&self) -> bool {
        let over = |(budget, share): &(Budget, f64)| budget.spent() >= *share;
        self.limit.as_ref().is_some_and(over)
    }

    /// Runs a batch; when the budget ends meanwhile, only its first inputs.
    fn execute(&mut self, inputs: Vec<ConcreteInput>) -> Result<Vec<Execution>, LearnError> {
        let count = inputs.len();
        let abandoned = Arc::new(AtomicBool::new(false));
        self.pool.submit(Batch {
            id: self.number,
            api: Arc::clone(&self.api),
            check_nan: false,
            oracles: Arc::default(),
            inputs,
            abandoned: Arc::clone(&abandoned),
            slow_calls: None,
        });
        loop {
            let event = match self.pool.events().recv_timeout(LOOK) {
                Err(error) if error.is_timeout() => {
                    if self.is_over() {
                        abandoned.store(true, Ordering::Relaxed);
                    }
                    continue;
                }
                event => event.ok(),
            };
            match event {
                Some(Event::Done {
                    executions, hits, ..
                }) if executions.len() == count
                    || (abandoned.load(Ordering::Relaxed) && self.pool.failure().is_none()) =>
                {
                    self.executed += executions.len() as u64;
                    let blocks = hits.iter().map(|hit| (hit.module, hit.block));
                    self.reached.extend(blocks);
                    return Ok(executions);
                }
                // Told again with the batch.
                Some(Event::Abnormal { .. }) => {}
                Some(Event::Done { .. }) | None => {
                    let reason = self.pool.failure();
                    let reason = reason.unwrap_or_else(|| "a batch was cut short".into());
                    return Err(LearnError::Stopped(reason));
                }
            }
        }
    }
}

fn answer(outcome: &Outcome) -> Answer {
    match outcome {
        Outcome::Accepted { .. } => Answer::Accepted,
        Outcome::Rejected(exception) | Outcome::Fatal(exception) => {
            Answer::Rejected(format!("{}: {}", exception.class, exception.message))
        }
        Outcome::Timeout => Answer::Rejected("the call does not end".into()),
        Outcome::OutOfMemory => Answer::Rejected("the call needs too much memory".into()),
        // A finding and an input to keep; a rule learned from it would steer away from the bug.
        Outcome::Crash { .. } | Outcome::Exit { .. } | Outcome::Corruption => Answer::Unknown,
        Outcome::NotBuilt(_) => Answer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_no_evidence_for_a_rule_and_a_rejection_is() {
        let exception = fissure_model::Exception {
            class: "ValueError".into(),
            message: "no".into(),
            ..fissure_model::Exception::default()
        };
        let rejected = answer(&Outcome::Rejected(exception));
        assert_eq!(rejected, Answer::Rejected("ValueError: no".into()));
        assert_eq!(answer(&Outcome::Crash { signal: 11 }), Answer::Unknown);
        assert_eq!(answer(&Outcome::Exit { code: 3 }), Answer::Unknown);
        assert_eq!(answer(&Outcome::Corruption), Answer::Unknown);
    }
}
