//! Tells why an installer failed, from what it said.

use std::os::unix::process::ExitStatusExt;

use crate::{EnvironmentError, process::Finished};

/// Lines of the installer shown to the user.
const SHOWN_LINES: usize = 15;

/// What a failed installation calls for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Worth another attempt: what was downloaded is kept.
    Network(String),
    /// No attempt will help: the wanted version does not exist for this Python.
    NoSolution(String),
    /// The user pressed Ctrl-C; the installer got it too.
    Interrupted,
    /// The installer itself does not work here; another may.
    Other(String),
}

impl Failure {
    pub fn of(finished: &Finished) -> Self {
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
        if finished.status.is_none()
            || has(&[
                "timed out",
                "timeout",
                "error sending request",
                "failed to fetch",
                "failed to download",
                "connection",
                "dns error",
                "name resolution",
                "temporary failure",
                "network is unreachable",
                "incompleteread",
                "certificate",
                "proxy",
            ])
        {
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

    pub fn into_error(self, requirement: String, python_version: String) -> EnvironmentError {
        match self {
            Self::Network(output) => EnvironmentError::Network {
                requirement,
                output,
            },
            Self::NoSolution(output) => EnvironmentError::NoSolution {
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
            "Temporary failure in name resolution",
        ] {
            assert!(
                matches!(failed(1 << 8, line), Failure::Network(_)),
                "{line}"
            );
        }
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
