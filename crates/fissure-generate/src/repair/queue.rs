//! Repaired inputs that wait to be tried.

use std::cmp::Ordering;
use std::collections::VecDeque;

use fissure_model::ConcreteInput;

use super::way::{Way, further};

/// Inputs that wait at most.
const MOST: usize = 64;

pub(super) struct Queued {
    pub input: ConcreteInput,
    pub depth: u8,
    /// How far the refused one came.
    pub from: Option<Way>,
}

#[derive(Default)]
pub(super) struct Queue(VecDeque<Queued>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The repair of what came furthest, the next of these.
    pub(super) fn pop(&mut self) -> Option<Queued> {
        let mut best = 0;
        for at in 1..self.0.len() {
            let (one, other) = (&self.0[at], &self.0[best]);
            if further(one.from.as_ref(), other.from.as_ref()) == Ordering::Greater {
                best = at;
            }
        }
        self.0.remove(best)
    }

    /// What was repaired before has come further, and goes first.
    pub(super) fn push(&mut self, queued: Queued) {
        if self.0.len() == MOST {
            // The oldest has been overtaken by what was learned since.
            self.0.pop_front();
        }
        if queued.depth > 1 {
            self.0.push_front(queued);
        } else {
            self.0.push_back(queued);
        }
    }

    pub(super) fn push_first(&mut self, queued: Queued) {
        self.0.push_front(queued);
        self.0.truncate(MOST);
    }
}
