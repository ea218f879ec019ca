//! Pages that take long to make, kept until the run has gone on.
//!
//! Whoever asks first makes the page, from a copy of the run, so that nobody else waits for it but those
//! who ask for the same page.

use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;

use super::{Seen, Shared};
use crate::run::Run;

#[derive(Default)]
pub(super) struct Pages {
    pub live: Kept,
    pub report: Kept,
}

/// The newest version of one page, and the state of the run that it shows.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<(Seen, Bytes)>>);

impl Kept {
    /// The page as the run is now; `None` before it begins.
    pub(super) fn get(&self, shared: &Shared, make: impl FnOnce(&Run) -> String) -> Option<Bytes> {
        // Whoever panicked left the last whole page.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = *shared.seen.borrow();
        if let Some((state, page)) = &*kept
            && *state == now
        {
            return Some(page.clone());
        }
        let run = shared.with_run(Run::clone)?;
        let page = Bytes::from(make(&run));
        *kept = Some((now, page.clone()));
        Some(page)
    }
}
