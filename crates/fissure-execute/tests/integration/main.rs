//! Drives real pools with the Python that is on the path against the planted library, and against
//! real libraries where an environment variable names an interpreter that has them.

#![expect(clippy::print_stdout, reason = "a test that is skipped says why")]

mod autopsy;
mod conformance;
mod coverage;
mod discovering;
mod forked;
mod hostile;
mod judging;
mod killing;
mod planted;
mod sandbox;
mod script;
mod start;
mod support;
mod torch;
mod values;
