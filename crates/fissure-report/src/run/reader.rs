//! From the folder of a run to [`Run`], at once or while it goes on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use fissure_campaign::{ApiIndex, EVENTS_FILE, EventReader, FORMAT, Record, RunFolder, RunHeader};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    ApiReport, ReportedFinding, Run, RunError, RunInfo, RunKind, RunState, Skipped, finding, rules,
    scan,
};

/// What a call of [`RunReader::refresh`] added.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Events read.
    pub events: u64,
    /// Ids of findings and notes that are new.
    pub found: Vec<String>,
    /// The run ended.
    pub ended: bool,
}

/// The time of a line, whatever else is in it.
#[derive(Deserialize)]
struct Time {
    #[serde(default)]
    time: Option<f64>,
}

/// Reads a run, and what comes to it.
pub struct RunReader {
    folder: PathBuf,
    events: EventReader,
    run: Run,
    /// By position in the run and title.
    apis: BTreeMap<(ApiIndex, String), ApiReport>,
    /// When each finding was written, in seconds of work.
    found_after: HashMap<String, f64>,
    /// Findings of the log whose folder has not been read.
    unread: Vec<String>,
    /// Lines of a later version.
    unknown: u64,
    /// What was wrong with findings and rules.
    broken: Vec<String>,
}

impl RunReader {
    /// Reads everything that is there.
    pub fn open(folder: &Path) -> Result<RunReader, RunError> {
        let mut reader = RunReader::new(folder)?;
        reader.refresh()?;
        reader.read_all_findings()?;
        Ok(reader)
    }

