//! What a sweep found, as plain data and as tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// The accuracy of one function in one element type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub function: String,
    pub dtype: String,
    pub elements: u64,
    pub seconds: f64,
    /// Largest error in units in the last place, where there is a wider type to compare with.
    #[serde(default)]
    pub worst: Option<f64>,
    #[serde(default)]
    pub worst_at: Option<String>,
    /// Share of elements with a larger error than the key.
    #[serde(default)]
    pub above: BTreeMap<String, f64>,
    /// Elements of another class (NaN, infinite, finite) than in the wider type.
    #[serde(default)]
    pub classes: Option<u64>,
    pub findings: Vec<Finding>,
    /// The largest error in each of some equal steps over the ordered numbers of the type: (number, error).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plot: Vec<(f64, f64)>,
}

/// An interval in which a function is wrong. Numbers are text as Python writes them, NaN and infinities included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: String,
    pub from: String,
    pub to: String,
    /// Wrong elements among those that were tried there.
    pub count: u64,
    /// The same is wrong with the sign of the argument exchanged.
    #[serde(default)]
    pub mirrored: bool,
    /// A tensor of that number only shows it, which is what the script makes.
    pub alone: bool,
    /// Its worst element, what came and what should have.
    pub value: String,
    pub observed: String,
    pub expected: String,
    /// One line of Python that shows it.
    pub script: String,
    /// What else is wrong in this interval.
    #[serde(default)]
    pub also: Vec<String>,
    /// Further intervals of the same kind that are not listed.
    #[serde(default)]
    pub further: u64,
}

impl Finding {
    /// The upper end of the interval, and whether the same is on the other side of zero.
    pub fn bound(&self) -> String {
        let also = if self.mirrored { ", and mirrored" } else { "" };
        format!("{}{also}", self.to)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    pub function: String,
    pub dtype: String,
    pub reason: String,
}

/// The process ended, or hung, in this sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    pub function: String,
    pub dtype: String,
    pub how: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub library: String,
    pub version: String,
    pub profiles: Vec<Profile>,
    pub skipped: Vec<Skipped>,
    pub crashes: Vec<Crash>,
}

impl Report {
    pub fn findings(&self) -> impl Iterator<Item = (&Profile, &Finding)> {
        let profiles = self.profiles.iter();
        profiles.flat_map(|it| it.findings.iter().map(move |finding| (it, finding)))
    }

    /// The table of worst errors and the intervals, as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {} {}\n\n", self.library, self.version);
        text.push_str("| function | type | largest error (ulp) | at | above 1 | above 4 | wrong intervals |\n");
        text.push_str("|---|---|---|---|---|---|---|\n");
        for profile in &self.profiles {
            let share = |bound: &str| profile.above.get(bound).map_or(String::new(), percent);
            let error = profile.worst.map_or("no wider type".to_owned(), ulp);
            let _ = writeln!(
                text,
                "| `{}` | {} | {error} | {} | {} | {} | {} |",
                profile.function,
                profile.dtype,
                profile.worst_at.as_deref().unwrap_or(""),
                share("1"),
                share("4"),
                profile.findings.len(),
            );
        }
        text.push_str("\n| function | type | what | from | to | e.g. | observed | expected |\n");
        text.push_str("|---|---|---|---|---|---|---|---|\n");
        for (profile, finding) in self.findings() {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
                profile.function,
                profile.dtype,
                finding.kind,
                finding.from,
                finding.bound(),
                finding.value,
                finding.observed,
                finding.expected,
            );
        }
        text
    }
}

fn percent(share: &f64) -> String {
    match *share {
        0.0 => "0".to_owned(),
        share if share < 1e-4 => "< 0.01 %".to_owned(),
        share => format!("{:.2} %", 100.0 * share),
    }
}

fn ulp(error: f64) -> String {
    match error {
        error if error < 100.0 => format!("{error:.2}"),
        error if error < 1e6 => format!("{error:.0}"),
        error => format!("{error:.1e}"),
    }
}
