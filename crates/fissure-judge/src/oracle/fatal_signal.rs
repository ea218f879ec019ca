//! The process died of a fault: SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGTRAP or SIGSYS.
//!
//! # What it does
//!
//! Reports a call that kills the interpreter with one of these signals. Some libraries install
//! their own handler, which prints the fault and then exits with a code (MXNet: 255). An exit
//! whose output ends in such a message counts as the crash it was, and the signal is taken from
//! the message.
//!
//! # Why it matters
//!
//! No argument, however wrong, may end the process: the caller can catch an exception, not a
//! signal. A crash is also often a read or write out of bounds, and so a security problem where
//! arguments come from outside.
//!
//! # When it stays silent
//!
//! SIGKILL comes from outside, most often from the kernel when memory runs out, and SIGTERM,
//! SIGINT, SIGPIPE and the like are sent by somebody: those are `unexpected-exit`. The watchdog's
//! own kills are `hang` and `memory`. A crash is reported after its script was tried in a fresh
//! process, and labelled flaky when it did not crash each time.
//!
//! # Example
//!
//! ```text
//! library.average_pool(data, kernel_size=0)   # the process died of SIGFPE
//! ```

use fissure_model::{Confidence, Execution, Oracle, Outcome, OutcomeKind, Verdict};

use crate::signal::signal_name;

/// What fault handlers print, and the signal each text stands for.
const FAULT_TEXTS: [(&str, &str); 9] = [
    ("Segmentation fault", "SIGSEGV"),
    ("SIGSEGV", "SIGSEGV"),
    ("Floating point exception", "SIGFPE"),
    ("SIGFPE", "SIGFPE"),
    ("Bus error", "SIGBUS"),
    ("Illegal instruction", "SIGILL"),
    ("SIGABRT", "SIGABRT"),
    ("Fatal Python error: Aborted", "SIGABRT"),
    ("Fatal error", "fatal error"),
];

/// How much of the end of the log can belong to the fault: a handler prints the fault, perhaps a
/// stack of a few dozen lines, and exits. What stands before that is the output of earlier inputs.
const HANDLER_OUTPUT: usize = 8 << 10;

/// The signal that the end of this log says the library's own fault handler caught.
pub fn handled_fault(log: &str) -> Option<&'static str> {
    let mut start = log.len().saturating_sub(HANDLER_OUTPUT);
    while !log.is_char_boundary(start) {
        start += 1;
    }
    let end = &log[start..];
    FAULT_TEXTS
        .iter()
        .find(|(text, _)| end.contains(text))
        .map(|(_, signal)| *signal)
}

pub(crate) fn judge(execution: &Execution) -> Option<Verdict> {
    let detail = match &execution.outcome {
        Outcome::Crash { signal } => signal_name(*signal).into_owned(),
        Outcome::Exit { code } => {
            format!("{}, exit {code}", handled_fault(execution.log.as_deref()?)?)
        }
        _ => return None,
    };
    Some(Verdict {
        kind: OutcomeKind::Crash,
        oracle: Oracle::FatalSignal,
        confidence: Confidence::Crash,
        detail,
        note: false,
    })
}
