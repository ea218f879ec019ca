//! One forked worker, seen from outside.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::ExecuteError;
use crate::journal::{Journal, SLOTS};
use crate::marshal::Marshal;
use crate::output::Output;
use crate::process::{self, ExitStatus};
use crate::socket::{Socket, wait_readable};

/// Between two looks of the watchdog.
const TICK: Duration = Duration::from_millis(20);
/// For the zygote's answer to a request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// For the zygote's report of a worker that was killed or is a zombie.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// For a worker to begin: it does so within milliseconds unless the machine is choking.
const START_TIMEOUT: Duration = Duration::from_secs(10);
const CHECK_NAN: i128 = 1;

#[derive(Serialize)]
struct ForkRequest<'a> {
    task: &'a str,
    folder: &'a Path,
    slots: usize,
    confine_signals: bool,
}

/// What the zygote says on the socket of a slot.
#[derive(Deserialize)]
struct Report {
    forked: Option<i32>,
    refused: Option<String>,
    ended: Option<i32>,
    status: Option<i32>,
}

/// What a worker is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Run,
    Describe,
}

/// The zygote itself is gone or does not answer.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    #[error("the zygote is gone")]
    ZygoteLost,
    #[error(transparent)]
    Other(#[from] ExecuteError),
}

/// The inputs `start..end` of what is in the arena.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Never 0, never used twice with one journal.
    pub sequence: u64,
    pub start: usize,
    pub end: usize,
    pub check_nan: bool,
    /// Where the table of objects begins.
    pub table: usize,
    pub path: &'a str,
}

/// Limits of one input, and the way to stop early.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    pub timeout: Duration,
    /// Resident bytes at which the worker is ended.
    pub resident: u64,
    pub cancelled: &'a AtomicBool,
}

/// Why a worker stopped running a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Everything up to this input is in the journal.
    Finished(usize),
    Died(ExitStatus),
    /// Ended by the watchdog while this input ran.
    TimedOut(Option<usize>),
    OutOfMemory(Option<usize>),
    ZygoteLost,
    Cancelled,
}

#[derive(Debug)]
pub struct Worker {
    pid: i32,
    channel: Socket,
    /// The worker has closed its end: it can finish what it has, and must then go.
    channel_lost: bool,
    /// The zygote has reported the end.
    ended: bool,
    pub output: Output,
}

