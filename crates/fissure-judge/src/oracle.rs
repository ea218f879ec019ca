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

use fissure_model::Confidence;

/// One oracle as a user gets to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleInfo {
    /// As in flags and reports: `fatal-signal`.
    pub name: &'static str,
    /// How sure its verdicts are.
    pub confidence: Confidence,
    pub tier: Tier,
    /// Calls of the API that it makes for one input, roughly; 0: it looks at what happened anyway.
    pub price: u64,
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
    ($name:literal, $confidence:ident, $file:literal) => {
        outcome_info(
            $name,
            Confidence::$confidence,
            include_str!(concat!("oracle/", $file)),
        )
    };
}

macro_rules! comparing {
    ($name:literal, $confidence:ident, $tier:ident, $file:literal) => {
        comparing_info(
            $name,
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
            outcome!("fatal-signal", Crash, "fatal_signal.rs"),
            outcome!("corruption", Crash, "corruption.rs"),
            outcome!("internal-error", InternalError, "internal_error.rs"),
            outcome!("unexpected-exit", Contract, "unexpected_exit.rs"),
            outcome!("fatal-exception", Contract, "fatal_exception.rs"),
            comparing!("contract", Contract, Cheap, "contract.py"),
            comparing!("forms", Contract, Default, "forms.py"),
            comparing!("meta", Contract, Default, "meta.py"),
            comparing!("determinism", Contract, Default, "determinism.py"),
            comparing!("uninitialised", Contract, Cheap, "uninitialised.py"),
            comparing!("guard", Contract, Default, "guard.py"),
            comparing!("own-property", Contract, OptIn, "own_property.py"),
            comparing!("nan", Numeric, Cheap, "nan.py"),
            comparing!("placement", Numeric, Cheap, "placement.py"),
            comparing!("reference64", Numeric, Cheap, "reference64.py"),
            comparing!("layout", Numeric, Default, "layout.py"),
            comparing!("kernel-path", Numeric, Default, "kernel_path.py"),
            comparing!("gradient", Numeric, Dear, "gradient.py"),
            comparing!("derivatives", Numeric, Dear, "derivatives.py"),
            comparing!("reference", Numeric, Cheap, "reference.py"),
            comparing!("own-reference", Numeric, OptIn, "own_reference.py"),
            comparing!("device", Numeric, Default, "device.py"),
            comparing!("compile", Numeric, OptIn, "compile.py"),
            comparing!("jit", Numeric, OptIn, "jit.py"),
            comparing!("memory-growth", Performance, Dear, "memory_growth.py"),
            comparing!("performance", Performance, Dear, "performance.py"),
            outcome!("hang", Performance, "hang.rs"),
            outcome!("memory", Performance, "memory.rs"),
            outcome!("acceptance", Documentation, "acceptance.rs"),
            outcome!("rejection", Documentation, "rejection.rs"),
            outcome!("message", Documentation, "message.rs"),
        ]
    });
    &ORACLES
}

/// The oracle with this name.
pub fn oracle(name: &str) -> Option<&'static OracleInfo> {
    oracles().iter().find(|oracle| oracle.name == name)
}

/// Takes the page from the comment at the top of the oracle's own file, so that the code and what
/// users read about it cannot drift apart.
fn outcome_info(name: &'static str, confidence: Confidence, source: &'static str) -> OracleInfo {
    let lines: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    OracleInfo {
        name,
        confidence,
        tier: Tier::Always,
        price: 0,
        summary: first_paragraph(&lines),
        doc: lines.join("\n"),
    }
}

/// The same for an oracle in Python: its docstring is the page, and the file says its price.
fn comparing_info(
    name: &'static str,
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
        name,
        confidence,
        tier,
        price,
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
