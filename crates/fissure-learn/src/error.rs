//! Why nothing can be learned.

use std::io;
use std::path::PathBuf;

use fissure_execute::ExecuteError;

use crate::llm::ModelError;

#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    #[error("{0}")]
    Execute(#[from] ExecuteError),
    #[error("the workers stopped: {0}")]
    Stopped(String),
    #[error("failed to {action} {path}: {source}")]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("the sample database could not be read: {log}")]
    Database { log: String },
    #[error("line {line} of {path} is not a call: {reason}")]
    Seed {
        path: PathBuf,
        line: usize,
        reason: String,
    },
    #[error("the library does not have it: {reason}")]
    Missing { api: String, reason: String },
    #[error("no call is known that {api} accepts: {reason}")]
    NoSeeds { api: String, reason: String },
    #[error("{path} is not an invariants file: {reason}")]
    Invariants { path: PathBuf, reason: String },
    #[error(transparent)]
    Model(ModelError),
    #[error("learning it failed (a fault of Fissure)")]
    Fault,
    #[error("interrupted")]
    Interrupted,
}

impl LearnError {
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> LearnError {
        let path = path.into();
        move |source| LearnError::File {
            action,
            path,
            source,
        }
    }
}
