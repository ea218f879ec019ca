//! A finding as the text of a bug report, in the shape that the library's own form asks for.

mod basis;
mod title;

use fissure_model::{Finding, Outcome, OutcomeKind};

use crate::crash_reason::crash_reason;
use crate::failure::report_of;
use crate::script::snippet;
use crate::umbrella::Umbrella;
use basis::basis;
use title::title;

/// Longest part of the log that is quoted.
const LOG_LIMIT: usize = 3000;

/// `issue.md`. Whoever files it reads it first: a report that nobody understood is worth nothing to
/// those who get it.
pub fn issue(finding: &Finding) -> String {
    match finding.api.package.as_str() {
        "tensorflow" => tensorflow(finding),
        _ => pytorch(finding),
    }
}

fn observed(finding: &Finding) -> String {
    if let Some(report) = report_of(&finding.verdict, &finding.execution)
        && finding.verdict.kind == OutcomeKind::WrongResult
    {
        return fenced("text", report.observed.trim());
    }
    match &finding.execution.outcome {
        Outcome::Rejected(error) | Outcome::Fatal(error) | Outcome::NotBuilt(error) => {
            let message: String = error.message.chars().take(LOG_LIMIT).collect();
            fenced("text", &format!("{}: {}", error.class, message.trim()))
        }
        Outcome::Crash { .. } => format!(
            "The process dies of {}{}.",
            finding.verdict.detail,
            crash_reason(finding)
        ),
        Outcome::Exit { .. } => format!("The process ends: {}.", finding.verdict.detail),
        Outcome::Timeout => format!("No result after {:.0?}.", finding.execution.duration),
        Outcome::OutOfMemory => "Memory grows until the process is ended.".to_owned(),
        Outcome::Corruption => "Memory of the process is overwritten.".to_owned(),
        Outcome::Accepted { .. } => "The result holds NaN.".to_owned(),
    }
}

fn expected(finding: &Finding) -> String {
    if let Some(report) = report_of(&finding.verdict, &finding.execution)
        && finding.verdict.kind == OutcomeKind::WrongResult
    {
        let why = basis(finding);
        let gap = if why.is_empty() { "" } else { "\n\n" };
        return format!("{}{gap}{why}", fenced("text", report.expected.trim()));
    }
    match finding.verdict.kind {
        OutcomeKind::Crash | OutcomeKind::Exit => {
            "A result, or an exception that says what is wrong with the arguments."
        }
        OutcomeKind::Timeout => "A result or an exception in reasonable time.",
        OutcomeKind::OutOfMemory => "A result or an exception in reasonable memory.",
        OutcomeKind::Nan => "A result without NaN, or an exception.",
        _ => "An exception that says what is wrong with the arguments, or a result.",
    }
    .to_owned()
}

/// What was found out by changing arguments and running again.
fn notes(finding: &Finding) -> String {
    let interest = finding.interest();
    let mut text = format!(
        "Class: {} (rank {}).\n\n",
        interest.label(),
        interest.rank()
    );
    if let Some(umbrella) = Umbrella::of(finding) {
        text.push_str(&format!("{}\n\n", umbrella.sentence()));
    }
    if !finding.roles.is_empty() {
        text.push_str("Each argument changed alone:\n\n");
        for role in &finding.roles {
            text.push_str(&format!("- `{}`: {}\n", role.parameter, role.tried));
        }
        text.push('\n');
    }
    if !finding.also_through.is_empty() {
        let names: Vec<String> = finding
            .also_through
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        text.push_str(&format!("The same through {}.\n\n", names.join(", ")));
    }
    if !finding.folded.is_empty() {
        text.push_str(&format!(
            "Found in {} other ways that have the same cause.\n\n",
            finding.folded.len()
        ));
    }
    if !finding.also_by.is_empty() {
        let reports: Vec<String> = finding
            .also_by
            .iter()
            .map(|(oracle, detail)| format!("{oracle} ({detail})"))
            .collect();
        text.push_str(&format!(
            "Other checks of the same input fail, too: {}.\n\n",
            reports.join(", ")
        ));
    }
    for remark in &finding.remarks {
        text.push_str(&format!("{remark}\n\n"));
    }
    if let Some(tried) = finding.reproduction {
        text.push_str(&format!(
            "Fails in {} of {} fresh processes.\n\n",
            tried.failures, tried.runs
        ));
    }
    text
}

