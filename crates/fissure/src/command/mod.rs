//! One file per command, a folder where it is large: `args` as typed, `plan` ready to run, the rest shows.

pub mod aliases;
pub mod apis;
pub mod assertions;
pub mod bisect;
pub mod campaign;
pub mod compare;
pub mod corpus;
pub mod coverage;
pub mod diff;
pub mod doctor;
pub mod env;
pub mod fuzz;
pub mod help;
#[cfg(feature = "index")]
pub mod index;
pub mod judge;
pub mod learn;
pub mod oracles;
pub mod replay;
pub mod report;
pub mod rules;
pub mod scan;
#[cfg(feature = "serve")]
pub mod serve;
mod session;
pub mod solve;
pub mod specs;
pub mod sweep;
pub mod train;
