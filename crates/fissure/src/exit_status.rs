//! What the exit code says.

use std::fmt;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The documented exit codes, the same for every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    NoFinding = 0,
    Findings = 1,
    Usage = 2,
    Failure = 3,
    /// Nothing was found, but only a part of what was asked for was run.
    InPart = 4,
    /// Ended by Ctrl-C without a finding: what shells say of a program that a signal ended.
    Interrupted = 130,
}

/// Ctrl-C was pressed.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Called when Ctrl-C is pressed.
pub(crate) fn note_interruption() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// The code of a command that came to its end: of a run that was interrupted nothing is said but that, and what it
/// found.
pub(crate) fn of_ended(code: ExitCode) -> ExitCode {
    let interrupted = INTERRUPTED.load(Ordering::Relaxed);
    if interrupted && code != ExitCode::from(ExitStatus::Findings) {
        ExitStatus::Interrupted.into()
    } else {
        code
    }
}

/// The user asked for something that cannot be done as asked. Shown with exit code 2.
#[derive(Debug)]
pub(crate) struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// A usage error as an `anyhow` error.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    UsageError(message.into()).into()
}

impl ExitStatus {
    /// The end of a run: 0 is said only where something was run.
    pub fn of_run(findings: u64, ran_nothing: bool) -> Self {
        match (findings, ran_nothing) {
            (0, true) => ExitStatus::Failure,
            (0, false) => ExitStatus::NoFinding,
            _ => ExitStatus::Findings,
        }
    }

    pub fn of_error(error: &anyhow::Error) -> Self {
        if error.chain().any(|cause| cause.is::<UsageError>()) || may_not_write(error) {
            ExitStatus::Usage
        } else {
            ExitStatus::Failure
        }
    }

    pub fn report(self, error: &anyhow::Error) -> ExitCode {
        let text = format!("{error:#}");
        // Some of what is passed on, as by installers, says it already.
        let text = text.trim_start_matches("error: ");
        let advice = match may_not_write(error) {
            true => "\n\nchoose a folder that you may write to: --output DIR",
            false => "",
        };
        crate::console::always(format_args!("error: {text}{advice}"));
        self.into()
    }
}

/// Whether something cannot be written because the user may not.
fn may_not_write(error: &anyhow::Error) -> bool {
    let refused = |cause: &(dyn std::error::Error + 'static)| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        matches!(
            kind,
            Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
        )
    };
    error.chain().any(refused)
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        ExitCode::from(status as u8)
    }
}

pub(crate) fn end_quietly_on_closed_pipe() {
    // SAFETY: called first thing in `main`, before any thread exists and before anything relies on
    // the disposition of SIGPIPE; SIG_DFL is always a valid disposition.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

/// For a server: neither a reader of its output nor a client that goes away may end it.
#[cfg(feature = "serve")]
pub(crate) fn outlive_closed_pipes() {
    // SAFETY: SIG_IGN is always a valid disposition; called before the server's threads start.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}
