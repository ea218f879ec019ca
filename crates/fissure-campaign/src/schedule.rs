//! When which input of an API is generated.
//!
//! Feedback from executed inputs steers generation, and inputs must be the same bytes whatever the
//! number of workers. So the points at which feedback enters are fixed by the sequence itself, not
//! by the clock: batch `k` is generated with exactly the observations of the batches up to
//! `k - LAG`, whatever else has come back by then.

/// Batches of one API that may be under way at once. Large enough to keep eight workers busy on a
/// single API, small enough for feedback to arrive early.
pub(crate) const LAG: u64 = 8;

const FIRST: u64 = 8;
const LARGEST: u64 = 256;

/// Number of inputs in batch `index`: small at first, so that feedback comes early, then doubling
/// every [`LAG`] batches up to a size at which the cost of a batch no longer shows.
pub(crate) fn batch_len(index: u64) -> u64 {
    let doublings = (index / LAG).min(16);
    (FIRST << doublings).min(LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_to_a_limit_and_never_shrink() {
        let lens: Vec<u64> = (0..100).map(batch_len).collect();
        assert_eq!(lens[0], FIRST);
        assert_eq!(lens[99], LARGEST);
        assert!(lens.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
