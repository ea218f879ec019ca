//! What can go wrong.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    #[error("read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("understand {}: {reason}", path.display())]
    Garbled { path: PathBuf, reason: String },
    #[error("compare {module}: the records are of different builds of it")]
    OtherBuild { module: String },
}

impl CoverageError {
    pub(crate) fn read(path: &Path) -> impl FnOnce(std::io::Error) -> CoverageError {
        let path = path.to_owned();
        move |source| CoverageError::Read { path, source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> CoverageError {
        let path = path.to_owned();
        move |source| CoverageError::Write { path, source }
    }

    pub(crate) fn garbled(path: &Path, reason: impl ToString) -> CoverageError {
        CoverageError::Garbled {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }
}
