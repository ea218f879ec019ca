//! Asks an interpreter what it is and whether it has a library.

use std::{path::Path, path::PathBuf, time::Duration};

use serde::Deserialize;

use crate::{EnvironmentError, Surroundings, library, process};

const SCRIPT: &str = include_str!("probe.py");
const ANSWER: &str = "fissure-probe ";
/// Long, because a cold disk and an import without metadata may both be needed.
const LIMIT: Duration = Duration::from_secs(180);

/// What an interpreter answered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Probe {
    /// The interpreter itself, behind a shim or wrapper.
    pub executable: PathBuf,
    /// `3.11.7`.
    pub python_version: String,
    /// Whether the library is there at all; it may still not import.
    pub library_found: bool,
    /// From the library's metadata, else from importing it.
    pub library_version: Option<String>,
    /// Why the import failed, when it had to be tried.
    pub import_error: Option<String>,
    /// Whether `python -m venv` can work: bare Debian has `venv` but lacks `ensurepip`.
    pub has_venv: bool,
    pub has_pip: bool,
}

impl Probe {
    /// Major and minor version.
    pub fn python_minor(&self) -> Option<(u32, u32)> {
        let mut parts = self.python_version.split('.').map(str::parse);
        match (parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
            _ => None,
        }
    }

    /// Fissure's Python side is written for 3.7 and newer.
    pub fn is_new_enough(&self) -> bool {
        self.python_minor().is_some_and(|minor| minor >= (3, 7))
    }

    /// The library and its version for a message: `torch 2.9.1`, `no torch`.
    pub fn found(&self, package: &str) -> String {
        match (&self.library_version, &self.import_error) {
            (Some(version), _) => format!("{package} {version}"),
            (None, Some(error)) => format!("{package} is there, but: {error}"),
            (None, None) if self.library_found => format!("{package} of unknown version"),
            (None, None) => format!("no {package}"),
        }
    }
}

/// Asks `python` about itself and about the library with the import name `package`.
pub fn probe(
    surroundings: &Surroundings,
    python: &Path,
    package: &str,
) -> Result<Probe, EnvironmentError> {
    let refuse = |reason: String| EnvironmentError::Interpreter {
        python: python.to_owned(),
        reason,
    };
    let mut command = surroundings.command(python);
    command.args(["-c", SCRIPT, package]);
    command.args(library::distributions_of(package));
    let finished =
        process::run(command, LIMIT, &mut |_| ()).map_err(|error| refuse(error.to_string()))?;
    let answer = finished
        .lines
        .iter()
        .rev()
        .find_map(|line| line.strip_prefix(ANSWER));
    match answer {
        Some(answer) => serde_json::from_str(answer)
            .map_err(|error| refuse(format!("its answer cannot be read: {error}"))),
        None => Err(refuse(format!(
            "it does not answer like Python\n{}",
            finished.tail(5)
        ))),
    }
}
