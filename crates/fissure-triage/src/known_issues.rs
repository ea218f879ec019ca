//! Failures that somebody has reported already: `known-issues.toml`.
//!
//! ```toml
//! [[issue]]
//! api = "torch.nn.functional.pixel_shuffle"   # or a pattern: "torch.nn.*"
//! oracle = "fatal-signal"                     # optional
//! pattern = "SIGFPE"                          # optional: regular expression
//! link = "https://github.com/…/issues/1"
//! expires = 2027-06-30
//! ```

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fissure_model::{Api, Execution, Outcome, Verdict};
use regex::Regex;
use serde::Deserialize;
use toml::Spanned;
use toml::value::Datetime;

use crate::signature::signature;

#[derive(Debug, thiserror::Error)]
pub enum KnownIssuesError {
    #[error("failed to read `{}`", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("failed to understand `{}`: {message}", path.display())]
    Toml { path: PathBuf, message: String },
    #[error("{}:{line}: {message}", path.display())]
    Entry {
        path: PathBuf,
        line: usize,
        message: String,
    },
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    issue: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    api: String,
    oracle: Option<String>,
    pattern: Option<String>,
    link: String,
    expires: Datetime,
}

/// A failure that is not to be told again.
#[derive(Clone, Debug)]
pub struct KnownIssue {
    /// As written: a title, or a pattern with `*`.
    pub api: String,
    pub oracle: Option<String>,
    /// Where it was reported.
    pub link: String,
    /// `2027-06-30`: from the day after, it silences nothing.
    pub expires: String,
    /// Line of the entry in its file, from 1.
    pub line: usize,
    /// Failures that it silenced.
    pub silenced: u64,
    /// Failures that it would have silenced if it had not expired.
    pub missed: u64,
    api_pattern: Regex,
    pattern: Option<Regex>,
}

/// All of them, and what they silenced.
#[derive(Clone, Debug, Default)]
pub struct KnownIssues {
    entries: Vec<KnownIssue>,
    /// `2026-11-15`.
    today: String,
}

impl KnownIssues {
    /// Reads a file. Every entry needs an expiry date: an exception that nobody looks at again
    /// would hide the next bug of that API for ever.
    pub fn load(path: &Path) -> Result<Self, KnownIssuesError> {
        let text = std::fs::read_to_string(path).map_err(|source| KnownIssuesError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path, today())
    }

    /// The same from text, on the given day (`2026-11-15`).
    pub fn parse(text: &str, path: &Path, today: String) -> Result<Self, KnownIssuesError> {
        let file: File = toml::from_str(text).map_err(|error| KnownIssuesError::Toml {
            path: path.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        let mut entries = Vec::with_capacity(file.issue.len());
        for entry in file.issue {
            let line = 1 + text[..entry.span().start].matches('\n').count();
            let failed = |message: String| KnownIssuesError::Entry {
                path: path.to_owned(),
                line,
                message,
            };
            let entry = entry.into_inner();
            let Some(date) = entry.expires.date else {
                return Err(failed(format!(
                    "expires = {}: a date is needed",
                    entry.expires
                )));
            };
            if entry.api.trim_matches(['*', '.']).is_empty() {
                return Err(failed(format!(
                    "api = \"{}\" would silence every API",
                    entry.api
                )));
            }
            if let Some(oracle) = &entry.oracle
                && !fissure_judge::oracles()
                    .iter()
                    .any(|known| known.name == oracle)
            {
                return Err(failed(format!(
                    "there is no oracle \"{oracle}\": fissure oracles lists them"
                )));
            }
            let pattern = entry.pattern.as_deref().map(Regex::new).transpose();
            entries.push(KnownIssue {
                api_pattern: glob(&entry.api).map_err(|error| failed(format!("api: {error}")))?,
                api: entry.api,
                oracle: entry.oracle,
                link: entry.link,
                expires: date.to_string(),
                line,
                silenced: 0,
                missed: 0,
                pattern: pattern.map_err(|error| failed(format!("pattern: {error}")))?,
            });
        }
        Ok(KnownIssues { entries, today })
    }

    /// The entry that silences this failure, counted. An expired one is counted as missed and
    /// silences nothing.
    pub fn silence(
        &mut self,
        api: &Api,
        verdict: &Verdict,
        execution: &Execution,
    ) -> Option<&KnownIssue> {
        let mut text = None;
        let mut found = None;
        for (at, entry) in self.entries.iter_mut().enumerate() {
            let named =
                entry.api_pattern.is_match(&api.title) || entry.api_pattern.is_match(&api.path);
            let judged = entry
                .oracle
                .as_ref()
                .is_none_or(|it| it == verdict.oracle.as_str());
            if !named || !judged {
                continue;
            }
            if let Some(pattern) = &entry.pattern {
                let text = text.get_or_insert_with(|| said(api, verdict, execution));
                if !pattern.is_match(text) {
                    continue;
                }
            }
            if entry.expires < self.today {
                entry.missed += 1;
            } else {
                entry.silenced += 1;
                found = Some(at);
                break;
            }
        }
        found.map(|at| &self.entries[at])
    }

    /// Every entry with its counts.
    pub fn entries(&self) -> &[KnownIssue] {
        &self.entries
    }
}

/// What a pattern is looked for in: signature, message, and what an oracle observed.
fn said(api: &Api, verdict: &Verdict, execution: &Execution) -> String {
    let mut text = signature(api, verdict, execution).text().to_owned();
    if let Outcome::Rejected(error) | Outcome::Fatal(error) = &execution.outcome {
        text.push_str(&format!("\n{}: {}", error.class, error.message));
    }
    for report in &execution.reports {
        text.push_str(&format!("\n{}\n{}", report.detail, report.observed));
    }
    text
}

/// `*` stands for any text.
fn glob(pattern: &str) -> Result<Regex, regex::Error> {
    let parts: Vec<String> = pattern.split('*').map(regex::escape).collect();
    Regex::new(&format!("^{}$", parts.join(".*")))
}

/// The day, in universal time, by the civil calendar.
fn today() -> String {
    // A clock before 1970 is wrong in any case.
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
