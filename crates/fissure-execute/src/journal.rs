//! The memory in which a worker writes what it is doing and what came of it.
//!
//! Words of 8 bytes: a header of [`HEADER_WORDS`], one result per input (nanoseconds in the upper
//! 60 bits, status in the lower 4; 0 while there is none), one text reference per input (offset in
//! the upper 32 bits, length in the lower). Then the text: class, message and frames of exceptions,
//! separated by zero bytes; of an accepted input what oracles said, as JSON. `worker.py` and
//! `judging.py` write it.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fissure_model::{Exception, Outcome};
use rustix::time::ClockId;

use crate::arena::Arena;
use crate::error::ExecuteError;
use crate::judged::Judged;

const HEADER_WORDS: usize = 8;
const CURRENT: usize = 0;
const FINISHED: usize = 1;
const NEXT: usize = 2;
const TEXT: usize = 3;
const BEGAN: usize = 4;
const PULSE: usize = 5;

/// Inputs that one message to a worker can cover.
pub const SLOTS: usize = 4096;
const TEXT_START: usize = 8 * (HEADER_WORDS + 2 * SLOTS);
const TEXT_BYTES: usize = 1 << 20;

const ACCEPTED: u64 = 1;
const ACCEPTED_NAN: u64 = 2;
const REJECTED: u64 = 3;
const FATAL: u64 = 4;
const NOT_BUILT: u64 = 5;

#[derive(Debug)]
pub struct Journal {
    memory: Arena,
}

impl Journal {
    pub fn new() -> Result<Journal, ExecuteError> {
        Ok(Journal {
            memory: Arena::new("fissure-journal", TEXT_START + TEXT_BYTES)?,
        })
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.memory.file()
    }

    /// Before a message that covers inputs `start..end`; no worker may be running.
    pub fn clear(&self, start: usize, end: usize) {
        self.word(CURRENT).store(0, Ordering::Relaxed);
        self.word(FINISHED).store(0, Ordering::Relaxed);
        self.word(NEXT).store(0, Ordering::Relaxed);
        self.word(TEXT).store(0, Ordering::Relaxed);
        for index in start..end {
            self.word(HEADER_WORDS + index).store(0, Ordering::Relaxed);
            self.word(HEADER_WORDS + SLOTS + index)
                .store(0, Ordering::Release);
        }
    }

    /// The input that runs, or is being cleaned up after.
    pub fn current(&self) -> Option<usize> {
        match self.word(CURRENT).load(Ordering::Acquire) {
            0 => None,
            current => Some(current as usize - 1),
        }
    }

    /// How long the current input has been running. Python's `perf_counter` is the monotonic clock.
    pub fn running_for(&self) -> Duration {
        let now = rustix::time::clock_gettime(ClockId::Monotonic);
        let now = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
        let began = self.word(BEGAN).load(Ordering::Acquire);
        Duration::from_nanos(now.saturating_sub(began))
    }

    /// Counts the calls that oracles make for the current input.
    pub fn pulse(&self) -> u64 {
        self.word(PULSE).load(Ordering::Acquire)
    }

    /// If the message `sequence` is finished: the first of its inputs that did not run.
    pub fn finished(&self, sequence: u64) -> Option<usize> {
        (self.word(FINISHED).load(Ordering::Acquire) == sequence)
            .then(|| self.word(NEXT).load(Ordering::Acquire) as usize)
    }

    /// The stored result of an input.
    pub fn result(&self, index: usize) -> Option<(Outcome, Duration)> {
        let word = self.word(HEADER_WORDS + index).load(Ordering::Acquire);
        let outcome = match word & 15 {
            ACCEPTED => Outcome::Accepted { nan: false },
            ACCEPTED_NAN => Outcome::Accepted { nan: true },
            REJECTED => Outcome::Rejected(self.exception(index)),
            FATAL => Outcome::Fatal(self.exception(index)),
            NOT_BUILT => Outcome::NotBuilt(self.exception(index)),
            _ => return None,
        };
        Some((outcome, Duration::from_nanos(word >> 4)))
    }

    /// What oracles said of an input, so far if they are still at it.
    pub fn judged(&self, index: usize) -> Option<Judged> {
        // A target that scribbled over the journal spoils its own reports, nothing else.
        serde_json::from_slice(&self.input_text(index)).ok()
    }

    fn input_text(&self, index: usize) -> Vec<u8> {
        let reference = self
            .word(HEADER_WORDS + SLOTS + index)
            .load(Ordering::Acquire);
        self.text(
            (reference >> 32) as usize,
            (reference & 0xffff_ffff) as usize,
        )
    }

    fn exception(&self, index: usize) -> Exception {
        let text = self.input_text(index);
        let mut parts = text.split(|byte| *byte == 0);
        let mut next = || {
            parts
                .next()
                .map(|part| String::from_utf8_lossy(part).into_owned())
        };
        Exception {
            // A target that scribbled over the journal spoils its own text, nothing else.
            class: next()
                .filter(|class| !class.is_empty())
                .unwrap_or_else(|| "unknown".into()),
            message: next().unwrap_or_else(String::new),
            frames: std::iter::from_fn(next).collect(),
        }
    }

    /// A copy, because a worker might still write.
    fn text(&self, offset: usize, length: usize) -> Vec<u8> {
        let offset = offset.min(TEXT_BYTES);
        let length = length.min(TEXT_BYTES - offset);
        let mut copy = vec![0; length];
        // SAFETY: offset and length lie inside the text area of the mapping.
        unsafe {
            let source = self.memory.pointer().add(TEXT_START + offset);
            source.copy_to_nonoverlapping(copy.as_mut_ptr(), length);
        }
        copy
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(
            index < HEADER_WORDS + 2 * SLOTS,
            "word {index} is outside the journal"
        );
        // SAFETY: the index is checked, the mapping is aligned to a page and lives as long as
        // `self`; both sides use whole words, here as atomics.
        unsafe { &*self.memory.pointer().cast::<AtomicU64>().add(index) }
    }
}
