//! The exception does not tell its reader what was wrong.
//!
//! # What it does
//!
//! Tells a *wrong exception*: an `AssertionError` without a message, an `IndexError`, a name without
//! a value, raised by the library's own Python code for an input within the specification. It is
//! no answer to the caller but a slip of the code, where a check is missing. The first two are findings where the
//! specification is trusted (`--trust-specs`), notes elsewhere.
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
//! the library's own code. An `IndexError` or `AssertionError` that was raised with words of its own, or by code
//! that is not Python, is a rejection; one for an input that was made to break something, or that
//! carries boundary cases or a None, is a note.
//!
//! # Example
//!
//! ```text
//! UnboundLocalError: local variable 'output' referenced before assignment
//! ```

use fissure_model::{
    Argument, ConcreteInput, Confidence, Exception, Execution, Intent, Oracle, Outcome,
    OutcomeKind, Value, Verdict,
};

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

pub(crate) fn judge(
    input: &ConcreteInput,
    execution: &Execution,
    trusted: bool,
) -> Option<Verdict> {
    let Outcome::Rejected(exception) = &execution.outcome else {
        return None;
    };
    // Nothing at all given for a parameter is seldom what a caller means.
    let missing = |argument: &Argument| argument.value == Value::None;
    let plain = input.intent == Intent::Conform
        && input.mutations.is_empty()
        && !input.arguments.iter().any(missing);
    let (detail, certain) = match slip(exception) {
        // Where nobody vouches for the specification, the argument may be one that nobody documents.
        Some(detail) => (detail, plain && trusted),
        None => fault(exception)?,
    };
    Some(Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: Oracle::Message,
        confidence: Confidence::Documentation,
        detail,
        note: !certain,
    })
}

/// What Python itself says of a position that is not there.
const POSITIONS: [&str; 6] = [
    "list index out of range",
    "tuple index out of range",
    "string index out of range",
    "list assignment index out of range",
    "range object index out of range",
    "pop from empty list",
];

/// A slip of the library's Python code: the worker sends the frames of such exceptions, and only
/// what the interpreter raised by itself counts.
fn slip(exception: &Exception) -> Option<String> {
    let place = exception.frames.last()?;
    if is_of_python(place) {
        return None;
    }
    let message = exception.message.trim();
    let slipped = match exception.class.as_str() {
        "AssertionError" => message.is_empty(),
        "IndexError" => POSITIONS.contains(&message),
        _ => false,
    };
    let function = place.rsplit(' ').next().unwrap_or(place);
    slipped.then(|| format!("{} out of {function}", exception.class))
}

/// Python's own code, to which a caller's argument was handed on.
fn is_of_python(frame: &str) -> bool {
    let inside = frame.contains("/lib/python3") || frame.contains("\\lib\\");
    frame.starts_with("<frozen") || inside && !frame.contains("-packages")
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
    without_colours(message).chars().any(odd) || message.contains("\\udc")
}

/// Without what tells a terminal to write bold or in colour.
fn without_colours(message: &str) -> String {
    let mut parts = message.split("\u{1b}[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let numbers = part.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';');
        text.push_str(numbers.strip_prefix('m').unwrap_or(part));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(class: &str, message: &str) -> Option<(String, bool)> {
        fault(&Exception {
            class: class.into(),
            message: message.into(),
            ..Exception::default()
        })
    }

    fn raised(class: &str, message: &str, frame: &str) -> Option<String> {
        slip(&Exception {
            class: class.into(),
            message: message.into(),
            frames: vec!["/a/site-packages/lib/api.py:3 outer".into(), frame.into()],
            ..Exception::default()
        })
    }

    #[test]
    fn a_slip_of_the_librarys_python_code_is_a_wrong_exception() {
        let own = "/a/lib/python3.11/site-packages/lib/inner.py:7 inner";
        let found = Some("IndexError out of inner".to_owned());
        assert_eq!(raised("IndexError", "tuple index out of range", own), found);
        let found = Some("AssertionError out of inner".to_owned());
        assert_eq!(raised("AssertionError", "", own), found);
    }

    #[test]
    fn an_exception_with_words_of_its_own_or_from_python_itself_is_a_rejection() {
        let own = "/a/lib/python3.11/site-packages/lib/inner.py:7 inner";
        assert_eq!(raised("IndexError", "axis 3 is out of bounds", own), None);
        assert_eq!(raised("AssertionError", "x must be positive", own), None);
        let pythons = "/a/lib/python3.11/random.py:371 choice";
        assert_eq!(
            raised("IndexError", "list index out of range", pythons),
            None
        );
        // No frames: raised on purpose, or by code that is not Python.
        let exception = Exception {
            class: "IndexError".into(),
            message: "list index out of range".into(),
            ..Exception::default()
        };
        assert_eq!(slip(&exception), None);
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
        assert_eq!(
            found("RuntimeError", "got \u{1}\u{2}"),
            Some(garbage.clone())
        );
        let bold =
            "Exception encountered when calling \u{1b}[1mLayer.call()\u{1b}[0m, \u{1b}[31;1mhere";
        assert_eq!(found("RuntimeError", bold), None);
        let both = format!("{bold}: got \u{1}");
        assert_eq!(found("RuntimeError", &both), Some(garbage));
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
