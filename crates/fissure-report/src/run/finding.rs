//! One finding, ready to be shown.

use std::fs;
use std::path::Path;

use fissure_model::{Argument, Confidence, Finding, Intent, Outcome, OutcomeKind, Reproduction};
use fissure_triage::{TriageError, crash_reason, read_finding, report_of};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The end of a log that is shown.
const LOG_BYTES: usize = 4000;

/// How much a finding should worry its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A failure with everything a person needs to judge, repeat and file it.
#[derive(Clone, Debug, Serialize)]
pub struct ReportedFinding {
    pub id: String,
    /// The API; for a scan the function that fails.
    pub api: String,
    /// `crash`, `wrong-result`, …; for a scan `unstable`.
    pub kind: String,
    pub oracle: String,
    /// What tells it from others of its kind: `SIGFPE`, `RuntimeError`.
    pub detail: String,
    pub level: Level,
    /// How sure the verdict is; for a scan its severity.
    pub confidence: String,
    /// Listed, not counted.
    pub note: bool,
    pub flaky: bool,
    /// One line that tells it from others.
    pub title: String,
    /// The call in one line.
    pub call: String,
    pub arguments: Vec<ReportedArgument>,
    pub observed: String,
    pub expected: String,
    /// What else is known, a sentence each.
    pub explanation: Vec<String>,
    /// What to look at or to change first, if that is known; only of a scan.
    pub advice: Option<String>,
    /// It was not seen again when its script was run, or its script was not run.
    pub unconfirmed: bool,
    pub also_through: Vec<String>,
    pub reproduction: Option<Reproduction>,
    /// Seconds of work after which it was first met; making it smaller and confirming it came later.
    pub found_after: Option<f64>,
    pub library: String,
    pub library_version: String,
    pub python_version: String,
    /// Where in the user's own program; only of a scan.
    pub location: Option<Location>,
    /// A change to the user's program that was checked; only of a scan.
    pub fix: Option<Fix>,
    /// `reproduce.py`.
    pub script: String,
    /// `issue.md`.
    pub issue: String,
    /// The end of what the process wrote.
    pub log: String,
    /// Native frames of the crashed thread, innermost first.
    pub frames: Vec<String>,
    /// The finding's folder, below the run's.
    pub folder: String,
    /// The same for the same failure in every run and on every machine.
    pub fingerprint: String,
}

/// One argument, and what it has to do with the failure.
#[derive(Clone, Debug, Serialize)]
pub struct ReportedArgument {
    pub name: String,
    pub value: String,
    /// Whether the failure goes away when it alone is changed; unknown when that was not tried.
    pub matters: Option<bool>,
    pub tried: String,
    /// The first of its numbers, where they are known.
    pub values: Vec<String>,
}

