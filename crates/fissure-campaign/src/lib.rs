//! The loop over APIs: generate, execute, judge, triage, store.
//!
//! [`Campaign::run`] drives one worker pool over any number of API plans and tells an observer what
//! happens as [`RunEvent`]s. What is found is on disk before the observer hears of it, so that
//! killing the program loses nothing that was reported.

mod confirm;
mod deny_list;
mod event;
mod judging;
mod keep;
mod lane;
mod novelty;
mod options;
mod run;
mod saved;
mod schedule;
mod store;
mod tally;

pub use deny_list::{Denied, DenyList, title_matches};
pub use event::RunEvent;
pub use judging::JudgingOptions;
pub use options::RunOptions;
pub use run::{Campaign, CampaignError, Source};
pub use saved::{SavedError, SavedInputs, read_saved};
pub use store::{FORMAT, RunFolder, RunHeader, StoreError};
pub use tally::{ApiSummary, EndReason, OracleTally, RunSummary, Tally};