impl Worker {
    pub fn fork(
        control: &Socket,
        task: Task,
        folder: &Path,
        arena: BorrowedFd<'_>,
        journal: BorrowedFd<'_>,
        confine_signals: bool,
    ) -> Result<Worker, ForkError> {
        let (channel, theirs) = Socket::pair().map_err(ExecuteError::system("create a socket"))?;
        let (output, writer) = Output::new()?;
        let request = ForkRequest {
            task: match task {
                Task::Run => "run",
                Task::Describe => "describe",
            },
            folder,
            slots: SLOTS,
            confine_signals,
        };
        let request = serde_json::to_vec(&request).map_err(|_| ExecuteError::ForkRefused {
            reason: "the scratch folder's name is no text".into(),
        })?;
        let descriptors = [arena, journal, theirs.as_fd(), writer.as_fd()];
        control
            .send(&request, &descriptors)
            .map_err(|_| ForkError::ZygoteLost)?;
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let report = match receive_report(control, deadline) {
                Some(report) => report,
                None => return Err(ForkError::ZygoteLost),
            };
            if let Some(reason) = report.refused {
                return Err(ExecuteError::ForkRefused { reason }.into());
            }
            // Anything else is the late end of an earlier worker.
            if let Some(pid) = report.forked {
                return Ok(Worker {
                    pid,
                    channel,
                    channel_lost: false,
                    ended: false,
                    output,
                });
            }
        }
    }

    /// False when the worker has ended, or cannot be reached, before it got any work.
    pub fn is_ready(&mut self, control: &Socket) -> bool {
        while let Ok(message) = control.receive() {
            let Some(message) = message else { return false };
            self.ended |= parse(&message).is_some_and(|report| report.ended == Some(self.pid));
        }
        !self.channel_lost && !self.ended
    }

    /// Gives the worker a message and watches over it until it stops.
    pub fn run(
        &mut self,
        control: &Socket,
        journal: &Journal,
        message: Message<'_>,
        limits: Limits<'_>,
    ) -> Stop {
        journal.clear(message.start, message.end);
        if self.channel.send(&encode(message), &[]).is_err() {
            // Nothing ran: as good as finished before the first input.
            self.channel_lost = true;
            return Stop::Finished(message.start);
        }
        let mut watched = (None, Instant::now());
        let mut look = Instant::now() + TICK;
        let mut zombie_since = None;
        loop {
            let now = Instant::now();
            if let Some(stop) = self.wait_for_news(control, look.saturating_duration_since(now)) {
                return self.settle(journal, message.sequence, stop);
            }
            if let Some(next) = journal.finished(message.sequence) {
                return Stop::Finished(next);
            }
            let now = Instant::now();
            if now < look {
                continue;
            }
            look = now + TICK.min(limits.timeout);
            let current = journal.current();
            let timeout = if current.is_some() {
                limits.timeout
            } else {
                limits.timeout.max(START_TIMEOUT)
            };
            if watched.0 != current {
                watched = (current, now);
            } else if now - watched.1 >= timeout {
                return self.end(control, Stop::TimedOut(current));
            }
            if limits.cancelled.load(Ordering::Relaxed) {
                return self.end(control, Stop::Cancelled);
            }
            match process::resident_with_children(self.pid) {
                Some(resident) if resident > limits.resident => {
                    return self.end(control, Stop::OutOfMemory(current));
                }
                Some(resident) if resident > 0 => zombie_since = None,
                // Ended, and nobody told: the zygote does not do its work.
                _ if now - *zombie_since.get_or_insert(now) > REPORT_TIMEOUT => {
                    return Stop::ZygoteLost;
                }
                _ => {}
            }
        }
    }

    /// Waits for the worker, the zygote, or output; says so if the worker cannot go on.
    fn wait_for_news(&mut self, control: &Socket, timeout: Duration) -> Option<Stop> {
        let channel = if self.channel_lost {
            control.as_fd()
        } else {
            self.channel.as_fd()
        };
        let descriptors = [control.as_fd(), channel, self.output.as_fd()];
        // Only a full kernel refuses to poll: then the next look at the clock decides.
        let [zygote, worker, output] = wait_readable(&descriptors, timeout).unwrap_or([true; 3]);
        if output {
            self.output.drain();
        }
        if worker && !self.channel_lost {
            match self.channel.receive() {
                Ok(Some(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(None) | Err(_) => self.channel_lost = true,
            }
        }
        if zygote {
            self.hear_zygote(control)
        } else {
            None
        }
    }

    fn hear_zygote(&mut self, control: &Socket) -> Option<Stop> {
        match control.receive() {
            Ok(Some(message)) => {
                let report = parse(&message)?;
                let status = report.status?;
                self.ended |= report.ended == Some(self.pid);
                self.ended
                    .then(|| Stop::Died(ExitStatus::from_wait_status(status)))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Ok(None) | Err(_) => Some(Stop::ZygoteLost),
        }
    }

    /// A worker that dies right after its last word has done its work all the same.
    fn settle(&mut self, journal: &Journal, sequence: u64, stop: Stop) -> Stop {
        self.output.drain();
        match journal.finished(sequence) {
            Some(next) => {
                self.channel_lost = true;
                Stop::Finished(next)
            }
            None => stop,
        }
    }

    /// Kills the worker with its group, waits for the report, and returns `stop`.
    pub fn end(&mut self, control: &Socket, stop: Stop) -> Stop {
        if self.ended {
            return stop;
        }
        process::kill_group(self.pid);
        let deadline = Instant::now() + REPORT_TIMEOUT;
        while let Some(report) = receive_report(control, deadline) {
            if report.ended == Some(self.pid) {
                self.ended = true;
                self.output.drain();
                return stop;
            }
        }
        Stop::ZygoteLost
    }

    /// One question to a worker with [`Task::Describe`].
    pub fn ask(
        &mut self,
        control: &Socket,
        question: &str,
        timeout: Duration,
    ) -> Result<Vec<u8>, String> {
        self.channel
            .send(question.as_bytes(), &[])
            .map_err(|error| error.to_string())?;
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("no answer after {} s", timeout.as_secs()));
            }
            let descriptors = [control.as_fd(), self.channel.as_fd(), self.output.as_fd()];
            let [zygote, worker, output] =
                wait_readable(&descriptors, left.min(TICK)).map_err(|error| error.to_string())?;
            if output {
                self.output.drain();
            }
            if worker && let Ok(Some(answer)) = self.channel.receive() {
                return Ok(answer);
            }
            if zygote {
                match self.hear_zygote(control) {
                    Some(Stop::Died(ExitStatus::Signal(signal))) => {
                        return Err(format!(
                            "looking it up ended the process by signal {signal}"
                        ));
                    }
                    Some(_) => return Err("looking it up ended the process".into()),
                    None => {}
                }
            }
        }
    }
}

fn encode(message: Message<'_>) -> Vec<u8> {
    let mut marshal = Marshal::default();
    marshal.tuple(6);
    marshal.integer(message.sequence.into());
    marshal.integer(message.start as i128);
    marshal.integer(message.end as i128);
    marshal.integer(if message.check_nan { CHECK_NAN } else { 0 });
    marshal.integer(message.table as i128);
    marshal.text(message.path);
    marshal.bytes
}

fn parse(message: &[u8]) -> Option<Report> {
    serde_json::from_slice(message).ok()
}

/// The next report before `deadline`; `None` when there is none or the zygote is gone.
fn receive_report(control: &Socket, deadline: Instant) -> Option<Report> {
    let left = deadline.saturating_duration_since(Instant::now());
    match control.receive_within(left) {
        Ok(Some(message)) => parse(&message),
        Ok(None) | Err(_) => None,
    }
}
