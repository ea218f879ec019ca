//! From a failure that was seen to a finding on disk: made small, tried in fresh processes, written.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fissure_model::{Api, Confidence, Finding, Intent, OutcomeKind, Reproduction};
use fissure_triage::{Candidate, Replay, Signature};

use super::{CampaignError, Run, found_record, pace};
use crate::RunEvent;
use crate::confirm::{Attempt, Confirmed};
use crate::index::ApiIndex;
use crate::replayer::{StoredFinding, replay_finding, stored_findings};
use crate::session::holds;
use crate::shrinker::{ShrinkEvent, Shrinker};

/// Remarks of findings whose run was over before triage was done with them.
const UNTRIED: &str = "The run was over before it was tried in a fresh process.";
const UNSHRUNK: &str = "It was not made smaller";
const EARLY: &str = "The run was interrupted before a simpler input could show it.";

/// Whether a note is told with the input that an interrupted run happened to have.
pub(super) fn is_early(finding: &Finding) -> bool {
    finding.is_note() && finding.remarks.iter().any(|remark| remark == EARLY)
}

impl Run<'_> {
    /// Hands failures that had their time to show a simpler input on. What the input itself explains
    /// is told without: trying it again would only exhaust the limits again.
    pub(super) fn confirm_seen(
        &mut self,
        ready: impl Fn(&Self, ApiIndex, Instant, &Signature) -> bool,
    ) -> Result<(), CampaignError> {
        let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.seen)
            .into_iter()
            .partition(|(at, since, signature)| ready(self, *at, *since, signature));
        self.seen = later;
        for (at, _, signature) in now {
            let Some(candidate) = self.collector.take(&signature) else {
                continue;
            };
            let mut finding = Box::new(self.finding(at, candidate, &signature));
            if finding.verdict.note {
                if self.summary.interrupted && self.is_counted() {
                    finding.remarks.push(EARLY.to_owned());
                }
                self.report(at, finding, Ok(()))?;
            } else {
                let spec = self.spec(at).cloned().map(Box::new);
                match &mut self.shrinker {
                    Some(shrinker) => {
                        (self.observer)(RunEvent::Shrinking {
                            api: &finding.api,
                            id: &finding.id,
                        });
                        let against_spec = finding.verdict.oracle.is_against_documentation();
                        let spec = spec.filter(|_| against_spec);
                        shrinker.submit(at, finding, spec);
                    }
                    None => self.confirm(at, finding),
                }
            }
        }
        Ok(())
    }

    /// When fuzzing has to end for the whole run to end at its limit.
    pub(super) fn fuzzing_ends(&self) -> Option<Duration> {
        let shrinking = self.shrinker.as_ref().map_or(0, Shrinker::pending);
        let limit = self.limit?;
        let large = self.seen.len() + shrinking;
        let small = self.confirmer.pending();
        // In a run of few APIs each finding has had its plain interpreter when it is told.
        let plain = match self.takes_turns {
            true => self.confirmer.kept() + large + small,
            false => 0,
        };
        Some(self.pace.fuzzing_ends(
            limit.saturating_sub(pace::writing(limit)),
            large,
            small,
            plain,
            self.options.workers,
        ))
    }

    fn confirm(&mut self, at: ApiIndex, finding: Box<Finding>) {
        (self.observer)(RunEvent::Confirming {
            api: &finding.api,
            id: &finding.id,
        });
        let attempt = match self.takes_turns {
            true => Attempt::Forks,
            false => Attempt::Whole,
        };
        self.confirmer.submit(at, finding, attempt);
    }

    /// Takes what triage has finished, waiting up to `limit` when there is nothing yet. Returns
    /// whether anything is still under way.
    pub(super) fn triage(&mut self, limit: Duration) -> Result<bool, CampaignError> {
        while let Some(event) = self.shrinker.as_mut().and_then(Shrinker::poll) {
            self.shrunk(event);
        }
        let mut wait = limit;
        while let Some(confirmed) = self.confirmer.wait(wait) {
            self.confirmed(confirmed)?;
            wait = Duration::ZERO;
        }
        let shrinking = self.shrinker.as_ref().map_or(0, Shrinker::pending);
        Ok(shrinking + self.confirmer.pending() > 0)
    }

    fn confirmed(&mut self, confirmed: Confirmed) -> Result<(), CampaignError> {
        let Confirmed {
            at,
            finding,
            outcome,
            elapsed,
            attempt,
        } = confirmed;
        if let Attempt::Plain { stable } = attempt {
            return match outcome {
                Ok(()) => self.tell_once_more(at, &finding, stable),
                // It was tried before, and is told.
                Err(_) => Ok(()),
            };
        }
        self.pace.confirming.add(elapsed);
        let again = attempt == Attempt::Forks && outcome.is_ok();
        self.report(at, finding.clone(), outcome)?;
        if again && !finding.is_note() {
            let stable = finding.reproduction.is_some_and(Reproduction::is_stable);
            self.confirmer.keep_for_the_end(at, finding, stable);
        }
        Ok(())
    }

    /// Notes what a plain interpreter made of a finding that is told already.
    fn tell_once_more(
        &mut self,
        at: ApiIndex,
        finding: &Finding,
        was_stable: bool,
    ) -> Result<(), CampaignError> {
        let mut finding = finding.clone();
        finding.also_through = self.collector.aliases(&Signature::of_finding(&finding));
        fissure_triage::write_finding(&self.folder.findings(), &finding)
            .map_err(CampaignError::Finding)?;
        let is_stable = finding.reproduction.is_some_and(Reproduction::is_stable);
        self.summary.flaky += u64::from(was_stable && !is_stable);
        self.folder.append(&found_record(at, &finding))?;
        Ok(())
    }

    fn shrunk(&mut self, event: ShrinkEvent) {
        match event {
            ShrinkEvent::Progress { .. } => {}
            ShrinkEvent::Done {
                lane,
                mut finding,
                outcome,
            } => {
                match outcome {
                    Ok(summary) => {
                        self.pace.shrinking.add(summary.elapsed);
                        let signature = Signature::of_finding(&finding);
                        self.collector
                            .also(&finding.api, &signature, &finding.also_by);
                        (self.observer)(RunEvent::Shrunk {
                            finding: &finding,
                            summary,
                        });
                    }
                    Err(reason) => finding.remarks.push(format!("{UNSHRUNK}: {reason}.")),
                }
                self.confirm(lane, finding);
            }
        }
    }

    fn finding(&self, at: ApiIndex, candidate: Candidate, signature: &Signature) -> Finding {
        let mut api = Api::clone(&self.apis[at]);
        api.folders = self.folders_of(&api);
        // Told here because shrinking keeps the failure, not what the input was made to do.
        let remarks = match &candidate.input.intent {
            Intent::BreakRule { rule } => vec![format!(
                "It was met with an input that breaks the rule `{rule}` and no other."
            )],
            _ => Vec::new(),
        };
        Finding {
            id: fissure_triage::finding_id(&api, &candidate.verdict, signature),
            signature: signature.text().to_owned(),
            remarks,
            library_version: self.pool.info().library_version.clone(),
            python_version: self.pool.info().python_version.clone(),
            seed: self.options.seed,
            ..Finding::new(api, candidate.verdict, candidate.input, candidate.execution)
        }
    }

    /// The user's own folders that an API is imported from.
    fn folders_of(&self, api: &Api) -> Vec<PathBuf> {
        let modules: Vec<&String> = api.imports.iter().chain([&api.package]).collect();
        let needed = |folder: &&PathBuf| modules.iter().any(|module| holds(folder, module));
        self.folders.iter().filter(needed).cloned().collect()
    }

    pub(super) fn report(
        &mut self,
        at: ApiIndex,
        mut finding: Box<Finding>,
        outcome: Result<(), String>,
    ) -> Result<(), CampaignError> {
        let slow = finding.verdict.note && finding.verdict.confidence == Confidence::Performance;
        // Calls that are not quick are soon ended in a run by the clock: whether one hangs is seen when it is tried.
        let cut_short = finding.verdict.kind == OutcomeKind::Timeout
            && finding.reproduction.is_none()
            && finding.execution.duration < self.confirmer.hang_after()
            && !self.stop.load(Ordering::Relaxed);
        if (slow || cut_short) && !self.is_counted() {
            // As what the sizes of an input explain at once (`remember`).
            self.untried.remove(&finding.id);
            return Ok(());
        }
        let signature = Signature::of_finding(&finding);
        finding.also_through = self.collector.aliases(&signature);
        if self.halt.load(Ordering::Relaxed) && outcome.is_err() {
            finding.remarks.push(UNTRIED.to_owned());
        } else if let Err(message) = outcome {
            (self.observer)(RunEvent::Warning {
                message: format!("failed to try {} in a fresh process: {message}", finding.id),
            });
        }
        let folder = fissure_triage::write_finding(&self.folder.findings(), &finding)
            .map_err(CampaignError::Finding)?;
        self.untried.remove(&finding.id);
        self.written
            .push((signature, folder.clone(), finding.also_through.len()));
        let reproduction = finding.reproduction.unwrap_or(Reproduction {
            failures: 0,
            runs: 0,
        });
        self.folder.append(&found_record(at, &finding))?;
        self.folder.sync()?;
        self.count(at, finding.id.clone(), finding.is_note());
        let tried = !finding.is_note() && reproduction.runs > 0;
        self.summary.flaky += u64::from(tried && !reproduction.is_stable());
        (self.observer)(RunEvent::Found {
            finding: &finding,
            folder,
        });
        Ok(())
    }

    /// Findings that an interrupted process wrote as they were, and that were not met again, are made
    /// small and tried now.
    pub(super) fn try_untried(&mut self) -> Result<(), CampaignError> {
        if self.halt.load(Ordering::Relaxed) {
            return Ok(());
        }
        for (at, mut finding) in self.untried.values().cloned().collect::<Vec<_>>() {
            let is_over = |remark: &String| {
                [UNTRIED, EARLY].contains(&remark.as_str()) || remark.starts_with(UNSHRUNK)
            };
            finding.remarks.retain(|remark| !is_over(remark));
            self.collector.know(&finding);
            let finding = Box::new(finding);
            if finding.is_note() {
                self.report(at, finding, Ok(()))?;
                continue;
            }
            match &mut self.shrinker {
                Some(shrinker) if finding.unshrunk.is_none() => shrinker.submit(at, finding, None),
                _ => self.confirm(at, finding),
            }
        }
        Ok(())
    }

    /// Those that could not be tried this time either are on disk, and count.
    pub(super) fn count_untried(&mut self) {
        for (id, (at, finding)) in std::mem::take(&mut self.untried) {
            self.count(at, id, finding.is_note());
        }
    }

    /// Counts what is on disk.
    pub(super) fn count(&mut self, at: ApiIndex, id: String, note: bool) {
        let found = &mut self.found[at];
        if note {
            found.notes.push(id);
            self.summary.notes += 1;
        } else {
            found.findings.push(id);
            self.summary.findings += 1;
        }
    }

    /// Other APIs may have led to a failure after its finding was written.
    pub(super) fn complete_aliases(&mut self) -> Result<(), CampaignError> {
        for (signature, folder, named) in std::mem::take(&mut self.written) {
            let aliases = self.collector.aliases(&signature);
            if aliases.len() > named {
                let mut finding =
                    fissure_triage::read_finding(&folder).map_err(CampaignError::Finding)?;
                finding.also_through = aliases;
                fissure_triage::write_finding(&self.folder.findings(), &finding)
                    .map_err(CampaignError::Finding)?;
            }
        }
        Ok(())
    }

    /// What the known issues silenced, and which of them no longer do.
    pub(super) fn tell_known_issues(&mut self) {
        for entry in self.known_issues.entries() {
            if entry.missed > 0 {
                (self.observer)(RunEvent::Warning {
                    message: format!(
                        "the known issue of {} (line {}) expired on {}: {} failure{} told again \
                         ({})",
                        entry.api,
                        entry.line,
                        entry.expires,
                        entry.missed,
                        if entry.missed == 1 { " is" } else { "s are" },
                        entry.link
                    ),
                });
            }
        }
    }

    /// Findings that an earlier run left in the folder are run again before anything new.
    pub(super) fn replay_earlier(&mut self) -> Result<(), CampaignError> {
        let stored = stored_findings(self.folder.path()).map_err(CampaignError::Finding)?;
        for stored in stored {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let stored = stored.map_err(CampaignError::Finding)?;
            let Some(at) = self.position(&stored) else {
                continue;
            };
            let python = &self.pool.info().executable;
            let outcome =
                replay_finding(&stored, python, &self.script).map_err(CampaignError::Finding)?;
            if outcome == Replay::StillFails {
                self.collector.know(&stored.finding);
                self.count(at, stored.finding.id.clone(), stored.finding.is_note());
            }
            (self.observer)(RunEvent::Replayed {
                finding: &stored.finding,
                outcome,
            });
        }
        Ok(())
    }

    /// The position of a finding's API in this run.
    pub(super) fn position(&self, stored: &StoredFinding) -> Option<ApiIndex> {
        ApiIndex::of(&self.apis, |api| api.path == stored.finding.api.path)
    }
}
