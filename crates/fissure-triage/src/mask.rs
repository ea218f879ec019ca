//! What of a message belongs to the failure, and what to the one input that showed it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Longest masked message kept in a signature.
const MESSAGE_LIMIT: usize = 300;

/// Alternatives in order: what is kept (a position in source code tells two assertions apart),
/// then what is masked.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?P<position>[\w./+-]+\.(?:cpp|cc|cxx|cu|cuh|c|hpp|h|pyx|py)"?(?::|, line |\()\d+)"#,
        r"|(?P<address>0x[0-9a-fA-F]+)",
        r"|(?P<list>\[\s*\]|[\[(]\s*[-+]?(?:\d|inf|nan)[\d\s,.xeEinfa+-]*[\])])",
        r"|(?P<number>[-+]?\b(?:\d+(?:x\d+)+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)\b)",
        r"|(?P<dtype>\b(?:torch\.|tf\.|numpy\.|np\.)?(?:",
        r"q?u?int(?:8|16|32|64)|bfloat16|float(?:16|32|64|8_\w+)|complex(?:32|64|128)",
        r"|BFloat16|Float8_\w+|Complex(?:Half|Float|Double)|Float|Double|Half|Long|Int|Short",
        r"|Char|Byte|Bool|UInt(?:16|32|64)|Q?U?Int(?:8|32))\b)",
    ))
    .expect("a constant pattern that the tests use")
});

/// The message without the numbers, addresses, shapes and element types of one input, in one line.
pub fn mask(message: &str) -> String {
    // What follows is the native stack of that moment; frames are handled on their own.
    let message = message
        .split("Exception raised from")
        .next()
        .unwrap_or(message);
    let masked = VARIABLE.replace_all(message, |found: &Captures<'_>| {
        if let Some(position) = found.name("position") {
            short_path(position.as_str()).to_owned()
        } else if found.name("address").is_some() {
            "0x*".to_owned()
        } else if found.name("list").is_some() {
            "[*]".to_owned()
        } else if found.name("dtype").is_some() {
            "<dtype>".to_owned()
        } else {
            "*".to_owned()
        }
    });
    let mut line = String::with_capacity(masked.len().min(MESSAGE_LIMIT));
    for word in masked.split_whitespace() {
        if line.len() + word.len() >= MESSAGE_LIMIT {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The part of a path that is the same on every machine: from the package on for installed files,
/// else the last two components.
pub fn short_path(path: &str) -> &str {
    for marker in ["/site-packages/", "/dist-packages/"] {
        if let Some(at) = path.rfind(marker) {
            return &path[at + marker.len()..];
        }
    }
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at);
    slashes.next();
    match slashes.next() {
        Some(at) => &path[at + 1..],
        None => path,
    }
}

/// Text that is safe and readable as a part of a file name.
pub fn file_name_part(text: &str) -> Cow<'_, str> {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.chars().all(safe) {
        return Cow::Borrowed(text);
    }
    let mut part = String::with_capacity(text.len());
    for c in text.chars() {
        if safe(c) {
            part.push(c);
        } else if !part.ends_with('_') {
            part.push('_');
        }
    }
    Cow::Owned(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_shapes_addresses_and_dtypes_do_not_tell_failures_apart() {
        for (left, right) in [
            ("got 3 vs. -1.5e9", "got 17 vs. nan"),
            ("size [2, 3] is bad", "size [] is bad"),
            (
                "torch.Size([4]) at 0x7f00aa",
                "torch.Size([1, 0, 2]) at 0x12",
            ),
            (
                "mat1 and mat2 (2x3 and 4x5)",
                "mat1 and mat2 (20x3 and 1x1)",
            ),
            (
                "not implemented for 'Half'",
                "not implemented for 'ComplexDouble'",
            ),
            ("expected torch.float32", "expected torch.int64"),
            ("a\n  b", "a b"),
        ] {
            assert_eq!(mask(left), mask(right));
        }
    }

    #[test]
    fn the_position_of_an_assertion_is_kept() {
        let message = |line: u32| {
            format!(
                "x INTERNAL ASSERT FAILED at \"/build/aten/src/ATen/native/Pool.cpp\":{line}, got 7"
            )
        };
        assert_ne!(mask(&message(10)), mask(&message(20)));
        assert_eq!(
            mask(&message(10)),
            "x INTERNAL ASSERT FAILED at \"native/Pool.cpp\":10, got *"
        );
    }

    #[test]
    fn names_with_digits_are_words() {
        assert_eq!(mask("avg_pool2d: conv3d"), "avg_pool2d: conv3d");
    }

    #[test]
    fn a_message_without_end_is_cut() {
        assert!(mask(&"word ".repeat(10_000)).len() <= MESSAGE_LIMIT);
    }
}
