//! A run as plain data: what every report, the index and the dashboard are made of.
//!
//! [`RunReader`] folds the event log of a run folder into it in one pass and reads the folders of
//! findings; asked again, it adds what came since. Written as JSON, this is `--format json`, whose
//! fields `docs/report-schema.json` describes: names here are part of the public surface.

mod api;
mod finding;
mod reader;
mod rules;
mod scan;
mod timeline;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fissure_campaign::EVENTS_FILE;
use serde::Serialize;

pub use api::{ApiReport, ApiState, ConstraintCounts, MutatorCounts, OracleCounts};
pub use finding::{Fix, Level, Location, ReportedArgument, ReportedFinding};
pub use reader::{News, RunReader};
pub use rules::RuleReport;
pub use timeline::{Timeline, TimelinePoint};

/// Version of the JSON report; raised when a reader of the old one would misread.
pub const REPORT_VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("there is no folder {}", .0.display())]
    Missing(PathBuf),
    #[error("{} is not the folder of a run: it has neither run.json nor a scan's report.json", .0.display())]
    NoRun(PathBuf),
    #[error("{} holds several runs: name one of {names}", folder.display())]
    Several { folder: PathBuf, names: String },
    #[error("failed to read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is of format {found}, and this version of fissure reads up to {known}", path.display())]
    Format {
        path: PathBuf,
        found: u32,
        known: u32,
    },
}

/// Everything there is to say about a run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Always `fissure-report`.
    pub schema: &'static str,
    pub version: u32,
    pub info: RunInfo,
    pub totals: Totals,
    pub apis: Vec<ApiReport>,
    pub skipped: Vec<Skipped>,
    pub timeline: Timeline,
    pub rules: Vec<RuleReport>,
    pub findings: Vec<ReportedFinding>,
    /// What kept this from being complete: a torn end of the log, a finding that cannot be read.
    pub problems: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    Fuzz,
    Scan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Under way, or its process died.
    Unfinished,
    Finished,
    /// Ended early by its user.
    Interrupted,
}

/// What was asked, and of what.
#[derive(Clone, Debug, Serialize)]
pub struct RunInfo {
    pub kind: RunKind,
    pub state: RunState,
    /// Name of the run's folder.
    pub name: String,
    #[serde(skip)]
    pub folder: PathBuf,
    pub fissure_version: String,
    /// As it was typed.
    pub command: String,
    pub library: String,
    pub library_version: String,
    pub python_version: String,
    pub seed: Option<u64>,
    pub workers: Option<usize>,
    /// When it began, in UTC: `2026-11-16T02:03:04Z`.
    pub started: Option<String>,
    /// The first moment, in seconds since 1970.
    #[serde(skip)]
    pub started_unix: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skipped {
    pub api: String,
    pub reason: String,
}

/// Counts over all APIs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    pub apis: u64,
    pub apis_finished: u64,
    pub inputs: u64,
    pub accepted: u64,
    pub accepted_percent: Option<f64>,
    /// Accepted share of conforming inputs, mean over APIs.
    pub conforming_percent: Option<f64>,
    pub outcomes: BTreeMap<String, u64>,
    pub judged: u64,
    pub findings: u64,
    /// Of the findings: did not fail in every fresh process.
    pub flaky: u64,
    pub notes: u64,
    /// Wall-clock seconds in which a process worked on the run.
    pub seconds: f64,
    /// Seconds that workers spent on inputs.
    pub busy_seconds: f64,
    pub inputs_per_second: Option<f64>,
    pub behaviours: u64,
    pub events: u64,
}

impl Run {
    /// Where the script of a finding lies, from the current folder where it lies below that.
    pub fn script_of(&self, finding: &ReportedFinding) -> PathBuf {
        let script = self.info.folder.join(&finding.folder).join("reproduce.py");
        let here = std::env::current_dir().unwrap_or_default();
        script
            .strip_prefix(here)
            .map_or_else(|_| script.clone(), Path::to_owned)
    }

    fn new(info: RunInfo) -> Run {
        Run {
            schema: "fissure-report",
            version: REPORT_VERSION,
            info,
            totals: Totals::default(),
            apis: Vec::new(),
            skipped: Vec::new(),
            timeline: Timeline::default(),
            rules: Vec::new(),
            findings: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The finding of this id.
    pub fn finding(&self, id: &str) -> Option<&ReportedFinding> {
        self.findings.iter().find(|finding| finding.id == id)
    }

    /// Findings without notes.
    pub fn counted(&self) -> impl Iterator<Item = &ReportedFinding> {
        self.findings.iter().filter(|finding| !finding.note)
    }

    fn count(&mut self) {
        let mut totals = Totals {
            events: self.totals.events,
            seconds: self.totals.seconds,
            ..Totals::default()
        };
        let mut shares = Vec::new();
        for api in &self.apis {
            totals.apis += 1;
            totals.apis_finished += u64::from(api.state == ApiState::Finished);
            totals.inputs += api.inputs;
            totals.accepted += api.accepted;
            totals.judged += api.judged;
            totals.busy_seconds += api.busy_seconds;
            totals.behaviours += api.reached.behaviours;
            shares.extend(api.conforming_percent);
            for (kind, count) in &api.outcomes {
                *totals.outcomes.entry(kind.clone()).or_default() += count;
            }
        }
        if !shares.is_empty() {
            totals.conforming_percent = Some(shares.iter().sum::<f64>() / shares.len() as f64);
        }
        totals.accepted_percent = percent(totals.accepted, totals.inputs);
        if totals.seconds > 0.0 && totals.inputs > 0 {
            totals.inputs_per_second = Some(totals.inputs as f64 / totals.seconds);
        }
        for finding in &self.findings {
            if finding.note {
                totals.notes += 1;
            } else {
                totals.findings += 1;
                totals.flaky += u64::from(finding.flaky);
            }
        }
        self.totals = totals;
    }
}

/// Folders of runs and scans in a folder, two levels deep, by name.
pub fn runs_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    look_for_runs(folder, 2, &mut found);
    found.sort();
    found
}

fn look_for_runs(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    // A folder that cannot be read holds no run that can be.
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if path.join(EVENTS_FILE).exists() || path.join("report.json").exists() {
            found.push(path);
        } else if depth > 1 && path.is_dir() {
            look_for_runs(&path, depth - 1, found);
        }
    }
}

pub(crate) fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}
