//! Verdict → finding.
//!
//! - [`signature()`] says which failures are the same one, [`Collector`] keeps count of them.
//! - [`script()`] writes the call as an ordinary Python program that needs nothing of Fissure.
//! - [`shrink()`] finds the smallest input that still shows a [`Failure`].
//! - [`confirm()`] runs that program in fresh processes and says how reliably it fails.
//! - [`issue()`] writes the bug report, [`replay()`] says later whether it still holds.
//! - [`KnownIssues`] are those nobody wants to hear of again.
//! - [`write_finding`] puts all of it into a folder, whole or not at all.
//! - [`Records`] writes the files that users of DocTer know.

mod bisect;
mod cause;
mod collector;
mod complexity;
mod confirm;
mod crash_reason;
mod docter_records;
mod environment;
mod error;
mod explain;
mod failure;
mod fold;
mod folder;
mod frames;
mod issue;
mod known_issues;
mod mask;
mod native;
mod replay;
mod script;
mod shrink;
mod signature;
mod umbrella;

pub use bisect::{Bisection, bisect};
pub use collector::{Candidate, Collector, Observed};
pub use complexity::complexity;
pub use confirm::{
    MemoryLimit, ScriptEnd, ScriptRun, ScriptRunner, confirm, confirm_once_more, reproduces, runs,
};
pub use crash_reason::crash_reason;
pub use docter_records::Records;
pub use environment::{FACTS_PROGRAM, FACTS_VARIABLE, read_facts};
pub use error::TriageError;
pub use explain::explain;
pub use failure::{Documented, Failure, report_of};
pub use fold::fold;
pub use folder::{FindingFolder, read_finding, read_findings, remove_unfinished, write_finding};
pub use issue::issue;
pub use known_issues::{KnownIssue, KnownIssues, KnownIssuesError};
pub use mask::{file_name_part, mask};
pub use replay::{Replay, replay, replay_script};
pub use script::{script, script_for_input, script_parts};
pub use shrink::{Run, ShrinkBudget, Shrunk, shrink};
pub use signature::{Signature, finding_id, signature};
pub use umbrella::Umbrella;
