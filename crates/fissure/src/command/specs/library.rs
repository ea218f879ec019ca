//! `fissure specs check --library`: does the installed library have what the files are about?

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, anyhow};
use fissure_execute::{Pool, PoolOptions};
use fissure_model::Spec;
use serde_json::json;

use crate::target::{self, TargetArgs};

/// One library's answer about the titles of its files.
pub(super) struct Resolution {
    pub package: String,
    pub version: String,
    /// Titles that lead to something that can be called.
    pub resolved: usize,
    /// Title, and why it does not.
    pub unresolved: Vec<(String, String)>,
}

/// Asks each library for the object of every title, each title once.
pub(super) fn resolve_titles(
    specs: &[&Spec],
    target: &TargetArgs,
) -> anyhow::Result<Vec<Resolution>> {
    let mut packages: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for spec in specs {
        let titles = packages.entry(&spec.api.package).or_default();
        titles.insert(&spec.api.title, &spec.api.path);
    }
    let mut answers = Vec::new();
    for (package, titles) in packages {
        let python = target::resolve(target, package)?.python;
        let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
        let failed = |error| anyhow!("failed to {error}");
        let options = PoolOptions::new(python, package, scratch.path());
        let pool = Pool::start(options).map_err(failed)?;
        let mut answer = Resolution {
            package: package.to_owned(),
            version: pool.info().library_version.clone(),
            resolved: 0,
            unresolved: Vec::new(),
        };
        for (title, path) in titles {
            let signature = pool.describe(path).map_err(failed)?;
            match signature.missing {
                Some(reason) => answer.unresolved.push((title.to_owned(), reason)),
                None if !signature.callable => {
                    let reason = "it cannot be called".to_owned();
                    answer.unresolved.push((title.to_owned(), reason));
                }
                None => answer.resolved += 1,
            }
        }
        pool.stop();
        answers.push(answer);
    }
    Ok(answers)
}

impl Resolution {
    pub(super) fn json(&self) -> serde_json::Value {
        let unresolved: Vec<_> = self
            .unresolved
            .iter()
            .map(|(title, reason)| json!({"title": title, "reason": reason}))
            .collect();
        json!({
            "package": self.package,
            "version": self.version,
            "titles": self.resolved + self.unresolved.len(),
            "resolved": self.resolved,
            "unresolved": unresolved,
        })
    }

    /// One line for each title that leads nowhere, then the counts.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for (title, reason) in &self.unresolved {
            let _ = writeln!(out, "{title}: {reason}");
        }
        let total = self.resolved + self.unresolved.len();
        let _ = writeln!(
            out,
            "{} {}: {} of {total} titles resolve",
            self.package, self.version, self.resolved
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_nowhere_is_listed_with_its_reason_before_the_counts() {
        let resolution = Resolution {
            package: "torch".into(),
            version: "1.5.0".into(),
            resolved: 2,
            unresolved: vec![("torch.gone".into(), "there is no torch.gone".into())],
        };
        assert_eq!(
            resolution.text(),
            "torch.gone: there is no torch.gone\ntorch 1.5.0: 2 of 3 titles resolve\n"
        );
        assert_eq!(resolution.json()["titles"], 3);
    }
}
