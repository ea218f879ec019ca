//! The loop over APIs: generate, execute, judge, triage, store.
//!
//! [`Campaign::run`] drives one worker pool over any number of API plans and tells an observer what
//! happens as [`RunEvent`]s. What is found is on disk before the observer hears of it, so that
//! killing the program loses nothing that was reported.

mod behaviour;
mod clock;
mod confirm;
mod corpus;
mod corpus_centaur;
mod corpus_coverage;
mod coverage;
mod deny_list;
mod event;
mod event_log;
mod fold;
mod fresh;
mod guide;
mod index;
mod judging;
mod keep;
mod lane;
mod learning;
mod merge;
mod novelty;
mod options;
mod order;
mod phase;
mod plain;
mod plan;
mod record;
mod rejections;
mod replayer;
mod restore;
mod run;
mod saved;
mod schedule;
mod session;
mod settled;
mod shard_progress;
mod shrinker;
mod slow_calls;
pub mod slurm;
mod solve;
mod stale;
mod store;
mod tally;
mod triage_queue;
mod turn;

pub use behaviour::{BehaviourCounts, ConstraintEvidence, MutatorEvidence, OutcomeCounts};
pub use corpus::{CORPUS, Corpus, CorpusEntry};
pub use corpus_coverage::{Measured, measure, record};
pub use coverage::COVERAGE_FILE;
pub use deny_list::{Denied, DenyList};
pub use event::RunEvent;
pub use event_log::{Damage, EVENTS_FILE, EventLog, EventReader, read_events, read_hostile_log};
pub use fresh::{Facts, facts, run_fresh};
pub use index::{ApiIndex, BatchIndex, PlanIndex};
pub use judging::JudgingOptions;
pub use learning::{LATE, LearnedApi, Learner, Learning, failures, learned_spec, rules_of};
pub use merge::{Merged, merge};
pub use options::{Division, Part, RunOptions};
pub use order::order;
pub use phase::{Phase, Task, TaskRecord, TaskState};
pub use plan::{CampaignFolder, CampaignPlan, PlannedApi, Shard};
pub use record::{Record, Stamped, outcome};
pub use rejections::BatchRejections;
pub use replayer::{StoredFinding, replay_finding, stored_findings};
pub use run::{Campaign, CampaignError, Source};
pub use saved::{SavedError, SavedInputs, read_saved};
pub use session::{Session, SessionError, SessionOptions, search_path};
pub use shard_progress::{ShardProgress, shard_progress};
pub use shrinker::{ShrinkEvent, ShrinkSummary, Shrinker, ShrinkerOptions, shrink_finding};
pub use solve::{Solved, solve};
pub use store::{FORMAT, RunFolder, RunHeader, StoreError};
pub use tally::{ApiSummary, EndReason, OracleTally, RunSummary, Tally};
