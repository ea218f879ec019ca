//! Fixes for findings: proposed from the source, checked by running, shown only when they pass.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use fissure_functions::{Unstable, functions};
use fissure_model::{CheckedFix, ScanFinding, ScanOracle};
use serde_json::json;

use super::event::Event;
use super::plan::Analysed;
use super::process::Runtime;
use super::report::ScanReport;
use crate::analysis::{Analysis, Site, analyse};
use crate::fix::{self, Fix};
use crate::registry::Registry;

/// Checks per finding; each runs the program twice.
const CHECKS: usize = 8;

/// A check runs the program twice; a silent runtime is given up after this.
const PATIENCE: Duration = Duration::from_secs(60);

/// The sources that findings are in, each read and analysed once.
pub(super) struct Sources<'a> {
    registry: &'a Registry,
    known: BTreeMap<PathBuf, Option<Source>>,
}

struct Source {
    text: String,
    analysis: Analysis,
}

impl<'a> Sources<'a> {
    pub(super) fn new(analysed: &Analysed, registry: &'a Registry) -> Sources<'a> {
        let mut known = BTreeMap::new();
        if let (Some(analysis), Some(text), Some(file)) =
            (&analysed.analysis, &analysed.source, &analysed.file)
        {
            let source = Source {
                text: text.clone(),
                analysis: analysis.clone(),
            };
            known.insert(file.clone(), Some(source));
        }
        Sources { registry, known }
    }

    /// None for a file that cannot be read or analysed: it gets advice instead of a fix.
    fn of(&mut self, file: &Path) -> Option<&Source> {
        let registry = self.registry;
        self.known
            .entry(file.to_owned())
            .or_insert_with(|| {
                let text = std::fs::read_to_string(file).ok()?;
                let analysis = analyse(&text, file, registry).ok()?;
                Some(Source { text, analysis })
            })
            .as_ref()
    }
}

/// Finds a checked fix, or a precondition, for each finding from the one numbered `first` on.
pub(super) fn check(
    sources: &mut Sources<'_>,
    report: &mut ScanReport,
    runtime: &mut Runtime,
    first: usize,
    deadline: Instant,
) {
    let mut alive = true;
    let mut findings = std::mem::take(&mut report.results.findings);
    for finding in findings.iter_mut().skip(first) {
        // What ends the process or never comes back is no formula to rewrite.
        let formula = !matches!(finding.oracle, ScanOracle::Crash | ScanOracle::Hang);
        if alive && formula && Instant::now() < deadline {
            alive = check_finding(sources, finding, report, runtime);
        }
        if finding.fix.is_none() {
            let advice = finding.advice.clone();
            finding.precondition = Some(advice.unwrap_or_else(|| precondition(finding)));
        }
    }
    report.results.findings = folded(findings, first);
}

/// What one edit repairs is one defect: the likelier finding stays and names the other places.
fn folded(findings: Vec<ScanFinding>, first: usize) -> Vec<ScanFinding> {
    let mut kept: Vec<ScanFinding> = Vec::new();
    for (number, finding) in findings.into_iter().enumerate() {
        let same = kept.iter_mut().skip(first).find(|other| {
            number >= first
                && other.target == finding.target
                && other.site.file == finding.site.file
                && match (&other.fix, &finding.fix) {
                    (Some(one), Some(two)) => one.diff == two.diff,
                    _ => false,
                }
        });
        match same {
            Some(other) => {
                other.same_cause.push(finding.site);
                other.same_cause.extend(finding.same_cause);
            }
            None => kept.push(finding),
        }
    }
    kept
}

/// False when the runtime no longer answers.
fn check_finding(
    sources: &mut Sources<'_>,
    finding: &mut ScanFinding,
    report: &mut ScanReport,
    runtime: &mut Runtime,
) -> bool {
    let file = finding.site.file.clone();
    let current = std::env::current_dir().ok();
    let Some(Source { text, analysis }) = sources.of(&file) else {
        return true;
    };
    for (number, fix) in proposals(analysis, finding, text).into_iter().enumerate() {
        let changed = fix::apply(text, &fix);
        runtime.command(&json!({
            "command": "check", "finding": finding.id, "file": file, "source": changed,
            "fix": number,
        }));
        let answer = loop {
            match runtime.next(PATIENCE) {
                Ok(Event::Checked {
                    finding: id,
                    fix,
                    passed,
                    reason,
                    ordinary,
                }) if id == finding.id && fix == number => {
                    break Some((passed, reason, ordinary));
                }
                Ok(event) => report.take(event),
                Err(_) => break None,
            }
        };
        match answer {
            None => return false,
            Some((true, _, ordinary_inputs)) => {
                finding.fix = Some(CheckedFix {
                    title: fix.title,
                    explanation: fix.explanation,
                    diff: fix::diff(&shown(&analysis.file, current.as_deref()), text, &changed),
                    ordinary_inputs,
                });
                return true;
            }
            Some((false, reason, _)) => finding.refused_fixes.push((
                fix.title,
                reason.unwrap_or_else(|| "it did not pass".to_owned()),
            )),
        }
    }
    true
}

/// What lies in the folder that a project's own paths begin at.
const PROJECT: [&str; 5] = [
    ".git",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
];

/// The name in the diff: as the user gave it; of an absolute path what follows the folder that packages are
/// installed in, else the folder that the user is in, else the root of the project.
fn shown(file: &Path, current: Option<&Path>) -> PathBuf {
    if !file.is_absolute() {
        let above = file.components().any(|part| part == Component::ParentDir);
        return match current.map(|folder| folder.join(file).canonicalize()) {
            // No tool that applies diffs follows `..`.
            Some(Ok(whole)) if above => shown(&whole, current),
            _ => file.to_owned(),
        };
    }
    let within = current
        .filter(|folder| folder.parent().is_some())
        .and_then(|folder| file.strip_prefix(folder).ok());
    let installed = || {
        let folder = file.ancestors().find(|folder| {
            folder.ends_with("site-packages") || folder.ends_with("dist-packages")
        })?;
        file.strip_prefix(folder).ok()
    };
    let project = || {
        let root = file.ancestors().skip(1).find(|folder| {
            folder.parent().is_some() && PROJECT.iter().any(|name| folder.join(name).exists())
        })?;
        file.strip_prefix(root).ok()
    };
    installed()
        .or(within)
        .or_else(project)
        .or_else(|| file.file_name().map(Path::new))
        .unwrap_or(file)
        .to_owned()
}

/// Proposals for the site itself first, then for the other sites of its line, then for those of
/// the same function: the rewrite of a formula may hang on another call of it.
fn proposals(analysis: &Analysis, event: &ScanFinding, source: &str) -> Vec<Fix> {
    let line = event.site.line;
    let here = |site: &&Site| site.span.line <= line && line <= site.span.end_line;
    let scope = analysis
        .sites
        .iter()
        .find(here)
        .map(|site| site.enclosing_function.clone());
    let mut sites: Vec<&Site> = analysis
        .sites
        .iter()
        .filter(here)
        .filter(|site| site.function == event.site.function)
        .collect();
    sites.extend(
        analysis
            .sites
            .iter()
            .filter(here)
            .filter(|site| site.function != event.site.function),
    );
    if let Some(scope) = scope {
        let mut others: Vec<&Site> = analysis
            .sites
            .iter()
            .filter(|site| !here(site) && site.enclosing_function == scope)
            .collect();
        others.sort_by_key(|site| site.span.line.abs_diff(line));
        sites.extend(others);
    }
    let mut found: Vec<Fix> = Vec::new();
    if let Some(origin) = &event.origin
        && origin.file == event.site.file
    {
        found.extend(fix::log_of_softmax_elsewhere(
            analysis,
            source,
            line,
            origin.line,
        ));
    }
    for site in sites {
        for fix in fix::propose(analysis, site, source) {
            if !found.iter().any(|known| known.edits == fix.edits) {
                found.push(fix);
            }
        }
        if found.len() >= CHECKS {
            break;
        }
    }
    // A rewrite that keeps the mathematics before one that only keeps values away from the edge.
    found.sort_by_key(Fix::is_guard);
    found.truncate(CHECKS);
    found
}

/// What the inputs must satisfy where no rewrite passed.
fn precondition(event: &ScanFinding) -> String {
    let advice = match event.oracle {
        ScanOracle::Cancellation | ScanOracle::StableAlgorithm | ScanOracle::Rewrite => Some(
            "its operands agree in nearly all digits: subtract what they have in common first \
             (the mean before squaring, or Welford's update), or compute in wider floats",
        ),
        ScanOracle::WiderFloat => Some(
            "the matrix is nearly singular: scale its columns, add a ridge to the diagonal, or \
             compute in wider floats",
        ),
        _ => None,
    };
    if matches!(event.oracle, ScanOracle::Crash | ScanOracle::Hang) {
        return format!(
            "line {}: refuse such an input with an error before it is computed with",
            event.site.line
        );
    }
    if let Some(advice) = advice {
        return format!("line {}: `{}`: {advice}", event.site.line, event.producer);
    }
    let of_producer = |entry: &&Unstable| {
        entry.name == event.producer || entry.functions.contains(&event.producer)
    };
    let entry = functions().unstable().iter().find(of_producer);
    let domain = match event.producer.as_str() {
        "sqrt" if event.oracle == ScanOracle::GradientNonfinite => "its operand stays above 0",
        _ => entry
            .and_then(|entry| entry.needs.as_deref())
            .unwrap_or("its operands and its result stay inside the number format"),
    };
    format!(
        "line {}: make sure before `{}` that {domain}",
        event.site.line, event.producer
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::shown;

    #[test]
    fn diffs_name_files_as_the_project_does() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        let file = project.join("src/package/losses.py");
        fs::create_dir_all(file.parent().unwrap()).unwrap();

        let elsewhere = Some(Path::new("/elsewhere"));
        assert_eq!(shown(&file, elsewhere), PathBuf::from("losses.py"));
        fs::write(project.join("pyproject.toml"), "").unwrap();
        for current in [
            elsewhere,
            Some(project.as_path()),
            Some(Path::new("/")),
            None,
        ] {
            assert_eq!(
                shown(&file, current),
                PathBuf::from("src/package/losses.py")
            );
        }
        let inside = project.join("src");
        assert_eq!(
            shown(&file, Some(inside.as_path())),
            PathBuf::from("package/losses.py")
        );
    }

    #[test]
    fn diffs_name_installed_files_as_their_package_does() {
        let file = Path::new("/usr/lib/python3/site-packages/package/losses.py");
        assert_eq!(shown(file, None), PathBuf::from("package/losses.py"));
        assert_eq!(
            shown(Path::new("losses.py"), None),
            PathBuf::from("losses.py")
        );
    }
}
