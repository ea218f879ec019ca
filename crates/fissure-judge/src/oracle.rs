//! The list of oracles and their user pages.

pub mod fatal_exception;
pub mod fatal_signal;
pub mod hang;
pub mod internal_error;
pub mod memory;
pub mod nan;
pub mod unexpected_exit;

use std::sync::LazyLock;

use fissure_model::Confidence;

/// One oracle as a user gets to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleInfo {
    /// As in flags and reports: `fatal-signal`.
    pub name: &'static str,
    /// How sure its verdicts are.
    pub confidence: Confidence,
    /// One line.
    pub summary: String,
    /// The whole page, Markdown.
    pub doc: String,
}

/// Every oracle, surest first.
pub fn oracles() -> &'static [OracleInfo] {
    static ORACLES: LazyLock<Vec<OracleInfo>> = LazyLock::new(|| {
        vec![
            info(
                "fatal-signal",
                Confidence::Crash,
                include_str!("oracle/fatal_signal.rs"),
            ),
            info(
                "internal-error",
                Confidence::InternalError,
                include_str!("oracle/internal_error.rs"),
            ),
            info(
                "unexpected-exit",
                Confidence::Contract,
                include_str!("oracle/unexpected_exit.rs"),
            ),
            info(
                "fatal-exception",
                Confidence::Contract,
                include_str!("oracle/fatal_exception.rs"),
            ),
            info("nan", Confidence::Numeric, include_str!("oracle/nan.rs")),
            info(
                "hang",
                Confidence::Performance,
                include_str!("oracle/hang.rs"),
            ),
            info(
                "memory",
                Confidence::Performance,
                include_str!("oracle/memory.rs"),
            ),
        ]
    });
    &ORACLES
}

/// Takes the page from the comment at the top of the oracle's own file, so that the code and what
/// users read about it cannot drift apart.
fn info(name: &'static str, confidence: Confidence, source: &'static str) -> OracleInfo {
    let lines: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let summary = lines
        .iter()
        .take_while(|line| !line.is_empty())
        .copied()
        .collect::<Vec<_>>();
    OracleInfo {
        name,
        confidence,
        summary: summary.join(" "),
        doc: lines.join("\n"),
    }
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
    fn the_surest_oracle_comes_first() {
        assert!(oracles().is_sorted_by_key(|oracle| oracle.confidence));
    }
}