/// The end of the log, and the native frames.
fn log(finding: &Finding) -> Option<String> {
    let mut text = String::new();
    if !finding.execution.native_frames.is_empty() {
        text.push_str("native frames, innermost first:\n");
        for frame in finding.execution.native_frames.iter().take(12) {
            text.push_str(&format!("  {frame}\n"));
        }
    }
    if let Some(log) = &finding.execution.log {
        let start = log.ceil_char_boundary(log.len().saturating_sub(LOG_LIMIT));
        text.push_str(log[start..].trim());
        text.push('\n');
    }
    (!text.is_empty()).then_some(text)
}

fn fact<'a>(finding: &'a Finding, name: &str) -> &'a str {
    finding
        .environment
        .iter()
        .find(|(known, _)| known == name)
        .map_or("unknown", |(_, value)| value)
}

fn versions(finding: &Finding) -> String {
    let mut text = String::new();
    if finding.environment.is_empty() {
        text.push_str(&format!(
            "{}: {}\nPython: {}\n",
            finding.api.package, finding.library_version, finding.python_version
        ));
    }
    for (name, value) in &finding.environment {
        text.push_str(&format!("{name}: {value}\n"));
    }
    text
}

/// A block of code whose fence is longer than any in the text: nothing in it ends the block.
fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// Notes are not made small, nor is what came too late for it: the report does not say so then.
fn how_found(finding: &Finding) -> &'static str {
    if finding.unshrunk.is_some() || !finding.roles.is_empty() {
        "Found with Fissure, a fuzzer: the arguments were generated and then made as small as \
         possible. The script below needs nothing of it."
    } else {
        "Found with Fissure, a fuzzer: the arguments were generated, and no smaller ones were \
         looked for or found. The script below needs nothing of it."
    }
}

/// The form of PyTorch; also for libraries whose form is not known.
fn pytorch(finding: &Finding) -> String {
    let mut text = format!(
        "# {}\n\n### 🐛 Describe the bug\n\n{}\n\n{}\n\n\
         **Observed**\n\n{}\n\n**Expected**\n\n{}\n\n{}",
        title(finding),
        how_found(finding),
        fenced("python", &snippet(finding)),
        observed(finding),
        expected(finding),
        notes(finding)
    );
    if let Some(log) = log(finding) {
        text.push_str(&format!("### Error logs\n\n{}\n\n", fenced("text", &log)));
    }
    text.push_str(&format!(
        "### Versions\n\n{}\n",
        fenced("text", &versions(finding))
    ));
    if finding.api.package == "torch" {
        text.push_str(
            "\nBefore filing: search for the same failure, try the nightly build, and replace this \
             block by the output of `python -m torch.utils.collect_env`.\n",
        );
    }
    text
}

/// The form of TensorFlow.
fn tensorflow(finding: &Finding) -> String {
    let log = log(finding).unwrap_or_else(|| "(none)\n".to_owned());
    format!(
        "# {}\n\n\
         ### Issue type\n\nBug\n\n\
         ### Have you reproduced the bug with TensorFlow Nightly?\n\nNo\n\n\
         ### Source\n\nbinary\n\n\
         ### TensorFlow version\n\n{}\n\n\
         ### Custom code\n\nYes\n\n\
         ### OS platform and distribution\n\n{} ({})\n\n\
         ### Python version\n\n{}\n\n\
         ### GPU model and memory\n\n{}\n\n\
         ### Current behavior?\n\n{}\n\nObserved:\n\n{}\n\nExpected:\n\n{}\n\n{}\
         ### Standalone code to reproduce the issue\n\n{}\n\n\
         ### Relevant log output\n\n{}\n",
        title(finding),
        finding.library_version,
        fact(finding, "OS"),
        fact(finding, "Platform"),
        finding.python_version,
        fact(finding, "GPU"),
        how_found(finding),
        observed(finding),
        expected(finding),
        notes(finding),
        fenced("python", &snippet(finding)),
        fenced("text", &log),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_its_block() {
        assert_eq!(fenced("text", "a"), "```text\na\n```");
        assert_eq!(fenced("text", "a\n```\nb"), "````text\na\n```\nb\n````");
        assert_eq!(fenced("text", "``````"), "```````text\n``````\n```````");
    }
}
