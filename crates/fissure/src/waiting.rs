//! What goes on while nothing else is said: a line after two seconds, and then now and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::console::notice;

/// Nothing is said about what takes less.
const PATIENCE: Duration = Duration::from_secs(2);
const EVERY: Duration = Duration::from_secs(10);

/// Tells on standard error that something goes on, for as long as it lives.
pub(crate) struct Waiting {
    done: Arc<AtomicUsize>,
    // Dropped first: that ends the thread.
    ended: Option<Sender<()>>,
    teller: Option<JoinHandle<()>>,
}

impl Waiting {
    /// `of` is how many there are, where that is known.
    pub(crate) fn new(what: impl Into<String>, of: Option<usize>) -> Waiting {
        let (what, done) = (what.into(), Arc::new(AtomicUsize::new(0)));
        let (ended, end) = mpsc::channel();
        let count = Arc::clone(&done);
        let begun = Instant::now();
        let teller = thread::Builder::new()
            .name("waiting".into())
            .spawn(move || {
                let mut pause = PATIENCE;
                while end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    let count = count.load(Ordering::Relaxed);
                    notice!("{}", line(&what, count, of, begun.elapsed()));
                    pause = EVERY;
                }
            });
        Waiting {
            done,
            ended: Some(ended),
            // Without a thread nothing is told, and nothing is lost.
            teller: teller.ok(),
        }
    }

    pub(crate) fn add(&self, count: usize) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.ended = None;
        if let Some(teller) = self.teller.take() {
            // It only prints; a panic of it is no reason for another.
            let _ = teller.join();
        }
    }
}

fn line(what: &str, done: usize, of: Option<usize>, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match of {
        Some(of) => format!("fissure: {what}: {done} of {of}, {seconds} s"),
        None => format!("fissure: {what}, {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_counted_where_the_number_is_known() {
        let second = Duration::from_millis(2_400);
        assert_eq!(
            line("asking a", 3, Some(9), second),
            "fissure: asking a: 3 of 9, 2 s"
        );
        assert_eq!(line("asking a", 3, None, second), "fissure: asking a, 2 s");
    }

    #[test]
    fn the_teller_ends_with_the_work() {
        let begun = Instant::now();
        drop(Waiting::new("nothing", None));
        assert!(begun.elapsed() < PATIENCE);
    }
}
