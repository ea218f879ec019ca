//! What a rejection says of whole shapes: that they must agree, and how they end.

use std::sync::LazyLock;

use regex::Regex;

use super::{Want, Wish, add};

// "[2,3] vs. [4]", "(2, 3) (4,)", "torch.Size([2, 3])".
pattern!(
    SHAPE,
    r"\[((?:\d+(?:, ?\d+)*)?)\]|\(((?:\d+, ?)+(?:\d+)?)\)|\b(\d+(?:x\d+)+)\b"
);
pattern!(
    DISAGREE,
    r"(?i)\b(?:match|equal|incompatible|compatible|broadcast\w*|same|mismatch\w*|aligned|agree|multiplied|differ\w*|inconsistent|vs\.?|conform\w*)\b"
);
// "must be a matrix with 2 columns", "must have 3 channels".
pattern!(
    LAST,
    r"(?i)\b(\d+) (?:columns?|channels?)\b|\b(?:last|inner(?:most)?|trailing|final) (?:dim(?:ension)?|axis)(?: size)?(?: of \w+)?(?: (?:must|should|to|has to|needs to|of|is))?(?: be| have)?(?: of)?(?: size| length)?(?: equal to| exactly)?:? ?(\d+)"
);
// "crops should have shape [2,2] instead of [3]".
pattern!(
    WANTED,
    r"(?i)(?:must|should|to) (?:have|be of|be)(?: the)? shape:? ?\[(\d+(?:, ?\d+)*)\]"
);
// "mat1 and mat2 shapes cannot be multiplied (16x4 and 64x64)": rows may be several dimensions taken together.
pattern!(
    MULTIPLIED,
    r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"
);
// "expected input[2, 3, 4, 5] to have 8 channels, but got 3 channels instead".
pattern!(
    TO_HAVE,
    r"(?i)\bto have (\d+) [a-z]+,? but (?:got|it has|has|found) (\d+)"
);
pattern!(UNPACKED, r"values to unpack \(expected (?:at least )?(\d)");

/// Larger shapes are not made to agree.
const LARGEST_RANK: usize = 8;
const LARGEST_SIZE: u64 = 256;
const LARGEST_NAMED: i64 = 4096;

/// Two shapes in a message about what does not agree.
pub(super) fn two_shapes(message: &str, found: &mut Vec<Wish>) {
    if !DISAGREE.is_match(message) {
        return;
    }
    let mut shapes = SHAPE.captures_iter(message).filter_map(|captures| {
        let text = captures.iter().skip(1).flatten().next()?.as_str();
        let sizes = text.split([',', 'x']).map(str::trim);
        let sizes = sizes.filter(|size| !size.is_empty());
        let sizes: Option<Vec<u64>> = sizes.map(|size| size.parse().ok()).collect();
        sizes.filter(|sizes| sizes.len() <= LARGEST_RANK)
    });
    let Some(one) = shapes.next() else {
        return;
    };
    if let Some(other) = shapes.find(|shape| *shape != one) {
        add(found, None, Want::Agree { one, other });
    }
}

/// The shape that one tensor is to have.
pub(super) fn whole(message: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let Some(captures) = WANTED.captures(message) else {
        return;
    };
    let sizes = captures[1].split(',').map(|size| size.trim().parse());
    if let Ok(sizes) = sizes.collect::<Result<Vec<u64>, _>>()
        && sizes.len() <= LARGEST_RANK
        && sizes.iter().all(|size| *size <= LARGEST_SIZE)
    {
        add(found, about, Want::Shape(sizes));
    }
}

/// A size that is named together with the one that was got, in words that say which is which.
pub(super) fn named(message: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let number = |text: &str| text.parse().ok().filter(|size| *size <= LARGEST_NAMED);
    if let Some(captures) = MULTIPLIED.captures(message)
        && let (Some(from), Some(to)) = (number(&captures[1]), number(&captures[2]))
        && from != to
    {
        add(found, about, Want::Last(to as u64));
        add(found, about, Want::Number { from, to });
    }
    if let Some(captures) = TO_HAVE.captures(message)
        && let (Some(to), Some(from)) = (number(&captures[1]), number(&captures[2]))
        && from != to
    {
        add(found, about, Want::Number { from, to });
    }
}

/// How large the last dimension is to be.
pub(super) fn last(wanted: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let Some(captures) = LAST.captures(wanted) else {
        return;
    };
    let digits = captures.iter().skip(1).flatten().next();
    if let Some(size) = digits.and_then(|digits| digits.as_str().parse().ok()) {
        add(found, about, Want::Last(size));
    }
}

/// Python takes a list apart, or the shape of a tensor.
pub(super) fn unpacked(message: &str, found: &mut Vec<Wish>) {
    if let Some(captures) = UNPACKED.captures(message)
        && let Ok(count) = captures[1].parse()
    {
        add(found, None, Want::Rank(vec![count]));
        add(found, None, Want::Length(count));
    }
}

pub(super) fn shapes(lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    if lower.contains("square") {
        add(found, about, Want::Square);
    } else if lower.contains("same shape")
        || lower.contains("same size")
        || lower.contains("shapes must match")
        || lower.contains("not broadcastable")
        || lower.contains("incompatible shapes")
        || lower.contains("same dimensions")
        || lower.contains("equal size")
        || lower.contains("shape mismatch")
        || lower.contains("shapes do not match")
    {
        add(found, None, Want::SameShape);
    }
}
