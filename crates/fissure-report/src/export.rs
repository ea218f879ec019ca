//! A run for other programs: JSON, JUnit, SARIF, Markdown, GitHub annotations.

mod github;
mod junit;
mod markdown;
mod sarif;

pub use github::github;
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;

use crate::run::Run;

/// `docs/report-schema.json` describes it.
pub fn json(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(run).expect("plain data always serialises");
    text.push('\n');
    text
}
