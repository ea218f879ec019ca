//! The order in which findings are made small and tried.
//!
//! One finding of each API comes before the second of any, so that a short run tells of many. Hangs come last: each
//! attempt at one costs all of its time limit, and everything behind it would wait.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use fissure_model::{Finding, OutcomeKind};

/// Work on a finding.
pub(crate) trait Job {
    fn finding(&self) -> &Finding;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Urgency {
    hang: bool,
    /// Findings of the same API that came before.
    earlier: u32,
    /// Position in the order of arrival.
    arrived: u64,
}

struct State<T> {
    waiting: BTreeMap<Urgency, T>,
    arrived: u64,
    of_api: HashMap<String, u32>,
    closed: bool,
}

/// What waits for one of a few threads.
pub(crate) struct TriageQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T: Job> TriageQueue<T> {
    pub(crate) fn new() -> Self {
        TriageQueue {
            state: Mutex::new(State {
                waiting: BTreeMap::new(),
                arrived: 0,
                of_api: HashMap::new(),
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn push(&self, job: T) {
        let finding = job.finding();
        let mut state = self.lock();
        let known = state.of_api.entry(finding.api.path.clone()).or_default();
        let earlier = *known;
        *known += 1;
        let urgency = Urgency {
            hang: finding.verdict.kind == OutcomeKind::Timeout,
            earlier,
            arrived: state.arrived,
        };
        state.arrived += 1;
        state.waiting.insert(urgency, job);
        self.changed.notify_one();
    }

    /// The most urgent, once there is one; `None` when nothing is left and nothing will come.
    pub(crate) fn pop(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some((_, job)) = state.waiting.pop_first() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nothing more will come.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Every change of it is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{
        Api, ConcreteInput, Confidence, Execution, Intent, Oracle, Outcome, Verdict,
    };

    use super::*;

    impl Job for Finding {
        fn finding(&self) -> &Finding {
            self
        }
    }

    fn finding(path: &str, kind: OutcomeKind) -> Finding {
        Finding {
            id: String::new(),
            api: Api {
                path: path.to_owned(),
                ..Api::default()
            },
            verdict: Verdict {
                kind,
                oracle: Oracle::default(),
                confidence: Confidence::Crash,
                detail: String::new(),
                note: false,
            },
            signature: String::new(),
            input: ConcreteInput {
                number: 0,
                arguments: Vec::new(),
                layer_arguments: None,
                intent: Intent::Conform,
                mutations: Vec::new(),
            },
            unshrunk: None,
            unshrunk_reports: Vec::new(),
            also_by: Vec::new(),
            folded: Vec::new(),
            roles: Vec::new(),
            also_through: Vec::new(),
            remarks: Vec::new(),
            environment: Vec::new(),
            execution: Execution::new(0, Outcome::Timeout, std::time::Duration::ZERO),
            reproduction: None,
            library_version: String::new(),
            python_version: String::new(),
            seed: 0,
        }
    }

    #[test]
    fn one_of_each_api_comes_first_and_hangs_come_last() {
        let queue = TriageQueue::new();
        let (hang, crash) = (OutcomeKind::Timeout, OutcomeKind::Crash);
        for (path, kind) in [("a", hang), ("b", crash), ("b", crash), ("c", crash)] {
            queue.push(finding(path, kind));
        }
        queue.close();
        let order: Vec<String> =
            std::iter::from_fn(|| queue.pop().map(|finding| finding.api.path)).collect();
        assert_eq!(order, ["b", "c", "b", "a"]);
    }
}
