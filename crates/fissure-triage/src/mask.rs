//! What of a message belongs to the failure, and what to the one input that showed it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use sha2::{Digest, Sha256};

/// Longest masked message kept in a signature.
const MESSAGE_LIMIT: usize = 300;

/// Longest part of a raw message that is looked at: masking shortens, and signatures are cut.
const RAW_LIMIT: usize = 2 * MESSAGE_LIMIT;

/// Alternatives in order: what is kept (a position in source code tells two assertions apart),
/// then what is masked. ASCII throughout, which keeps the search in the fast automaton.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?-u)[\w./+-]+\.(?:cpp|cc|cxx|cu|cuh|c|hpp|h|pyx|py)"?(?::|, line |\()\d+"#,
        r"|0x[0-9a-fA-F]+",
        r"|\[\s*\]|[\[(]\s*[-+]?(?:\d|inf|nan)[\d\s,.xeEinfa+-]*[\])]",
        r"|[-+]?\b(?:\d+(?:x\d+)+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)\b",
        r"|\b(?:torch\.|tf\.|numpy\.|np\.)?(?:",
        r"q?u?int(?:8|16|32|64)|bfloat16|float(?:16|32|64|8_\w+)|complex(?:32|64|128)",
        r"|BFloat16|Float8_\w+|Complex(?:Half|Float|Double)|Float|Double|Half|Long|Int|Short",
        r"|Char|Byte|Bool|UInt(?:16|32|64)|Q?U?Int(?:8|32))\b",
    ))
    .expect("a constant pattern that the tests use")
});

/// What stands for one match of [`VARIABLE`]. Told by its first characters instead of by capture
/// groups, which cost several times the search itself.
fn mask_of(found: &str) -> Option<&'static str> {
    let first = found.as_bytes()[0];
    match first {
        _ if found.starts_with("0x") => Some("0x*"),
        b'[' | b'(' => Some("[*]"),
        // Of the alternatives only a position in source code ends in a number after one of these.
        _ if found.contains([':', '(', ' ']) => None,
        b'0'..=b'9' | b'-' | b'+' => Some("*"),
        _ if found == "nan" || found == "inf" => Some("*"),
        _ => Some("<dtype>"),
    }
}

/// The message without the numbers, addresses, shapes and element types of one input, in one line:
/// what is left says which failure it is, or which reason for a rejection.
pub fn mask(message: &str) -> String {
    // What follows is the native stack of that moment; frames are handled on their own.
    let message = message
        .split("Exception raised from")
        .next()
        .unwrap_or(message);
    let message = &message[..message.floor_char_boundary(RAW_LIMIT)];
    let mut masked = String::with_capacity(message.len());
    let mut done = 0;
    for found in VARIABLE.find_iter(message) {
        masked.push_str(&message[done..found.start()]);
        masked.push_str(mask_of(found.as_str()).unwrap_or_else(|| short_path(found.as_str())));
        done = found.end();
    }
    masked.push_str(&message[done..]);
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

/// The message says where in the library's source code it comes from.
pub(crate) fn names_source(message: &str) -> bool {
    VARIABLE
        .find_iter(message)
        .any(|found| mask_of(found.as_str()).is_none())
}

/// The part of a path that is the same on every machine: from the package on for installed files,
/// else the last two components.
pub(crate) fn short_path(path: &str) -> &str {
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

/// Longest part of a file's name: with what stands around it, file systems take 255 bytes.
const LONGEST: usize = 120;

/// Text of which every character is safe in a file's name, and readable.
pub(crate) fn plain_characters(text: &str) -> Cow<'_, str> {
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

/// Text that is safe and readable as a file's name or a part of one: never empty, hidden, too long, or the name of
/// a folder above.
pub fn file_name_part(text: &str) -> Cow<'_, str> {
    let part = plain_characters(text);
    if part.is_empty() || part.starts_with('.') {
        return file_name_part(&format!("_{part}")).into_owned().into();
    }
    if part.len() <= LONGEST {
        return part;
    }
    let digest = Sha256::digest(text);
    let mut short: String = digest[..4].iter().map(|it| format!("{it:02x}")).collect();
    short.push('-');
    // The end of a name says more than its beginning.
    short.push_str(&part[part.len() - (LONGEST - short.len())..]);
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_file_name_is_never_a_folder_above_nor_hidden_nor_too_long() {
        assert_eq!(file_name_part("torch.add"), "torch.add");
        assert_eq!(file_name_part("a b/c"), "a_b_c");
        assert_eq!(file_name_part(".."), "_..");
        assert_eq!(file_name_part(""), "_");
        assert_eq!(file_name_part("../../etc/passwd"), "_.._.._etc_passwd");
        let (one, other) = ("x".repeat(300), "x".repeat(301));
        assert_eq!(file_name_part(&one).len(), LONGEST);
        assert_ne!(file_name_part(&one), file_name_part(&other));
    }

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
