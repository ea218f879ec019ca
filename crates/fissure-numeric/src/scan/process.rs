//! The interpreter process: started with the runtime, watched, and never waited for without limit.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use fissure_execute::{Confinement, SandboxReport, Tail, Warded, WardedCommand, without_secrets};
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
    /// A line that is no event: the runtime is broken, what the line begins with goes into the log.
    Garbled(String),
}

pub(super) struct Runtime {
    child: Warded,
    commands: UnixStream,
    heard: Receiver<Heard>,
    errors: Tail,
    garbled: Vec<String>,
    /// Holds the unpacked runtime until the process is gone.
    _folder: tempfile::TempDir,
}

const CHANNEL_FD: i32 = 3;
/// For a process that has said everything to end.
const LAST_WORD: Duration = Duration::from_secs(2);

/// Events that wait to be looked at. A program that says more than is looked at waits, as it does at a full pipe.
const WAITING: usize = 256;
/// The longest line that is taken for an event; the values of a finding are in files, so real ones are far shorter.
const LONGEST_LINE: u64 = 64 << 20;
/// What is kept of a line that is no event, and of how many.
const GARBLED_LINE: usize = 1000;
const GARBLED_LINES: usize = 100;
/// What is kept of the end of standard error.
const LOG: usize = 1 << 20;

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
        let (errors, said) = Tail::new(LOG).map_err(ScanError::Prepare)?;
        let (ours, theirs) = UnixStream::pair().map_err(ScanError::Prepare)?;
        let temporary = folder.path().join("tmp");
        std::fs::create_dir_all(&temporary).map_err(ScanError::Prepare)?;
        let failed = |error: fissure_execute::ExecuteError| ScanError::Start {
            python: options.python.display().to_string(),
            error: io::Error::other(error),
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
            .stderr(said);
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
            .map_err(|error| ScanError::Prepare(io::Error::other(error)))?;
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
                Ok(Heard::Garbled(line)) if self.garbled.len() < GARBLED_LINES => {
                    self.garbled.push(line);
                }
                Ok(Heard::Garbled(_)) => {}
                Err(RecvTimeoutError::Timeout) => return Err(Ended::Silent(patience)),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = match self.child.wait(LAST_WORD) {
                        Some(status) => status.to_string(),
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
        let mut text = self.errors.text();
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

/// Reads what the runtime says. The program under scan has the same descriptor, so neither the number of lines nor
/// their length may decide how much memory is needed here.
fn listen(stream: UnixStream) -> Receiver<Heard> {
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        while let Ok(Some(heard)) = next_line(&mut stream, LONGEST_LINE) {
            if sender.send(heard).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The next line, or nothing at the end.
fn next_line(stream: &mut impl BufRead, longest: u64) -> io::Result<Option<Heard>> {
    let mut line = Vec::new();
    if stream.take(longest).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == longest {
        stream.skip_until(b'\n')?;
        let begins = beginning(&line);
        return Ok(Some(Heard::Garbled(format!(
            "a line of more than {longest} bytes: {begins}"
        ))));
    }
    Ok(Some(match serde_json::from_slice(&line) {
        Ok(event) => Heard::Event(Box::new(event)),
        Err(error) => Heard::Garbled(format!("{error}: {}", beginning(&line))),
    }))
}

fn beginning(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(GARBLED_LINE)]);
    text.trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn who_says_more_than_is_looked_at_has_to_wait_and_nothing_is_lost() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let heard = listen(ours);
        theirs
            .set_write_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        let line = format!(
            "{{\"event\": \"note\", \"text\": \"{}\"}}\n",
            "x".repeat(4000)
        );
        let most = 64 << 20;
        let mut written = 0;
        while written < most && theirs.write_all(line.as_bytes()).is_ok() {
            written += line.len();
        }
        assert!(
            written < most,
            "{written} bytes were taken and nobody looked"
        );
        drop(theirs);
        let events = heard
            .iter()
            .filter(|heard| matches!(heard, Heard::Event(_)));
        assert_eq!(events.count(), written / line.len());
    }

    #[test]
    fn a_line_without_end_is_cut_and_the_next_one_is_read() {
        let text = format!(
            "{}\n{{\"event\": \"finished\"}}\nnonsense\n",
            "a".repeat(5000)
        );
        let mut stream = BufReader::with_capacity(16, text.as_bytes());
        let mut next = || next_line(&mut stream, 2000).unwrap();
        match next() {
            Some(Heard::Garbled(text)) => {
                assert!(text.len() < 1100, "{}", text.len());
                assert!(text.starts_with("a line of more than 2000 bytes: aaaa"));
            }
            _ => panic!("it was taken for an event"),
        }
        assert!(matches!(next(), Some(Heard::Event(event)) if matches!(*event, Event::Finished)));
        assert!(matches!(next(), Some(Heard::Garbled(text)) if text.ends_with(": nonsense")));
        assert!(next().is_none());
    }
}
