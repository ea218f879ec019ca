//! The call overwrote memory of its process that is not the library's.
//!
//! # What it does
//!
//! The process that runs the library keeps a record of what it does in memory that it shares with
//! Fissure. Reports a call after which that record cannot be true: marks in it are gone, results of
//! inputs are missing or are none, texts lie outside of it. The input was run again in a process of
//! its own before it is blamed.
//!
//! # Why it matters
//!
//! A library that writes where it should not destroys data of the program that uses it, and can often
//! be made to do worse. Whether such a write ends the process is a matter of luck.
//!
//! # When it stays silent
//!
//! Writes that hit something else than the record. A process that died is a `fatal-signal` or an
//! `unexpected-exit`, whatever it did to the record before. The script of a finding makes the call in a
//! plain interpreter, where there is no record to hit: it shows the failure only if the process dies.
//!
//! # Example
//!
//! ```text
//! library.copy_into(x, length=1 << 40)   # returned, and memory far behind x is gone
//! ```

use fissure_model::{Confidence, Oracle, OutcomeKind, Verdict};

pub(crate) fn judge() -> Verdict {
    Verdict {
        kind: OutcomeKind::Corruption,
        oracle: Oracle::Corruption,
        confidence: Confidence::Crash,
        detail: "memory overwritten".into(),
        note: false,
    }
}
