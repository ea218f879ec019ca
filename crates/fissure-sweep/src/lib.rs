//! Sweeps: functions that act on each element by itself, over whole ranges of numbers.
//!
//! The work is done by `python/fissure_sweep` inside the library's interpreter; this crate starts it, goes on
//! with the next function when one ends the process, and reads what it tells.

mod changes;
mod exhaustive;
mod page;
mod report;
mod run;

pub use changes::{ProfileChange, changes};
pub use exhaustive::{Exhaustive, PARTS, exhaustive};
pub use page::page;
pub use report::{Crash, Finding, Profile, Report, Skipped};
pub use run::{Event, Options, SweepError, sweep, version};
