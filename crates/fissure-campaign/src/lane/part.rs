//! Parts of the sequence of an API's inputs: of the inputs in one that show a failure, the simplest is kept.

use crate::index::{BatchIndex, Place};
use crate::schedule::LAG;

/// Places in the queue of judging that belong together when the simplest input of a failure is chosen.
pub(super) const PART_PLACES: u64 = 64;

/// A part of an API's sequence: of the inputs in it that show a failure, the simplest is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SequencePart {
    Plain(u64),
    Judged(u64),
}

impl SequencePart {
    pub(crate) fn of_batch(index: BatchIndex) -> Self {
        SequencePart::Plain(index.get() / LAG)
    }

    /// As a number: what plain calls show comes before what oracles see.
    pub(crate) fn rank(self) -> u64 {
        match self {
            SequencePart::Plain(part) => part,
            SequencePart::Judged(part) => JUDGED | part,
        }
    }

    pub(crate) fn from_rank(rank: u64) -> Self {
        match rank & JUDGED {
            0 => SequencePart::Plain(rank),
            _ => SequencePart::Judged(rank & !JUDGED),
        }
    }
}

const JUDGED: u64 = 1 << 63;

/// Inputs that were handed to the oracles.
#[derive(Clone, Debug)]
pub(crate) struct ForOracles {
    /// Their results called for certain oracles.
    pub asked: bool,
    /// Numbers, and places in the queue of judging.
    pub(super) places: Vec<(u64, Place)>,
}

impl ForOracles {
    /// The part of the sequence that an input belongs to.
    pub(crate) fn part(&self, number: u64) -> SequencePart {
        let place = self.places.iter().find(|(of, _)| *of == number);
        SequencePart::Judged(place.map_or(0, |(_, place)| place.get() / PART_PLACES))
    }
}
