//! Sets of inputs by number: what learning spends its time on.

/// A set of small numbers that only grows at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
    length: usize,
}

impl Bits {
    pub(crate) fn push(&mut self, member: bool) {
        if self.length.is_multiple_of(64) {
            self.words.push(0);
        }
        if member {
            self.words[self.length / 64] |= 1 << (self.length % 64);
        }
        self.length += 1;
    }

    /// All numbers below `length`.
    pub(crate) fn full(length: usize) -> Self {
        let mut bits = Bits::default();
        (0..length).for_each(|_| bits.push(true));
        bits
    }

    /// How many numbers were decided.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        self.words
            .get(number / 64)
            .is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub(crate) fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(crate) fn and(&self, other: &Bits) -> Bits {
        Bits {
            words: self
                .words
                .iter()
                .zip(&other.words)
                .map(|(a, b)| a & b)
                .collect(),
            length: self.length.min(other.length),
        }
    }

    /// Takes the members of `other` out.
    pub(crate) fn remove(&mut self, other: &Bits) {
        for (word, gone) in self.words.iter_mut().zip(&other.words) {
            *word &= !gone;
        }
    }

    pub(crate) fn common(&self, other: &Bits) -> usize {
        self.words
            .iter()
            .zip(&other.words)
            .map(|(a, b)| (a & b).count_ones() as usize)
            .sum()
    }

    /// Is the number of common members at most `most`?
    pub(crate) fn shares_at_most(&self, other: &Bits, most: usize) -> bool {
        let mut count = 0;
        for (a, b) in self.words.iter().zip(&other.words) {
            count += (a & b).count_ones() as usize;
            if count > most {
                return false;
            }
        }
        true
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(members: &[usize], length: usize) -> Bits {
        let mut bits = Bits::default();
        (0..length).for_each(|number| bits.push(members.contains(&number)));
        bits
    }

    #[test]
    fn sets_across_words_are_counted_cut_and_listed() {
        let mut left = set(&[0, 63, 64, 129], 130);
        let right = set(&[63, 129], 130);
        assert_eq!(left.common(&right), 2);
        assert!(left.shares_at_most(&right, 2) && !left.shares_at_most(&right, 1));
        assert_eq!(left.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        left.remove(&right);
        assert_eq!(left.iter().collect::<Vec<_>>(), [0, 64]);
        assert_eq!(Bits::full(70).count(), 70);
        assert!(left.contains(64) && !left.contains(63));
    }
}
