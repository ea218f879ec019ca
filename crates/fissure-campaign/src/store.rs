//! The folder of one run.
//!
//! `run.json` says what was asked and of which library, `events.jsonl` is the append-only truth,
//! `findings/` has one folder per distinct failure, `summary.json` is written at the end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::RunSummary;

/// Version of the files in a run folder; raised when a reader of the old one would misread.
pub const FORMAT: u32 = 1;

#[derive(Debug, thiserror::Error)]
#[error("failed to write {}", path.display())]
pub struct StoreError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// What was asked, and of what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunHeader {
    pub format: u32,
    pub fissure_version: String,
    pub command: Vec<String>,
    pub seed: u64,
    pub package: String,
    pub library_version: String,
    pub python_version: String,
    pub python: PathBuf,
    pub workers: usize,
    pub started_unix: u64,
}

/// One line of `events.jsonl`.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Record<'a> {
    Run(&'a RunHeader),
    Skipped {
        api: &'a str,
        reason: &'a str,
    },
    Started {
        api: &'a str,
    },
    Batch {
        api: &'a str,
        first: u64,
        inputs: u64,
        accepted: u64,
        rejected: u64,
        other: u64,
    },
    /// Inputs that the oracles looked at.
    Judged {
        api: &'a str,
        inputs: u64,
        reports: u64,
    },
    /// A failure met for the first time; with seed and number it can be generated again.
    Seen {
        api: &'a str,
        id: &'a str,
        number: u64,
    },
    Found {
        api: &'a str,
        id: &'a str,
        kind: &'a str,
        number: u64,
        failures: u32,
        runs: u32,
    },
    Finished(&'a crate::ApiSummary),
    End {
        interrupted: bool,
    },
}

pub struct RunFolder {
    path: PathBuf,
    events: File,
}

impl RunFolder {
    /// Opens (or makes) the folder and appends to its event log.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError { path, source }
        };
        let findings = path.join("findings");
        fs::create_dir_all(&findings).map_err(at(&findings))?;
        let events_path = path.join("events.jsonl");
        let events = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&events_path)
            .map_err(at(&events_path))?;
        Ok(RunFolder {
            path: path.to_owned(),
            events,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn findings(&self) -> PathBuf {
        self.path.join("findings")
    }

    pub fn write_header(&mut self, header: &RunHeader) -> Result<(), StoreError> {
        self.write_json("run.json", header)?;
        self.append(&Record::Run(header))
    }

    /// One `write` call per line: a reader never sees a line whose head is of another event.
    pub(crate) fn append(&mut self, record: &Record<'_>) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(record).expect("records hold only text and numbers");
        line.push(b'\n');
        self.events.write_all(&line).map_err(|source| StoreError {
            path: self.path.join("events.jsonl"),
            source,
        })
    }

    pub fn write_summary(&mut self, summary: &RunSummary) -> Result<(), StoreError> {
        self.append(&Record::End {
            interrupted: summary.interrupted,
        })?;
        self.write_json("summary.json", summary)
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), StoreError> {
        let path = self.path.join(name);
        let text = serde_json::to_vec_pretty(value).expect("plain data always serialises");
        let temporary = self.path.join(format!("{name}.partial"));
        fs::write(&temporary, text)
            .and_then(|()| fs::rename(&temporary, &path))
            .map_err(|source| StoreError { path, source })
    }
}
