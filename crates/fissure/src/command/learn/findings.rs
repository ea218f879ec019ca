//! Calls that ended their process while learning: findings like those of `fissure fuzz`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fissure_campaign::{facts, run_fresh};
use fissure_execute::{Pool, ScriptOptions};
use fissure_judge::{JudgeOptions, judge};
use fissure_learn::Learned;
use fissure_model::{Api, ConcreteInput, Execution, Finding, Verdict};
use fissure_triage::{Signature, complexity, confirm, finding_id, signature, write_finding};

use crate::console::{notice, warning};

/// Findings of one API at most: each is tried in fresh processes, which import the library.
const MOST: usize = 4;

/// Where findings go, and how they are tried in fresh processes.
pub(super) struct Findings {
    pub folder: PathBuf,
    pub python: PathBuf,
    pub script: ScriptOptions,
    /// Of the user's own packages.
    pub folders: Vec<PathBuf>,
    pub seed: u64,
}

impl Findings {
    /// One finding for each failure, with the simplest of the calls that show it; gives their
    /// number. What never fails in a fresh process is written as a note and not counted.
    pub(super) fn write(&self, pool: &Pool, api: &Api, learned: &Learned) -> anyhow::Result<usize> {
        let mut simplest: BTreeMap<Signature, (&ConcreteInput, &Execution, Verdict)> =
            BTreeMap::new();
        for (input, execution) in &learned.crashes {
            let Some(verdict) = judge(api, input, execution, &JudgeOptions::default()) else {
                continue;
            };
            let found = signature(api, &verdict, execution);
            let simpler = simplest
                .get(&found)
                .is_none_or(|(known, ..)| complexity(input) < complexity(known));
            if simpler {
                simplest.insert(found, (input, execution, verdict));
            }
        }
        // Memory that is overwritten crashes somewhere else each time.
        let mut simplest: Vec<_> = simplest.into_iter().collect();
        simplest.sort_by_key(|(_, (input, ..))| complexity(input));
        if simplest.len() > MOST {
            notice!(
                "fissure: calls of {} end their process in {} ways; the simplest {MOST} are written",
                api.title,
                simplest.len()
            );
        }
        let mut written = 0;
        for (signature, (input, execution, verdict)) in simplest.into_iter().take(MOST) {
            let known = Api {
                folders: self.folders.clone(),
                ..api.clone()
            };
            let mut finding = Finding {
                id: finding_id(api, &verdict, &signature),
                signature: signature.text().to_owned(),
                library_version: pool.info().library_version.clone(),
                python_version: pool.info().python_version.clone(),
                seed: self.seed,
                ..Finding::new(known, verdict, input.clone(), execution.clone())
            };
            self.try_again(&mut finding);
            let folder = write_finding(&self.folder, &finding)
                .with_context(|| format!("failed to write into {}", self.folder.display()))?;
            notice!(
                "fissure: a call of {} ended its process: {}",
                api.title,
                folder.display()
            );
            written += usize::from(!finding.is_note());
        }
        Ok(written)
    }

    /// In fresh processes, without Fissure. That it cannot be tried is no reason to lose it.
    fn try_again(&self, finding: &mut Finding) {
        if let Ok(known) = facts(&self.python, &finding.api.package, &self.script) {
            finding.environment = known.environment;
        }
        let mut run = |script: &Path, _| run_fresh(&self.python, script, &self.script);
        if let Err(error) = confirm(finding, &mut run, 3, &self.script.scratch.join("scripts")) {
            warning!("failed to try {} in a fresh process: {error}", finding.id);
        }
    }
}
