//! The library itself says that it found a bug in itself.
//!
//! # What it does
//!
//! Reports an exception that contains `INTERNAL ASSERT FAILED`, `please report a bug`,
//! `Check failed:`, `CHECK failed`, `RET_CHECK failure` or `Unknown error`, or that is Python's
//! own `SystemError` (native code broke the rules of the interpreter).
//!
//! # Why it matters
//!
//! These texts guard states that the authors hold to be impossible. The argument slipped through
//! validation, and in builds without the check the same input may corrupt memory.
//!
//! # When it stays silent
//!
//! MXNet validates ordinary arguments with `Check failed:`, so that text alone says nothing there.
//! `Unknown error` with an operating-system number (`[Errno 9999] Unknown error 9999`) only says
//! that the number was unknown. An invitation to report an *enhancement request* is how PyTorch
//! words a rejection without a message of its own.
//!
//! # Example
//!
//! ```text
//! RuntimeError: self.dim() == 2 INTERNAL ASSERT FAILED at "TensorShape.cpp":812, please report a bug to PyTorch.
//! ```

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use fissure_model::{Confidence, Exception, Execution, Oracle, Outcome, OutcomeKind, Verdict};

const PHRASES: [&str; 5] = [
    "internal assert failed",
    "please report a bug",
    "check failed",
    "ret_check failure",
    "unknown error",
];
const CHECK_FAILED: usize = 2;
const UNKNOWN_ERROR: usize = 4;

static SCANNER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(PHRASES)
        .expect("five short constant patterns build")
});

/// The words that make this exception an internal error: a phrase of its message (lower case), or
/// `SystemError` for that class.
pub fn internal_error_phrase(exception: &Exception) -> Option<&'static str> {
    if exception.class == "SystemError" {
        return Some("SystemError");
    }
    let message = exception.message.as_str();
    SCANNER.find_iter(message).find_map(|found| {
        let phrase = found.pattern().as_usize();
        let ordinary = match phrase {
            CHECK_FAILED => {
                exception.class.starts_with("mxnet")
                    || exception.class.ends_with("MXNetError")
                    || !is_check(message, found.start(), found.end())
            }
            UNKNOWN_ERROR => message.contains("[Errno") || message.contains("errno"),
            _ => false,
        };
        (!ordinary).then_some(PHRASES[phrase])
    })
}

/// `CHECK failed` in capitals or `Check failed:` with a condition; a sentence such as "the check
/// failed because your input …" is neither.
fn is_check(message: &str, start: usize, end: usize) -> bool {
    let text = &message[start..end];
    text.starts_with("CHECK") || (text.starts_with("Check") && message[end..].starts_with(':'))
}

pub(crate) fn judge(execution: &Execution) -> Option<Verdict> {
    let Outcome::Rejected(exception) = &execution.outcome else {
        return None;
    };
    Some(Verdict {
        kind: OutcomeKind::InternalError,
        oracle: Oracle::InternalError,
        confidence: Confidence::InternalError,
        detail: exception.class.clone(),
        note: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exception(class: &str, message: &str) -> Exception {
        Exception {
            class: class.into(),
            message: message.into(),
            ..Exception::default()
        }
    }

    #[test]
    fn the_words_of_each_library_are_found() {
        for message in [
            "x INTERNAL ASSERT FAILED at \"a.cpp\":1, please report a bug to PyTorch.",
            "Please report a bug to the authors",
            "Check failed: ndim == 2 (3 vs. 2)",
            "CHECK failed at tensor.cc",
            "RET_CHECK failure (xla/service/x.cc:9) a == b",
            "Unknown error",
        ] {
            assert!(
                internal_error_phrase(&exception("RuntimeError", message)).is_some(),
                "{message}"
            );
        }
        assert!(internal_error_phrase(&exception("SystemError", "anything")).is_some());
    }

    #[test]
    fn ordinary_rejections_that_sound_alike_are_left_alone() {
        for (class, message) in [
            (
                "RuntimeError",
                "please report an enhancement request to PyTorch.",
            ),
            ("ValueError", "the check failed because the input is empty"),
            ("OSError", "[Errno 9999] Unknown error 9999"),
            (
                "mxnet.base.MXNetError",
                "Check failed: dshp.ndim() == 3U: only 3-D data",
            ),
            ("RuntimeError", "stride should not be zero"),
            ("RuntimeError", ""),
        ] {
            assert_eq!(
                internal_error_phrase(&exception(class, message)),
                None,
                "{message}"
            );
        }
    }
}
