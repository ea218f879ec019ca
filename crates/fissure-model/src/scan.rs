//! What a scan of user code found, as it is written into `report.json` and read from there.
//!
//! The runtime in the target's interpreter tells findings in this form; the scan adds what it knows
//! about fixes; reports read the same types.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much a finding matters to somebody who runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// With values inside the range of the program's own data.
    Critical,
    /// Within 10⁴ times the program's own values.
    High,
    /// Further out, where the exact result still fits the number format.
    Medium,
    /// Where correct code fails too, or without any consequence: a note.
    Theoretical,
}

/// What an input needs to trigger a finding: the lowest of the five that is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TriggerLevel {
    /// The program's own data.
    L0,
    /// Values inside the range of the program's own data.
    L1,
    /// Any finite input.
    L2,
    /// Other weights.
    L3,
    /// Training steps.
    L4,
}

/// What saw a finding of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScanOracle {
    /// NaN or Inf from finite operands.
    Nonfinite,
    /// The same, covered by a later `where`, `clamp` or the like.
    HiddenNonfinite,
    /// A derivative that is not finite where the value is.
    GradientNonfinite,
    /// A protective constant that rounding takes away.
    AbsorbedEpsilon,
    /// A result outside the function's mathematical range.
    Range,
    /// A conversion to an integer type that the values do not fit.
    Wraparound,
    /// Digits lost in a difference of nearly equal numbers.
    Cancellation,
    /// Another result in wider floats.
    WiderFloat,
    /// Another result by a known stable algorithm.
    StableAlgorithm,
    /// Another result by a rearrangement of the same formula.
    Rewrite,
    /// Another result in another library.
    OtherFramework,
    /// Failure in a lower precision that the program asks for.
    LowPrecision,
    /// A finite result that is wrong, after an overflow or NaN that later operations cover.
    SilentlyWrong,
    /// The process ended by a signal.
    Crash,
    /// The call does not come back.
    Hang,
}

impl ScanOracle {
    /// The name in reports and in folders of findings.
    pub fn name(self) -> &'static str {
        match self {
            ScanOracle::Nonfinite => "nonfinite",
            ScanOracle::HiddenNonfinite => "hidden_nonfinite",
            ScanOracle::GradientNonfinite => "gradient_nonfinite",
            ScanOracle::AbsorbedEpsilon => "absorbed_epsilon",
            ScanOracle::Range => "range",
            ScanOracle::Wraparound => "wraparound",
            ScanOracle::Cancellation => "cancellation",
            ScanOracle::WiderFloat => "wider_float",
            ScanOracle::StableAlgorithm => "stable_algorithm",
            ScanOracle::Rewrite => "rewrite",
            ScanOracle::OtherFramework => "other_framework",
            ScanOracle::LowPrecision => "low_precision",
            ScanOracle::SilentlyWrong => "silently_wrong",
            ScanOracle::Crash => "crash",
            ScanOracle::Hang => "hang",
        }
    }
}

impl fmt::Display for ScanOracle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Severity::Critical => "critical",
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Theoretical => "theoretical",
        })
    }
}

impl fmt::Display for TriggerLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

/// A call site in the user's code.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct ScanSite {
    pub file: PathBuf,
    pub line: usize,
    pub function: String,
    /// The user's function around it.
    pub scope: String,
    /// How often the own run passed it.
    #[serde(default)]
    pub hits: u64,
}

/// A changed input of a finding. Numbers that JSON cannot hold are texts.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ChangedInput {
    pub key: String,
    pub shape: Vec<u64>,
    pub dtype: String,
    /// What is special about its values: `all zeros`.
    #[serde(default)]
    pub words: String,
    pub elements_changed: u64,
    pub smallest: Option<Value>,
    pub largest: Option<Value>,
    /// The first few values.
    pub values: Vec<Value>,
}

