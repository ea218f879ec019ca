//! What an observer of a run is told.

use std::path::PathBuf;

use fissure_execute::Busy;
use fissure_model::{Api, Finding, Signature};

use fissure_triage::Replay;

use crate::{ApiSummary, ShrinkSummary, Tally};

#[derive(Debug)]
pub enum RunEvent<'a> {
    /// An API will not be fuzzed, and why.
    Skipped { api: &'a Api, reason: String },
    /// An API's first input is about to run.
    Started {
        api: &'a Api,
        signature: &'a Signature,
    },
    /// Its rules were learned, and its inputs are made of them from now on.
    Learned { api: &'a Api, rules: usize },
    /// A batch came back.
    Progress {
        api: &'a Api,
        tally: &'a Tally,
        max_inputs: Option<u64>,
    },
    /// A finding that an earlier run left in the folder was run again.
    Replayed {
        finding: &'a Finding,
        outcome: Replay,
    },
    /// A distinct failure was seen; its input is being made smaller.
    Shrinking { api: &'a Api, id: &'a str },
    /// No smaller input is left to try, or the time for it is up.
    Shrunk {
        finding: &'a Finding,
        summary: ShrinkSummary,
    },
    /// A distinct failure was seen; its script is being tried in a fresh process.
    Confirming { api: &'a Api, id: &'a str },
    /// A distinct failure, confirmed (or labelled flaky) and written to its folder.
    Found {
        finding: &'a Finding,
        folder: PathBuf,
    },
    /// A finding turned out to be the failure that another one tells.
    Folded { id: &'a str, into: &'a str },
    /// Some time has passed: what the workers do, how many failures are being made smaller, how many
    /// are being tried in fresh processes.
    Tick {
        workers: Vec<Option<Busy>>,
        shrinking: usize,
        confirming: usize,
    },
    /// All inputs of an API are done.
    Finished { summary: &'a ApiSummary },
    /// Something the user should know but that does not end the run.
    Warning { message: String },
}
