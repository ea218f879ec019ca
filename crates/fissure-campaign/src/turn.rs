//! The share of an API when many of them take turns.
//!
//! The first two turns are small and counted in inputs, so that every API is reached before any is met a
//! second time, and has some inputs before any is looked at closely. Later ones are counted in time, and are longer where
//! something new still comes.

use std::time::Duration;

/// Inputs of the first turn: all that is generated before feedback steers anything.
pub(crate) const FIRST_INPUTS: u64 = 64;
/// Inputs after the second turn.
pub(crate) const SECOND_INPUTS: u64 = 160;
/// Bounds of the first turn's time, which ends that of an API whose calls are slow.
const LEAST_FIRST: Duration = Duration::from_millis(40);
const MOST_FIRST: Duration = Duration::from_secs(3);
/// An API that showed nothing new in its last turn gets this part of a turn.
const STALE: u32 = 4;

#[derive(Debug)]
pub(crate) struct Turn {
    weight: f64,
    /// Inputs after which it is over; later turns have no such limit.
    inputs: Option<u64>,
    time: Duration,
    /// What the API's clock showed when it began.
    began: Duration,
    over: bool,
    /// What had been new when the turn began.
    news: usize,
    stale: bool,
}

impl Turn {
    /// The first turn; `share` is what is there for it when all get the same.
    pub(crate) fn first(weight: f64, share: Duration) -> Turn {
        Turn {
            weight,
            inputs: Some(FIRST_INPUTS),
            time: share.clamp(LEAST_FIRST, MOST_FIRST),
            began: Duration::ZERO,
            over: false,
            news: 0,
            stale: false,
        }
    }

    /// Looks at the API's clock and at the inputs generated: a turn that is over stays over.
    pub(crate) fn follow(&mut self, elapsed: Duration, inputs: u64) -> bool {
        self.over |= elapsed.saturating_sub(self.began) >= self.time;
        self.over |= self.inputs.is_some_and(|most| inputs >= most);
        self.over
    }

    /// The rest is for a later turn.
    pub(crate) fn cut_short(&mut self) {
        self.over = true;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Did the last turn show nothing that was not met before?
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }

    /// `news` grows with everything not met before.
    pub(crate) fn end(&mut self, news: usize) {
        self.stale = news <= self.news;
        self.news = news;
    }

    /// Begins the next, which has this length where something new comes. So many inputs there were.
    pub(crate) fn begin(&mut self, elapsed: Duration, full: Duration, inputs: u64) {
        self.began = elapsed;
        self.over = false;
        let second = inputs < SECOND_INPUTS;
        self.inputs = second.then_some(SECOND_INPUTS);
        let full = full.mul_f64(self.weight);
        let stale = self.stale && !second;
        self.time = if stale { full / STALE } else { full };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_without_news_gets_a_shorter_turn_until_it_has_some() {
        let second = Duration::from_secs(1);
        let mut turn = Turn::first(1.0, second);
        assert!(
            !turn.follow(second / 8, FIRST_INPUTS - 1) && turn.follow(second / 8, FIRST_INPUTS)
        );
        turn.end(0);
        turn.begin(second, 8 * second, FIRST_INPUTS);
        assert!(!turn.follow(2 * second, SECOND_INPUTS - 1));
        assert!(
            turn.follow(2 * second, SECOND_INPUTS),
            "the second is counted"
        );
        turn.end(3);
        turn.begin(8 * second, 8 * second, 9000);
        assert!(!turn.follow(15 * second, 9999) && turn.follow(16 * second, 9999));
        turn.end(3);
        assert!(turn.is_stale());
        turn.begin(16 * second, 8 * second, 9000);
        assert!(turn.follow(18 * second, 9999), "a quarter");
        turn.end(4);
        turn.begin(18 * second, 8 * second, 9000);
        assert!(!turn.follow(25 * second, 9999), "whole again");
    }
}
