//! What came back of a batch.

use std::sync::Arc;
use std::time::Duration;

use crate::guide::Reached;
use fissure_generate::Wish;
use fissure_model::{Api, ConcreteInput, Exception, Oracle, OutcomeKind};

/// Rejections of one batch that are read for what they ask.
const READ: usize = 24;

/// What the generator is told of a batch: number and whether it was accepted, of every input, and
/// what rejections ask; and what guides by coverage.
#[derive(Default)]
pub(crate) struct Outcomes {
    pub accepted: Vec<(u64, bool)>,
    pub wishes: Vec<(u64, Vec<Wish>)>,
    pub reached: Vec<Reached>,
}

/// What came back of a batch and waits for its turn in the sequence.
pub(crate) struct Settled {
    /// Number and whether it was accepted, of every input.
    pub outcomes: Vec<(u64, bool)>,
    /// Inputs of the batch.
    pub calls: usize,
    /// What a worker spent on it.
    pub busy: Duration,
    /// The accepted inputs, if any may be judged.
    pub accepted: Vec<ConcreteInput>,
    /// Inputs whose results ask for certain oracles.
    pub asking: Vec<(Arc<[Oracle]>, ConcreteInput)>,
    /// What rejections ask for, by the number of their input.
    pub wishes: Vec<(u64, Vec<Wish>)>,
    /// What guides by coverage.
    pub reached: Vec<Reached>,
}

impl Settled {
    pub(crate) fn with_capacity(inputs: usize) -> Self {
        Settled {
            outcomes: Vec::with_capacity(inputs),
            calls: 0,
            busy: Duration::ZERO,
            accepted: Vec::new(),
            asking: Vec::new(),
            wishes: Vec::new(),
            reached: Vec::new(),
        }
    }

    /// Reads a rejection for what it asks.
    pub(crate) fn read(&mut self, input: &ConcreteInput, exception: &Exception) {
        if self.wishes.len() == READ {
            return;
        }
        let wishes = fissure_generate::wishes(exception, input);
        if !wishes.is_empty() {
            self.wishes.push((input.number, wishes));
        }
    }

    /// Notes what was large in an input whose call had to be ended.
    pub(crate) fn note_too_large(&mut self, input: &ConcreteInput) {
        let wishes = fissure_generate::too_large(input);
        if !wishes.is_empty() {
            self.wishes.push((input.number, wishes));
        }
    }

    /// Adds the next input of the batch; an accepted one is kept if it may be judged.
    pub(crate) fn add(
        &mut self,
        api: &Api,
        input: ConcreteInput,
        kind: OutcomeKind,
        judging: bool,
    ) {
        let accepted = matches!(kind, OutcomeKind::Accepted | OutcomeKind::Nan);
        self.outcomes.push((input.number, accepted));
        self.calls += 1;
        if let Some(oracle) = fissure_judge::asks_for(api, &input, kind) {
            let oracles = Arc::from([oracle]);
            self.asking.push((oracles, input.clone()));
        }
        if accepted && judging {
            self.accepted.push(input);
        }
    }
}
