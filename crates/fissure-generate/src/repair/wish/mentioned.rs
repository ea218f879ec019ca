//! Which parameter a rejection speaks of.

use std::sync::LazyLock;

use regex::Regex;

use super::QUOTED;

pattern!(
    POSITION,
    r"(?i)(?:\(position |argument #|arg #|argument )(\d+)"
);
// "input #1(zero-based) was expected to be a float tensor".
pattern!(PLACE, r"(?i)input #?(\d+) ?\(zero-based\)");

/// The parameter that a message speaks of: in quotes before bare, by position last.
pub(super) fn mentioned<'a>(message: &str, params: &[&'a str]) -> Option<&'a str> {
    let quoted = QUOTED.captures_iter(message).find_map(|found| {
        let name = found.get(1)?.as_str();
        params.iter().find(|param| **param == name)
    });
    // "kernel size should be greater than zero" for `kernel_size`.
    let spaced = || {
        let lower = message.to_lowercase();
        let mut long = params
            .iter()
            .filter(|param| param.contains('_') && param.len() >= 6);
        long.find(|param| lower.contains(&param.to_lowercase().replace('_', " ")))
    };
    let bare = || {
        let words = message.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words
            .filter(|word| word.len() >= 3)
            .find_map(|word| params.iter().find(|param| **param == word))
    };
    // "LU_pivots" is spoken of as "pivots", `sizes` in the name of what it is handed on as: 'ksizes'.
    let part = || {
        let words = message.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let long = words.filter(|word| word.len() >= 5).take(12);
        long.into_iter().find_map(|word| {
            let alike = |param: &&&str| {
                param.rsplit('_').next() == Some(word) && **param != word
                    || param.len() >= 5 && word.ends_with(**param)
            };
            let mut found = params.iter().filter(alike);
            let first = found.next()?;
            found.next().is_none().then_some(first)
        })
    };
    let placed = || {
        let number = |pattern: &Regex| -> Option<usize> {
            pattern.captures(message)?.get(1)?.as_str().parse().ok()
        };
        match number(&PLACE) {
            Some(place) => params.get(place),
            None => params.get(number(&POSITION)?.checked_sub(1)?),
        }
    };
    quoted
        .or_else(bare)
        .or_else(spaced)
        .or_else(part)
        .or_else(placed)
        .copied()
}
