//! The smallest input that still shows a failure.
//!
//! A pass proposes simpler inputs, in groups, the boldest first; the first that still fails is
//! taken and the group is asked again. Passes repeat until none of them finds anything. Each
//! proposal is simpler in the one thing it changes and leaves the rest alone, so this ends.
//!
//! The order of proposals follows their price: for a crash, a proposal that does not fail costs a
//! fraction of a millisecond, one that does costs a process. So small values are tried upwards from
//! the smallest, and the first that fails is final.

pub(crate) mod arguments;
mod joint;
mod number;
pub(crate) mod place;
mod structure;
pub(crate) mod tensor;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use fissure_model::{ConcreteInput, Execution, Intent, Outcome};
use sha2::{Digest, Sha256};

use crate::confirm::is_process_end;
use crate::failure::Failure;

/// What a shrink may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkBudget {
    pub time: Duration,
    /// Inputs that are run.
    pub candidates: u64,
}

impl Default for ShrinkBudget {
    fn default() -> Self {
        ShrinkBudget {
            time: Duration::from_secs(20),
            candidates: 4000,
        }
    }
}

/// The smallest input found.
#[derive(Clone, Debug)]
pub struct Shrunk {
    pub input: ConcreteInput,
    pub execution: Execution,
    /// Inputs that were run.
    pub tried: u64,
    /// How often a simpler one was found; with none, `input` is the one given.
    pub steps: u64,
    /// Nothing simpler was left to try.
    pub finished: bool,
}

/// Runs inputs and gives their executions, in order. It may stop early, after the first that ends
/// its process for instance, and is then asked again for the rest; no execution at all means that
/// nothing can be run any more.
pub type Run<'a> = dyn FnMut(&[ConcreteInput]) -> Vec<Execution> + 'a;

/// Simpler inputs of group `group`, the boldest first; `None` when there is no such group.
type Pass = fn(&ConcreteInput, usize) -> Option<Vec<ConcreteInput>>;

/// What changes much comes first: it makes everything after it cheaper.
const PASSES: &[Pass] = &[
    joint::plain_tensors,
    arguments::fewer,
    joint::ranks,
    tensor::ranks,
    joint::smallest_tensors,
    joint::lesser_sizes,
    joint::dtypes,
    joint::sizes,
    structure::simpler,
    tensor::values,
    tensor::dtype,
    tensor::sizes,
    joint::integers,
    joint::pairs,
];

/// Inputs handed over together, when most of them are rejected quickly.
const BATCH: usize = 32;
/// The same when each is compared several ways and none of them ends a process.
const JUDGED_BATCH: usize = 8;
/// Proposals of one group that may run into a limit before the rest of the group is left.
const STRIKES: u32 = 1;

/// Simplifies `input` as long as `failure` is seen and the budget lasts. Deterministic as long as
/// the budget is not exhausted. `progress` hears of each step: inputs tried, steps made.
pub fn shrink(
    failure: &Failure,
    input: &ConcreteInput,
    execution: &Execution,
    run: &mut Run<'_>,
    budget: ShrinkBudget,
    progress: &mut dyn FnMut(u64, u64),
) -> Shrunk {
    let mut search = Search {
        failure,
        run,
        budget,
        started: Instant::now(),
        seen: HashSet::from([fingerprint(input)]),
        tried: 0,
        over: false,
        batch: if failure.oracle().is_some() || !is_process_end(failure.verdict().kind) {
            JUDGED_BATCH
        } else {
            BATCH
        },
    };
    let mut best = (input.clone(), execution.clone());
    let mut steps = 0;
    loop {
        let before = steps;
        for pass in PASSES {
            let mut group = 0;
            while let Some(candidates) = pass(&best.0, group) {
                match search.first_failing(candidates) {
                    Some(simpler) => {
                        best = simpler;
                        steps += 1;
                        progress(search.tried, steps);
                    }
                    None if search.over => break,
                    None => group += 1,
                }
            }
        }
        if steps == before || search.over {
            break;
        }
    }
    if steps > 0 {
        // They described how the first input was made.
        best.0.intent = Intent::Ignore;
        best.0.mutations.clear();
    }
    Shrunk {
        input: best.0,
        execution: best.1,
        tried: search.tried,
        steps,
        finished: !search.over,
    }
}

struct Search<'a, 'b> {
    failure: &'a Failure,
    run: &'a mut Run<'b>,
    budget: ShrinkBudget,
    started: Instant,
    /// What was tried before: passes meet the same input again and again.
    seen: HashSet<[u8; 32]>,
    tried: u64,
    over: bool,
    batch: usize,
}

impl Search<'_, '_> {
    /// The first of `candidates` that shows the failure.
    fn first_failing(
        &mut self,
        candidates: Vec<ConcreteInput>,
    ) -> Option<(ConcreteInput, Execution)> {
        let mut fresh: Vec<ConcreteInput> = candidates
            .into_iter()
            .filter(|candidate| !self.seen.contains(&fingerprint(candidate)))
            .collect();
        let mut strikes = 0;
        let mut at = 0;
        while at < fresh.len() {
            if self.tried >= self.budget.candidates || self.started.elapsed() >= self.budget.time {
                self.over = true;
                return None;
            }
            let end = fresh.len().min(at + self.batch);
            let executions = (self.run)(&fresh[at..end]);
            if executions.is_empty() {
                self.over = true;
                return None;
            }
            for execution in executions {
                self.tried += 1;
                self.seen.insert(fingerprint(&fresh[at]));
                if self.failure.shown_by(&fresh[at], &execution) {
                    return Some((fresh.swap_remove(at), execution));
                }
                let limit = matches!(execution.outcome, Outcome::Timeout | Outcome::OutOfMemory);
                strikes += u32::from(limit);
                at += 1;
            }
            if strikes >= STRIKES {
                return None;
            }
        }
        None
    }
}

/// Inputs are compared by all of their content, which is text of moderate size: large tensors are
/// short patterns.
fn fingerprint(input: &ConcreteInput) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let text = serde_json::to_vec(&(&input.arguments, &input.layer_arguments))
        .expect("an input is plain data and always serialises");
    hasher.update(text);
    hasher.finalize().into()
}
