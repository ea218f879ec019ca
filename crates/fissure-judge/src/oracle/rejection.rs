//! The documentation allows an argument, and the call refuses it.
//!
//! # What it does
//!
//! Reports an ordinary exception for an input that keeps every constraint of a trusted
//! specification.
//!
//! # Why it matters
//!
//! Somebody who follows the documentation to the letter is turned away: the documentation lacks a
//! rule, or the check is too strict.
//!
//! # When it stays silent
//!
//! - The specification is not trusted for this API.
//! - The input carries boundary cases besides.
//! - The message says that something is not implemented or not supported: an honest limit.
//! - The exception is a lack of memory.
//!
//! # Example
//!
//! ```text
//! torch.foo(torch.ones(0))   # documented: any shape; ValueError: empty tensor
//! ```

use fissure_model::{
    ConcreteInput, Confidence, Execution, Intent, Oracle, Outcome, OutcomeKind, Verdict,
};

/// An honest limit, in lower case.
const LIMITS: [&str; 6] = [
    "not implemented",
    "not supported",
    "unsupported",
    "does not support",
    "doesn't support",
    "memory",
];

pub(crate) fn judge(input: &ConcreteInput, execution: &Execution) -> Option<Verdict> {
    let (Outcome::Rejected(exception), Intent::Conform) = (&execution.outcome, &input.intent)
    else {
        return None;
    };
    let message = exception.message.to_lowercase();
    let honest = exception.class == "NotImplementedError"
        || exception.class == "MemoryError"
        || LIMITS.iter().any(|words| message.contains(words));
    if honest || !input.mutations.is_empty() {
        return None;
    }
    Some(Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: Oracle::Rejection,
        confidence: Confidence::Documentation,
        detail: exception.class.clone(),
        note: false,
    })
}
