//! The list of oracles and their user pages.

pub(crate) mod acceptance;
pub(crate) mod corruption;
pub(crate) mod fatal_exception;
pub(crate) mod fatal_signal;
pub(crate) mod hang;
pub(crate) mod internal_error;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod nan;
pub(crate) mod rejection;
pub(crate) mod unexpected_exit;

use std::sync::LazyLock;

use fissure_model::{Confidence, Oracle};

/// One oracle as a user gets to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleInfo {
    pub oracle: Oracle,
    /// As in flags and reports: `fatal-signal`.
    pub name: &'static str,
    /// How sure its verdicts are.
    pub confidence: Confidence,
    pub tier: Tier,
    /// Calls of the API that it makes for one input, roughly; 0: it looks at what happened anyway.
    pub price: u64,
    /// It looks at one input of each API and combination of element types.
    pub once: bool,
    /// One line.
    pub summary: String,
    /// The whole page, Markdown.
    pub doc: String,
}

impl OracleInfo {
    /// It makes calls of its own, inside the worker: its name goes into a judging batch.
    pub fn is_comparing(&self) -> bool {
        self.price > 0
    }
}

/// When an oracle is part of a run without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Looks at the outcome of every input; costs nothing.
    Always,
    /// A few calls for a judged input.
    Cheap,
    /// The usual.
    Default,
    /// Many calls, or slow ones.
    Dear,
    /// Only when named.
    OptIn,
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Tier::Always => "always",
            Tier::Cheap => "cheap",
            Tier::Default => "default",
            Tier::Dear => "dear",
            Tier::OptIn => "opt-in",
        }
    }
}

macro_rules! outcome {
    ($oracle:ident, $confidence:ident, $file:literal) => {
        outcome_info(
            &Oracle::$oracle,
            Confidence::$confidence,
            include_str!(concat!("oracle/", $file)),
        )
    };
}

macro_rules! comparing {
    ($oracle:ident, $confidence:ident, $tier:ident, $file:literal) => {
        comparing_info(
            &Oracle::$oracle,
            Confidence::$confidence,
            Tier::$tier,
            include_str!(concat!("../../../python/fissure_worker/oracles/", $file)),
        )
    };
}

/// Every oracle, surest first.
pub fn oracles() -> &'static [OracleInfo] {
    static ORACLES: LazyLock<Vec<OracleInfo>> = LazyLock::new(|| {
        vec![
            outcome!(FatalSignal, Crash, "fatal_signal.rs"),
            outcome!(Corruption, Crash, "corruption.rs"),
            outcome!(InternalError, InternalError, "internal_error.rs"),
            outcome!(UnexpectedExit, Contract, "unexpected_exit.rs"),
            outcome!(FatalException, Contract, "fatal_exception.rs"),
            comparing!(Contract, Contract, Cheap, "contract.py"),
            comparing!(Forms, Contract, Default, "forms.py"),
            comparing!(Meta, Contract, Default, "meta.py"),
            comparing!(Determinism, Contract, Default, "determinism.py"),
            comparing!(Uninitialised, Contract, Cheap, "uninitialised.py"),
            comparing!(Guard, Contract, Default, "guard.py"),
            comparing!(OwnProperty, Contract, OptIn, "own_property.py"),
            comparing!(Nan, Numeric, Cheap, "nan.py"),
            comparing!(Placement, Numeric, Cheap, "placement.py"),
            comparing!(Reference64, Numeric, Cheap, "reference64.py"),
            comparing!(CoveredUp, Numeric, Cheap, "covered_up.py"),
            comparing!(Sweep, Numeric, Default, "sweep.py"),
            comparing!(Layout, Numeric, Default, "layout.py"),
            comparing!(KernelPath, Numeric, Default, "kernel_path.py"),
            comparing!(Gradient, Numeric, Default, "gradient.py"),
            comparing!(Derivatives, Numeric, Dear, "derivatives.py"),
            comparing!(Reference, Numeric, Cheap, "reference.py"),
            comparing!(OwnReference, Numeric, OptIn, "own_reference.py"),
            comparing!(Device, Numeric, Default, "device.py"),
            comparing!(Compile, Numeric, OptIn, "compile.py"),
            comparing!(Jit, Numeric, OptIn, "jit.py"),
            comparing!(MemoryGrowth, Performance, Dear, "memory_growth.py"),
            comparing!(Performance, Performance, Dear, "performance.py"),
            outcome!(Hang, Performance, "hang.rs"),
            outcome!(Memory, Performance, "memory.rs"),
            outcome!(Acceptance, Documentation, "acceptance.rs"),
            outcome!(Rejection, Documentation, "rejection.rs"),
            outcome!(Message, Documentation, "message.rs"),
        ]
    });
    &ORACLES
}

