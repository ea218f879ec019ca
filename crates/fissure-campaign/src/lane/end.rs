//! When an API is done, and why.

use std::sync::atomic::Ordering;

use super::Lane;
use crate::EndReason;

impl Lane {
    /// Counts an input that ran into a limit; after too many, the rest of the API is not wanted.
    pub(crate) fn count_hang(&mut self) {
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

    /// What is under way comes back cut short, also when only the oracles were still at work.
    pub(crate) fn interrupt(&mut self) {
        if !self.is_finished() {
            self.end = Some(EndReason::Interrupted);
        }
    }

    /// The time of the whole run is up: what has not been handed out is no longer wanted.
    pub(crate) fn expire(&mut self) {
        self.end = Some(match self.end {
            Some(EndReason::Interrupted) => EndReason::Interrupted,
            _ => EndReason::TimeUp,
        });
        self.expired = true;
    }

    /// What has not been handed out is no longer wanted.
    pub(super) fn is_cut_short(&self) -> bool {
        self.expired
            || matches!(
                self.end,
                Some(EndReason::Interrupted | EndReason::TooManyHangs)
            )
    }

    /// All that was generated has come back and nothing more will be generated.
    pub(crate) fn is_finished(&self) -> bool {
        self.end.is_some() && self.is_idle()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.completed == self.next_batch.get()
            && self.judging_in_flight == 0
            && self.judging.is_empty()
    }
}
