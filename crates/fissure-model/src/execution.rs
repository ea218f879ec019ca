//! What happened when an input ran.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Oracle;

/// One run of one input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// [`crate::ConcreteInput::number`].
    pub number: u64,
    pub outcome: Outcome,
    pub duration: Duration,
    /// The end of what the process wrote to standard output and error; kept only when the process
    /// ended or was ended.
    pub log: Option<String>,
    /// Native frames of the thread that crashed, innermost first, `module!symbol`; empty when the
    /// process did not crash or could not be looked into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub native_frames: Vec<String>,
    /// What the oracles that compare several runs of one call had to say; empty when none was
    /// asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Report>,
    /// What each of those oracles cost.
    #[serde(skip)]
    pub oracle_costs: Vec<OracleCost>,
}

impl Execution {
    /// An execution of which nothing is known but how it ended.
    pub fn new(number: u64, outcome: Outcome, duration: Duration) -> Self {
        Execution {
            number,
            outcome,
            duration,
            log: None,
            native_frames: Vec::new(),
            reports: Vec::new(),
            oracle_costs: Vec::new(),
        }
    }
}

/// Two runs of one call that should agree and do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub oracle: Oracle,
    /// Which variant and what differs, without numbers of this one input: `channels_last: values`.
    /// Reports of one API, oracle and detail are one finding.
    pub detail: String,
    /// What the library gave, in a line or two.
    pub observed: String,
    /// What it should have given.
    pub expected: String,
    /// Python source of `def check()`, made of ordinary library code around `build()` and `call()`
    /// of the finding's script: returns whether the failure is there, what is observed, what is
    /// expected.
    pub check: String,
    /// The same as a few plain lines, with what they print as comments; `None` unless a run has
    /// shown that this is what they print.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flat: Option<String>,
}

/// Why an oracle cannot do its work with the library and machine at hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obstacle {
    pub oracle: Oracle,
    pub reason: String,
    /// It runs, and does less than it could.
    pub partly: bool,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.partly {
            "does less here"
        } else {
            "cannot run here"
        };
        write!(formatter, "{} {what}: {}", self.oracle, self.reason)
    }
}

/// What an oracle took for one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleCost {
    pub oracle: Oracle,
    pub duration: Duration,
}

/// Signals that a process gets for what its own code did. SIGKILL is none: it comes from outside.
pub const FAULT_SIGNALS: [i32; 7] = [
    libc::SIGSEGV,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// The raw fact, before any oracle looks at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call returned. `nan`: its result holds a NaN (only looked at when asked).
    Accepted { nan: bool },
    /// The call raised an ordinary exception.
    Rejected(Exception),
    /// The call raised what is not an ordinary rejection: `SystemExit`, `KeyboardInterrupt`,
    /// `RecursionError`, `GeneratorExit`.
    Fatal(Exception),
    /// The process died of a signal.
    Crash { signal: i32 },
    /// The process ended itself.
    Exit { code: i32 },
    /// Ended by the watchdog.
    Timeout,
    /// Ended because its resident memory passed the limit.
    OutOfMemory,
    /// The call returned, but memory of the process that is not the library's was overwritten: the
    /// worker's own record of what it did cannot be true.
    Corruption,
    /// The input could not be built in the library at all (a dtype it does not have, an object
    /// that does not exist): says nothing about the API.
    NotBuilt(Exception),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Qualified class name (`RuntimeError`, `torch.cuda.OutOfMemoryError`).
    pub class: String,
    /// Its text, cut to a limit; bytes that are no text are escaped.
    pub message: String,
    /// Where Python code raised it and which arguments that place works on, as `fissure_worker/involved.py` writes
    /// it; steers what is tried next and is not kept.
    #[serde(skip)]
    pub involved: String,
    /// Python frames, innermost last, `file:line function`, without Fissure's own. Only filled for
    /// outcomes that can become a finding.
    #[serde(default)]
    pub frames: Vec<String>,
}

/// How an execution is counted and named in tables, records and findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeKind {
    Accepted,
    Rejected,
    Crash,
    Exit,
    Timeout,
    OutOfMemory,
    /// The call overwrote memory of its process that is not the library's.
    Corruption,
    Nan,
    Fatal,
    InternalError,
    /// The call returned, and an oracle showed that what it returned is wrong.
    WrongResult,
    NotBuilt,
}

impl OutcomeKind {
    pub const ALL: [OutcomeKind; 12] = [
        OutcomeKind::Accepted,
        OutcomeKind::Rejected,
        OutcomeKind::Crash,
        OutcomeKind::Exit,
        OutcomeKind::Timeout,
        OutcomeKind::OutOfMemory,
        OutcomeKind::Corruption,
        OutcomeKind::Nan,
        OutcomeKind::Fatal,
        OutcomeKind::InternalError,
        OutcomeKind::WrongResult,
        OutcomeKind::NotBuilt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Accepted => "accepted",
            OutcomeKind::Rejected => "rejected",
            OutcomeKind::Crash => "crash",
            OutcomeKind::Exit => "exit",
            OutcomeKind::Timeout => "timeout",
            OutcomeKind::OutOfMemory => "out-of-memory",
            OutcomeKind::Corruption => "corruption",
            OutcomeKind::Nan => "nan",
            OutcomeKind::Fatal => "fatal",
            OutcomeKind::InternalError => "internal-error",
            OutcomeKind::WrongResult => "wrong-result",
            OutcomeKind::NotBuilt => "not-built",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
