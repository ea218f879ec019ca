//! Time under way, without what was spent waiting.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// What was counted before the clock last stood still.
    earlier: Duration,
    since: Option<Instant>,
}

impl Clock {
    /// Runs from now on, and counts `earlier` as well.
    pub(crate) fn starting_at(earlier: Duration) -> Clock {
        Clock {
            earlier,
            since: Some(Instant::now()),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.earlier + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(crate) fn stand_still(&mut self) {
        self.earlier = self.elapsed();
        self.since = None;
    }

    pub(crate) fn go_on(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_still_keeps_its_time() {
        let mut clock = Clock::starting_at(Duration::from_secs(7));
        clock.stand_still();
        let stopped = clock.elapsed();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(clock.elapsed(), stopped);
        clock.go_on();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.elapsed() > stopped);
    }
}
