//! One file per command, a folder where it is large: `args` as typed, `plan` ready to run, the rest shows.

pub(crate) mod aliases;
pub(crate) mod apis;
pub(crate) mod assertions;
pub(crate) mod bisect;
pub(crate) mod campaign;
pub(crate) mod centaur;
pub(crate) mod compare;
pub(crate) mod corpus;
pub(crate) mod coverage;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod env;
pub(crate) mod fuzz;
pub(crate) mod help;
#[cfg(feature = "index")]
pub(crate) mod index;
pub(crate) mod judge;
pub(crate) mod learn;
mod offered;
pub(crate) mod oracles;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod scan;
#[cfg(feature = "serve")]
pub(crate) mod serve;
mod session;
pub(crate) mod solve;
pub(crate) mod specs;
pub(crate) mod sweep;
pub(crate) mod train;
