//! What a comparison found, as plain data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::behaviour::Behaviour;

/// One of the two versions, as it was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideInfo {
    pub version: String,
    pub python_version: String,
    pub python: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// APIs that were called in both.
    pub apis: u64,
    /// Inputs that ran in both.
    pub inputs: u64,
    /// Of these, accepted by both.
    pub accepted: u64,
    /// Differences that rounding, chance or fresh memory explains.
    pub explained: u64,
    /// APIs whose time and memory were measured.
    pub measured: u64,
    /// Elementwise functions and types that were swept in both.
    pub swept: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub package: String,
    pub seed: u64,
    pub before: SideInfo,
    pub after: SideInfo,
    pub counts: Counts,
    /// Worst first.
    pub behaviours: Vec<Behaviour>,
    /// Silenced by the file of known changes.
    pub known: Vec<Behaviour>,
    /// APIs that only the second version has.
    pub new: Vec<String>,
    /// (API, why it was not compared).
    pub left_out: Vec<(String, String)>,
    /// APIs that the time did not reach.
    pub unreached: Vec<String>,
    pub elapsed: Duration,
}
