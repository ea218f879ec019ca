//! What the runtime says, one JSON object per line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fissure_model::{ScanFinding, ScanSite, TargetStatus};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    Started {
        versions: BTreeMap<String, String>,
    },
    OwnRun(OwnRun),
    Understood {
        sites: Vec<ScanSite>,
        inputs: Vec<InputEvent>,
        /// Lines on which an array operation ran.
        executed: Vec<(PathBuf, usize)>,
    },
    UnknownInputs {
        names: Vec<String>,
        known: Vec<String>,
    },
    Note {
        text: String,
    },
    Finding(Box<ScanFinding>),
    /// A question to a learned soft assertion; the runtime waits for the answer.
    Direction(Question),
    /// One of several functions is scanned now.
    Target {
        name: String,
    },
    TargetDone(TargetStatus),
    Searched {
        seconds: f64,
        runs: u64,
        out_of_time: bool,
    },
    Checked {
        finding: String,
        fix: usize,
        passed: bool,
        reason: Option<String>,
        /// Sets of ordinary data that it was compared on.
        #[serde(default)]
        ordinary: u64,
    },
    Failed {
        kind: String,
        message: String,
        file: Option<PathBuf>,
        line: Option<usize>,
    },
    Finished,
}

/// The values at an unstable function, of which one operand is to be moved.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    #[serde(default = "torch")]
    pub library: String,
    pub function: String,
    pub dtype: String,
    pub operand: usize,
    /// Elements of one context.
    pub width: usize,
    pub operands: Vec<Vec<f64>>,
}

fn torch() -> String {
    "torch".to_owned()
}

/// The program's own run, without any change.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OwnRun {
    pub seconds: f64,
    pub operations: u64,
    /// Why it was stopped: `time`, or nothing.
    pub stopped: Option<String>,
    /// Class, message, file and line of an exception.
    pub error: Option<(String, String, Option<PathBuf>, Option<usize>)>,
    pub exit_code: Option<i64>,
    pub training_steps: u64,
    /// The end of what the program printed.
    pub output: String,
    /// The end of what it wrote to standard error.
    pub errors: String,
    /// Parts of the program that cannot be watched.
    #[serde(default)]
    pub unseen: Vec<String>,
    /// Its functions are scanned one by one, because the run came to no array operation.
    #[serde(default)]
    pub functions_instead: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct InputEvent {
    pub name: String,
    /// `source`, `entering`, `parameter` or `weight`.
    pub kind: String,
    pub origin: String,
    pub file: PathBuf,
    pub line: usize,
    pub shape: Vec<u64>,
    pub dtype: String,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub why: String,
    pub frozen: bool,
}
