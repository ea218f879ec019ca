//! The call raised what ends a program rather than what rejects an argument.
//!
//! # What it does
//!
//! Reports `SystemExit`, `KeyboardInterrupt`, `GeneratorExit` and `RecursionError` coming out of
//! an ordinary call.
//!
//! # Why it matters
//!
//! `except Exception` does not catch the first three, so a caller who guards against bad arguments
//! still ends. A `RecursionError` means that no code looked at the argument before following it
//! without bound; in native code the same recursion overflows the stack.
//!
//! # When it stays silent
//!
//! Every other exception is a rejection, however odd its class.
//!
//! # Example
//!
//! ```text
//! library.parse(options="--help")   # raised SystemExit: 0
//! ```

use fissure_model::{Confidence, Execution, Oracle, Outcome, OutcomeKind, Verdict};

pub(crate) fn judge(execution: &Execution) -> Option<Verdict> {
    let Outcome::Fatal(exception) = &execution.outcome else {
        return None;
    };
    Some(Verdict {
        kind: OutcomeKind::Fatal,
        oracle: Oracle::FatalException,
        confidence: Confidence::Contract,
        detail: exception.class.clone(),
        note: false,
    })
}
