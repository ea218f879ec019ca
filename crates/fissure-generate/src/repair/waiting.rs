//! Inputs whose outcome is awaited, and counts of outcomes.

use fissure_model::ConcreteInput;

use super::moves::Change;
use super::way::Way;

/// An input whose outcome is awaited.
pub(super) struct Waiting {
    pub number: u64,
    pub input: ConcreteInput,
    /// How often it was repaired since it last came further; 0: it was drawn.
    pub depth: u8,
    /// How far the refused input came that it was made from.
    pub from: Option<Way>,
    /// How it differs from an accepted one.
    pub changes: Vec<Change>,
    /// What is known to belong together was put into it.
    pub tied: bool,
    /// It was changed after it was made, so that nothing follows from its rejection.
    pub doubted: bool,
    /// What refusals ask for was put into it; `None`: it was not drawn.
    pub fulfilled: Option<bool>,
}

#[derive(Default)]
pub(super) struct Rate {
    tried: f64,
    accepted: f64,
}

impl Rate {
    pub(super) fn count(&mut self, accepted: bool) {
        self.tried += 1.0;
        self.accepted += f64::from(u8::from(accepted));
    }

    pub(super) fn value(&self) -> f64 {
        (self.accepted + 1.0) / (self.tried + 2.0)
    }
}
