//! Tells why an installer failed, from what it said.

use std::os::unix::process::ExitStatusExt;

use crate::{EnvironmentError, library, process::Finished};

/// Lines of the installer shown to the user.
const SHOWN_LINES: usize = 15;

const UNREACHABLE: &[&str] = &[
    "dns error",
    "name resolution",
    "name or service not known",
    "failed to lookup address",
    "connection refused",
    "connect error",
    "failed to establish a new connection",
    "network is unreachable",
    "no route to host",
    "certificate",
    "cannot connect to proxy",
];
const BROKEN_OFF: &[&str] = &[
    "timed out",
    "timeout",
    "error sending request",
    "failed to fetch",
    "failed to download",
    "connection",
    "incompleteread",
];

/// What a failed installation calls for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The download broke off. Worth another attempt: what was finished is kept.
    Network(String),
    /// Nobody answers at the index's address. The installer has tried several times already.
    Unreachable(String),
    /// No attempt will help: the wanted version does not exist for this Python.
    NoSolution(String),
    /// The user pressed Ctrl-C; the installer got it too.
    Interrupted,
    /// The installer itself does not work here; another may.
    Other(String),
}

impl Failure {
    pub(crate) fn of(finished: &Finished) -> Self {
        let interrupted = finished.status.is_some_and(|status| {
            [status.signal(), status.code().map(|code| code - 128)].contains(&Some(libc::SIGINT))
        });
        if interrupted {
            return Self::Interrupted;
        }
        let output = finished.tail(SHOWN_LINES);
        let said = output.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        // pip ends a failed download with "no matching distribution": the network comes first.
        if has(UNREACHABLE) {
            Self::Unreachable(output)
        } else if finished.status.is_none() || has(BROKEN_OFF) {
            Self::Network(output)
        } else if has(&[
            "no solution found",
            "no matching distribution",
            "could not find a version",
            "not found in the package registry",
            "no wheels",
        ]) {
            Self::NoSolution(output)
        } else {
            Self::Other(output)
        }
    }

    pub(crate) fn into_error(
        self,
        requirement: String,
        python_version: String,
    ) -> EnvironmentError {
        match self {
            Self::Network(output) | Self::Unreachable(output) => EnvironmentError::Network {
                requirement,
                output,
            },
            Self::NoSolution(output) => EnvironmentError::NoSolution {
                wheels: library::wheels_text(&requirement),
                requirement,
                python_version,
                output,
            },
            Self::Interrupted => EnvironmentError::Interrupted { requirement },
            Self::Other(output) => EnvironmentError::Install {
                requirement,
                output,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::ExitStatus;

    fn failed(raw: i32, line: &str) -> Failure {
        Failure::of(&Finished {
            status: Some(ExitStatus::from_raw(raw)),
            lines: vec![line.to_owned()],
        })
    }

    #[test]
    fn a_slow_index_is_a_network_failure() {
        for line in [
            "  cause: operation timed out",
            "error: Failed to fetch: `https://index.example/simple/torch/`",
            "ReadTimeoutError: Read timed out.",
        ] {
            assert!(
                matches!(failed(1 << 8, line), Failure::Network(_)),
                "{line}"
            );
        }
    }

    #[test]
    fn an_index_nobody_answers_for_is_told_from_a_slow_one() {
        for line in [
            "Temporary failure in name resolution",
            "  cause: tcp connect error: Connection refused (os error 111)",
            "NewConnectionError: Failed to establish a new connection",
        ] {
            assert!(
                matches!(failed(1 << 8, line), Failure::Unreachable(_)),
                "{line}"
            );
        }
    }

    #[test]
    fn a_python_without_a_wheel_is_told_which_would_do() {
        let failure = Failure::NoSolution("No solution found".into());
        let error = failure.into_error("torch==1.5.0".into(), "3.11.7".into());
        let text = error.to_string();
        assert!(
            text.contains("it has wheels for Python 3.7 to 3.8"),
            "{text}"
        );
        let failure = Failure::NoSolution("No solution found".into());
        let text = failure
            .into_error("six==99".into(), "3.11.7".into())
            .to_string();
        assert!(!text.contains("wheels"), "{text}");
    }

    #[test]
    fn a_version_that_does_not_exist_is_no_network_failure() {
        for line in [
            "× No solution found when resolving dependencies:",
            "ERROR: No matching distribution found for torch==2.9.1",
        ] {
            assert!(
                matches!(failed(1 << 8, line), Failure::NoSolution(_)),
                "{line}"
            );
        }
    }

    #[test]
    fn control_c_is_seen_by_signal_and_by_exit_code() {
        assert_eq!(failed(libc::SIGINT, ""), Failure::Interrupted);
        assert_eq!(failed(130 << 8, ""), Failure::Interrupted);
    }
}
