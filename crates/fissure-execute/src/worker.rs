//! One forked worker, seen from outside.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fissure_model::{Oracle, Way};
use rustix::process::Signal;

use crate::autopsy::{Tracer, Traps};
use crate::connection::{Connection, ForkError, ForkRequest};
use crate::error::ExecuteError;
use crate::journal::Journal;
use crate::marshal::Marshal;
use crate::options::QUICK;
use crate::output::Output;
use crate::process::{self, ExitStatus};
use crate::socket::{Socket, wait_readable};

/// Between two looks of the watchdog.
const TICK: Duration = Duration::from_millis(20);
/// For the zygote's report of a worker that was killed or is a zombie.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// For a worker to begin: it does so within milliseconds unless the machine is choking.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// For a hanging worker to print its stack.
const INTERROGATION: Duration = Duration::from_millis(50);
/// The calls that oracles make for one input may take as long as so many that hang.
const ORACLE_CALLS: u32 = 50;
// Bits of a message's flags, those of `worker.py`.
const CHECK_NAN: i128 = 1;
const COMPILED: i128 = 2;
const TRACED: i128 = 4;
const REARM: i128 = 8;

/// The inputs `start..end` of what is in the arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// Never 0, never used twice with one journal.
    pub sequence: u64,
    pub start: usize,
    pub end: usize,
    pub check_nan: bool,
    pub way: Way,
    /// Blocks that were run count again.
    pub rearm: bool,
    /// Where the table of objects begins.
    pub table: usize,
    pub path: &'a str,
    /// The oracles that look at each accepted input.
    pub oracles: &'a [Oracle],
}

/// Limits of one input, and the way to stop early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits<'a> {
    pub timeout: Duration,
    /// For the first call of the message, if it may take longer than the others.
    pub first_call: Option<Duration>,
    /// For all calls of the message together that are not quick.
    pub slow_calls: Option<Duration>,
    /// Resident bytes that a worker has before it does anything.
    pub baseline: u64,
    /// Bytes above that at which it is ended.
    pub memory: u64,
    pub cancelled: &'a AtomicBool,
}

impl Limits<'_> {
    /// The limit of the next call, where those that were not quick took so long together.
    fn of_call(&self, is_first: bool, slow: Duration) -> Duration {
        let left = self.slow_calls.map(|all| all.saturating_sub(slow));
        let usual = left.map_or(self.timeout, |left| self.timeout.min(left.max(QUICK)));
        let longer = self.first_call.filter(|_| is_first);
        longer.map_or(usual, |longer| longer.max(usual))
    }
}

/// Why a worker stopped running a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Everything up to this input is in the journal.
    Finished(usize),
    /// The message did not reach it: nothing ran. So it is, too, where a worker ends that had messages before
    /// this one: what they left may have ended it, or it left by itself because of a thread that stays.
    Unreached,
    Died(ExitStatus),
    /// Ended by the watchdog while this input ran.
    TimedOut(Option<usize>),
    /// The same for memory. `alone`: the input took most of it itself, rather than those before it.
    OutOfMemory {
        index: Option<usize>,
        alone: bool,
    },
    ZygoteLost,
    Cancelled,
}

/// A worker that was asked for and may not be there yet.
#[derive(Debug)]
pub(crate) struct Requested {
    channel: Socket,
    output: Output,
}

impl Requested {
    /// Asks the zygote for a worker with this arena and this journal.
    pub(crate) fn new(
        connection: &mut Connection,
        request: ForkRequest<'_>,
        arena: BorrowedFd<'_>,
        journal: BorrowedFd<'_>,
    ) -> Result<Requested, ForkError> {
        let (channel, theirs) = Socket::pair().map_err(ExecuteError::system("create a socket"))?;
        let (output, writer): (Output, OwnedFd) = Output::new()?;
        connection.request(request, &[arena, journal, theirs.as_fd(), writer.as_fd()])?;
        Ok(Requested { channel, output })
    }

    /// Waits until it is there.
    pub(crate) fn claim(self, connection: &mut Connection) -> Result<Worker, ForkError> {
        let pid = connection.forked()?;
        Ok(Worker {
            pid,
            channel: self.channel,
            channel_lost: false,
            used: false,
            ended: false,
            tracer: None,
            output: self.output,
        })
    }
}

#[derive(Debug)]
pub(crate) struct Worker {
    pid: i32,
    channel: Socket,
    /// The worker has closed its end: it can finish what it has, and must then go.
    channel_lost: bool,
    /// It had a message before.
    used: bool,
    /// The zygote has reported the end.
    ended: bool,
    tracer: Option<Tracer>,
    pub output: Output,
}

impl Worker {
    /// Has somebody look when the worker crashes, where that is allowed.
    pub(crate) fn trace(&mut self, traps: Traps) {
        self.tracer = Tracer::attach(self.pid, traps);
    }

