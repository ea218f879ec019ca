//! Starts the Python side and reads what it tells, line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use std::{io, thread};

use serde::Deserialize;

use crate::report::{Crash, Profile, Report, Skipped};

const PACKAGE: &str = "fissure_sweep";

/// What to sweep.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub python: PathBuf,
    /// Import name: torch, numpy, tensorflow, jax.
    pub library: String,
    /// Dotted names; empty: every function of the table that acts on each element of one tensor.
    pub functions: Vec<String>,
    /// Element types; empty: all that the library has.
    pub dtypes: Vec<String>,
    /// Elements of a type of more than 16 bits, the windows aside.
    pub count: u64,
    /// Tensors that functions take which the table of functions does not know; 0 counts as one.
    pub tensors: u8,
    /// For one function and type.
    pub timeout: Duration,
    /// Folders of modules of your own.
    pub search: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error("start {python}: {error}")]
    Start { python: PathBuf, error: io::Error },
    #[error("write a scratch folder: {0}")]
    Scratch(#[from] io::Error),
    #[error("begin the sweep: {0}")]
    Refused(String),
    #[error("begin the sweep: the interpreter ended without a word")]
    Silent,
}

/// What happens while a sweep goes on.
#[derive(Debug)]
pub enum Event<'a> {
    Swept(&'a Profile),
    Crashed(&'a Crash),
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Told {
    Began { version: String },
    Begins { function: String, dtype: String },
    Swept(Profile),
    Skipped(Skipped),
    Failed { message: String },
    Ended,
}

/// Sweeps everything; a function that ends the process is noted, and the next one gets a new process.
pub fn sweep(options: &Options, mut tell: impl FnMut(Event<'_>)) -> Result<Report, SweepError> {
    let folder = tempfile::tempdir()?;
    for package in [PACKAGE, fissure_execute::WORKER] {
        fissure_execute::unpack_package(package, folder.path())?;
    }
    let mut report = Report {
        library: options.library.clone(),
        ..Report::default()
    };
    let mut done: Vec<(String, String)> = Vec::new();
    loop {
        let mut child = start(options, folder.path(), &done)?;
        let lines = lines_of(&mut child);
        let mut current: Option<(String, String)> = None;
        let how = loop {
            match lines.recv_timeout(options.timeout) {
                Ok(line) => match serde_json::from_str::<Told>(&line) {
                    Ok(Told::Began { version }) => report.version = version,
                    Ok(Told::Begins { function, dtype }) => {
                        done.push((function.clone(), dtype.clone()));
                        current = Some((function, dtype));
                    }
                    Ok(Told::Swept(profile)) => {
                        tell(Event::Swept(&profile));
                        report.profiles.push(profile);
                        current = None;
                    }
                    Ok(Told::Skipped(skipped)) => {
                        report.skipped.push(skipped);
                        current = None;
                    }
                    Ok(Told::Failed { message }) => {
                        end(&mut child);
                        return Err(SweepError::Refused(message));
                    }
                    Ok(Told::Ended) => {
                        end(&mut child);
                        return Ok(report);
                    }
                    Err(error) => {
                        end(&mut child);
                        return Err(SweepError::Refused(format!("{error} in {line:?}")));
                    }
                },
                Err(RecvTimeoutError::Timeout) => {
                    end(&mut child);
                    break format!("still running after {} s", options.timeout.as_secs());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break child
                        .wait()
                        .map_or_else(|error| error.to_string(), |status| status.to_string());
                }
            }
        };
        let Some((function, dtype)) = current else {
            return Err(SweepError::Silent);
        };
        let crash = Crash {
            function,
            dtype,
            how,
        };
        tell(Event::Crashed(&crash));
        report.crashes.push(crash);
    }
}

fn start(options: &Options, folder: &Path, done: &[(String, String)]) -> Result<Child, SweepError> {
    let failed = |error| SweepError::Start {
        python: options.python.clone(),
        error,
    };
    let folders = std::iter::once(folder).chain(options.search.iter().map(PathBuf::as_path));
    let search = std::env::join_paths(folders).map_err(|error| failed(io::Error::other(error)))?;
    let mut child = Command::new(&options.python)
        .args(["-m", PACKAGE])
        .current_dir(folder)
        .env("PYTHONPATH", search)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let table: serde_json::Value =
        serde_json::from_str(fissure_functions::worker_json()).unwrap_or_default();
    let settings = serde_json::json!({
        "library": options.library,
        "functions": options.functions,
        "dtypes": options.dtypes,
        "count": options.count,
        "tensors": options.tensors.max(1),
        "done": done,
        "table": table,
    });
    if let Some(mut stdin) = child.stdin.take() {
        // An interpreter that ends before it has read everything tells so by its end.
        let _ = stdin.write_all(settings.to_string().as_bytes());
    }
    Ok(child)
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

fn end(child: &mut Child) {
    // It may have ended by itself; either way it is waited for.
    let _ = child.kill();
    let _ = child.wait();
}
