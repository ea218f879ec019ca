//! The call took more memory than a worker may have.
//!
//! # What it does
//!
//! Reports a call during which the worker's resident memory passed the limit.
//!
//! # Why it matters
//!
//! A small input that allocates gigabytes is a missing check of a size, and on a shared machine the
//! kernel may kill another process for it.
//!
//! # When it stays silent
//!
//! An input that asks for much memory is listed as a note, not as a finding (and only counted in a run that ends by
//! the clock): a number beyond 2^20,
//! sizes that multiply to more than 2^26, or tensors of more than 16 MiB. An allocation that the
//! library itself refuses with an exception is a rejection.
//!
//! # Example
//!
//! ```text
//! library.one_hot(indices=[3], classes=-1)   # 2 GiB and growing
//! ```

use fissure_model::{ConcreteInput, Confidence, Oracle, OutcomeKind, Verdict};

use crate::input_facts::asks_for_much;

pub(crate) fn judge(input: &ConcreteInput) -> Verdict {
    Verdict {
        kind: OutcomeKind::OutOfMemory,
        oracle: Oracle::Memory,
        confidence: Confidence::Performance,
        detail: "memory".into(),
        note: asks_for_much(input),
    }
}
