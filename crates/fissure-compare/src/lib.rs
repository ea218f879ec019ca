//! Two versions of a library side by side: the same inputs on both, and what changed.
//!
//! [`compare()`] gives every API the same inputs in two worker pools, one for each version. `python/fissure_worker`
//! says what came of each call (`oracles/observe.py`), [`difference`](mod@difference) looks at two answers together,
//! and what differs is run again, alone, and judged by the rules of [`excuse`](mod@excuse): random results, rounding
//! and memory that nobody has written are not a change. Differences of one kind are one [`Behaviour`], with one script.

mod accuracy;
mod behaviour;
mod difference;
mod engine;
mod event;
mod excuse;
mod known;
mod lane;
mod observation;
mod options;
mod report;
mod scaled;
mod script;
mod shrinking;
mod side;
mod speed;
mod targets;

pub use accuracy::sweep_both;
pub use behaviour::{Behaviour, Kind};
pub use engine::compare;
pub use event::{CompareError, Event};
pub use known::{KnownChange, KnownChanges, KnownChangesError, Rename};
pub use options::{CompareOptions, SideOptions, Subject};
pub use report::{Counts, Report, SideInfo};
pub use script::both_script;
