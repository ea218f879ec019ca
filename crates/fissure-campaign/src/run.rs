//! The main loop.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fissure_execute::{Batch, Event, ExecuteError, Pool, ScriptOptions};
use fissure_generate::Generator;
use fissure_judge::JudgeOptions;
use fissure_model::{
    Api, ConcreteInput, Execution, Finding, Outcome, OutcomeKind, Reproduction, Spec, Verdict,
};
use fissure_triage::{Candidate, Collector, Observed, Signature};

use crate::confirm::{ConfirmOptions, Confirmed, Confirmer};
use crate::keep::Keeper;
use crate::lane::Lane;
use crate::store::Record;
use crate::{
    ApiSummary, DenyList, RunEvent, RunFolder, RunOptions, RunSummary, SavedInputs, StoreError,
};

/// How often the loop looks up from waiting, for the clock and for the user's Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// How long a new failure waits for a simpler input to show it too.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to write a finding")]
    Finding(#[source] fissure_triage::TriageError),
    // Its text continues "failed to" and holds its cause.
    #[error("failed to {0}")]
    Execute(ExecuteError),
    #[error("the workers cannot go on: {0}")]
    Pool(String),
}

/// Where the inputs of a run come from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// They are generated.
    Specs(&'a [Spec]),
    /// They were kept by an earlier run, and are judged now.
    Saved(&'a [SavedInputs]),
}

impl<'a> Source<'a> {
    /// Number of APIs.
    pub fn len(self) -> usize {
        match self {
            Source::Specs(specs) => specs.len(),
            Source::Saved(saved) => saved.len(),
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    fn apis(self) -> Vec<&'a Api> {
        match self {
            Source::Specs(specs) => specs.iter().map(|spec| &spec.api).collect(),
            Source::Saved(saved) => saved.iter().map(|one| &one.api).collect(),
        }
    }
}

/// What is fuzzed, with what, and how.
pub struct Campaign<'a> {
    pub source: Source<'a>,
    pub pool: &'a Pool,
    /// APIs to leave out.
    pub deny_list: Option<DenyList>,
    /// How a finding's script is run.
    pub script: ScriptOptions,
    pub options: &'a RunOptions,
    /// Set from outside to end the run early, with its summary.
    pub stop: &'a AtomicBool,
}

impl Campaign<'_> {
    /// Fuzzes every spec, and returns when all are done or `stop` is set.
    pub fn run(
        &self,
        folder: &mut RunFolder,
        observer: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunSummary, CampaignError> {
        let confirmer = Confirmer::start(ConfirmOptions {
            python: self.pool.info().executable.clone(),
            script: self.script.clone(),
            runs: self.options.confirm_runs,
            threads: self.options.workers,
        });
        let apis = self.source.apis();
        let mut run = Run {
            waiting: (0..apis.len()).collect(),
            found: vec![Found::default(); apis.len()],
            apis,
            source: self.source,
            pool: self.pool,
            deny_list: self.deny_list.as_ref(),
            options: self.options,
            folder,
            stop: self.stop,
            observer,
            confirmer,
            collector: Collector::default(),
            lanes: HashMap::new(),
            in_flight: HashMap::new(),
            next_batch_id: 0,
            summary: RunSummary::default(),
            finished: Vec::new(),
            seen: Vec::new(),
        };
        run.drive()
    }
}

struct Run<'a> {
    source: Source<'a>,
    /// What is fuzzed; everything else refers to it by position.
    apis: Vec<&'a Api>,
    pool: &'a Pool,
    deny_list: Option<&'a DenyList>,
    options: &'a RunOptions,
    folder: &'a mut RunFolder,
    stop: &'a AtomicBool,
    observer: &'a mut dyn FnMut(RunEvent<'_>),
    confirmer: Confirmer,
    collector: Collector,
    /// APIs under way.
    lanes: HashMap<usize, Lane>,
    waiting: VecDeque<usize>,
    /// Each batch handed to the pool, by its id.
    in_flight: HashMap<u64, Handed>,
    next_batch_id: u64,
    summary: RunSummary,
    /// APIs that are done.
    finished: Vec<(usize, ApiSummary)>,
    /// Failures not yet handed to the confirmer: API, since when, signature.
    seen: Vec<(usize, Instant, Signature)>,
    /// What was found: a finding may be confirmed after its API is done.
    found: Vec<Found>,
}

