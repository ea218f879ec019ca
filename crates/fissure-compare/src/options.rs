//! What to compare, as plain data.

use std::path::PathBuf;
use std::time::Duration;

use fissure_campaign::SavedInputs;
use fissure_model::{Api, Spec};

use crate::known::KnownChanges;

/// One of the two versions.
#[derive(Clone, Debug)]
pub struct SideOptions {
    /// The interpreter that has it.
    pub python: PathBuf,
    /// Folders of the user's own packages.
    pub pythonpath: Vec<PathBuf>,
}

/// What one API is called with.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Inputs are drawn from what is known of it; from what the first version says where nothing is.
    Spec(Box<Spec>),
    /// Inputs that an earlier run kept.
    Saved(SavedInputs),
}

impl Subject {
    pub fn api(&self) -> &Api {
        match self {
            Subject::Spec(spec) => &spec.api,
            Subject::Saved(saved) => &saved.api,
        }
    }
}

#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Import name of the library.
    pub package: String,
    pub before: SideOptions,
    pub after: SideOptions,
    pub subjects: Vec<Subject>,
    /// Modules that are imported first.
    pub imports: Vec<String>,
    pub seed: u64,
    /// Workers of both sides together, at least two.
    pub workers: usize,
    /// Inputs of each API.
    pub max_inputs: u64,
    /// For everything.
    pub total_time: Option<Duration>,
    /// For one call.
    pub timeout: Duration,
    pub memory_limit: u64,
    pub sandbox: bool,
    /// Measure processor time and memory.
    pub measure: bool,
    /// Compare the accuracy of elementwise functions by sweeps of so many elements; 0: not.
    pub sweep: u64,
    /// The functions that are swept; empty: all that the table of functions knows of the library.
    pub sweep_functions: Vec<String>,
    /// Time for making the input of one behaviour small.
    pub shrink_time: Duration,
    pub known: KnownChanges,
    /// Also functions of the deny-list.
    pub include_denied: bool,
    /// Folder for scripts and scratch files.
    pub workdir: PathBuf,
}
