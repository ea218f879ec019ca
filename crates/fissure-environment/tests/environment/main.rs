//! Finding and making environments with real processes.
//!
//! Fake interpreters answer the probe with a fixed text where only the order of the search is at
//! stake; everything that makes an environment runs a real Python.

#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod bare_python;
mod making;
mod order;
mod real_index;
mod support;