/// A batch that the pool has.
#[derive(Clone, Copy)]
struct Handed {
    /// Position of its API.
    lane: usize,
    work: Work,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Newly generated inputs: the batch's index within its lane.
    Run(u64),
    /// Inputs for the oracles.
    Judge,
}

#[derive(Clone, Default)]
struct Found {
    findings: Vec<String>,
    notes: Vec<String>,
}

impl Run<'_> {
    fn drive(&mut self) -> Result<RunSummary, CampaignError> {
        let started = Instant::now();
        let mut cancelled = false;
        loop {
            if self.stop.load(Ordering::Relaxed) && !cancelled {
                cancelled = true;
                self.summary.interrupted = true;
                self.waiting.clear();
                self.lanes.values_mut().for_each(Lane::interrupt);
                self.pool.cancel();
            }
            if let Some(limit) = self.options.total_time
                && started.elapsed() >= limit
            {
                self.lanes.values_mut().for_each(Lane::expire);
                for at in std::mem::take(&mut self.waiting) {
                    self.skip(at, "the time for the whole run was up".to_owned())?;
                }
            }
            self.open_lanes()?;
            self.hand_out();
            self.close_lanes()?;
            self.confirm_seen(|_, since| since.elapsed() >= PATIENCE)?;
            if self.lanes.is_empty() && self.waiting.is_empty() && self.in_flight.is_empty() {
                break;
            }
            if let Ok(event) = self.pool.events().recv_timeout(TICK) {
                self.handle(event)?;
                while let Ok(event) = self.pool.events().try_recv() {
                    self.handle(event)?;
                }
            }
            while let Some(confirmed) = self.confirmer.poll() {
                self.report(confirmed)?;
            }
            if let Some(message) = self.pool.failure() {
                return Err(CampaignError::Pool(message));
            }
        }
        while self.confirmer.pending() > 0 {
            if let Some(confirmed) = self.confirmer.wait(TICK) {
                self.report(confirmed)?;
            }
        }
        self.summary.elapsed = started.elapsed();
        self.finished.sort_by_key(|(at, _)| *at);
        for (at, mut api) in self.finished.drain(..) {
            let found = std::mem::take(&mut self.found[at]);
            api.findings = found.findings;
            api.notes = found.notes;
            self.summary.apis.push(api);
        }
        self.folder.write_summary(&self.summary)?;
        Ok(std::mem::take(&mut self.summary))
    }

    /// Keeps one API more under way than there are workers, so that one that waits (for feedback,
    /// for the watchdog) leaves nobody idle.
    fn open_lanes(&mut self) -> Result<(), CampaignError> {
        while self.lanes.len() <= self.options.workers {
            let Some(at) = self.waiting.pop_front() else {
                break;
            };
            let api = self.apis[at];
            match self.prepare(at)? {
                Ok(lane) => {
                    self.folder.append(&Record::Started { api: &api.title })?;
                    self.lanes.insert(at, lane);
                }
                Err(reason) => self.skip(at, reason)?,
            }
        }
        Ok(())
    }

    fn skip(&mut self, at: usize, reason: String) -> Result<(), CampaignError> {
        let api = self.apis[at];
        self.folder.append(&Record::Skipped {
            api: &api.title,
            reason: &reason,
        })?;
        self.summary
            .skipped
            .push((api.title.clone(), reason.clone()));
        (self.observer)(RunEvent::Skipped { api, reason });
        Ok(())
    }

    /// A lane for the API, or the reason why there is none.
    fn prepare(&mut self, at: usize) -> Result<Result<Lane, String>, CampaignError> {
        let api = self.apis[at];
        if let Some(denied) = self.deny_list.and_then(|list| list.check(&api.title)) {
            return Ok(Err(format!(
                "left out by default: it {} (--include-denied fuzzes it)",
                denied.reason
            )));
        }
        let signature = self
            .pool
            .describe(&api.path)
            .map_err(CampaignError::Execute)?;
        if let Some(why) = &signature.missing {
            return Ok(Err(format!(
                "not in {} {}: {why}",
                api.package, signature.library_version
            )));
        }
        if !signature.callable {
            return Ok(Err("it is not callable".to_owned()));
        }
        let lane = match self.source {
            Source::Saved(saved) => Lane::again(api, saved[at].inputs.clone(), self.options),
            Source::Specs(specs) => {
                let generator = Generator::new(
                    &specs[at],
                    Some(&signature),
                    self.options.generate.clone(),
                    self.options.seed,
                );
                match generator {
                    Ok(generator) => {
                        let keeper = Keeper::open(&self.api_folder(at), api, self.options)?;
                        Lane::new(&specs[at], generator, keeper, self.options)
                    }
                    Err(error) => return Ok(Err(error.to_string())),
                }
            }
        };
        (self.observer)(RunEvent::Started {
            api,
            signature: &signature,
        });
        Ok(Ok(lane))
    }

    /// DocTer's users know one work folder per API; overloads of one title get one each.
    fn api_folder(&self, at: usize) -> PathBuf {
        if self.apis.len() == 1 {
            return self.folder.path().to_owned();
        }
        let title = &self.apis[at].title;
        let earlier = self.apis[..at]
            .iter()
            .filter(|api| api.title == *title)
            .count();
        let name = fissure_triage::file_name_part(title);
        let apis = self.folder.path().join("apis");
        match earlier {
            0 => apis.join(&*name),
            n => apis.join(format!("{name}-{}", n + 1)),
        }
    }

    fn hand_out(&mut self) {
        // One batch running and two queued per worker: `submit` never blocks.
        let capacity = self.options.workers * 3;
        let mut order: Vec<usize> = self.lanes.keys().copied().collect();
        order.sort_unstable();
        let mut progressed = true;
        while progressed && self.in_flight.len() < capacity {
            progressed = false;
            for at in &order {
                if self.in_flight.len() >= capacity {
                    break;
                }
                let Some(lane) = self.lanes.get_mut(at) else {
                    continue;
                };
                let (work, mut batch) = match lane.next_judging() {
                    Some(batch) => (Work::Judge, batch),
                    None => match lane.next_batch() {
                        Some((index, batch)) => (Work::Run(index), batch),
                        None => continue,
                    },
                };
                batch.id = self.next_batch_id;
                self.next_batch_id += 1;
                let handed = Handed { lane: *at, work };
                self.in_flight.insert(batch.id, handed);
                self.pool.submit(batch);
                progressed = true;
            }
        }
    }

    fn close_lanes(&mut self) -> Result<(), CampaignError> {
        let finished: Vec<usize> = self
            .lanes
            .iter()
            .filter(|(_, lane)| lane.is_finished())
            .map(|(at, _)| *at)
            .collect();
        if !finished.is_empty() {
            self.confirm_seen(|at, _| finished.contains(&at))?;
        }
        for at in finished {
            if let Some(lane) = self.lanes.remove(&at) {
                let summary = lane.summary();
                lane.close()?;
                self.folder.append(&Record::Finished(&summary))?;
                (self.observer)(RunEvent::Finished { summary: &summary });
                self.finished.push((at, summary));
            }
        }
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Result<(), CampaignError> {
        match event {
            Event::Abnormal {
                batch,
                input,
                execution,
            } => {
                if let Some(Handed { lane: at, work }) = self.in_flight.get(&batch).copied() {
                    let limit =
                        matches!(execution.outcome, Outcome::Timeout | Outcome::OutOfMemory);
                    // An oracle makes many calls of an input that alone kept within the limits.
                    if !limit || work != Work::Judge {
                        self.look(at, &input, &execution)?;
                    }
                    if let Some(lane) = self.lanes.get_mut(&at).filter(|_| limit) {
                        lane.count_hang();
                    }
                }
                Ok(())
            }
            Event::Done {
                batch,
                executions,
                busy,
            } => self.complete(batch, &executions, busy),
        }
    }

    fn complete(
        &mut self,
        batch: Batch,
        executions: &[Execution],
        busy: Duration,
    ) -> Result<(), CampaignError> {
        let Some(Handed { lane: at, work }) = self.in_flight.remove(&batch.id) else {
            return Ok(());
        };
        let Work::Run(index) = work else {
            return self.complete_judging(at, &batch, executions, busy);
        };
        for (input, execution) in batch.inputs.iter().zip(executions) {
            // Whatever ended a process came as an event of its own, at once.
            if matches!(
                execution.outcome,
                Outcome::Accepted { nan: true } | Outcome::Rejected(_)
            ) {
                self.look(at, input, execution)?;
            }
        }
        let Some(lane) = self.lanes.get_mut(&at) else {
            return Ok(());
        };
        let before = lane.tally.clone();
        let first = batch.inputs.first().map_or(0, |input| input.number);
        lane.complete(index, batch.inputs, executions, busy)?;
        let accepted = lane.tally.accepted() - before.accepted();
        let rejected =
            lane.tally.count(OutcomeKind::Rejected) - before.count(OutcomeKind::Rejected);
        let inputs = executions.len() as u64;
        self.folder.append(&Record::Batch {
            api: &lane.api.title,
            first,
            inputs,
            accepted,
            rejected,
            other: inputs - accepted - rejected,
        })?;
        (self.observer)(RunEvent::Progress {
            api: &lane.api,
            tally: &lane.tally,
            max_inputs: lane.max_inputs(),
        });
        Ok(())
    }

    /// Hears what the oracles had to say.
    fn complete_judging(
        &mut self,
        at: usize,
        batch: &Batch,
        executions: &[Execution],
        busy: Duration,
    ) -> Result<(), CampaignError> {
        let api = self.apis[at];
        for (input, execution) in batch.inputs.iter().zip(executions) {
            for verdict in fissure_judge::reports(api, input, execution) {
                self.remember(at, &verdict, input, execution)?;
            }
        }
        if let Some(lane) = self.lanes.get_mut(&at) {
            lane.complete_judging(executions, busy);
            self.folder.append(&Record::Judged {
                api: &lane.api.title,
                inputs: executions.len() as u64,
                reports: executions.iter().map(|one| one.reports.len() as u64).sum(),
            })?;
        }
        Ok(())
    }

    /// Judges one execution and remembers a failure not seen before.
    fn look(
        &mut self,
        at: usize,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Result<(), CampaignError> {
        let api = self.apis[at];
        let judge = JudgeOptions {
            check_nan: self.options.check_nan,
        };
        let Some(verdict) = fissure_judge::judge(api, input, execution, &judge) else {
            return Ok(());
        };
        self.remember(at, &verdict, input, execution)
    }

    fn remember(
        &mut self,
        at: usize,
        verdict: &Verdict,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Result<(), CampaignError> {
        let api = self.apis[at];
        let observed = self.collector.observe(api, verdict, input, execution);
        if let Observed::New(signature) = observed {
            self.folder.append(&Record::Seen {
                api: &api.title,
                id: &fissure_triage::finding_id(api, verdict, &signature),
                number: input.number,
            })?;
            self.seen.push((at, Instant::now(), signature));
        }
        Ok(())
    }

    /// Hands failures that had their time to show a simpler input to the confirmer. What the input
    /// itself explains is told without: trying it again would only exhaust the limits again.
    fn confirm_seen(
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

    fn report(&mut self, (at, finding, outcome): Confirmed) -> Result<(), CampaignError> {
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
            api: &finding.api.title,
            id: &finding.id,
            kind: finding.verdict.kind.name(),
            number: finding.input.number,
            failures: reproduction.failures,
            runs: reproduction.runs,
        })?;
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
