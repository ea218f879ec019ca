//! A run in plain words.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use fissure_model::with_version;

use crate::human_duration;
use crate::run::{Run, RunKind, RunState};

/// What was done and what came of it, a few sentences that need no other knowledge.
pub fn summary(run: &Run) -> Vec<String> {
    let totals = &run.totals;
    // Logs of early versions say nothing about time.
    let time = match Duration::try_from_secs_f64(totals.seconds) {
        Ok(time) if !time.is_zero() => format!(" in {}", human_duration(time)),
        _ => String::new(),
    };
    let mut sentences = Vec::new();
    let library = with_version(&run.info.library, &run.info.library_version);
    match run.info.kind {
        RunKind::Scan => sentences.push(format!(
            "The program was run {}{time} with {library}.",
            counted(totals.inputs, "time")
        )),
        RunKind::Fuzz => {
            let rate = match totals.inputs_per_second {
                Some(rate) if totals.seconds >= 1.0 => format!(" ({rate:.0} per second)"),
                _ => String::new(),
            };
            sentences.push(format!(
                "{} tried on {} of {library}{time}{rate}.",
                plural_verb(totals.inputs, "input"),
                counted(totals.apis, "API"),
            ));
        }
    }
    sentences.push(found(run));
    if let Some(percent) = totals.conforming_percent {
        sentences.push(format!(
            "Of the inputs that were meant to be valid, {percent:.1} % were accepted in the mean \
             over APIs."
        ));
    }
    match run.info.state {
        RunState::Finished => {}
        RunState::Interrupted => sentences.push("The run was ended early.".to_owned()),
        RunState::Unfinished => {
            sentences.push("The run has not ended: it is under way, or was killed.".to_owned());
        }
    }
    sentences
}

fn found(run: &Run) -> String {
    let totals = &run.totals;
    let mut text = match totals.findings {
        0 => "No failure was found".to_owned(),
        findings => {
            let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
            for finding in run.counted() {
                *kinds.entry(&finding.kind).or_default() += 1;
            }
            let mut kinds: Vec<(&str, u64)> = kinds.into_iter().collect();
            kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            let kinds: Vec<String> = kinds
                .into_iter()
                .map(|(kind, count)| counted_kind(count, kind))
                .collect();
            format!(
                "{} found: {}",
                plural_verb(findings, "distinct failure"),
                kinds.join(", ")
            )
        }
    };
    if totals.flaky > 0 {
        text.push_str(&format!(
            "; {} did not fail in every fresh process",
            totals.flaky
        ));
    }
    if totals.notes > 0 {
        text.push_str(&format!(
            "; {} not counted",
            if totals.notes == 1 {
                "1 note is".to_owned()
            } else {
                format!("{} notes are", grouped(totals.notes))
            }
        ));
    }
    text.push('.');
    text
}

/// `1 crash`, `2 hangs`, `3 wrong results`.
fn counted_kind(count: u64, kind: &str) -> String {
    match kind {
        "crash" if count != 1 => format!("{} crashes", grouped(count)),
        "exit" => counted(count, "end") + " of the process",
        "timeout" => counted(count, "hang"),
        "out-of-memory" => counted(count, "exhausted memory limit"),
        "nan" => counted(count, "unexplained NaN"),
        "fatal" => counted(count, "fatal exception"),
        "unstable" => counted(count, "unstable place"),
        kind => counted(count, &kind.replace('-', " ")),
    }
}

/// A text of a target as it can be shown on a terminal: sequences that move the cursor, change the title
/// or answer in the user's name become visible characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmless = |character: char| match character {
        '\n' | '\t' => true,
        // Marks that turn the direction of a line hide what it says.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        other => !other.is_control(),
    };
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if harmless(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    Cow::Owned(shown)
}

/// The text with its first word in colour, where that word says what the line is.
pub fn first_word_painted(text: &str) -> Cow<'_, str> {
    let end = text.find([' ', '\n']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let color = match word {
        "FOUND" | "error:" => "1;31",
        "warning:" => "33",
        "note" | "note:" => "36",
        _ => return Cow::Borrowed(text),
    };
    Cow::Owned(format!("\u{1b}[{color}m{word}\u{1b}[0m{rest}"))
}

/// `1 input`, `10,500 inputs`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

fn plural_verb(count: u64, noun: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(count, noun))
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_nouns_have_their_plural() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "input"), "1 input");
        assert_eq!(plural_verb(2, "input"), "2 inputs were");
    }

    #[test]
    fn escape_sequences_of_a_target_do_not_reach_a_terminal() {
        let hostile = "a\u{1b}]0;title\u{7}b\u{9b}2Jc\rd\u{202e}e";
        let shown = printable(hostile);
        assert!(!shown.chars().any(char::is_control), "{shown}");
        assert!(shown.contains("\\u{1b}]0;title"), "{shown}");
        assert_eq!(printable("plain é\n\ttext"), "plain é\n\ttext");
    }
}
