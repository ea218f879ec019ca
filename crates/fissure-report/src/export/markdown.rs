//! Markdown for a pull-request comment: short, with the details folded.

use std::fmt::Write;

use crate::run::{ReportedFinding, Run};
use crate::words;

/// Findings with details; the rest are counted. GitHub cuts comments at 65,536 characters.
const SHOWN: usize = 20;
const LIMIT: usize = 60_000;
const SCRIPT_LINES: usize = 80;

pub fn markdown(run: &Run) -> String {
    let mut text = String::new();
    let count = run.totals.findings;
    let title = match count {
        0 => "Fissure: no finding".to_owned(),
        count => format!("Fissure: {}", words::counted(count, "finding")),
    };
    let _ = writeln!(text, "### {title}\n");
    let _ = writeln!(text, "{}\n", escape(&words::summary(run).join(" ")));
    let mut left = 0;
    for (at, finding) in run.counted().enumerate() {
        let details = details(run, finding);
        if at >= SHOWN || text.len() + details.len() > LIMIT {
            left = count - at as u64;
            break;
        }
        text.push_str(&details);
    }
    if left > 0 {
        let _ = writeln!(
            text,
            "{} more: see the report of the run.\n",
            words::counted(left, "finding")
        );
    }
    for problem in run.problems.iter().take(5) {
        let _ = writeln!(text, "> {}", escape(&problem.replace('\n', " ")));
    }
    text
}

fn details(run: &Run, finding: &ReportedFinding) -> String {
    let mut text = String::new();
    let flaky = if finding.flaky { " (flaky)" } else { "" };
    let _ = writeln!(
        text,
        "<details><summary><b>{}</b> {}{flaky}</summary>\n",
        escape(&finding.kind),
        escape(&one_line(&finding.title))
    );
    let lead = one_line(finding.lead());
    let lead = match finding.location {
        Some(_) => escape(&lead),
        None => code(&lead),
    };
    let _ = writeln!(text, "{lead}\n");
    let _ = writeln!(
        text,
        "**Observed**\n\n{}",
        fenced("text", &finding.observed)
    );
    let _ = writeln!(
        text,
        "**Expected**\n\n{}",
        fenced("text", &finding.expected)
    );
    if let Some(fix) = &finding.fix {
        let _ = writeln!(text, "**Fix (checked)**\n\n{}", fenced("diff", &fix.diff));
    }
    let lines: Vec<&str> = finding.script.lines().take(SCRIPT_LINES).collect();
    let _ = writeln!(
        text,
        "**Reproducer** ({})\n\n{}",
        code(&run.script_of(finding).display().to_string()),
        fenced("python", &lines.join("\n"))
    );
    text.push_str("</details>\n\n");
    text
}

/// Text that is neither markup nor a mention of a person.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // An address or a mention would notify someone.
            '@' => safe.push_str("&#64;"),
            '*' | '_' | '`' | '[' | ']' | '\\' | '|' | '#' | '!' | '~' => {
                safe.push('\\');
                safe.push(character);
            }
            other => safe.push(other),
        }
    }
    safe
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text between as many backticks as it needs.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    format!("{ticks} {text} {ticks}")
}

/// A block that nothing in it can end.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_its_block() {
        assert_eq!(fenced("text", "a\n```\nb"), "````text\na\n```\nb\n````\n");
        assert_eq!(code("a``b"), "``` a``b ```");
        assert_eq!(escape("<b>@me"), "&lt;b&gt;&#64;me");
    }
}
