//! How long triage will take, so that a run with a limit ends near it.

use std::time::Duration;

use crate::RunOptions;
use crate::index::ApiIndex;

/// The time for everything: that of the whole run, or what the time per API amounts to when so many lanes are under way
/// at once.
pub(super) fn limit(options: &RunOptions, apis: usize, lanes: usize) -> Option<Duration> {
    let per_api = || {
        let together = apis.min(lanes).max(1) as f64;
        let weights: f64 = ApiIndex::first(apis)
            .map(|at| options.division.weight(at))
            .sum();
        // An API that begins when others have ended still has its time.
        Some(
            options
                .max_time?
                .mul_f64((weights / together).ceil().max(1.0)),
        )
    };
    options.total_time.or_else(per_api)
}

/// What an API may use of the time per API. Where later ones wait for it, triage's part of the time is taken from each,
/// not from those that come last.
pub(super) fn part_of_each(options: &RunOptions, apis: usize, lanes: usize) -> f64 {
    match options.total_time {
        None if apis > lanes => FUZZING,
        _ => 1.0,
    }
}

/// What is kept for writing down what was found when the time is up.
pub(super) fn writing(limit: Duration) -> Duration {
    (limit / 30).min(Duration::from_secs(3))
}

/// Guesses for the first finding: what a library that takes two seconds to import makes likely.
const SHRINKING: Duration = Duration::from_secs(1);
const CONFIRMING: Duration = Duration::from_secs(4);
/// A plain interpreter at the end, and each script in it.
const PLAIN: Duration = Duration::from_secs(5);
const PLAIN_EACH: Duration = Duration::from_millis(500);

/// Fuzzing gets this part of the time in any case: triage goes on beside it, and what it does not
/// reach is told as such.
const FUZZING: f64 = 0.8;

/// Means over the findings so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub shrinking: Mean,
    pub confirming: Mean,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    guess: Duration,
    sum: Duration,
    count: u32,
}

impl Mean {
    fn guessed(guess: Duration) -> Self {
        Mean {
            guess,
            sum: Duration::ZERO,
            count: 0,
        }
    }

    pub(super) fn add(&mut self, one: Duration) {
        self.sum += one;
        self.count += 1;
    }

    fn get(self) -> Duration {
        self.sum.checked_div(self.count).unwrap_or(self.guess)
    }
}

impl Pace {
    pub(super) fn new() -> Self {
        Pace {
            shrinking: Mean::guessed(SHRINKING),
            confirming: Mean::guessed(CONFIRMING),
        }
    }

    /// Time that findings need which are still to be made small and tried, and those which are
    /// small and only to be tried, and those that a plain interpreter tries, by so many at a time.
    fn left(&self, large: usize, small: usize, plain: usize, threads: usize) -> Duration {
        let all = (large + small) as u32;
        let start = if plain > 0 { PLAIN } else { Duration::ZERO };
        let parallel = self.shrinking.get() * large as u32
            + self.confirming.get() * all
            + PLAIN_EACH * plain as u32;
        start + parallel / threads.max(1) as u32
    }

    /// When fuzzing has to end for triage to be done at the limit.
    pub(super) fn fuzzing_ends(
        &self,
        limit: Duration,
        large: usize,
        small: usize,
        plain: usize,
        threads: usize,
    ) -> Duration {
        limit
            .saturating_sub(self.left(large, small, plain, threads))
            .max(limit.mul_f64(FUZZING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn fuzzing_leaves_the_time_that_triage_takes() {
        let mut pace = Pace::new();
        let each = PLAIN_EACH;
        assert_eq!(pace.fuzzing_ends(60 * SECOND, 0, 0, 0, 2), 60 * SECOND);
        assert_eq!(
            pace.fuzzing_ends(60 * SECOND, 2, 0, 2, 2),
            55 * SECOND - PLAIN - each
        );
        pace.shrinking.add(SECOND);
        pace.confirming.add(4 * SECOND);
        pace.confirming.add(8 * SECOND);
        assert_eq!(
            pace.fuzzing_ends(120 * SECOND, 3, 0, 6, 3),
            113 * SECOND - PLAIN - 2 * each
        );
    }

    #[test]
    fn the_last_of_many_apis_has_as_much_time_as_the_first() {
        let options = RunOptions {
            max_time: Some(40 * SECOND),
            ..RunOptions::new(0, 1)
        };
        for (apis, lanes) in [(1, 2), (2, 2), (3, 2), (20, 3)] {
            let limit = limit(&options, apis, lanes).unwrap();
            let each = 40 * SECOND.mul_f64(part_of_each(&options, apis, lanes));
            let rounds = apis.div_ceil(lanes) as u32;
            assert_eq!(limit, 40 * SECOND * rounds, "{apis}");
            // However much there is to triage.
            let ends = Pace::new().fuzzing_ends(limit, 1000, 0, 0, 1);
            assert!(rounds == 1 || each * rounds <= ends, "{apis}");
        }
        let whole = RunOptions {
            total_time: Some(60 * SECOND),
            ..options
        };
        assert_eq!(limit(&whole, 20, 3), whole.total_time);
        assert_eq!(part_of_each(&whole, 20, 3), 1.0);
    }

    #[test]
    fn fuzzing_has_most_of_the_time_however_much_was_found() {
        assert_eq!(
            Pace::new().fuzzing_ends(60 * SECOND, 100, 0, 0, 1),
            48 * SECOND
        );
    }
}
