//! The memory in which a worker writes what it is doing and what came of it.
//!
//! Words of 8 bytes: a header of [`HEADER_WORDS`], one result per input (nanoseconds in the upper
//! 60 bits, status in the lower 4; 0 while there is none), one text reference per input (offset in
//! the upper 32 bits, length in the lower). Then the text: class, message and frames of exceptions,
//! separated by zero bytes; of an accepted input what oracles said, as JSON; and one word at the
//! end. `worker.py` and `judging.py` write it.
//!
//! Invariant: nothing here is believed. The library under test lives in the process that writes, so
//! every word may hold anything: [`Journal::check`] says whether what it tells of a message can be
//! true, and reading never goes by an index or a length that was not compared with what there is.
//! Marks that the worker has no reason to touch show that something else wrote here.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fissure_model::{Exception, Outcome};
use rustix::time::ClockId;

use crate::arena::{Access, Arena};
use crate::error::ExecuteError;
use crate::judged::Judged;

const HEADER_WORDS: usize = 8;
const CURRENT: usize = 0;
const FINISHED: usize = 1;
const NEXT: usize = 2;
const TEXT: usize = 3;
const BEGAN: usize = 4;
const PULSE: usize = 5;
/// Words that only this side writes.
const MARKS: [usize; 3] = [6, 7, (TEXT_START + TEXT_BYTES) / 8];

/// Inputs that one message to a worker can cover.
pub(crate) const SLOTS: usize = 4096;
const TEXT_START: usize = 8 * (HEADER_WORDS + 2 * SLOTS);
const TEXT_BYTES: usize = 1 << 20;

const ACCEPTED: u64 = 1;
const ACCEPTED_NAN: u64 = 2;
const REJECTED: u64 = 3;
const FATAL: u64 = 4;
const NOT_BUILT: u64 = 5;

/// Why what a journal says cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lie(pub &'static str);

#[derive(Debug)]
pub(crate) struct Journal {
    memory: Arena,
}

impl Journal {
    pub(crate) fn new() -> Result<Journal, ExecuteError> {
        Ok(Journal {
            memory: Arena::new(
                "fissure-journal",
                TEXT_START + TEXT_BYTES + 8,
                Access::Write,
            )?,
        })
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.memory.file()
    }

    /// The memory is gone: it has to be made anew.
    pub(crate) fn is_lost(&self) -> bool {
        self.memory.is_lost()
    }