    fn new(folder: &Path) -> Result<RunReader, RunError> {
        if !folder.is_dir() {
            return Err(RunError::Missing(folder.to_owned()));
        }
        // A name for the run, whatever way its folder was given.
        let folder = folder.canonicalize().map_err(|source| RunError::Read {
            path: folder.to_owned(),
            source,
        })?;
        let run = if folder.join("run.json").exists() {
            let header = header(&folder)?;
            Run::new(info(&folder, &header))
        } else if let Some(run) = scan::read(&folder)? {
            run
        } else {
            return Err(no_run(&folder));
        };
        Ok(RunReader {
            events: EventReader::new(&folder),
            folder,
            run,
            apis: BTreeMap::new(),
            found_after: HashMap::new(),
            unread: Vec::new(),
            unknown: 0,
            broken: Vec::new(),
        })
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    pub fn into_run(self) -> Run {
        self.run
    }

    /// Adds what the log has got since the last time.
    pub fn refresh(&mut self) -> Result<News, RunError> {
        if self.run.info.kind == RunKind::Scan {
            return Ok(News::default());
        }
        let mut lines: Vec<Box<RawValue>> = Vec::new();
        self.events
            .read(|line| lines.push(line))
            .map_err(|source| RunError::Read {
                path: self.folder.join(EVENTS_FILE),
                source,
            })?;
        let before = self.run.info.state;
        let news = lines.len() as u64;
        // Parsing is most of the work, and lines do not depend on one another.
        let parsed: Vec<(Option<f64>, Option<Record>)> = lines
            .par_iter()
            .map(|line| {
                let time = serde_json::from_str(line.get()).map_or(None, |Time { time }| time);
                (time, serde_json::from_str(line.get()).ok())
            })
            .collect();
        for (time, record) in parsed {
            self.run.totals.events += 1;
            match record {
                Some(record) => self.add(time, record),
                None => self.unknown += 1,
            }
        }
        let found = self.read_new_findings();
        self.tell();
        let ended = self.run.info.state;
        Ok(News {
            events: news,
            found,
            ended: ended != before && ended != RunState::Unfinished,
        })
    }

    fn add(&mut self, time: Option<f64>, record: Record) {
        let timeline = &mut self.run.timeline;
        if let Record::Run(header) = &record {
            timeline.begin(time);
            self.run
                .info
                .started_unix
                .get_or_insert(header.started_unix as f64);
            // Someone is at work on it, or was and died.
            self.run.info.state = RunState::Unfinished;
            return;
        }
        timeline.advance(time);
        match record {
            Record::Skipped { api, reason, .. } => {
                let skipped = Skipped { api, reason };
                if !self.run.skipped.contains(&skipped) {
                    self.run.skipped.push(skipped);
                }
            }
            Record::Started { at, api } | Record::Rules { at, api, .. } => {
                api_at(&mut self.apis, at, &api);
            }
            Record::Batch {
                at,
                api,
                inputs,
                accepted,
                rejected,
                other,
                outcomes,
                busy,
                reached,
                ..
            } => {
                timeline.reach(at, reached);
                if let Some(point) = timeline.point() {
                    point.inputs += inputs;
                    point.accepted += accepted;
                    point.rejected += rejected;
                    point.other += other;
                }
                let known = api_at(&mut self.apis, at, &api);
                let outcomes = outcomes.chars().filter_map(fissure_campaign::outcome);
                known.add(outcomes, accepted);
                known.busy_seconds += busy;
                known.reached = reached;
            }
            Record::Judged {
                at, api, numbers, ..
            } => api_at(&mut self.apis, at, &api).judged += numbers.len() as u64,
            Record::Found {
                at, api, id, note, ..
            } => {
                if let Some(point) = timeline.point() {
                    point.found += 1;
                }
                // A log of an earlier version does not say when it was met: then it is when it was written.
                let after = timeline.seconds();
                let known = api_at(&mut self.apis, at, &api);
                let list = if note {
                    &mut known.notes
                } else {
                    &mut known.findings
                };
                if !list.contains(&id) {
                    list.push(id.clone());
                }
                self.found_after.entry(id.clone()).or_insert(after);
                self.unread.push(id);
            }
            Record::Fuzzed { at, summary } => {
                api_at(&mut self.apis, at, &summary.api.title.clone()).fuzzed(*summary);
            }
            Record::Finished { at, summary } => {
                api_at(&mut self.apis, at, &summary.api.title.clone()).finish(*summary);
            }
            Record::Folded { id, into } => {
                self.run.findings.retain(|finding| finding.id != id);
                self.unread.retain(|unread| *unread != id);
                for api in self.apis.values_mut() {
                    api.findings.retain(|known| *known != id);
                    api.notes.retain(|known| *known != id);
                }
                // It names the other API now.
                self.unread.push(into);
            }
            Record::End { interrupted } => {
                self.run.info.state = if interrupted {
                    RunState::Interrupted
                } else {
                    RunState::Finished
                };
            }
            Record::Seen { id, .. } => {
                self.found_after.entry(id).or_insert(timeline.seconds());
            }
            Record::Again { .. } | Record::Run(_) => {}
        }
    }

    /// Reads the folders of findings that the log told of since.
    fn read_new_findings(&mut self) -> Vec<String> {
        let mut news = Vec::new();
        for id in std::mem::take(&mut self.unread) {
            let folder = self.folder.join("findings").join(&id);
            match finding::read(&self.folder, &folder) {
                Ok(mut found) => {
                    found.found_after = self.found_after.get(&id).copied();
                    self.run.findings.retain(|known| known.id != id);
                    self.run.findings.push(found);
                    news.push(id);
                }
                // It may have become part of another one since.
                Err(_) if !folder.exists() => {}
                Err(error) => self.broken.push(one_line(&error)),
            }
        }
        news
    }

    /// Reads every folder of a finding that is there, also those that the log does not name: its
    /// end may be torn, and an earlier run in the same folder may have left some.
    fn read_all_findings(&mut self) -> Result<(), RunError> {
        if self.run.info.kind == RunKind::Scan {
            return Ok(());
        }
        let parent = self.folder.join("findings");
        let known: HashSet<String> = self.run.findings.iter().map(|one| one.id.clone()).collect();
        let mut folders = Vec::new();
        if parent.is_dir() {
            let read = |source| RunError::Read {
                path: parent.clone(),
                source,
            };
            for entry in fs::read_dir(&parent).map_err(read)? {
                let entry = entry.map_err(read)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if !name.starts_with('.') && !known.contains(&name) && entry.path().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        let read: Vec<_> = folders
            .par_iter()
            .map(|folder| finding::read(&self.folder, folder))
            .collect();
        for found in read {
            match found {
                Ok(found) => self.run.findings.push(found),
                Err(error) => self.broken.push(one_line(&error)),
            }
        }
        for name in rules::FOLDERS {
            let folder = self.folder.join(name);
            if folder.is_dir() {
                let rules = rules::read(&folder, &mut self.broken);
                self.run.rules.extend(rules);
            }
        }
        self.tell();
        Ok(())
    }

    /// Adds the rule files of a folder.
    pub fn add_rules(&mut self, folder: &Path) {
        let rules = rules::read(folder, &mut self.broken);
        self.run.rules.extend(rules);
        self.tell();
    }

    /// Brings what is derived up to date.
    fn tell(&mut self) {
        if self.run.info.kind == RunKind::Fuzz {
            self.run.apis = self.apis.values().cloned().collect();
            self.run.totals.seconds = self.run.timeline.seconds();
        }
        self.run.findings.sort_by(|a, b| order(a).cmp(&order(b)));
        self.run.problems = self.broken.clone();
        let damage = self.events.damage().iter();
        self.run.problems.extend(damage.map(ToString::to_string));
        if self.unknown > 0 {
            self.run.problems.push(format!(
                "{} events of the log are not understood: they are of a later version",
                self.unknown
            ));
        }
        // While a process writes, an unfinished end is what one expects.
        let torn = self.events.has_torn_end().unwrap_or(false);
        if torn && self.run.info.state != RunState::Unfinished {
            self.run
                .problems
                .push("the log has a torn end: its writer was killed".to_owned());
        }
        self.run.count();
    }
}

fn api_at<'a>(
    apis: &'a mut BTreeMap<(ApiIndex, String), ApiReport>,
    at: ApiIndex,
    title: &str,
) -> &'a mut ApiReport {
    apis.entry((at, title.to_owned()))
        .or_insert_with(|| ApiReport::begun(title))
}

/// The worst first, then by name.
fn order(finding: &ReportedFinding) -> (bool, super::Level, &str, &str) {
    (finding.note, finding.level, &finding.kind, &finding.id)
}

fn one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

fn header(folder: &Path) -> Result<RunHeader, RunError> {
    let header = RunFolder::read_header(folder).map_err(|error| RunError::Read {
        path: folder.join("run.json"),
        source: std::io::Error::other(one_line(&error)),
    })?;
    if header.format > FORMAT {
        return Err(RunError::Format {
            path: folder.join("run.json"),
            found: header.format,
            known: FORMAT,
        });
    }
    Ok(header)
}

fn info(folder: &Path, header: &RunHeader) -> RunInfo {
    RunInfo {
        kind: RunKind::Fuzz,
        state: RunState::Unfinished,
        name: name_of(folder),
        folder: folder.to_owned(),
        fissure_version: header.fissure_version.clone(),
        command: command(&header.command),
        library: header.package.clone(),
        library_version: header.library_version.clone(),
        python_version: header.python_version.clone(),
        seed: Some(header.seed),
        workers: Some(header.workers),
        started: i64::try_from(header.started_unix)
            .ok()
            .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
            .map(|time| time.to_string()),
        started_unix: None,
    }
}

/// The command as it was typed, without the path of the program.
fn command(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .enumerate()
        .map(|(at, word)| match at {
            0 => "fissure".to_owned(),
            _ if word.contains([' ', '*', '\'', '"', '$']) => format!("'{word}'"),
            _ => word.clone(),
        })
        .collect();
    words.join(" ")
}

pub(super) fn name_of(folder: &Path) -> String {
    match folder.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => folder.display().to_string(),
    }
}

/// Says what is wrong with a folder that is no run.
fn no_run(folder: &Path) -> RunError {
    let inside = super::runs_below(folder);
    if inside.is_empty() {
        return RunError::NoRun(folder.to_owned());
    }
    let names: Vec<String> = inside
        .iter()
        .take(10)
        .map(|path| path.display().to_string())
        .collect();
    RunError::Several {
        folder: folder.to_owned(),
        names: names.join(", "),
    }
}
