//! Rules that a run learned or was given, with what speaks for them.

use std::fs;
use std::path::Path;

use fissure_rules::{Precedence, load_text};
use serde::Serialize;

/// Where a run folder has rule files.
pub(super) const FOLDERS: [&str; 2] = ["invariants", "rules"];

/// A rule and its evidence.
#[derive(Clone, Debug, Serialize)]
pub struct RuleReport {
    pub api: String,
    pub name: String,
    /// The rule in the language of `docs/rules.md`.
    pub rule: String,
    pub about: Option<String>,
    /// Accepted inputs that satisfy it.
    pub accepted: Option<u64>,
    /// Of inputs that break only it: how many were rejected.
    pub rejected: Option<u64>,
    /// Of inputs that break only it: how many were tried.
    pub tried: Option<u64>,
    /// The library's own words when it is broken.
    pub reason: Option<String>,
}

/// The rules of every rule file in a folder, by API; what cannot be read is told.
pub(super) fn read(folder: &Path, problems: &mut Vec<String>) -> Vec<RuleReport> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(format!("{} cannot be read: {error}", folder.display()));
            return Vec::new();
        }
    };
    let mut files: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "rules"))
        .collect();
    files.sort();
    let mut rules = Vec::new();
    for path in files {
        let name = path.display();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                problems.push(format!("{name} cannot be read: {error}"));
                continue;
            }
        };
        let loaded = load_text(&text, Precedence::default());
        if !loaded.errors.is_empty() {
            problems.push(format!(
                "{name}: {} rules are not understood (fissure rules check shows them)",
                loaded.errors.len()
            ));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let api = loaded.file.api.unwrap_or_else(|| stem.into_owned());
        rules.extend(loaded.file.rules.into_iter().map(|rule| RuleReport {
            api: api.clone(),
            name: rule.name,
            rule: rule.rule.to_string(),
            about: rule.about,
            accepted: rule.evidence.accepted,
            rejected: rule.evidence.rejected.map(|(rejected, _)| rejected),
            tried: rule.evidence.rejected.map(|(_, tried)| tried),
            reason: rule.evidence.reason,
        }));
    }
    rules
}
