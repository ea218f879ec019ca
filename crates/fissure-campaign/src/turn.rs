//! The share of an API when all of them run for ever, one after the other.

use std::time::Duration;

/// An API that showed nothing new in its last turn gets this part of a turn.
const STALE: u32 = 4;

pub struct Turn {
    /// Of an API that shows something new.
    full: Duration,
    now: Duration,
    /// What the API's clock showed when it began.
    began: Duration,
    over: bool,
    /// What had been new when the turn began.
    news: usize,
}

impl Turn {
    pub fn new(full: Duration) -> Turn {
        Turn {
            full,
            now: full,
            began: Duration::ZERO,
            over: false,
            news: 0,
        }
    }

    /// Gives the API more or less than the usual.
    pub fn weigh(&mut self, weight: f64) {
        self.full = self.full.mul_f64(weight);
        self.now = self.full;
    }

    /// Looks at the API's clock: a turn that is over stays over.
    pub fn follow(&mut self, elapsed: Duration) -> bool {
        self.over |= elapsed.saturating_sub(self.began) >= self.now;
        self.over
    }

    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Decides how long the next one is: `news` grows with everything not met before.
    pub fn end(&mut self, news: usize) {
        self.now = if news > self.news {
            self.full
        } else {
            self.full / STALE
        };
        self.news = news;
    }

    pub fn begin(&mut self, elapsed: Duration) {
        self.began = elapsed;
        self.over = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_without_news_gets_a_shorter_turn_until_it_has_some() {
        let second = Duration::from_secs(1);
        let mut turn = Turn::new(8 * second);
        assert!(!turn.follow(7 * second) && turn.follow(8 * second));
        turn.end(3);
        turn.begin(8 * second);
        assert!(!turn.follow(15 * second) && turn.follow(16 * second));
        turn.end(3);
        turn.begin(16 * second);
        assert!(turn.follow(18 * second), "a quarter");
        turn.end(4);
        turn.begin(18 * second);
        assert!(!turn.follow(25 * second), "whole again");
    }
}
