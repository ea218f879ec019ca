//! The target's interpreter, which tests the functions and writes labelled samples.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use fissure_execute::{Confinement, SandboxOptions, Tail, Warded, WardedCommand, only_allowed};
use serde::Deserialize;
use serde_json::json;

use crate::catalogue::Trainable;
use crate::label::Precision;

const PACKAGE: &str = "fissure_train";
/// Outside the package, so that its relative imports work.
const STARTER: &str = "import runpy\nrunpy.run_module('fissure_train', run_name='__main__')\n";
const CHANNEL_FD: i32 = 3;
/// For a process that has said everything to end.
const LAST_WORD: Duration = Duration::from_secs(2);
/// What is kept of the end of standard error.
const LOG: usize = 64 << 10;

/// Why nothing could be labelled.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    #[error("failed to prepare the labelling: {0}")]
    Prepare(std::io::Error),
    #[error("failed to start `{python}`: {error}")]
    Start {
        python: String,
        error: std::io::Error,
    },
    #[error("{0}")]
    Library(String),
    #[error("the interpreter ended before everything was labelled ({status}):\n{log}")]
    Gone { status: String, log: String },
    #[error("the interpreter said something that is no event: {0}")]
    Garbled(String),
}

/// Which samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    Train,
    HeldOut,
}

/// What is to be labelled.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub python: &'a Path,
    pub library: &'a str,
    pub functions: &'a [Trainable],
    pub precisions: &'a [Precision],
    pub splits: &'a [Split],
    pub seed: u64,
    /// Samples of each label at most, for functions of one operand; contexts are half as many.
    pub count: usize,
    /// Modules of the user are looked for here.
    pub directory: &'a Path,
}

/// What the interpreter tells.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Started {
        library: String,
        version: String,
    },
    Labelled(Labelled),
    /// The library does not have it, or it never fails.
    Unsupported {
        function: String,
        dtype: Precision,
        split: Split,
        reason: String,
    },
    /// The user's function or oracle is wrong.
    Refused {
        function: String,
        dtype: Precision,
        split: Split,
        reason: String,
    },
    Failed {
        message: String,
    },
    Finished,
}

/// A data set is on disk.
#[derive(Clone, Debug, Deserialize)]
pub struct Labelled {
    pub function: String,
    pub dtype: Precision,
    pub split: Split,
    pub path: PathBuf,
    pub counts: [usize; 3],
    pub regions: Vec<[f64; 2]>,
    /// Those that were asked; a file of the user may have added some.
    pub oracles: Vec<String>,
    /// Samples that were left out because their label was luck.
    pub left_out: usize,
    /// Calls of the function.
    pub calls: u64,
    pub seconds: f64,
}

/// The running interpreter; its samples live as long as it does.
#[derive(Debug)]
pub struct Labeller {
    child: Warded,
    events: BufReader<std::io::PipeReader>,
    errors: Tail,
    finished: bool,
    _folder: tempfile::TempDir,
}

impl Labeller {
    pub fn start(request: &Request<'_>) -> Result<Labeller, LabelError> {
        let folder = tempfile::tempdir().map_err(LabelError::Prepare)?;
        let starter = unpack(folder.path(), request).map_err(LabelError::Prepare)?;
        let (errors, said) = Tail::new(LOG).map_err(LabelError::Prepare)?;
        let (ours, theirs) = std::io::pipe().map_err(LabelError::Prepare)?;
        let failed = |error: fissure_execute::ExecuteError| LabelError::Start {
            python: request.python.display().to_string(),
            error: std::io::Error::other(error),
        };
        let sandbox = SandboxOptions::default();
        let mut warded = WardedCommand::new(request.python, true).map_err(failed)?;
        let command = &mut warded.command;
        only_allowed(command, folder.path());
        command
            .arg(&starter)
            .arg(folder.path().join("plan.json"))
            .arg(CHANNEL_FD.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("TF_CPP_MIN_LOG_LEVEL", "3")
            .env("TMPDIR", folder.path())
            .env("CUDA_VISIBLE_DEVICES", "")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said);
        command
            .fd_mappings(vec![FdMapping {
                parent_fd: OwnedFd::from(theirs),
                child_fd: CHANNEL_FD,
            }])
            .map_err(|error| LabelError::Prepare(std::io::Error::other(error)))?;
        let writable = std::fs::canonicalize(folder.path()).map_err(LabelError::Prepare)?;
        let confinement = Confinement::of_program(sandbox, vec![writable]);
        let child = warded.spawn(&confinement, &[]).map_err(failed)?;
        Ok(Labeller {
            child,
            events: BufReader::new(ours),
            errors,
            finished: false,
            _folder: folder,
        })
    }

    /// The next event; `None` after the last.
    pub fn next_event(&mut self) -> Result<Option<Event>, LabelError> {
        if self.finished {
            return Ok(None);
        }
        let mut line = String::new();
        let read = self.events.read_line(&mut line);
        if !matches!(read, Ok(1..)) {
            let status = match self.child.wait(LAST_WORD) {
                Some(status) => status.to_string(),
                None => "it does not end".to_owned(),
            };
            let log = self.log();
            return Err(LabelError::Gone { status, log });
        }
        match serde_json::from_str(&line) {
            Ok(Event::Finished) => {
                self.finished = true;
                Ok(None)
            }
            Ok(Event::Failed { message }) => Err(LabelError::Library(message)),
            Ok(event) => Ok(Some(event)),
            Err(error) => Err(LabelError::Garbled(format!("{error}: {line}"))),
        }
    }

    /// The end of what it wrote to standard error.
    fn log(&mut self) -> String {
        let text = self.errors.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

impl Drop for Labeller {
    fn drop(&mut self) {
        self.child.end();
    }
}

fn unpack(folder: &Path, request: &Request<'_>) -> std::io::Result<PathBuf> {
    fissure_execute::unpack_package(PACKAGE, folder)?;
    let functions: Vec<serde_json::Value> = request
        .functions
        .iter()
        .filter_map(|function| function.plan(request.library, request.precisions))
        .collect();
    let splits: Vec<&str> = request
        .splits
        .iter()
        .map(|split| match split {
            Split::Train => "train",
            Split::HeldOut => "held_out",
        })
        .collect();
    let plan = json!({
        "library": request.library,
        "functions": functions,
        "splits": splits,
        "seed": request.seed,
        "count": request.count,
        "folder": folder,
        "directory": std::path::absolute(request.directory)?,
    });
    std::fs::write(folder.join("plan.json"), plan.to_string())?;
    let starter = folder.join("start.py");
    std::fs::write(&starter, STARTER)?;
    Ok(starter)
}
