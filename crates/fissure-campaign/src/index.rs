//! Numbers that say where something is, one type for each: none can be taken for another.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// The position of an API among those of a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ApiIndex(usize);

impl ApiIndex {
    pub fn new(position: usize) -> Self {
        ApiIndex(position)
    }

    pub fn get(self) -> usize {
        self.0
    }

    /// Positions of so many APIs.
    pub(crate) fn first(count: usize) -> impl Iterator<Item = ApiIndex> {
        (0..count).map(ApiIndex)
    }

    /// Each of a run's things, which are one for each API, with its position.
    pub(crate) fn each<T>(things: &[T]) -> impl Iterator<Item = (ApiIndex, &T)> {
        Self::first(things.len()).zip(things)
    }

    /// The first API of which this holds.
    pub(crate) fn of<T>(things: &[T], holds: impl FnMut(&T) -> bool) -> Option<ApiIndex> {
        things.iter().position(holds).map(ApiIndex)
    }
}

/// The position of an API in the plan of a campaign, whose shards are runs of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlanIndex(usize);

impl PlanIndex {
    pub(crate) fn new(position: usize) -> Self {
        PlanIndex(position)
    }

    /// All shards together are one run, in the order of the plan.
    pub(crate) fn when_joined(self) -> ApiIndex {
        ApiIndex(self.0)
    }
}

macro_rules! indexes {
    ($index:ty) => {
        impl<T> Index<$index> for [T] {
            type Output = T;

            fn index(&self, at: $index) -> &T {
                &self[at.0]
            }
        }

        impl<T> Index<$index> for Vec<T> {
            type Output = T;

            fn index(&self, at: $index) -> &T {
                &self[at.0]
            }
        }

        impl<T> IndexMut<$index> for Vec<T> {
            fn index_mut(&mut self, at: $index) -> &mut T {
                &mut self[at.0]
            }
        }
    };
}

indexes!(ApiIndex);
indexes!(PlanIndex);

/// The position of a batch in the sequence of its API's inputs. The pool knows it by another number,
/// which is given when it is handed over.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct BatchIndex(u64);

impl BatchIndex {
    pub const FIRST: BatchIndex = BatchIndex(0);

    pub fn new(position: u64) -> Self {
        BatchIndex(position)
    }

    pub fn get(self) -> u64 {
        self.0
    }

    /// Gives this position and goes on to the next.
    pub(crate) fn advance(&mut self) -> BatchIndex {
        let this = *self;
        self.0 += 1;
        this
    }
}

/// The place of an input among all that were ever queued for the oracles of its API: an input has
/// several when several groups of oracles look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(u64);

impl Place {
    pub(crate) fn get(self) -> u64 {
        self.0
    }

    /// Gives this place and goes on to the next.
    pub(crate) fn advance(&mut self) -> Place {
        let this = *self;
        self.0 += 1;
        this
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_written_as_plain_numbers() {
        let written = serde_json::to_string(&(ApiIndex(3), BatchIndex(7))).unwrap();
        assert_eq!(written, "[3,7]");
        let read: (ApiIndex, BatchIndex) = serde_json::from_str(&written).unwrap();
        assert_eq!(read, (ApiIndex(3), BatchIndex(7)));
    }

    #[test]
    fn an_api_is_found_by_what_holds_of_it() {
        let titles = ["torch.add", "torch.mul"];
        let at = ApiIndex::of(&titles, |title| title.ends_with("mul")).unwrap();
        assert_eq!(titles[..][at], "torch.mul");
        let mut next = BatchIndex::FIRST;
        assert_eq!((next.advance(), next), (BatchIndex(0), BatchIndex(1)));
    }
}
