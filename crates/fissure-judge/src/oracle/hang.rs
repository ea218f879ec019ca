//! The call did not end within the time limit.
//!
//! # What it does
//!
//! Reports a call that the watchdog had to end (`--timeout`, in seconds per input).
//!
//! # Why it matters
//!
//! A small input that keeps a processor busy for seconds is a missing check or a loop without end,
//! and a way to stop a service from outside.
//!
//! # When it stays silent
//!
//! An input that asks for much work is listed as a note, not as a finding (and only counted in a run that ends by
//! the clock): a number beyond 2^20,
//! sizes that multiply to more than 2^26, or tensors of more than 16 MiB. A hang is tried again in
//! a fresh process, alone on its core, before it is reported. Functions that are there to wait for another
//! thread or process (`torch.futures.wait_all`, a queue's `dequeue`) leave notes.
//!
//! # Example
//!
//! ```text
//! library.range(start=0, stop=1, step=0)   # no result after 10 s
//! ```

use fissure_functions::{Property, functions};
use fissure_model::{Api, ConcreteInput, Confidence, Oracle, OutcomeKind, Verdict};

use crate::input_facts::asks_for_much;

pub(crate) fn judge(api: &Api, input: &ConcreteInput) -> Verdict {
    Verdict {
        kind: OutcomeKind::Timeout,
        oracle: Oracle::Hang,
        confidence: Confidence::Performance,
        detail: "hang".into(),
        note: asks_for_much(input) || functions().has(&api.path, Property::Waits),
    }
}
