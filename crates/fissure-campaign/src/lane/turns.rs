//! Turns of an API among others.

use std::time::Duration;

use fissure_model::OutcomeKind;

use super::{Lane, share};
use crate::turn::{SECOND_INPUTS, Turn};

impl Lane {
    /// Others have their turns between those of this API, the first of which begins now.
    pub(crate) fn take_turns(&mut self, weight: f64, share: Duration) {
        self.turn = Some(Turn::first(weight, share));
    }

    /// Gives the API more or less than the usual.
    pub(super) fn take_share(&mut self, weight: f64) {
        self.max_inputs = share(self.max_inputs, weight);
        self.max_time = self.max_time.map(|time| time.mul_f64(weight));
    }

    /// Leaves the rest of its time to what comes after it.
    pub(crate) fn take_part_of_time(&mut self, part: f64) {
        self.max_time = self.max_time.map(|time| time.mul_f64(part));
    }

    pub(super) fn turn_is_over(&mut self) -> bool {
        let elapsed = self.clock.elapsed();
        let turn = self.turn.as_mut();
        turn.is_some_and(|turn| turn.follow(elapsed, self.next_number))
    }

    /// The user wants a pause, or its end.
    pub(crate) fn pause(&mut self, pause: bool) {
        if pause {
            self.clock.stand_still();
        } else {
            self.clock.go_on();
        }
    }

    /// The turn is over and nothing is under way.
    pub(crate) fn is_waiting_for_turn(&self) -> bool {
        self.end.is_none() && self.turn.as_ref().is_some_and(Turn::is_over) && self.is_idle()
    }

    /// Leaves the place to another API.
    pub(crate) fn end_turn(&mut self) {
        self.clock.stand_still();
        let news = self.news();
        if let Some(turn) = &mut self.turn {
            turn.end(news);
        }
    }

    /// Begins the next turn.
    pub(crate) fn begin_turn(&mut self, full: Duration) {
        self.clock.go_on();
        if let Some(slow) = &mut self.slow_calls {
            slow.begin_turn(full);
        }
        if let Some(turn) = &mut self.turn {
            turn.begin(self.clock.elapsed(), full, self.next_number);
        }
    }

    /// Did its last turn show nothing new?
    pub(crate) fn is_stale(&self) -> bool {
        // The second turn is everybody's.
        self.next_number >= SECOND_INPUTS && self.turn.as_ref().is_some_and(Turn::is_stale)
    }

    /// Grows with every reason for rejection and kind of outcome not met before, and when the kinds
    /// of behaviour have become twice as many: single new ones come for ever.
    pub(super) fn news(&self) -> usize {
        let outcomes = OutcomeKind::ALL
            .iter()
            .filter(|kind| self.tally.count(**kind) > 0);
        let behaviours = self.reached().behaviours;
        self.rejections.len() + outcomes.count() + behaviours.checked_ilog2().unwrap_or(0) as usize
    }
}
