//! The exception does not tell its reader what was wrong.
//!
//! # What it does
//!
//! Notes a rejection whose message is empty, holds bytes that are no text, prints a C++ stack
//! trace, or whose class comes from the inside of the library and blames the wrong thing
//! (`UnicodeDecodeError`, `StopIteration`, `UnboundLocalError`, `ZeroDivisionError`, …).
//!
//! # Why it matters
//!
//! The message is all that a caller has. An exception of the wrong class is most often a check
//! that is missing, and the failure that it would have prevented.
//!
//! # When it stays silent
//!
//! Matters of taste: a terse message, an unusual but fitting class, one that comes with words of the
//! library rather than those of the interpreter. What it says is a note, listed
//! and not counted, unless the message holds garbage or the class can only come from a mistake in
//! the library's own code.
//!
//! # Example
//!
//! ```text
//! UnboundLocalError: local variable 'output' referenced before assignment
//! ```

use fissure_model::{Confidence, Exception, Execution, Outcome, OutcomeKind, Verdict};

/// Classes that only a mistake in the library's own Python code raises.
const MISTAKES: [&str; 3] = ["UnboundLocalError", "NameError", "UnicodeDecodeError"];
/// Classes that escape from an inside that the caller does not know of.
const INSIDES: [&str; 5] = [
    "StopIteration",
    "ZeroDivisionError",
    "UnicodeEncodeError",
    "BufferError",
    "ReferenceError",
];
/// How the frames of a C++ stack begin.
const STACKS: [&str; 4] = [
    "frame #0:",
    "Exception raised from ",
    "C++ CapturedTraceback:",
    "Stack trace:\n",
];

pub fn judge(execution: &Execution) -> Option<Verdict> {
    let Outcome::Rejected(exception) = &execution.outcome else {
        return None;
    };
    let (detail, certain) = fault(exception)?;
    Some(Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: "message".into(),
        confidence: Confidence::Documentation,
        detail,
        note: !certain,
    })
}

/// What is wrong with the exception, and whether that is beyond doubt.
fn fault(exception: &Exception) -> Option<(String, bool)> {
    let class = exception.class.as_str();
    let message = exception.message.as_str();
    if MISTAKES.contains(&class) {
        return Some((class.to_owned(), true));
    }
    if INSIDES.contains(&class) && !is_on_purpose(message) {
        return Some((class.to_owned(), false));
    }
    if is_garbage(message) {
        return Some((format!("{class}: bytes that are no text"), true));
    }
    if message.trim().is_empty() {
        // Python's own rule: a class whose name says everything.
        let speaks = matches!(
            class,
            "MemoryError" | "NotImplementedError" | "AssertionError"
        );
        return Some((format!("{class} without a message"), false)).filter(|_| !speaks);
    }
    if STACKS.iter().any(|frame| message.contains(frame)) {
        return Some((format!("{class} with a C++ stack"), false));
    }
    None
}

/// Words of the interpreter's own messages of [`INSIDES`]; `StopIteration` comes without any.
const OWN_WORDS: [&str; 9] = [
    "by zero",
    "modulo",
    "negative power",
    "codec can't encode",
    "exports of data",
    "underlying buffer",
    "not writable",
    "weakly-referenced",
    "generator raised",
];

/// The library wrote the message itself: such a class is then its choice (`BufferError` is what the protocol
/// of DLPack asks for), not one that escaped.
fn is_on_purpose(message: &str) -> bool {
    let lower = message.to_lowercase();
    !lower.trim().is_empty() && !OWN_WORDS.iter().any(|words| lower.contains(words))
}

/// Control characters, or bytes that the worker had to escape because they are no text.
fn is_garbage(message: &str) -> bool {
    let odd = |it: char| (it.is_control() && !it.is_whitespace()) || it == '\u{fffd}';
    message.chars().any(odd) || message.contains("\\udc")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(class: &str, message: &str) -> Option<(String, bool)> {
        fault(&Exception {
            class: class.into(),
            message: message.into(),
            frames: Vec::new(),
        })
    }

    #[test]
    fn an_ordinary_rejection_is_left_alone() {
        assert_eq!(found("RuntimeError", "stride should not be zero"), None);
        assert_eq!(found("ValueError", "expected\n\ttwo lines: \u{e9}"), None);
        assert_eq!(found("NotImplementedError", ""), None);
    }

    #[test]
    fn an_empty_message_is_noted_and_garbage_is_certain() {
        let empty = ("RuntimeError without a message".to_owned(), false);
        assert_eq!(found("RuntimeError", " "), Some(empty));
        let garbage = ("RuntimeError: bytes that are no text".to_owned(), true);
        assert_eq!(found("RuntimeError", "got \u{1}\u{2}"), Some(garbage));
    }

    #[test]
    fn a_class_that_only_a_mistake_raises_is_certain() {
        let text = "local variable 'output' referenced before assignment";
        let expected = Some(("UnboundLocalError".to_owned(), true));
        assert_eq!(found("UnboundLocalError", text), expected);
        let inside = Some(("ZeroDivisionError".to_owned(), false));
        assert_eq!(found("ZeroDivisionError", "division by zero"), inside);
    }

    #[test]
    fn a_class_that_the_library_chose_with_its_own_words_is_left_alone() {
        let text = "Can't export tensors that require gradient, use tensor.detach()";
        assert_eq!(found("BufferError", text), None);
        assert_eq!(
            found("ZeroDivisionError", "the divisor of step must not be 0"),
            None
        );
        let escaped = "Existing exports of data: object cannot be re-sized";
        let inside = Some(("BufferError".to_owned(), false));
        assert_eq!(found("BufferError", escaped), inside);
        let empty = Some(("StopIteration".to_owned(), false));
        assert_eq!(found("StopIteration", ""), empty);
    }
}
