//! Whether what a worker ran before may explain what it answers now: an API may leave a configuration
//! changed or a cache cleared, and everything after it is rejected.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use fissure_model::{Api, Execution, Outcome};

use crate::options::QUICK;

/// Inputs of an API that are rejected before its worker is doubted: a new one takes as long as
/// hundreds of inputs, and a few rejections in a row are nothing special.
const PATIENCE: usize = 24;

/// What the worker of a slot has run.
#[derive(Default)]
pub(crate) struct Served {
    last: Option<Arc<Api>>,
    others: bool,
    /// Inputs that an API, by its path, has rejected in this worker since it accepted one.
    rejected: HashMap<String, usize>,
    /// Paths of APIs that rejected a whole batch in a worker of their own, too.
    rejecting: HashSet<String>,
    /// Paths of APIs that have run in this worker.
    warm: HashSet<String>,
    /// Paths of APIs whose first call in a worker was quick, or did not end in the time for that: they do not import much.
    settled: HashSet<String>,
}

impl Served {
    pub(crate) fn begin_worker(&mut self) {
        self.last = None;
        self.others = false;
        self.rejected.clear();
        self.warm.clear();
    }

    /// Whether the next call of an API may take longer than others: the first one in a process imports what the
    /// API needs, and an API that is ended each time before that is done never shows anything.
    pub(crate) fn warms_up(&mut self, api: &Api) -> bool {
        self.warm.insert(api.path.clone()) && !self.settled.contains(&api.path)
    }

    /// Such a call took so long; `None`: it did not end.
    pub(crate) fn warmed_up(&mut self, api: &Api, took: Option<Duration>) {
        if took.is_none_or(|took| took < QUICK) {
            self.settled.insert(api.path.clone());
        }
    }

    pub(crate) fn note(&mut self, api: &Arc<Api>) {
        let last = self.last.replace(Arc::clone(api));
        self.others |= last.is_some_and(|last| last.path != api.path);
    }

    /// Whether a batch ought to run again in a worker of its own: its API accepts nothing any more,
    /// other APIs have been there before, and a worker of its own was not tried.
    pub(crate) fn is_suspect(&mut self, api: &Api, executions: &[Execution]) -> bool {
        if self.rejecting.contains(&api.path) {
            return false;
        }
        let rejected = self.rejected.entry(api.path.clone()).or_default();
        if all_rejected(executions) {
            *rejected += executions.len();
        } else {
            *rejected = 0;
        }
        self.others && *rejected >= PATIENCE
    }

    /// What a batch that was suspect came to in a worker of its own.
    pub(crate) fn look_again(&mut self, api: &Api, executions: &[Execution]) {
        if all_rejected(executions) {
            self.rejecting.insert(api.path.clone());
        }
    }
}

fn all_rejected(executions: &[Execution]) -> bool {
    let rejected = |execution: &Execution| {
        matches!(
            execution.outcome,
            Outcome::Rejected(_) | Outcome::NotBuilt(_)
        )
    };
    !executions.is_empty() && executions.iter().all(rejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_in_each_worker_warms_up_until_one_does_not_end() {
        let api = Api {
            path: "torch.broadcast_shapes".into(),
            ..Api::default()
        };
        let mut served = Served::default();
        assert!(served.warms_up(&api) && !served.warms_up(&api));
        served.warmed_up(&api, Some(10 * QUICK));
        served.begin_worker();
        assert!(served.warms_up(&api), "each process imports anew");
        served.warmed_up(&api, None);
        served.begin_worker();
        assert!(!served.warms_up(&api));
    }
}
