//! The interpreter process: started with the runtime, watched, and never waited for without limit.

use std::io::{BufRead, BufReader, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use fissure_execute::{
    Confinement, ExitStatus, SandboxReport, Warded, WardedCommand, without_secrets,
};
use rustix::net::{SendFlags, send};
use rustix::process::{Pid, Signal, kill_process};

use super::assertions::Models;
use super::event::Event;
use super::plan::Analysed;
use super::{ScanError, ScanOptions, plan, runtime};

/// How the runtime's process ended, as far as the scan is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Normally,
    /// Nothing was heard for the whole patience; it was killed.
    Silent(Duration),
    /// The process is gone although the scan was not finished.
    Gone {
        status: String,
        log: String,
    },
}

/// A message from the reading thread.
enum Heard {
    Event(Box<Event>),
    /// A line that is no event: the runtime is broken, the line goes into the log.
    Garbled(String),
}

pub(super) struct Runtime {
    child: Warded,
    commands: UnixStream,
    heard: Receiver<Heard>,
    errors: std::fs::File,
    garbled: Vec<String>,
    /// Holds the unpacked runtime until the process is gone.
    _folder: tempfile::TempDir,
}

const CHANNEL_FD: i32 = 3;
/// For a process that has said everything to end.
const LAST_WORD: Duration = Duration::from_secs(2);

/// The process of the scan under way, 0 without one.
static RUNNING: AtomicI32 = AtomicI32::new(0);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends the search of the scan under way, as Ctrl-C does: what was found until then is reported.
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::SeqCst);
    if let Some(process) = Pid::from_raw(RUNNING.load(Ordering::SeqCst)) {
        // Failing means that it is gone already.
        let _gone = kill_process(process, Signal::INT);
    }
}

pub(super) fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

impl Runtime {
    pub(super) fn start(
        options: &ScanOptions,
        analysed: &Analysed,
        models: &Models,
    ) -> Result<Runtime, ScanError> {
        let folder = tempfile::tempdir().map_err(ScanError::Prepare)?;
        let starter = runtime::unpack(folder.path()).map_err(ScanError::Prepare)?;
        let plan_file = folder.path().join("plan.json");
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&options.output)
            .map_err(ScanError::Prepare)?;
        let mut plan = plan::to_json(options, analysed);
        plan["assertions"] = models.to_json();
        std::fs::write(&plan_file, plan.to_string()).map_err(ScanError::Prepare)?;
        let errors = tempfile::tempfile().map_err(ScanError::Prepare)?;
        let (ours, theirs) = UnixStream::pair().map_err(ScanError::Prepare)?;
        let temporary = folder.path().join("tmp");
        std::fs::create_dir_all(&temporary).map_err(ScanError::Prepare)?;
        let failed = |error: fissure_execute::ExecuteError| ScanError::Start {
            python: options.python.display().to_string(),
            error: std::io::Error::other(error),
        };
        let confined = options.sandbox.confine_writes;
        let mut warded = WardedCommand::new(&options.python, confined).map_err(failed)?;
        let command = &mut warded.command;
        without_secrets(command);
        command
            .arg(&starter)
            .arg(&plan_file)
            .arg(CHANNEL_FD.to_string())
            .env("MPLBACKEND", "Agg")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONUNBUFFERED", "1")
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors.try_clone().map_err(ScanError::Prepare)?);
        for name in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
            if std::env::var_os(name).is_none() {
                command.env(name, "1");
            }
        }
        command
            .fd_mappings(vec![FdMapping {
                parent_fd: OwnedFd::from(theirs),
                child_fd: CHANNEL_FD,
            }])
            .map_err(|error| ScanError::Prepare(std::io::Error::other(error)))?;
        let writable = [folder.path(), options.output.as_path()]
            .into_iter()
            .filter_map(|path| std::fs::canonicalize(path).ok())
            .collect();
        let confinement = Confinement::of_program(options.sandbox, writable);
        let child = warded.spawn(&confinement, &[]).map_err(failed)?;
        RUNNING.store(child.pid(), Ordering::SeqCst);
        let reader = ours.try_clone().map_err(ScanError::Prepare)?;
        Ok(Runtime {
            child,
            commands: ours,
            heard: listen(reader),
            errors,
            garbled: Vec::new(),
            _folder: folder,
        })
    }

    /// What is in force against a program that does harm; `None` where nothing was asked for.
    pub(super) fn protections(&self, options: &ScanOptions) -> Option<SandboxReport> {
        (!options.sandbox.is_off()).then_some(self.child.report)
    }

    /// The next event, or how it ended.
    pub(super) fn next(&mut self, patience: Duration) -> Result<Event, Ended> {
        loop {
            match self.heard.recv_timeout(patience) {
                Ok(Heard::Event(event)) => return Ok(*event),
                Ok(Heard::Garbled(line)) => self.garbled.push(line),
                Err(RecvTimeoutError::Timeout) => return Err(Ended::Silent(patience)),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = match self.child.wait(LAST_WORD) {
                        Some(status) => in_words(status),
                        None => "it does not end".to_owned(),
                    };
                    return Err(Ended::Gone {
                        status,
                        log: self.log(),
                    });
                }
            }
        }
    }

    /// Sends a command. A runtime that is gone is noticed by the next read, not here.
    pub(super) fn command(&mut self, command: &serde_json::Value) {
        let mut line = command.to_string().into_bytes();
        line.push(b'\n');
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            // Without NOSIGNAL a runtime that died would end this program too.
            match send(self.commands.as_fd(), rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(_) => return,
            }
        }
    }

    pub(super) fn finish(&mut self) {
        self.command(&serde_json::json!({"command": "finish"}));
    }

    /// Ends the process if it still runs; returns what it wrote to standard error.
    pub(super) fn close(mut self) -> String {
        self.child.wait(LAST_WORD);
        self.kill();
        self.log()
    }

    fn kill(&mut self) {
        // Before the number can belong to another process.
        RUNNING.store(0, Ordering::SeqCst);
        self.child.end();
    }

    fn log(&mut self) -> String {
        let mut text = String::new();
        let mut bytes = Vec::new();
        if self.errors.rewind().is_ok() && self.errors.read_to_end(&mut bytes).is_ok() {
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        for line in &self.garbled {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.kill();
    }
}

fn in_words(status: ExitStatus) -> String {
    let raw = match status {
        ExitStatus::Code(code) => code << 8,
        ExitStatus::Signal(signal) => signal,
    };
    std::process::ExitStatus::from_raw(raw).to_string()
}

fn listen(stream: UnixStream) -> Receiver<Heard> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            let heard = match serde_json::from_str(&line) {
                Ok(event) => Heard::Event(Box::new(event)),
                Err(error) => Heard::Garbled(format!("{error}: {line}")),
            };
            if sender.send(heard).is_err() {
                break;
            }
        }
    });
    receiver
}