    /// Native frames of a worker that has ended by a signal, innermost first.
    pub(crate) fn native_frames(&self) -> Vec<String> {
        let autopsy = self.tracer.as_ref().and_then(Tracer::wait);
        autopsy.map_or_else(Vec::new, |autopsy| autopsy.frames)
    }

    /// False when the worker has ended, or cannot be reached any more.
    pub(crate) fn is_ready(&mut self, connection: &mut Connection) -> bool {
        self.ended |= connection.take_end(self.pid).is_some();
        !(self.ended || self.channel_lost || connection.is_lost())
    }

    /// Gives the worker a message and watches over it until it stops.
    pub(crate) fn run(
        &mut self,
        connection: &mut Connection,
        journal: &Journal,
        message: Message<'_>,
        limits: Limits<'_>,
    ) -> Stop {
        journal.clear(message.sequence, message.start, message.end);
        if self.channel.send(&encode(message), &[]).is_err() {
            self.channel_lost = true;
            return Stop::Unreached;
        }
        let used = std::mem::replace(&mut self.used, true);
        let mut watched = Watched::new(!message.oracles.is_empty());
        let mut look = Instant::now() + TICK;
        let mut zombie_since = None;
        let mut before = self.resident();
        loop {
            let wait = look.saturating_duration_since(Instant::now());
            if let Some(stop) = self.wait_for_news(connection, wait) {
                return match self.settle(journal, message.sequence, stop) {
                    Stop::Died(_) if used && journal.current().is_none() => Stop::Unreached,
                    stop => stop,
                };
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
            let timeout = match current {
                Some(at) => limits.of_call(at == message.start, watched.slow),
                None => limits.timeout.max(START_TIMEOUT),
            };
            let resident = process::resident_with_children(self.pid);
            if watched.moved(current, journal.pulse(), now, limits.timeout) {
                before = resident.unwrap_or(before);
            } else if now - watched.since >= timeout {
                // Nothing is made of a call that is ended before its whole time.
                if timeout >= limits.timeout {
                    self.interrogate();
                }
                return self.end(connection, Stop::TimedOut(current));
            }
            if limits.cancelled.load(Ordering::Relaxed) {
                return self.end(connection, Stop::Cancelled);
            }
            match resident {
                Some(resident) if resident > limits.baseline + limits.memory => {
                    let alone = before < limits.baseline + limits.memory / 2;
                    return self.end(
                        connection,
                        Stop::OutOfMemory {
                            index: current,
                            alone,
                        },
                    );
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

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits a little for the end of a worker that gets no messages, and reads what it prints.
    pub(crate) fn wait_for_end(
        &mut self,
        connection: &mut Connection,
        timeout: Duration,
    ) -> Option<Stop> {
        let stop = self.wait_for_news(connection, timeout)?;
        self.output.drain();
        Some(stop)
    }

    /// Waits for the worker, the zygote, or output; says so if the worker cannot go on.
    fn wait_for_news(&mut self, connection: &mut Connection, timeout: Duration) -> Option<Stop> {
        let channel = if self.channel_lost {
            connection.as_fd()
        } else {
            self.channel.as_fd()
        };
        let descriptors = [connection.as_fd(), channel, self.output.as_fd()];
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
            self.hear_zygote(connection)
        } else {
            None
        }
    }

    fn hear_zygote(&mut self, connection: &mut Connection) -> Option<Stop> {
        let status = connection.take_end(self.pid);
        self.ended |= status.is_some();
        match status {
            Some(status) => Some(Stop::Died(status)),
            None => connection.is_lost().then_some(Stop::ZygoteLost),
        }
    }

    /// A worker that dies right after its last word has done its work all the same.
    fn settle(&mut self, journal: &Journal, sequence: u64, stop: Stop) -> Stop {
        self.output.drain();
        journal.finished(sequence).map_or(stop, Stop::Finished)
    }

    /// Resident bytes; 0 for a worker that has ended.
    pub(crate) fn resident(&self) -> u64 {
        process::resident(self.pid).map_or(0, |bytes| bytes)
    }

    /// Has a hanging worker print where it is, if it still can.
    fn interrogate(&mut self) {
        process::signal(self.pid, Signal::USR2);
        let deadline = Instant::now() + INTERROGATION;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            // Without an answer the log lacks the stack, that is all.
            if let Ok([true]) = wait_readable(&[self.output.as_fd()], left) {
                self.output.drain();
            }
        }
    }

    /// Kills the worker with its group, waits for the report, and returns `stop`.
    pub(crate) fn end(&mut self, connection: &mut Connection, stop: Stop) -> Stop {
        if self.ended {
            return stop;
        }
        process::kill_group(self.pid);
        self.ended = connection.wait_end(self.pid, REPORT_TIMEOUT).is_some();
        self.output.drain();
        if self.ended { stop } else { Stop::ZygoteLost }
    }

    /// One question to a worker that describes.
    pub(crate) fn ask(
        &mut self,
        connection: &mut Connection,
        question: &str,
        timeout: Duration,
        cancelled: &AtomicBool,
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
            if cancelled.load(Ordering::Relaxed) {
                return Err("nobody waits for the answer".into());
            }
            let descriptors = [
                connection.as_fd(),
                self.channel.as_fd(),
                self.output.as_fd(),
            ];
            let [zygote, worker, output] =
                wait_readable(&descriptors, left.min(TICK)).map_err(|error| error.to_string())?;
            if output {
                self.output.drain();
            }
            if worker && let Ok(Some(answer)) = self.channel.receive() {
                return Ok(answer);
            }
            if zygote {
                match self.hear_zygote(connection) {
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

/// What the watchdog saw last, and when it changed.
///
/// A journal can be made to claim progress without end (a thread of the target that writes into
/// it): inputs only ever follow each other, and all calls of oracles for one input together have
/// [`ORACLE_CALLS`] times the limit of one.
struct Watched {
    current: Option<usize>,
    pulse: u64,
    oracles: bool,
    since: Instant,
    input_since: Instant,
    /// What inputs before this one took that were not quick.
    slow: Duration,
}

impl Watched {
    fn new(oracles: bool) -> Watched {
        let now = Instant::now();
        Watched {
            current: None,
            pulse: 0,
            oracles,
            since: now,
            input_since: now,
            slow: Duration::ZERO,
        }
    }

    /// True if something happened since the last look.
    fn moved(
        &mut self,
        current: Option<usize>,
        pulse: u64,
        now: Instant,
        timeout: Duration,
    ) -> bool {
        let next_input = current > self.current;
        if next_input {
            let took = now - self.input_since;
            if self.current.is_some() && took >= QUICK / 2 {
                self.slow += took;
            }
            self.current = current;
            self.input_since = now;
        }
        // Oracles make many calls for one input: each has the whole time.
        let next_call = self.oracles
            && pulse != self.pulse
            && now - self.input_since < timeout.saturating_mul(ORACLE_CALLS);
        self.pulse = pulse;
        if next_input || next_call {
            self.since = now;
        }
        next_input || next_call
    }
}

fn encode(message: Message<'_>) -> Vec<u8> {
    let mut marshal = Marshal::default();
    marshal.tuple(7);
    marshal.integer(message.sequence.into());
    marshal.integer(message.start as i128);
    marshal.integer(message.end as i128);
    let way = match message.way {
        Way::Eager => 0,
        Way::Compiled => COMPILED,
        Way::Traced => TRACED,
    };
    let flag = |set: bool, bit: i128| if set { bit } else { 0 };
    marshal.integer(way + flag(message.check_nan, CHECK_NAN) + flag(message.rearm, REARM));
    marshal.integer(message.table as i128);
    marshal.text(message.path);
    marshal.tuple(message.oracles.len());
    for oracle in message.oracles {
        marshal.text(oracle.as_str());
    }
    marshal.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_are_not_quick_use_up_their_time_and_are_ended_sooner() {
        let cancelled = AtomicBool::new(false);
        let limits = Limits {
            timeout: Duration::from_secs(3),
            first_call: Some(Duration::from_secs(5)),
            slow_calls: Some(Duration::from_secs(4)),
            baseline: 0,
            memory: 0,
            cancelled: &cancelled,
        };
        let (mut watched, begin) = (Watched::new(false), Instant::now());
        let mut left = |current, millis| {
            let now = begin + Duration::from_millis(millis);
            watched.moved(Some(current), 0, now, limits.timeout);
            limits.of_call(current == 0, watched.slow)
        };
        assert_eq!(left(0, 0), Duration::from_secs(5), "it may import much");
        assert_eq!(left(1, 2_000), Duration::from_secs(2));
        assert_eq!(left(2, 2_040), Duration::from_secs(2), "that one was quick");
        assert_eq!(left(3, 5_040), QUICK);
    }

    #[test]
    fn a_journal_that_claims_progress_without_end_does_not_stop_the_watchdog() {
        let timeout = Duration::from_secs(1);
        let begin = Instant::now();
        for oracles in [false, true] {
            let mut watched = Watched::new(oracles);
            let moves = (1..1000_u32).filter(|second| {
                let now = begin + Duration::from_secs((*second).into());
                // Jumps to and fro, and counts calls that nobody makes.
                let current = Some(*second as usize % 3);
                watched.moved(current, u64::from(*second), now, timeout)
            });
            let most = 3 + if oracles { ORACLE_CALLS } else { 0 };
            assert!(moves.count() <= most as usize);
        }
    }
}
