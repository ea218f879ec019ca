//! A campaign as job arrays of Slurm. This folder is the only code that knows Slurm's commands.
//!
//! One array per phase, one task per shard; task `i` of a phase begins when task `i` of the phase
//! before it has ended well. There is no daemon and no database: which jobs were submitted is in
//! `jobs.json`, what became of a task is in the file that it writes itself, and Slurm is asked only
//! for what waits and runs.

mod queue;
mod status;
mod submit;
mod template;

use std::io;
use std::path::PathBuf;

pub use queue::{Queue, QueueState};
pub use status::{Progress, TaskStatus, statuses};
pub use submit::{Job, Submission, read_jobs, submit};
pub use template::{DEFAULT_TEMPLATE, Resources, render};

use crate::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    #[error("{program} cannot be run here: {source}; --slurm is for a machine of a Slurm cluster")]
    Missing {
        program: &'static str,
        source: io::Error,
    },
    #[error("{program} refused: {message}")]
    Refused {
        program: &'static str,
        message: String,
    },
    #[error("the batch script {} cannot be filled in: {problem}", path.display())]
    Template { path: PathBuf, problem: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a command of Slurm prints.
fn ask(program: &'static str, arguments: &[String]) -> Result<String, SlurmError> {
    let output = std::process::Command::new(program)
        .args(arguments)
        .output()
        .map_err(|source| SlurmError::Missing { program, source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(SlurmError::Refused {
        program,
        message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}
