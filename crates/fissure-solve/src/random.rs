//! The only source of randomness: ChaCha8, one stream per input.
//!
//! The mappings from random bits to values are written out here instead of taken from a
//! distribution library, so that an update of a dependency cannot change the inputs of a seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Random numbers of one input.
pub struct Random {
    inner: ChaCha8Rng,
}

impl Random {
    /// The key that all inputs of one API and seed share.
    pub fn key(seed: u64, title: &str) -> [u8; 32] {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        for (part, bytes) in key[8..].chunks_exact_mut(8).enumerate() {
            // FNV-1a with a different start for each part.
            let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ (part as u64).wrapping_mul(0x9e37_79b9);
            for byte in title.bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            bytes.copy_from_slice(&hash.to_le_bytes());
        }
        key
    }

    pub fn new(key: [u8; 32], stream: u64) -> Self {
        let mut inner = ChaCha8Rng::from_seed(key);
        inner.set_stream(stream);
        Random { inner }
    }

    pub fn bits(&mut self) -> u64 {
        self.inner.next_u64()
    }

    /// Uniform in `0..bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias of the multiply-shift is below 2^-32 for the small bounds used here.
        if let Ok(small) = u32::try_from(bound) {
            (u64::from(self.inner.next_u32()) * u64::from(small)) >> 32
        } else {
            ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
        }
    }

    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Uniform in `lower..=upper`; `lower` when the interval is empty.
    pub fn between(&mut self, lower: i128, upper: i128) -> i128 {
        if upper <= lower {
            return lower;
        }
        let width = upper.saturating_sub(lower).saturating_add(1);
        lower + i128::from(self.below(u64::try_from(width).unwrap_or(u64::MAX)))
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        f64::from(self.inner.next_u32()) / 4_294_967_296.0
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// An index drawn in proportion to its weight.
    pub fn weighted(&mut self, weights: &[f32]) -> usize {
        let total: f32 = weights.iter().sum();
        let mut left = self.unit() as f32 * total;
        for (index, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return index;
            }
        }
        // Rounding can leave a remainder; the last option with a weight takes it.
        weights
            .iter()
            .rposition(|weight| *weight > 0.0)
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_key_differ_and_repeat() {
        let key = Random::key(7, "torch.add");
        let draw = |stream| Random::new(key, stream).bits();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        assert_ne!(key, Random::key(7, "torch.sub"));
        assert_ne!(key, Random::key(8, "torch.add"));
    }

    #[test]
    fn an_option_without_weight_is_never_drawn() {
        let mut random = Random::new(Random::key(1, "t"), 0);
        assert!((0..10_000).all(|_| random.weighted(&[0.0, 1.0, 0.0]) == 1));
    }

    #[test]
    fn between_reaches_both_ends_and_nothing_else() {
        let mut random = Random::new(Random::key(1, "t"), 0);
        let drawn: Vec<i128> = (0..1000).map(|_| random.between(-1, 1)).collect();
        for value in -1..=1 {
            assert!(drawn.contains(&value));
        }
        assert!(drawn.iter().all(|value| (-1..=1).contains(value)));
        let wide = random.between(i128::from(i64::MIN), i128::from(i64::MAX));
        assert!((i128::from(i64::MIN)..=i128::from(i64::MAX)).contains(&wide));
    }
}
