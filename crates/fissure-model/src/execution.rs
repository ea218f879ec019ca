//! What happened when an input ran.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

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
}

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
    /// The input could not be built in the library at all (a dtype it does not have, an object
    /// that does not exist): says nothing about the API.
    NotBuilt(Exception),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Qualified class name (`RuntimeError`, `torch.cuda.OutOfMemoryError`).
    pub class: String,
    /// Its text, cut to a limit; bytes that are no text are escaped.
    pub message: String,
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
    Nan,
    Fatal,
    InternalError,
    NotBuilt,
}

impl OutcomeKind {
    pub const ALL: [OutcomeKind; 10] = [
        OutcomeKind::Accepted,
        OutcomeKind::Rejected,
        OutcomeKind::Crash,
        OutcomeKind::Exit,
        OutcomeKind::Timeout,
        OutcomeKind::OutOfMemory,
        OutcomeKind::Nan,
        OutcomeKind::Fatal,
        OutcomeKind::InternalError,
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
            OutcomeKind::Nan => "nan",
            OutcomeKind::Fatal => "fatal",
            OutcomeKind::InternalError => "internal-error",
            OutcomeKind::NotBuilt => "not-built",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
