//! What a rejection says of elements: their order, their range, and that types must agree.

use std::sync::LazyLock;

use regex::Regex;

use super::{Want, Wish, add};

// "indices[0] = 5 is not in [0, 3)".
pattern!(
    NOT_IN,
    r"(?i)(?:not|must be|should be|expected to be) (?:with)?in(?: the)?(?: range)?:? ?(?:of )?\[ ?(-?\d+), ?(-?\d+) ?([)\]])"
);
pattern!(
    OUT_OF,
    r"(?i)\bout[ -]of[ -](?:range|bounds?)\b|\bindex(?:es)? too large|\binvalid (?:index|indices)\b"
);
pattern!(
    ORDER,
    r"(?i)\bnot (?:increasing|sorted|monotonic|in (?:increasing|ascending|order))|\b(?:sorted|non-?decreasing|monotonic(?:ally)?(?: increasing)?|ascending|increasing order)\b|\w\[0\] ?<=? ?\w+\[1\]"
);
pattern!(
    SAME_TYPE,
    r"(?i)\bsame (?:d|data ?|scalar ?|element ?)?types?\b|\bdtypes? (?:do not|don't|must|should) match|\btypes? mismatch|\bmismatch(?:ed|ing) (?:d|data ?)?types?"
);

pub(super) fn elements(message: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    if let Some(range) = NOT_IN.captures(message)
        && let (Ok(least), Ok(most)) = (range[1].parse::<i64>(), range[2].parse::<i64>())
    {
        let open = i64::from(&range[3] == ")");
        add(found, about, Want::AtMost(most.saturating_sub(open)));
        add(found, about, Want::AtLeast(least));
    } else if OUT_OF.is_match(message) {
        add(found, about, Want::Small);
    }
    if ORDER.is_match(message) {
        add(found, about, Want::Ordered);
    }
    if SAME_TYPE.is_match(message) {
        add(found, None, Want::SameDtype);
    }
}