/// The oracle with this name.
pub fn oracle(name: &str) -> Option<&'static OracleInfo> {
    oracles().iter().find(|oracle| oracle.name == name)
}

impl OracleInfo {
    /// What is known of an oracle; nothing of one of another version.
    pub fn of(oracle: &Oracle) -> Option<&'static OracleInfo> {
        oracles().iter().find(|known| known.oracle == *oracle)
    }
}

/// Takes the page from the comment at the top of the oracle's own file, so that the code and what
/// users read about it cannot drift apart.
fn outcome_info(
    oracle: &'static Oracle,
    confidence: Confidence,
    source: &'static str,
) -> OracleInfo {
    let lines: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    OracleInfo {
        oracle: oracle.clone(),
        name: oracle.as_str(),
        confidence,
        tier: Tier::Always,
        price: 0,
        once: false,
        summary: first_paragraph(&lines),
        doc: lines.join("\n"),
    }
}

/// The same for an oracle in Python: its docstring is the page, and the file says its price.
fn comparing_info(
    oracle: &'static Oracle,
    confidence: Confidence,
    tier: Tier,
    source: &'static str,
) -> OracleInfo {
    let page = source
        .strip_prefix("\"\"\"")
        .or_else(|| source.strip_prefix("r\"\"\""))
        .and_then(|text| text.split_once("\"\"\""))
        .map(|(page, _)| page.trim_end())
        .expect("an oracle's file begins with its page");
    let price = source
        .lines()
        .find_map(|line| line.strip_prefix("PRICE = "))
        .and_then(|price| price.split('#').next()?.trim().parse().ok())
        .expect("an oracle's file says its price");
    let lines: Vec<&str> = page.lines().collect();
    OracleInfo {
        oracle: oracle.clone(),
        name: oracle.as_str(),
        confidence,
        tier,
        price,
        once: source.lines().any(|line| line == "ONCE = True"),
        summary: first_paragraph(&lines),
        doc: lines.join("\n"),
    }
}

fn first_paragraph(lines: &[&str]) -> String {
    let paragraph: Vec<&str> = lines
        .iter()
        .take_while(|line| !line.is_empty())
        .copied()
        .collect();
    paragraph.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_oracle_has_a_page() {
        let listed: Vec<&str> = oracles().iter().map(|it| it.name).collect();
        let known: Vec<&str> = Oracle::ALL.iter().map(Oracle::as_str).collect();
        assert_eq!(listed, known);
    }

    #[test]
    fn every_page_has_a_summary_and_the_four_headings_in_order() {
        for oracle in oracles() {
            assert!(!oracle.summary.is_empty(), "{}", oracle.name);
            let headings: Vec<&str> = oracle
                .doc
                .lines()
                .filter_map(|line| line.strip_prefix("# "))
                .collect();
            assert_eq!(
                headings,
                [
                    "What it does",
                    "Why it matters",
                    "When it stays silent",
                    "Example"
                ],
                "{}",
                oracle.name
            );
        }
    }

    #[test]
    fn an_oracle_has_a_price_exactly_when_it_makes_calls_of_its_own() {
        for oracle in oracles() {
            assert_eq!(
                oracle.is_comparing(),
                oracle.tier != Tier::Always,
                "{}",
                oracle.name
            );
        }
    }

    #[test]
    fn the_surest_oracle_comes_first() {
        assert!(oracles().is_sorted_by_key(|oracle| oracle.confidence));
    }
}
