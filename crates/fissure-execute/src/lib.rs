//! Runs inputs in the library under test and outlives whatever they do.
//!
//! A [`Pool`] starts one *zygote*: a Python process that imports the library and then only forks.
//! Each *slot* of the pool is a thread with one forked *worker* at a time. A slot encodes inputs
//! into an *arena* (shared memory, read-only for the worker), the worker calls the API on one after
//! the other, and a *journal* (shared memory, written by the worker) names the input before it runs
//! and keeps its result after. When a worker dies, its slot reads the journal, knows the input, and
//! the next worker goes on with the one after it.
//!
//! Invariant: only this crate knows the byte layout shared with Python (`encode.rs` and
//! `journal.rs` here, `build.py`, `worker.py` and `judging.py` there).
//!
//! Invariant: nothing waits for a pipe or socket of a worker to close. A target may close every
//! descriptor, or hand them to children that live on; the facts are the zygote's report of the
//! exit status, the process table, and the journal.

mod arena;
mod autopsy;
mod blame;
mod connection;
mod coverage;
mod describer;
mod encode;
mod environment;
mod error;
mod fault;
mod folder;
mod forked;
mod interpreter;
mod journal;
mod judged;
mod marshal;
mod options;
mod output;
mod pool;
mod process;
mod sandbox;
mod script;
mod served;
mod slot;
mod socket;
mod sources;
mod tail;
mod warden;
mod worker;
mod zygote;

pub use autopsy::check_tracing;
pub use coverage::{Arming, CoverageOptions, Hit, RARE};
pub use environment::{only_allowed, without_secrets};
pub use error::ExecuteError;
pub use forked::ForkedScripts;
#[doc(hidden)]
pub use journal::read_hostile_journal;
pub use options::{
    Batch, Busy, Event, PoolOptions, PoolStatistics, QUICK, SandboxOptions, SandboxReport,
    TargetInfo, has_gpu,
};
pub use pool::{Pool, Spares};
pub use process::ExitStatus;
pub use sandbox::Confinement;
pub use script::{Ended, ScriptOptions, ScriptRun, run_script};
pub use sources::{WORKER, python_file, python_package, unpack_package};
pub use tail::Tail;
pub use warden::{Warded, WardedCommand, on_protections};
