//! What ended a process, in the words of its runtime or by the function in which it died.

use fissure_model::{Finding, OutcomeKind};

use crate::frames::{end_of_log, last_words};

/// Longest reason: it stands in one line with the API.
const LONGEST: usize = 120;

/// `: Check failed: 1 == NumElements() (1 vs. 2)` or ` in at::native::pool_out`, to be put behind the
/// signal; empty when nothing is known.
pub fn crash_reason(finding: &Finding) -> String {
    if finding.verdict.kind != OutcomeKind::Crash {
        return String::new();
    }
    let said = finding.execution.log.as_deref().map(end_of_log);
    if let Some(words) = said.and_then(last_words) {
        return format!(": {}", shortened(&words));
    }
    let native = finding
        .signature
        .lines()
        .find_map(|line| line.strip_prefix("native "));
    native.map_or_else(String::new, |function| {
        format!(" in {}", shortened(&without_templates(function)))
    })
}

/// `at::native::sort` of `at::native::sort<float, 2>`.
fn without_templates(function: &str) -> String {
    let mut depth = 0_usize;
    let mut found = String::new();
    for letter in function.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => found.push(letter),
            _ => {}
        }
    }
    found
}

fn shortened(text: &str) -> String {
    let one_line: Vec<&str> = text.split_whitespace().collect();
    let mut short: String = one_line.join(" ");
    if short.chars().count() > LONGEST {
        short = short.chars().take(LONGEST - 1).collect();
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_without_what_it_was_compiled_for() {
        assert_eq!(
            without_templates("at::native::f<float, std::vector<int>>::call"),
            "at::native::f::call"
        );
    }

    #[test]
    fn a_reason_is_one_short_line() {
        assert_eq!(shortened(" a\n  b "), "a b");
        let long = shortened(&"x".repeat(500));
        assert_eq!(long.chars().count(), LONGEST);
        assert!(long.ends_with('…'));
    }
}
