//! The folder of a scan: its `report.json`.

use std::fs;
use std::path::Path;

use fissure_model::{ChangedInput, CheckedFix, ScanFinding, ScanResults, Severity};

use super::finding::{below, fingerprint};
use super::reader::name_of;
use super::{
    Fix, Level, Location, ReportedArgument, ReportedFinding, Run, RunError, RunInfo, RunKind,
    RunState,
};
use crate::words;

/// The scan in this folder, if it is one.
pub(super) fn read(folder: &Path) -> Result<Option<Run>, RunError> {
    let path = folder.join("report.json");
    if !path.exists() {
        return Ok(None);
    }
    let failed = |source| RunError::Read {
        path: path.clone(),
        source,
    };
    let text = fs::read(&path).map_err(failed)?;
    let report: ScanResults =
        serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
    let mut run = Run::new(info(folder, &report));
    run.totals.seconds = report.search_seconds;
    run.totals.inputs = report.runs;
    run.problems = report.problems.into_iter().map(|one| one.message).collect();
    let version = |library: &str| report.versions.get(library).cloned().unwrap_or_default();
    for (findings, note) in [(report.findings, false), (report.notes, true)] {
        for finding in findings {
            let mut shown = shown(folder, finding, note);
            shown.library_version = version(&shown.library);
            shown.python_version = version("python");
            run.findings.push(shown);
        }
    }
    run.totals.findings = run.counted().count() as u64;
    run.totals.notes = run.findings.len() as u64 - run.totals.findings;
    run.totals.seconds = report.search_seconds;
    Ok(Some(run))
}

fn info(folder: &Path, report: &ScanResults) -> RunInfo {
    let libraries: Vec<&String> = report
        .versions
        .keys()
        .filter(|name| *name != "python")
        .collect();
    // The program's own library is the one that is not NumPy, where it has another.
    let library = libraries
        .iter()
        .find(|name| **name != "numpy")
        .or(libraries.first())
        .map_or_else(String::new, |name| (*name).clone());
    RunInfo {
        kind: RunKind::Scan,
        state: if report.interrupted {
            RunState::Interrupted
        } else {
            RunState::Finished
        },
        name: name_of(folder),
        folder: folder.to_owned(),
        fissure_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: format!("fissure scan {}", report.target),
        library_version: report.versions.get(&library).cloned().unwrap_or_default(),
        library,
        python_version: report.versions.get("python").cloned().unwrap_or_default(),
        seed: None,
        workers: None,
        started: None,
        started_unix: None,
    }
}

fn shown(run: &Path, finding: ScanFinding, note: bool) -> ReportedFinding {
    let file = finding.site.file.display().to_string();
    let name = name_of(&finding.site.file);
    let place = format!("{name}:{}", finding.site.line);
    let level = match finding.severity {
        _ if note => Level::Note,
        Severity::Critical | Severity::High => Level::Error,
        Severity::Medium | Severity::Theoretical => Level::Warning,
    };
    let mut explanation = vec![format!(
        "Trigger level {}, severity {}; produced by {}.",
        finding.level, finding.severity, finding.producer
    )];
    if !finding.sentence.is_empty() {
        explanation.insert(0, finding.sentence);
    }
    let advice = match &finding.fix {
        Some(fix) => Some(format!("{place}: {}", fix.title)),
        None => finding.advice.clone(),
    };
    explanation.extend(finding.reason);
    explanation.extend(
        finding
            .hidden_by
            .map(|by| format!("Hidden by a later {by}.")),
    );
    if finding.training_steps > 0 {
        explanation.push(format!("After {} training steps.", finding.training_steps));
    }
    explanation.extend(finding.precondition.clone());
    explanation.extend(finding.fix.as_ref().map(|fix| fix.explanation.clone()));
    let script = fs::read_to_string(finding.folder.join("reproduce.py")).unwrap_or_else(|error| {
        format!(
            "# {} cannot be read: {error}\n",
            finding.folder.join("reproduce.py").display()
        )
    });
    let title = format!(
        "{} at {place} is numerically unstable ({})",
        finding.site.function, finding.oracle
    );
    let observed = finding.details.join("\n");
    ReportedFinding {
        api: finding.site.function.clone(),
        kind: "unstable".to_owned(),
        detail: finding.severity.to_string(),
        level,
        confidence: finding.severity.to_string(),
        note,
        flaky: false,
        call: format!("{} at {place}", finding.site.function),
        arguments: finding.input.into_iter().map(argument).collect(),
        issue: issue(&title, &observed, finding.fix.as_ref()),
        observed,
        expected: finding
            .precondition
            .unwrap_or_else(|| "A finite result that is right.".to_owned()),
        explanation,
        advice,
        unconfirmed: finding.reproduced == Some(false),
        also_through: Vec::new(),
        reproduction: None,
        found_after: finding.elapsed,
        library: finding.library,
        library_version: String::new(),
        python_version: String::new(),
        fix: finding.fix.map(|fix| Fix {
            title: fix.title,
            diff: fix.diff,
        }),
        script,
        log: String::new(),
        frames: Vec::new(),
        folder: below(run, &finding.folder),
        fingerprint: fingerprint(&format!(
            "{name} {} {} {}",
            finding.site.function, finding.oracle, finding.site.line
        )),
        location: Some(Location {
            file,
            line: finding.site.line,
        }),
        title,
        oracle: finding.oracle.to_string(),
        id: finding.id,
    }
}

fn argument((name, input): (String, ChangedInput)) -> ReportedArgument {
    let number = |value: Option<serde_json::Value>| match value {
        Some(serde_json::Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    };
    let changed = words::counted(input.elements_changed, "element");
    let tried = match input.words.is_empty() {
        false => format!("{}; {changed} changed", input.words),
        true => format!(
            "{changed} changed, values from {} to {}",
            number(input.smallest),
            number(input.largest)
        ),
    };
    let values = input.values.into_iter().map(|one| number(Some(one)));
    ReportedArgument {
        values: values.collect(),
        name,
        value: format!("{}{:?}", input.dtype, input.shape),
        matters: None,
        tried,
    }
}

fn issue(title: &str, observed: &str, fix: Option<&CheckedFix>) -> String {
    let mut text = format!("# {title}\n\n{observed}\n");
    if let Some(fix) = fix {
        text.push_str(&format!(
            "\nFix (checked): {}\n\n```diff\n{}```\n",
            fix.title, fix.diff
        ));
    }
    text
}
