//! What can go wrong while findings are kept.

use std::io;
use std::path::{Path, PathBuf};

use crate::confirm::ScriptEnd;

#[derive(Debug, thiserror::Error)]
pub enum TriageError {
    #[error("failed to {action} `{}`", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("the script did not get as far as the call (it ended with {end:?}):\n{log}")]
    NotReached { end: ScriptEnd, log: String },
    #[error("failed to understand `{}`", path.display())]
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error(
        "`{}` has format {found}, this program reads format {expected}",
        path.display()
    )]
    Format {
        path: PathBuf,
        found: u32,
        expected: u32,
    },
}

impl TriageError {
    /// For `map_err`: what was being done to which file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TriageError {
        move |source| TriageError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> TriageError {
        move |source| TriageError::Json {
            path: path.to_owned(),
            source,
        }
    }
}
