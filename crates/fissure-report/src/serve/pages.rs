//! Pages that take long to make, kept until the run has gone on.
//!
//! Whoever asks first makes the page, from a copy of the run, so that nobody else waits for it but those
//! who ask for the same page.

use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;

use super::Seen;

#[derive(Default)]
pub(super) struct Pages {
    pub live: Kept,
    pub report: Kept,
}

/// The newest version of one page, and the state of the run that it shows.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<(Seen, Bytes)>>);

impl Kept {
    /// The page of the state `now`, which is made unless it is here; `None` before the run begins.
    pub(super) fn get(&self, now: Seen, make: impl FnOnce() -> Option<String>) -> Option<Bytes> {
        // Whoever panicked left the last whole page.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((state, page)) = &*kept
            && *state == now
        {
            return Some(page.clone());
        }
        let page = Bytes::from(make()?);
        *kept = Some((now, page.clone()));
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_hundred_who_ask_at_once_get_one_page_that_was_made_once() {
        let kept = Kept::default();
        let made = AtomicUsize::new(0);
        let start = Barrier::new(100);
        let first = Seen::default();
        let ask = |state: Seen| {
            kept.get(state, || {
                let number = made.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(20));
                Some(format!("page {number}"))
            })
        };
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| {
                    start.wait();
                    assert_eq!(ask(first).unwrap(), "page 0");
                });
            }
        });
        let later = Seen { events: 1, ..first };
        assert_eq!(ask(later).unwrap(), "page 1", "the run has gone on");
        assert_eq!(ask(later).unwrap(), "page 1");
        assert_eq!(made.load(Ordering::SeqCst), 2);
        let not_begun = Kept::default();
        assert_eq!(not_begun.get(first, || None), None);
        assert!(not_begun.get(first, || Some(String::new())).is_some());
    }
}
