//! One file per command.

pub mod bisect;
pub mod doctor;
pub mod env;
pub mod fuzz;
pub mod fuzz_args;
mod fuzz_plan;
mod fuzz_targets;
pub mod judge;
mod judging;
pub mod learn;
mod learn_many;
mod learn_table;
pub mod oracles;
pub mod replay;
pub mod rules;
pub mod scan;
mod scan_console;
mod session;
pub mod solve;
pub mod specs;
mod specs_library;
