//! Rules that do not hold for the installed version, remembered between runs.
//!
//! One file for each version of a library names the APIs of whose shipped rules fewer than half of
//! the inputs were accepted. The next run asks the library itself what they take. A mark is of one
//! text of rules: new ones are tried again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fissure_model::{RuleText, Spec};
use fissure_rules::SHIPPED;
use serde::{Deserialize, Serialize};

/// The marks that a run was begun with, in its folder: a resumed run goes on with them.
const SNAPSHOT: &str = "stale.json";

/// What was seen of the rules of one API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Of the text of the rules.
    pub rules: u64,
    /// Inputs that satisfied them, and how many were accepted.
    pub conforming: u64,
    pub accepted: u64,
}

/// The marks of one version of a library.
#[derive(Debug, Default)]
pub(crate) struct StaleRules {
    file: Option<PathBuf>,
    /// As the run began: what is found out now is for the next one.
    known: BTreeMap<String, Mark>,
}

impl StaleRules {
    /// Those in a folder of the user's cache; without one, nothing is remembered.
    pub(crate) fn open(cache: Option<&Path>, package: &str, version: &str, run: &Path) -> Self {
        let Some(cache) = cache else {
            return StaleRules::default();
        };
        let plain = |text: &str| text.replace(['/', '\\'], "_");
        let file = cache.join(format!("{}-{}.json", plain(package), plain(version)));
        let snapshot = run.join(SNAPSHOT);
        let known = match read(&snapshot) {
            Some(begun_with) => begun_with,
            None => {
                let known = read(&file).unwrap_or_default();
                // Without it a resumed run may only make other inputs than before.
                let _ = write(&snapshot, &known);
                known
            }
        };
        StaleRules {
            file: Some(file),
            known,
        }
    }

    /// Were these rules found not to hold?
    pub(crate) fn contains(&self, spec: &Spec) -> bool {
        let Some(rules) = spec.rules.as_ref().filter(|rules| is_shipped(rules)) else {
            return false;
        };
        let mark = self.known.get(&spec.api.title);
        spec.params.is_empty() && mark.is_some_and(|mark| mark.rules == key(rules))
    }

    /// Remembers for the next run that rules do not hold; `true` if that was done.
    pub(crate) fn mark(&self, spec: &Spec, conforming: u64, accepted: u64) -> bool {
        let rules = spec.rules.as_ref().filter(|rules| is_shipped(rules));
        let (Some(file), Some(rules)) = (&self.file, rules) else {
            return false;
        };
        // Another run may have added to it.
        let mut known = read(file).unwrap_or_default();
        let mark = Mark {
            rules: key(rules),
            conforming,
            accepted,
        };
        known.insert(spec.api.title.clone(), mark);
        write(file, &known).is_ok()
    }
}

/// Rules of the user's own are meant as they are.
fn is_shipped(rules: &RuleText) -> bool {
    rules.origin == SHIPPED
}

/// FNV-1a of the text.
fn key(rules: &RuleText) -> u64 {
    rules
        .text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
}

fn read(file: &Path) -> Option<BTreeMap<String, Mark>> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

fn write(file: &Path, marks: &BTreeMap<String, Mark>) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Whole or not at all: two runs may write at once.
    let part = file.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&part, serde_json::to_vec_pretty(marks)?)?;
    std::fs::rename(&part, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_rules::{api_named, bare_spec};

    fn with_rules(text: &str, origin: &str) -> Spec {
        Spec {
            rules: Some(RuleText {
                text: text.to_owned(),
                origin: origin.to_owned(),
            }),
            ..bare_spec(api_named("torch.mv"))
        }
    }

    #[test]
    fn shipped_rules_that_did_not_hold_are_left_aside_in_the_next_run_and_only_there() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let open = |version: &str, run: &str| {
            let run = folder.path().join(run);
            StaleRules::open(Some(&cache), "torch", version, &run)
        };
        let spec = with_rules("api torch.mv", SHIPPED);
        let first = open("2.15.0", "first");
        assert!(!first.contains(&spec));
        assert!(first.mark(&spec, 100, 12));
        // The run that found it out goes on as it began, also when it is resumed.
        assert!(!first.contains(&spec));
        assert!(!open("2.15.0", "first").contains(&spec));
        let next = open("2.15.0", "next");
        assert!(next.contains(&spec));
        assert!(!next.contains(&with_rules("api torch.mv\nrule other", SHIPPED)));
        assert!(!open("2.9.1", "other").contains(&spec));
    }

    #[test]
    fn rules_of_the_user_are_meant_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let spec = with_rules("api torch.mv", "invariants/torch.mv.rules");
        let stale = StaleRules::open(Some(folder.path()), "torch", "1", folder.path());
        assert!(!stale.mark(&spec, 100, 0) && !stale.contains(&spec));
    }
}