/// A fix that made the failing input pass and left ordinary results as they were.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CheckedFix {
    pub title: String,
    pub explanation: String,
    pub diff: String,
    /// Sets of ordinary data on which it was as right as the unchanged program.
    #[serde(default)]
    pub ordinary_inputs: u64,
}

/// One instability of a program.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ScanFinding {
    pub id: String,
    /// The function under scan, where a scan has several.
    #[serde(default)]
    pub target: Option<String>,
    pub site: ScanSite,
    pub oracle: ScanOracle,
    pub also: Vec<ScanOracle>,
    pub details: Vec<String>,
    /// What the failing input is, what happens to the result, and how likely it is in practice.
    #[serde(default)]
    pub sentence: String,
    pub level: TriggerLevel,
    pub severity: Severity,
    /// Why it is only a note.
    pub reason: Option<String>,
    /// The operation that made the NaN, Inf or wrong digits.
    pub producer: String,
    pub hidden_by: Option<String>,
    /// What found the input.
    pub label: String,
    pub signal: String,
    pub training_steps: u64,
    pub ratio: Value,
    pub input: BTreeMap<String, ChangedInput>,
    pub library: String,
    pub elapsed: Option<f64>,
    pub folder: PathBuf,
    /// Whether its script showed it when the scan tried; nothing where it was not tried.
    #[serde(default)]
    pub reproduced: Option<bool>,
    /// Other places of the same function that fail by the same cause.
    #[serde(default)]
    pub same_cause: Vec<ScanSite>,
    /// What to write instead, from where the failing operand was made.
    #[serde(default)]
    pub advice: Option<String>,
    /// Where the failing operand was made, in another function and for this use alone.
    #[serde(default)]
    pub origin: Option<ScanSite>,
    #[serde(default)]
    pub fix: Option<CheckedFix>,
    /// Where no fix passed: what the inputs must satisfy, or which call is the right one.
    #[serde(default)]
    pub precondition: Option<String>,
    /// Titles of proposed fixes that did not pass, with the reason.
    #[serde(default)]
    pub refused_fixes: Vec<(String, String)>,
}

/// What became of one function of a scan that has several.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TargetStatus {
    pub name: String,
    pub file: Option<PathBuf>,
    pub line: Option<usize>,
    /// Array operations of its own run; none when it could not be called.
    pub operations: u64,
    pub runs: u64,
    /// Why it was not scanned.
    pub problem: Option<String>,
}

/// What kept a scan from being complete.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct ScanProblem {
    /// `target`, `library`, `program`, `own-run`, `runtime` or `time`.
    pub kind: String,
    pub message: String,
    /// Nothing could be searched because of it.
    pub fatal: bool,
}

/// The part of `report.json` that describes what was found. A scan writes more beside it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ScanResults {
    pub target: String,
    pub versions: BTreeMap<String, String>,
    /// Counted: critical, high and medium ones (all of them with `--strict`).
    pub findings: Vec<ScanFinding>,
    /// Failures at magnitudes where correct code fails too, and failures without consequence.
    pub notes: Vec<ScanFinding>,
    pub problems: Vec<ScanProblem>,
    /// What was scanned, where a target stands for several functions.
    #[serde(default)]
    pub targets: Vec<TargetStatus>,
    pub search_seconds: f64,
    pub runs: u64,
    /// Ctrl-C ended it.
    pub interrupted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_has_the_name_that_its_json_has() {
        for oracle in [
            ScanOracle::Nonfinite,
            ScanOracle::HiddenNonfinite,
            ScanOracle::SilentlyWrong,
            ScanOracle::StableAlgorithm,
        ] {
            assert_eq!(
                serde_json::to_value(oracle).unwrap(),
                Value::String(oracle.to_string())
            );
        }
        assert_eq!(
            serde_json::to_value(Severity::Theoretical).unwrap(),
            "theoretical"
        );
        assert_eq!(serde_json::to_value(TriggerLevel::L3).unwrap(), "L3");
        assert_eq!(TriggerLevel::L3.to_string(), "L3");
    }
}
