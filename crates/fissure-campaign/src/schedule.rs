//! When which input of an API is generated.
//!
//! Feedback from executed inputs steers generation, and inputs must be the same bytes whatever the
//! number of workers. So the points at which feedback enters are fixed by the sequence itself, not
//! by the clock: batch `k` is generated with exactly the observations of the batches before
//! `observed_before(k)`, whatever else has come back by then.

use crate::index::BatchIndex;

/// Batches of one API that may be under way at once. Large enough to keep eight workers busy on a
/// single API, small enough for feedback to arrive early.
pub(crate) const LAG: u64 = 8;

/// At the start an input repaired as its rejection asks is worth more than workers kept busy: so
/// many batches wait for all but the last [`EARLY_LAG`] before them.
const EARLY: u64 = 3 * LAG;
const EARLY_LAG: u64 = 2;

const FIRST: u64 = 8;
const LARGEST: u64 = 256;

/// Number of batches whose outcomes are known when batch `index` is generated.
pub(crate) fn observed_before(index: BatchIndex) -> BatchIndex {
    let index = index.get();
    let early = index.min(EARLY).saturating_sub(EARLY_LAG);
    BatchIndex::new(early.max(index.saturating_sub(LAG)))
}

/// Number of inputs in batch `index`: small at first, so that feedback comes early, then doubling
/// every [`LAG`] batches up to a size at which the cost of a batch no longer shows.
pub(crate) fn batch_len(index: BatchIndex) -> u64 {
    let doublings = (index.get() / LAG).min(16);
    (FIRST << doublings).min(LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_to_a_limit_and_never_shrink() {
        let lens: Vec<u64> = (0..100).map(BatchIndex::new).map(batch_len).collect();
        assert_eq!(lens[0], FIRST);
        assert_eq!(lens[99], LARGEST);
        assert!(lens.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn feedback_is_early_at_first_and_never_taken_back() {
        let observed: Vec<u64> = (0..100)
            .map(|at| observed_before(BatchIndex::new(at)).get())
            .collect();
        assert_eq!(observed[..4], [0, 0, 0, 1]);
        assert_eq!(observed[99], 99 - LAG);
        assert!(observed.windows(2).all(|pair| pair[0] <= pair[1]));
        let within = (0..).zip(&observed).all(|(at, known)| *known <= at);
        assert!(within, "{observed:?}");
    }
}
