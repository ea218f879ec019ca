//! Time for calls that are not quick, in a run that ends by the clock.
//!
//! One input of a hundred takes seconds, because its sizes do; without a limit such inputs take most of a run. Each API
//! has an account for them: as long as something is left, a call has the usual time limit, and what it takes is drawn
//! from it. With an empty account calls that are not quick are ended at once, and nothing is made of that.

use std::time::Duration;

use fissure_execute::QUICK;

/// Part of each turn that slow calls may take.
const OF_A_TURN: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlowCalls {
    /// Of one call.
    limit: Duration,
    left: Duration,
}

impl SlowCalls {
    /// With the time limit of a call, and what the API's slow calls have of it in the beginning.
    pub(crate) fn new(limit: Duration, first: Duration) -> Self {
        SlowCalls {
            limit,
            left: limit.min(first),
        }
    }

    /// What the next batch may use, where so many others are under way that nothing is known of yet.
    pub(crate) fn for_batch(self, under_way: u64) -> Duration {
        self.left / u32::try_from(under_way + 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn count(&mut self, call: Duration) {
        if call >= QUICK / 2 {
            self.left = self.left.saturating_sub(call);
        }
    }

    /// A turn of this length begins. What is not used adds up, so that a call which never ends has its whole time
    /// limit some day.
    pub(crate) fn begin_turn(&mut self, turn: Duration) {
        self.left = self.limit.min(self.left + turn / OF_A_TURN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_calls_empty_the_account_and_a_turn_fills_a_part_of_it() {
        let second = Duration::from_secs(1);
        let mut slow = SlowCalls::new(3 * second, 9 * second);
        slow.count(QUICK / 4);
        assert_eq!(slow.for_batch(0), 3 * second);
        assert_eq!(slow.for_batch(2), second);
        slow.count(2 * second);
        slow.count(2 * second);
        assert_eq!(slow.for_batch(0), Duration::ZERO);
        slow.begin_turn(20 * second);
        assert_eq!(slow.for_batch(0), 2 * second);
        slow.begin_turn(20 * second);
        assert_eq!(
            slow.for_batch(0),
            3 * second,
            "never more than one call may take"
        );
    }
}