    /// Before the message `sequence`, which covers inputs `start..end`; no worker may be running.
    pub(crate) fn clear(&self, sequence: u64, start: usize, end: usize) {
        for mark in MARKS {
            self.word(mark)
                .store(mark_value(sequence, mark), Ordering::Relaxed);
        }
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
    pub(crate) fn current(&self) -> Option<usize> {
        match self.word(CURRENT).load(Ordering::Acquire) {
            0 => None,
            current => Some(current as usize - 1),
        }
    }

    /// How long the current input has been running. Python's `perf_counter` is the monotonic clock.
    pub(crate) fn running_for(&self) -> Duration {
        let now = rustix::time::clock_gettime(ClockId::Monotonic);
        let now = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
        let began = self.word(BEGAN).load(Ordering::Acquire);
        Duration::from_nanos(now.saturating_sub(began))
    }

    /// Counts the calls that oracles make for the current input.
    pub(crate) fn pulse(&self) -> u64 {
        self.word(PULSE).load(Ordering::Acquire)
    }

    /// If the message `sequence` is finished: the first of its inputs that did not run.
    pub(crate) fn finished(&self, sequence: u64) -> Option<usize> {
        (self.word(FINISHED).load(Ordering::Acquire) == sequence)
            .then(|| self.word(NEXT).load(Ordering::Acquire) as usize)
    }

    /// Whether what stands here of the message `sequence` about inputs `start..end` can be true,
    /// now that the worker has stopped: when it has `finished`, the first input that did not run.
    pub(crate) fn check(
        &self,
        sequence: u64,
        start: usize,
        end: usize,
        finished: Option<usize>,
    ) -> Result<(), Lie> {
        for mark in MARKS {
            if self.word(mark).load(Ordering::Acquire) != mark_value(sequence, mark) {
                return Err(Lie("something else wrote into it"));
            }
        }
        let over = match finished {
            Some(next) if next <= start || next > end => {
                return Err(Lie("it names an input that was not given"));
            }
            Some(next) => next,
            None => match self.current() {
                Some(current) if current < start || current >= end => {
                    return Err(Lie("it names an input that was not given"));
                }
                Some(current) => current,
                None => start,
            },
        };
        (start..over).try_for_each(|index| self.check_result(index))
    }

    fn check_result(&self, index: usize) -> Result<(), Lie> {
        match self.word(HEADER_WORDS + index).load(Ordering::Acquire) & 15 {
            ACCEPTED..=NOT_BUILT => {}
            0 => return Err(Lie("the result of an input is missing")),
            _ => return Err(Lie("the result of an input is none")),
        }
        let (offset, length) = self.reference(index);
        match offset.checked_add(length) {
            Some(end) if end <= TEXT_BYTES => Ok(()),
            _ => Err(Lie("a text lies outside of it")),
        }
    }

    /// The stored result of an input.
    pub(crate) fn result(&self, index: usize) -> Option<(Outcome, Duration)> {
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
    pub(crate) fn judged(&self, index: usize) -> Option<Judged> {
        // A target that scribbled over the journal spoils its own reports, nothing else.
        serde_json::from_slice(&self.input_text(index)).ok()
    }

    fn input_text(&self, index: usize) -> Vec<u8> {
        let (offset, length) = self.reference(index);
        self.text(offset, length)
    }

    /// Offset and length of the text of an input.
    fn reference(&self, index: usize) -> (usize, usize) {
        let word = self.word(HEADER_WORDS + SLOTS + index);
        let reference = word.load(Ordering::Acquire);
        (
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
            involved: next().unwrap_or_else(String::new),
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
            index < HEADER_WORDS + 2 * SLOTS || index == MARKS[2],
            "word {index} is outside the journal"
        );
        // SAFETY: the index is checked, the mapping is aligned to a page and lives as long as
        // `self`; both sides use whole words, here as atomics.
        unsafe { &*self.memory.pointer().cast::<AtomicU64>().add(index) }
    }
}

/// Different for every message, so that an old journal copied back is seen as well.
fn mark_value(sequence: u64, mark: usize) -> u64 {
    (sequence ^ mark as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

/// For the fuzz target: everything that is read of a journal whose memory holds `bytes`.
#[doc(hidden)]
pub fn read_hostile_journal(bytes: &[u8]) {
    thread_local! {
        static JOURNAL: std::cell::RefCell<Option<Journal>> = const { std::cell::RefCell::new(None) };
    }
    JOURNAL.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = Journal::new().ok();
        }
        let Some(journal) = kept else { return };
        // The header and the first inputs, then the beginning of the text: what decides anything.
        const INPUTS: usize = 8;
        let number = |at: usize| {
            let mut word = [0; 8];
            let part = bytes.get(8 * at..).unwrap_or_default();
            let length = part.len().min(8);
            word[..length].copy_from_slice(&part[..length]);
            u64::from_le_bytes(word)
        };
        // Short texts near the beginning, and any length at and beyond the end: copying a whole
        // journal teaches a fuzzer nothing, and takes a thousand times as long.
        let reference = |word: u64| match word >> 60 {
            15 => ((TEXT_BYTES as u64 - 512 + ((word >> 32) & 0x3ff)) << 32) | (word & 0xffff_ffff),
            14 => 0xffff_f000_0000_0000 | word,
            _ => word & 0x0000_0fff_0000_03ff,
        };
        journal.clear(1, 0, INPUTS);
        for at in 0..HEADER_WORDS {
            if !MARKS.contains(&at) || number(at) & 1 == 1 {
                journal.word(at).store(number(at), Ordering::Relaxed);
            }
        }
        for index in 0..INPUTS {
            let at = HEADER_WORDS + 2 * index;
            journal
                .word(HEADER_WORDS + index)
                .store(number(at), Ordering::Relaxed);
            journal
                .word(HEADER_WORDS + SLOTS + index)
                .store(reference(number(at + 1)), Ordering::Relaxed);
        }
        let text = bytes
            .get(8 * (HEADER_WORDS + 2 * INPUTS)..)
            .unwrap_or_default();
        let length = text.len().min(TEXT_BYTES);
        journal.memory.bytes_mut()[TEXT_START..TEXT_START + length]
            .copy_from_slice(&text[..length]);
        let finished = journal.finished(1);
        journal.running_for();
        let over = finished.or(journal.current()).unwrap_or(0);
        for end in [0, INPUTS / 2, INPUTS] {
            if journal.check(1, 0, end, finished).is_ok() {
                for index in 0..over.min(end) {
                    assert!(journal.check_result(index).is_ok());
                }
            }
        }
        for index in 0..INPUTS {
            let result = journal.result(index);
            if let (Some((outcome, duration)), Some(judged)) = (result, journal.judged(index)) {
                let mut execution = fissure_model::Execution::new(0, outcome, duration);
                judged.add_to(&mut execution);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(results: &[u64]) -> Journal {
        let journal = Journal::new().unwrap();
        journal.clear(5, 0, 4);
        for (index, result) in results.iter().enumerate() {
            journal
                .word(HEADER_WORDS + index)
                .store(*result, Ordering::Relaxed);
        }
        journal
    }

    #[test]
    fn a_journal_that_tells_the_truth_is_believed() {
        let journal = finished(&[ACCEPTED, REJECTED, 77 << 4 | FATAL, NOT_BUILT]);
        assert_eq!(journal.check(5, 0, 4, Some(4)), Ok(()));
        journal.word(CURRENT).store(3, Ordering::Relaxed);
        assert_eq!(journal.check(5, 0, 4, None), Ok(()));
        assert_eq!(finished(&[]).check(5, 0, 4, None), Ok(()));
    }

    #[test]
    fn every_kind_of_lie_is_seen() {
        let lie = |change: fn(&Journal), finished_at: Option<usize>| {
            let journal = finished(&[ACCEPTED; 4]);
            change(&journal);
            assert!(journal.check(5, 0, 4, finished_at).is_err());
        };
        let word = |journal: &Journal, at: usize, value: u64| {
            journal.word(at).store(value, Ordering::Relaxed);
        };
        lie(|_| (), Some(5));
        lie(|_| (), Some(0));
        lie(|_| (), Some(usize::MAX));
        lie(
            |journal| journal.word(CURRENT).store(u64::MAX, Ordering::Relaxed),
            None,
        );
        lie(
            |journal| journal.word(CURRENT).store(9, Ordering::Relaxed),
            None,
        );
        lie(
            |journal| journal.word(HEADER_WORDS + 2).store(0, Ordering::Relaxed),
            Some(4),
        );
        lie(
            |journal| journal.word(HEADER_WORDS + 2).store(9, Ordering::Relaxed),
            Some(4),
        );
        lie(
            |journal| {
                let reference = journal.word(HEADER_WORDS + SLOTS + 1);
                reference.store(u64::MAX, Ordering::Relaxed);
            },
            Some(4),
        );
        for mark in MARKS {
            let journal = finished(&[ACCEPTED; 4]);
            word(&journal, mark, 0);
            assert!(journal.check(5, 0, 4, Some(4)).is_err());
        }
        let journal = finished(&[ACCEPTED; 4]);
        assert!(
            journal.check(6, 0, 4, Some(4)).is_err(),
            "the marks of an older message"
        );
    }

    #[test]
    fn random_bytes_in_a_journal_are_read_without_harm() {
        let mut state = 1_u64;
        for length in 0..400 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 56) as u8 & [0xff, 0x07, 0x00][(state >> 40) as usize % 3]
                })
                .collect();
            read_hostile_journal(&bytes);
        }
    }
}
