//! The call ended the process without a fault.
//!
//! # What it does
//!
//! Reports a call after which the process is gone although nothing crashed: native code called
//! `exit`, Python code called `os._exit`, or the process sent itself a signal such as SIGTERM.
//!
//! # Why it matters
//!
//! A library function that ends the program takes unsaved work with it, and no `try` can stop it.
//!
//! # When it stays silent
//!
//! An exit whose output names a fault is a `fatal-signal`. `SystemExit` raised as an exception can
//! be caught and is a `fatal-exception`. SIGKILL is listed as a note only: it comes from outside,
//! most often from the kernel when the machine runs out of memory. Functions whose purpose is to
//! end the process belong on the deny-list.
//!
//! # Example
//!
//! ```text
//! library.load_plugin(name="")   # the process ended with code 3
//! ```

use fissure_model::{Confidence, Execution, Oracle, Outcome, OutcomeKind, Verdict};

use crate::signal::signal_name;

pub(crate) fn judge(execution: &Execution) -> Option<Verdict> {
    let (detail, note) = match &execution.outcome {
        Outcome::Exit { code } => (format!("exit {code}"), false),
        Outcome::Crash { signal } => (signal_name(*signal).into_owned(), *signal == libc::SIGKILL),
        _ => return None,
    };
    Some(Verdict {
        kind: OutcomeKind::Exit,
        oracle: Oracle::UnexpectedExit,
        confidence: Confidence::Contract,
        detail,
        note,
    })
}
