//! Refused inputs by how far they came, and what those that failed at a place lack.
//!
//! Before anything is accepted, getting past a check is what there is to learn from: the inputs that failed at it, and
//! those that failed later.

use std::cmp::Ordering;
use std::collections::VecDeque;

use fissure_model::ConcreteInput;

use super::way::Way;

/// Inputs that are remembered.
const INPUTS: usize = 192;
/// Places that are compared, the furthest.
const PLACES: usize = 5;
/// Inputs that failed at a place, and beyond it, before they mean something.
const FAILED: usize = 4;
const BEYOND: usize = 3;

#[derive(Default)]
pub(super) struct Ladder {
    refused: VecDeque<(ConcreteInput, Way)>,
    met: u32,
}

/// The inputs that failed at a place, and those that came further.
pub(super) struct Rung<'a> {
    pub failed: Vec<&'a ConcreteInput>,
    pub beyond: Vec<&'a ConcreteInput>,
}

impl Ladder {
    /// An input was refused after it had come so far; true, now and then, where it is time to look at all of them.
    pub(super) fn meet(&mut self, input: &ConcreteInput, way: &Way) -> bool {
        const PERIOD: u32 = 32;
        if self.refused.len() == INPUTS {
            self.refused.pop_front();
        }
        self.refused.push_back((input.clone(), way.clone()));
        self.met += 1;
        self.met.is_multiple_of(PERIOD)
    }

    pub(super) fn rungs(&self) -> Vec<Rung<'_>> {
        let mut places: Vec<(&Way, usize)> = Vec::new();
        for (_, way) in &self.refused {
            match places.iter_mut().find(|(known, _)| *known == way) {
                Some((_, count)) => *count += 1,
                None => places.push((way, 1)),
            }
        }
        let rung = |place: &Way| {
            let of = |wanted: fn(&Way, &Way) -> bool| {
                let found = self.refused.iter();
                found
                    .filter(|(_, way)| wanted(way, place))
                    .map(|(input, _)| input)
                    .collect()
            };
            Rung {
                failed: of(|way, place| way == place),
                beyond: of(|way, place| way.further(place) == Ordering::Greater),
            }
        };
        let mut rungs: Vec<Rung<'_>> = places
            .into_iter()
            .filter(|(_, count)| *count >= FAILED)
            .map(|(place, _)| rung(place))
            .filter(|rung| rung.beyond.len() >= BEYOND)
            .collect();
        // The fewer are beyond it, the further it is.
        rungs.sort_by_key(|rung| rung.beyond.len());
        rungs.truncate(PLACES);
        rungs
    }
}
