//! Starts the Python side and reads what it tells, line by line.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use std::{io, thread};

use fissure_execute::{Confinement, SandboxOptions, Warded, WardedCommand, has_gpu, only_allowed};
use serde::Deserialize;

use crate::exhaustive::Part;
use crate::report::{Crash, Profile, Report, Skipped};

const PACKAGE: &str = "fissure_sweep";
/// For a process that has closed its output to end.
const LAST_WORD: Duration = Duration::from_secs(10);
/// For the library to be imported, where one function has less.
const STARTING: Duration = Duration::from_secs(180);
/// Lines that wait to be looked at; who says more waits, as at a full pipe.
const WAITING: usize = 256;
/// Between two looks at whether the sweep is over.
const TICK: Duration = Duration::from_millis(100);

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
    /// Processes that share the functions out; 0 counts as one.
    pub workers: usize,
    /// Folders of modules of your own.
    pub search: Vec<PathBuf>,
    /// Set from outside: what is swept by then is the report.
    pub stop: Option<Arc<AtomicBool>>,
    /// The same at this time.
    pub until: Option<Instant>,
}

impl Options {
    /// Whether nothing more is to be swept.
    pub fn is_over(&self) -> bool {
        let stopped = self.stop.as_ref();
        stopped.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.until.is_some_and(|until| Instant::now() >= until)
    }
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
    /// One more part of all numbers of a function.
    Part {
        function: &'a str,
        done: usize,
        of: usize,
        seconds: f64,
    },
    /// Other shards have yet to do so many parts.
    Unfinished {
        function: &'a str,
        missing: usize,
    },
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Told {
    Began {
        version: String,
    },
    Begins {
        function: String,
        dtype: String,
        at: usize,
    },
    Swept(Profile),
    Skipped(Skipped),
    Part(Part),
    Failed {
        message: String,
    },
    Ended,
}

/// What one process is to do.
pub(crate) enum Task<'a> {
    /// All functions of a share (its number, and how many there are) and types but those done.
    Sweep {
        done: &'a [(String, String)],
        share: (usize, usize),
    },
    /// These parts of all numbers of one function.
    Parts(&'a [u32]),
    /// Tell the library's version.
    Version,
}

/// What the Python side told of one function.
pub(crate) enum Heard {
    Begins {
        function: String,
        dtype: String,
        at: usize,
    },
    Swept(Profile),
    Skipped(Skipped),
    Part(Part),
}

/// How a process ended that did not do everything.
pub(crate) struct End {
    pub how: String,
    /// It was still running.
    pub timed_out: bool,
}

/// Sweeps everything, shared out to some processes; a function that ends its process is noted, and the next one gets a
/// new process.
pub fn sweep(options: &Options, mut tell: impl FnMut(Event<'_>)) -> Result<Report, SweepError> {
    let mut report = Report {
        library: options.library.clone(),
        ..Report::default()
    };
    let mut shares = options.workers.max(1);
    if !options.functions.is_empty() {
        shares = shares.min(options.functions.len());
    }
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let (sender, news) = mpsc::channel();
    let ended: Result<(), SweepError> = thread::scope(|scope| {
        let threads: Vec<_> = (0..shares)
            .map(|share| {
                let sender = sender.clone();
                scope.spawn(move || sweep_share(options, (share, shares), &sender))
            })
            .collect();
        drop(sender);
        for one in news {
            match one {
                News::Begins(function, at) => {
                    places.insert(function, at);
                }
                News::Swept(profile) => {
                    tell(Event::Swept(&profile));
                    report.profiles.push(profile);
                }
                News::Skipped(skipped) => report.skipped.push(skipped),
                News::Crashed(crash) => {
                    tell(Event::Crashed(&crash));
                    report.crashes.push(crash);
                }
            }
        }
        for thread in threads {
            report.version = thread.join().unwrap_or(Err(SweepError::Silent))?;
        }
        Ok(())
    });
    ended?;
    // As if one process had done everything.
    let place = |function: &str| places.get(function).copied();
    report.profiles.sort_by_key(|it| place(&it.function));
    report.skipped.sort_by_key(|it| place(&it.function));
    report.crashes.sort_by_key(|it| place(&it.function));
    Ok(report)
}

/// What a share has to tell.
enum News {
    /// A function, and its place among all.
    Begins(String, usize),
    Swept(Profile),
    Skipped(Skipped),
    Crashed(Crash),
}

/// One share of the functions, to its end; gives the library's version.
fn sweep_share(
    options: &Options,
    share: (usize, usize),
    news: &Sender<News>,
) -> Result<String, SweepError> {
    let mut version = String::new();
    let mut done: Vec<(String, String)> = Vec::new();
    // Nobody who listens any more: then nobody asks for the rest either.
    let send = |one: News| {
        let _ = news.send(one);
    };
    loop {
        let mut begun = Vec::new();
        let mut current: Option<(String, String)> = None;
        let task = Task::Sweep { done: &done, share };
        let ended = conversation(options, &task, &mut version, |heard| match heard {
            Heard::Begins {
                function,
                dtype,
                at,
            } => {
                send(News::Begins(function.clone(), at));
                begun.push((function.clone(), dtype.clone()));
                current = Some((function, dtype));
            }
            Heard::Swept(profile) => {
                send(News::Swept(profile));
                current = None;
            }
            Heard::Skipped(skipped) => {
                send(News::Skipped(skipped));
                current = None;
            }
            Heard::Part(_) => {}
        })?;
        done.append(&mut begun);
        let Some(End { how, .. }) = ended else {
            return Ok(version);
        };
        let Some((function, dtype)) = current else {
            return Err(SweepError::Silent);
        };
        send(News::Crashed(Crash {
            function,
            dtype,
            how,
        }));
    }
}

/// The version of the library in that interpreter.
pub fn version(options: &Options) -> Result<String, SweepError> {
    let mut version = String::new();
    match conversation(options, &Task::Version, &mut version, |_| {})? {
        None => Ok(version),
        Some(_) => Err(SweepError::Silent),
    }
}

/// One process, from its start to its end: None when it did all, else how it ended.
pub(crate) fn conversation(
    options: &Options,
    task: &Task<'_>,
    version_told: &mut String,
    mut heard: impl FnMut(Heard),
) -> Result<Option<End>, SweepError> {
    let folder = tempfile::tempdir()?;
    for package in [PACKAGE, fissure_execute::WORKER] {
        fissure_execute::unpack_package(package, folder.path())?;
    }
    let (mut child, lines) = start(options, folder.path(), task)?;
    let mut patience = options.timeout.max(STARTING);
    let mut heard_at = Instant::now();
    loop {
        if options.is_over() {
            return Ok(None);
        }
        let next = lines.recv_timeout(TICK.min(patience));
        if next.is_ok() {
            heard_at = Instant::now();
        }
        match next {
            Err(RecvTimeoutError::Timeout) if heard_at.elapsed() < patience => {}
            Ok(line) => match serde_json::from_str::<Told>(&line) {
                Ok(Told::Began { version }) => {
                    *version_told = version;
                    patience = options.timeout;
                }
                Ok(Told::Begins {
                    function,
                    dtype,
                    at,
                }) => heard(Heard::Begins {
                    function,
                    dtype,
                    at,
                }),
                Ok(Told::Swept(profile)) => heard(Heard::Swept(profile)),
                Ok(Told::Skipped(skipped)) => heard(Heard::Skipped(skipped)),
                Ok(Told::Part(part)) => heard(Heard::Part(part)),
                Ok(Told::Failed { message }) => return Err(SweepError::Refused(message)),
                Ok(Told::Ended) => return Ok(None),
                Err(error) => {
                    return Err(SweepError::Refused(format!("{error} in {line:?}")));
                }
            },
            Err(RecvTimeoutError::Timeout) => {
                return Ok(Some(End {
                    how: format!("still running after {} s", options.timeout.as_secs()),
                    timed_out: true,
                }));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let how = match child.wait(LAST_WORD) {
                    Some(status) => status.to_string(),
                    None => "it closed its output and does not end".to_owned(),
                };
                return Ok(Some(End {
                    how,
                    timed_out: false,
                }));
            }
        }
    }
}

/// The process ends with the value that stands for it, and with it everything that it has started.
fn start(
    options: &Options,
    folder: &Path,
    task: &Task<'_>,
) -> Result<(Warded, Receiver<String>), SweepError> {
    let failed = |error| SweepError::Start {
        python: options.python.clone(),
        error,
    };
    let not_started = |error: fissure_execute::ExecuteError| failed(io::Error::other(error));
    let users = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let users: Vec<PathBuf> = std::env::split_paths(&users)
        .filter(|it| !it.as_os_str().is_empty())
        .collect();
    let folders = std::iter::once(folder).chain(options.search.iter().map(PathBuf::as_path));
    let folders = folders.chain(users.iter().map(PathBuf::as_path));
    let search = std::env::join_paths(folders).map_err(|error| failed(io::Error::other(error)))?;
    let told = folder.join("settings.json");
    fs::write(&told, settings(options, task).to_string())?;
    // Where the library may write.
    let scratch = folder.join("scratch");
    fs::create_dir(&scratch)?;
    let scratch = fs::canonicalize(scratch)?;
    let sandbox = SandboxOptions {
        confine_writes: !has_gpu(),
        cut_network: true,
    };
    let (output, theirs) = io::pipe()?;
    let mut warded =
        WardedCommand::new(&options.python, sandbox.confine_writes).map_err(not_started)?;
    only_allowed(&mut warded.command, &scratch);
    warded
        .command
        .args(["-m", PACKAGE])
        .current_dir(folder)
        .env("PYTHONPATH", search)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // PyTorch's word for pages of two megabytes: its tensors come and go here.
        .env("THP_MEM_ALLOC_ENABLE", "1")
        .env("TMPDIR", &scratch)
        .stdin(File::open(told)?)
        .stdout(theirs)
        .stderr(Stdio::null());
    let confinement = Confinement::of_target(sandbox, scratch);
    let child = warded.spawn(&confinement, &[]).map_err(not_started)?;
    Ok((child, lines_of(output)))
}

fn settings(options: &Options, task: &Task<'_>) -> serde_json::Value {
    let table: serde_json::Value =
        serde_json::from_str(fissure_functions::worker_json()).unwrap_or_default();
    let (mut done, mut parts): (&[(String, String)], &[u32]) = (&[], &[]);
    let mut shares = (0, 1);
    match task {
        Task::Sweep { done: told, share } => (done, shares) = (told, *share),
        Task::Parts(asked) => parts = asked,
        Task::Version => {}
    }
    serde_json::json!({
        "library": options.library,
        "functions": options.functions,
        "dtypes": options.dtypes,
        "count": options.count,
        "tensors": options.tensors.max(1),
        "done": done,
        "parts": parts,
        "share": shares,
        "only_version": matches!(task, Task::Version),
        "table": table,
    })
}

fn lines_of(output: PipeReader) -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
