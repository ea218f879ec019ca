//! From a failed execution to a finding on disk.

use std::path::PathBuf;
use std::time::Instant;

use fissure_judge::JudgeOptions;
use fissure_model::{ConcreteInput, Execution, Finding, Reproduction, Verdict};
use fissure_triage::{Candidate, Observed, Signature};

use super::{CampaignError, Run};
use crate::RunEvent;
use crate::confirm::Confirmed;
use crate::record::Record;

impl Run<'_> {
    /// Judges one execution and remembers a failure not seen before.
    pub(super) fn look(
        &mut self,
        at: usize,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Result<(), CampaignError> {
        let api = self.apis[at];
        let judge = JudgeOptions {
            check_nan: self.options.check_nan,
        };
        if let Some(verdict) = fissure_judge::judge(api, input, execution, &judge) {
            return self.remember(at, &verdict, input, execution);
        }
        let trusted = self.options.trust_specs;
        if let Some((verdict, report)) = fissure_judge::documentation(input, execution, trusted)
            && self.options.has_oracle(&verdict.oracle)
        {
            let mut execution = execution.clone();
            execution.reports.push(report);
            return self.remember(at, &verdict, input, &execution);
        }
        Ok(())
    }

    /// Keeps a failure that no earlier one is the same as, if its oracle was asked.
    pub(super) fn remember(
        &mut self,
        at: usize,
        verdict: &Verdict,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Result<(), CampaignError> {
        if !self.options.has_oracle(&verdict.oracle) {
            return Ok(());
        }
        let api = self.apis[at];
        let observed = self.collector.observe(api, verdict, input, execution);
        if let Observed::New(signature) = observed {
            self.folder.append(&Record::Seen {
                at,
                api: api.title.clone(),
                id: fissure_triage::finding_id(api, verdict, &signature),
                number: input.number,
            })?;
            self.seen.push((at, Instant::now(), signature));
        }
        Ok(())
    }

    /// Hands failures that had their time to show a simpler input to the confirmer. What the input
    /// itself explains is told without: trying it again would only exhaust the limits again.
    pub(super) fn confirm_seen(
        &mut self,
        ready: impl Fn(usize, Instant) -> bool,
    ) -> Result<(), CampaignError> {
        let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.seen)
            .into_iter()
            .partition(|(at, since, _)| ready(*at, *since));
        self.seen = later;
        for (at, _, signature) in now {
            let Some(candidate) = self.collector.take(&signature) else {
                continue;
            };
            let finding = Box::new(self.finding(at, candidate, &signature));
            if finding.verdict.note {
                self.report((at, finding, Ok(())))?;
            } else {
                (self.observer)(RunEvent::Confirming {
                    api: &finding.api,
                    id: &finding.id,
                });
                self.confirmer.submit(at, finding);
            }
        }
        Ok(())
    }

    fn finding(&self, at: usize, candidate: Candidate, signature: &Signature) -> Finding {
        let api = self.apis[at].clone();
        Finding {
            id: fissure_triage::finding_id(&api, &candidate.verdict, signature),
            api,
            verdict: candidate.verdict,
            signature: signature.text().to_owned(),
            input: candidate.input,
            unshrunk: None,
            roles: Vec::new(),
            also_through: Vec::new(),
            remarks: Vec::new(),
            environment: Vec::new(),
            execution: candidate.execution,
            reproduction: None,
            library_version: self.pool.info().library_version.clone(),
            python_version: self.pool.info().python_version.clone(),
            seed: self.options.seed,
        }
    }

    pub(super) fn report(
        &mut self,
        (at, finding, outcome): Confirmed,
    ) -> Result<(), CampaignError> {
        if let Err(message) = outcome {
            (self.observer)(RunEvent::Warning {
                message: format!("failed to try {} in a fresh process: {message}", finding.id),
            });
        }
        let folder: PathBuf = fissure_triage::write_finding(&self.folder.findings(), &finding)
            .map_err(CampaignError::Finding)?;
        let reproduction = finding.reproduction.unwrap_or(Reproduction {
            failures: 0,
            runs: 0,
        });
        self.folder.append(&Record::Found {
            at,
            api: finding.api.title.clone(),
            id: finding.id.clone(),
            kind: finding.verdict.kind,
            number: finding.input.number,
            failures: reproduction.failures,
            runs: reproduction.runs,
            note: finding.is_note(),
        })?;
        self.folder.sync()?;
        let found = &mut self.found[at];
        if finding.is_note() {
            found.notes.push(finding.id.clone());
            self.summary.notes += 1;
        } else {
            found.findings.push(finding.id.clone());
            self.summary.findings += 1;
            self.summary.flaky += u64::from(!reproduction.is_stable());
        }
        (self.observer)(RunEvent::Found {
            finding: &finding,
            folder,
        });
        Ok(())
    }
}
