//! What a comparison tells on the way, and why one ends early.

use std::path::PathBuf;

use fissure_execute::ExecuteError;

use crate::behaviour::Behaviour;
use crate::report::SideInfo;

#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("failed to {0}")]
    Execute(#[from] ExecuteError),
    #[error("failed to write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("there is no {0}")]
    NoFolder(PathBuf),
    #[error("a thread of the comparison ended early")]
    Lost,
}

/// What happens on the way.
#[derive(Debug)]
pub enum Event<'a> {
    Began {
        before: &'a SideInfo,
        after: &'a SideInfo,
        apis: usize,
    },
    /// Something differs; it may still be folded with others and made small.
    Found(&'a Behaviour),
    /// APIs that had their first turn, and inputs so far.
    Progress {
        apis: usize,
        inputs: u64,
    },
    Phase(&'static str),
    Warning(String),
}