impl ReportedFinding {
    /// What is said below the title: the sentence of a scan, which knows more than its call does; else the call.
    pub fn lead(&self) -> &str {
        match self.explanation.first() {
            Some(sentence) if self.location.is_some() => sentence,
            _ => &self.call,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Location {
    pub file: String,
    pub line: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct Fix {
    pub title: String,
    pub diff: String,
}

/// Reads the finding in `folder`, which lies below the run's.
pub(super) fn read(run: &Path, folder: &Path) -> Result<ReportedFinding, TriageError> {
    let finding = read_finding(folder)?;
    let text = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|source| TriageError::Io {
            action: "read",
            path,
            source,
        })
    };
    let issue = text("issue.md")?;
    Ok(ReportedFinding {
        script: text("reproduce.py")?,
        folder: below(run, folder),
        title: title(&finding, &issue),
        issue,
        ..shown(finding)
    })
}

/// A path below the run's folder, as text.
pub(super) fn below(run: &Path, path: &Path) -> String {
    path.strip_prefix(run).unwrap_or(path).display().to_string()
}

/// The bug report begins with it.
fn title(finding: &Finding, issue: &str) -> String {
    match issue
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("# "))
    {
        Some(title) => title.to_owned(),
        None => format!("{}: {}", finding.api.title, finding.verdict.detail),
    }
}

fn shown(finding: Finding) -> ReportedFinding {
    let (observed, expected) = what_happened(&finding);
    let note = finding.is_note();
    let level = match finding.verdict.confidence {
        _ if note => Level::Note,
        Confidence::Crash | Confidence::InternalError | Confidence::Contract => Level::Error,
        Confidence::Numeric | Confidence::Performance => Level::Warning,
        Confidence::Documentation => Level::Note,
    };
    let log = finding.execution.log.as_deref().unwrap_or_default();
    let log = &log[log.ceil_char_boundary(log.len().saturating_sub(LOG_BYTES))..];
    ReportedFinding {
        api: finding.api.title.clone(),
        kind: finding.verdict.kind.name().to_owned(),
        oracle: finding.verdict.oracle.to_string(),
        detail: finding.verdict.detail.clone(),
        level,
        confidence: confidence_name(finding.verdict.confidence).to_owned(),
        note,
        flaky: finding
            .reproduction
            .is_some_and(|tried| tried.runs > 0 && !tried.is_stable()),
        title: String::new(),
        call: format!("{}{}", finding.api.title, finding.input.summary()),
        arguments: arguments(&finding),
        observed,
        expected,
        explanation: explanation(&finding),
        advice: None,
        unconfirmed: finding.reproduction.is_none_or(|tried| tried.failures == 0),
        reproduction: finding.reproduction,
        found_after: None,
        library: finding.api.package.clone(),
        library_version: finding.library_version,
        python_version: finding.python_version,
        location: None,
        fix: None,
        script: String::new(),
        issue: String::new(),
        log: log.to_owned(),
        frames: finding.execution.native_frames,
        folder: String::new(),
        fingerprint: fingerprint(&finding.signature),
        also_through: finding.also_through,
        id: finding.id,
    }
}

/// A hash of what makes two failures the same.
pub(super) fn fingerprint(signature: &str) -> String {
    Sha256::digest(signature)
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn confidence_name(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Crash => "crash",
        Confidence::InternalError => "internal-error",
        Confidence::Contract => "contract",
        Confidence::Numeric => "numeric",
        Confidence::Performance => "performance",
        Confidence::Documentation => "documentation",
    }
}

fn arguments(finding: &Finding) -> Vec<ReportedArgument> {
    let shown = |prefix: &str, argument: &Argument| {
        let name = format!("{prefix}{}", argument.name);
        let role = finding.roles.iter().find(|role| role.parameter == name);
        ReportedArgument {
            value: argument.brief(),
            matters: role.map(|role| role.matters),
            tried: role.map_or_else(String::new, |role| role.tried.clone()),
            values: Vec::new(),
            name,
        }
    };
    let own = finding.input.arguments.iter().map(|one| shown("", one));
    let layer = finding.input.layer_arguments.iter().flatten();
    own.chain(layer.map(|one| shown("call.", one))).collect()
}

/// What was seen, and what would be right.
fn what_happened(finding: &Finding) -> (String, String) {
    if finding.verdict.kind == OutcomeKind::WrongResult
        && let Some(report) = report_of(&finding.verdict, &finding.execution)
    {
        return (report.observed.clone(), report.expected.clone());
    }
    let detail = &finding.verdict.detail;
    let observed = match &finding.execution.outcome {
        Outcome::Rejected(error) | Outcome::Fatal(error) | Outcome::NotBuilt(error) => {
            format!("{}: {}", error.class, error.message.trim())
        }
        Outcome::Crash { .. } => {
            format!("The process dies of {detail}{}.", crash_reason(finding))
        }
        Outcome::Exit { .. } => format!("The process ends: {detail}."),
        Outcome::Timeout => format!(
            "No result after {}.",
            crate::human_duration(finding.execution.duration)
        ),
        Outcome::OutOfMemory => "Memory grows until the process is ended.".to_owned(),
        Outcome::Corruption => "Memory of the process is overwritten.".to_owned(),
        Outcome::Accepted { .. } => "The result holds NaN.".to_owned(),
    };
    let expected = match finding.verdict.kind {
        OutcomeKind::Timeout => "A result or an exception in reasonable time.",
        OutcomeKind::OutOfMemory => "A result or an exception in reasonable memory.",
        OutcomeKind::Nan => "A result without NaN, or an exception.",
        _ => "A result, or an exception that says what is wrong with the arguments.",
    };
    (observed, expected.to_owned())
}

fn explanation(finding: &Finding) -> Vec<String> {
    let mut sentences = Vec::new();
    match finding.reproduction {
        Some(tried) if tried.runs == 0 => {}
        Some(tried) => sentences.push(format!(
            "Its script failed in {} of {} fresh processes.",
            tried.failures, tried.runs
        )),
        None => sentences.push("Its script was not tried in a fresh process.".to_owned()),
    }
    if let Intent::Violate { param, category } = &finding.input.intent {
        sentences.push(format!(
            "The input was made to break the {category} of `{param}`."
        ));
    }
    for mutation in &finding.input.mutations {
        let mutator = mutation.mutator.name().replace('_', " ");
        sentences.push(format!("Boundary case: {mutator} in `{}`.", mutation.param));
    }
    if finding.unshrunk.is_some() {
        sentences.push("The input was made smaller; unshrunk.json has the first one.".to_owned());
    }
    sentences.extend(finding.remarks.iter().cloned());
    sentences
}
