//! The thread that follows a process until it ends.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use fissure_model::FAULT_SIGNALS;

use super::frames::{self, Stack};
use super::ptrace::{self, Cause, Change};
use super::unwind;
use crate::process::ExitStatus;

/// For the names of functions after an end that is known: half a million symbols on a slow disk.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known when a process has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Autopsy {
    pub status: ExitStatus,
    /// Of the thread whose signal ended the process, innermost first.
    pub frames: Vec<String>,
}

/// What a trap means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traps {
    Crashes,
    /// Native coverage is taken: traps come by the thousand, and their handler takes them.
    Expected,
}

/// Follows a process from its own thread. Dropping it changes nothing: the thread ends with the
/// process.
#[derive(Debug)]
pub(crate) struct Tracer {
    autopsy: Receiver<Autopsy>,
}

impl Tracer {
    /// `None` when the process cannot be followed.
    pub(crate) fn attach(pid: i32, traps: Traps) -> Option<Tracer> {
        let (answer, attached) = bounded(1);
        let (sender, autopsy) = bounded(1);
        thread::Builder::new()
            .name(format!("autopsy-{pid}"))
            .spawn(move || {
                let seized = seize(pid);
                // Nobody hears it only when the process that waits is being dropped.
                let _ = answer.send(seized);
                if seized {
                    follow(pid, traps, &sender);
                }
            })
            .ok()?;
        attached.recv().ok()?.then_some(Tracer { autopsy })
    }

    /// The result, if the process has ended.
    pub(crate) fn poll(&self) -> Result<Option<Autopsy>, TryRecvError> {
        match self.autopsy.try_recv() {
            Ok(autopsy) => Ok(Some(autopsy)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The result of a process that has ended, or will at once.
    pub(crate) fn wait(&self) -> Option<Autopsy> {
        self.autopsy.recv_timeout(PATIENCE).ok()
    }
}

/// Follows all threads of a process. New ones are followed from their start.
fn seize(pid: i32) -> bool {
    if ptrace::seize(pid).is_err() {
        return false;
    }
    for entry in fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let thread = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(thread) = thread.filter(|thread| *thread != pid) {
            // Followed already if it was started after the first request, or gone again.
            let _ = ptrace::seize(thread);
        }
    }
    true
}

/// A signal that may turn out to be the end.
struct Crash {
    thread: i32,
    signal: i32,
    stack: Stack,
}

fn follow(pid: i32, traps: Traps, result: &Sender<Autopsy>) {
    let mut crash: Option<Crash> = None;
    while let Some(change) = ptrace::wait() {
        // A thread that was killed while it was stopped cannot go on; its end comes next.
        let _ = match change {
            Change::Signal { thread, signal } => {
                let expected = traps == Traps::Expected && signal == libc::SIGTRAP;
                if FAULT_SIGNALS.contains(&signal) && !expected {
                    // Nothing is known of the cause when the thread was killed meanwhile.
                    let cause = ptrace::cause(thread).unwrap_or_default();
                    if !is_repeated(crash.as_ref(), thread, signal, cause) {
                        let stack = guarded(|| unwind::walk(pid, thread, cause.memory).ok());
                        crash = Some(Crash {
                            thread,
                            signal,
                            stack,
                        });
                    }
                }
                ptrace::proceed(thread, signal)
            }
            Change::GroupStop { thread } => ptrace::leave_stopped(thread),
            Change::Other { thread } => ptrace::proceed(thread, 0),
            Change::Ended { thread, status } if thread == pid => {
                // A signal that was survived, and then another end: not where it ended.
                let crash = crash.filter(|crash| status == ExitStatus::Signal(crash.signal));
                // The names come after the end, when nobody waits for this process any more.
                let frames = crash.map_or_else(Vec::new, |crash| {
                    guarded(|| Some(frames::describe(&crash.stack)))
                });
                let _ = result.send(Autopsy { status, frames });
                return;
            }
            Change::Ended { .. } => Ok(()),
        };
    }
}

/// Handlers that only tell of a crash, such as Python's, raise the signal again from within
/// themselves: the first place is the real one.
fn is_repeated(crash: Option<&Crash>, thread: i32, signal: i32, cause: Cause) -> bool {
    cause.raised && crash.is_some_and(|crash| crash.thread == thread && crash.signal == signal)
}

/// Files of machine code are a target's, and broken ones may surprise those who read them. A
/// tracer that ends takes its process along, so nothing here may end it.
fn guarded<T: Default>(read: impl FnOnce() -> Option<T>) -> T {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Some(found)) => found,
        Ok(None) | Err(_) => T::default(),
    }
}
