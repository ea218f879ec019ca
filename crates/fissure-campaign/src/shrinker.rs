//! Findings are made small before they are tried in a fresh process.
//!
//! A few threads, each with a worker of its own from the zygote that fuzzing has started: shrinking
//! runs hundreds of inputs one after the other, and fuzzing goes on meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::index::ApiIndex;
use fissure_execute::{Batch, Event, Pool, Spares};
use fissure_model::{Api, ConcreteInput, Execution, Finding, Intent, Oracle, OutcomeKind, Spec};
use fissure_solve::Checker;
use fissure_triage::{Documented, Failure, ShrinkBudget, explain, shrink};

use crate::triage_queue::{self, TriageQueue};

/// A simpler input that hangs is not worth waiting for longer than this, or than so many times what
/// the failing input took, unless the failure itself is a hang.
const PATIENCE: Duration = Duration::from_secs(3);
const PATIENCE_FACTOR: u32 = 20;

/// A hang is looked for with this part of the limit: each simpler input that still hangs costs all
/// of it, and the whole limit is what the small input has to exceed when it is confirmed.
const HANG_SHARE: u32 = 5;

#[derive(Clone)]
pub struct ShrinkerOptions {
    /// Where workers come from.
    pub spares: Spares,
    /// Findings that are made small at a time.
    pub threads: usize,
    /// For one input.
    pub timeout: Duration,
    /// All that may report something of an input.
    pub oracles: Arc<[Oracle]>,
    pub budget: ShrinkBudget,
    /// Set from outside to leave findings as they are.
    pub stop: Arc<AtomicBool>,
}

/// What came of one finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShrinkSummary {
    /// Inputs that were run.
    pub tried: u64,
    /// How often a simpler one was found.
    pub steps: u64,
    /// Nothing simpler was left to try when the budget ended.
    pub finished: bool,
    pub elapsed: Duration,
}

#[derive(Debug)]
pub enum ShrinkEvent {
    /// A simpler input was found.
    Progress { id: String, tried: u64, steps: u64 },
    /// The finding with `input`, `execution`, `unshrunk` and `roles` filled in, or as it was
    /// together with the reason why it could not be made smaller.
    Done {
        lane: ApiIndex,
        finding: Box<Finding>,
        outcome: Result<ShrinkSummary, String>,
    },
}

/// With what the API documents, where the failure is one against that.
type Job = (ApiIndex, Box<Finding>, Option<Box<Spec>>);

impl triage_queue::Job for Job {
    fn finding(&self) -> &Finding {
        &self.1
    }
}

pub struct Shrinker {
    jobs: Arc<TriageQueue<Job>>,
    events: Receiver<ShrinkEvent>,
    threads: Vec<JoinHandle<()>>,
    pending: usize,
}

impl Shrinker {
    pub fn start(options: ShrinkerOptions) -> Self {
        let jobs = Arc::new(TriageQueue::new());
        let (sender, events) = channel();
        let threads = (0..options.threads.max(1))
            .map(|_| {
                let (jobs, sender, options) = (jobs.clone(), sender.clone(), options.clone());
                std::thread::spawn(move || work(&jobs, &sender, &options))
            })
            .collect();
        Shrinker {
            jobs,
            events,
            threads,
            pending: 0,
        }
    }

    pub fn submit(&mut self, lane: ApiIndex, finding: Box<Finding>, spec: Option<Box<Spec>>) {
        self.jobs.push((lane, finding, spec));
        self.pending += 1;
    }

    /// Findings not yet done.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// News, if there are any.
    pub fn poll(&mut self) -> Option<ShrinkEvent> {
        let event = self.events.try_recv().ok()?;
        self.pending -= usize::from(matches!(event, ShrinkEvent::Done { .. }));
        Some(event)
    }

    /// Like [`Self::poll`], but waits.
    pub fn wait(&mut self, limit: Duration) -> Option<ShrinkEvent> {
        let event = self.events.recv_timeout(limit).ok()?;
        self.pending -= usize::from(matches!(event, ShrinkEvent::Done { .. }));
        Some(event)
    }
}

impl Drop for Shrinker {
    fn drop(&mut self) {
        self.jobs.close();
        for thread in self.threads.drain(..) {
            // A panic there has already lost only its own finding.
            let _ = thread.join();
        }
    }
}

fn work(jobs: &TriageQueue<Job>, events: &Sender<ShrinkEvent>, options: &ShrinkerOptions) {
    let mut kept: Option<(Duration, Pool)> = None;
    while let Some((lane, mut finding, spec)) = jobs.pop() {
        let id = finding.id.clone();
        let mut progress = |tried, steps| {
            let id = id.clone();
            // A receiver that is gone has no more wishes.
            let _ = events.send(ShrinkEvent::Progress { id, tried, steps });
        };
        let outcome = if options.stop.load(Ordering::Relaxed) {
            Err("the run was stopped".to_owned())
        } else {
            pool_for(&finding, &mut kept, options).and_then(|pool| {
                shrink_finding(
                    pool,
                    &mut finding,
                    spec.as_deref(),
                    &options.oracles,
                    options.budget,
                    &options.stop,
                    &mut progress,
                )
            })
        };
        if outcome.is_err() {
            kept = None;
        }
        let done = ShrinkEvent::Done {
            lane,
            finding,
            outcome,
        };
        if events.send(done).is_err() {
            return;
        }
    }
}

/// The pool of the finding before, or a new one if this finding needs another time limit.
fn pool_for<'a>(
    finding: &Finding,
    kept: &'a mut Option<(Duration, Pool)>,
    options: &ShrinkerOptions,
) -> Result<&'a Pool, String> {
    let timeout = match finding.verdict.kind {
        OutcomeKind::Timeout => {
            (options.timeout / HANG_SHARE).clamp(PATIENCE.min(options.timeout), options.timeout)
        }
        // One of two limits, so that most findings share a pool.
        _ if finding.execution.duration * PATIENCE_FACTOR <= PATIENCE => {
            options.timeout.min(PATIENCE)
        }
        _ => options.timeout,
    };
    if kept.as_ref().is_none_or(|(limit, _)| *limit != timeout) {
        // The old one ends first: it gives its place back.
        *kept = None;
        let pool = options
            .spares
            .pool(timeout)
            .map_err(|error| format!("failed to {error}"))?;
        *kept = Some((timeout, pool));
    }
    let (_, pool) = kept.as_ref().expect("just put there");
    Ok(pool)
}

/// Makes the finding's input as small as the budget allows, and finds out what each argument has to
/// do with it. `pool` should have one worker and nothing else to do. The finding's id stays: it is
/// still the same failure. `spec` is what the API documents, without which a finding against the
/// documentation stays as it is.
pub fn shrink_finding(
    pool: &Pool,
    finding: &mut Finding,
    spec: Option<&Spec>,
    all_oracles: &Arc<[Oracle]>,
    budget: ShrinkBudget,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ShrinkSummary, String> {
    let started = Instant::now();
    let failure_of = |finding: &Finding, execution: &Execution| {
        let failure = Failure::new(&finding.api, &finding.verdict, execution);
        match spec {
            Some(spec) => failure.documented(documented(spec)),
            None => failure,
        }
    };
    let mut failure = failure_of(finding, &finding.execution);
    if !failure.can_be_shown() {
        return Err("what the documentation says of this input, it says of no other".to_owned());
    }
    let api = Arc::new(finding.api.clone());
    let oracles: Arc<[Oracle]> = failure.oracle().into_iter().cloned().collect();
    let check_nan = finding.verdict.kind == OutcomeKind::Nan;
    let mut run = |inputs: &[ConcreteInput]| {
        if stop.load(Ordering::Relaxed) {
            return Vec::new();
        }
        run_inputs(pool, &api, &oracles, check_nan, inputs)
    };
    // In this process and under these limits it must fail as it did: otherwise the first simpler
    // input that happens to fail would be taken for it.
    let first = run(std::slice::from_ref(&finding.input));
    let Some(execution) = first.first() else {
        return Err(pool
            .failure()
            .unwrap_or_else(|| "the run was stopped".to_owned()));
    };
    if !failure.shown_by(&finding.input, execution) {
        return Err("it did not fail when it was run again, alone".to_owned());
    }
    // What is known of this run (its native frames) is what simpler inputs are held against.
    failure = failure_of(finding, execution);
    let shrunk = shrink(
        &failure,
        &finding.input,
        &finding.execution,
        &mut run,
        budget,
        progress,
    );
    let is_hang = finding.verdict.kind == OutcomeKind::Timeout;
    if !is_hang {
        finding.roles = explain(&failure, &shrunk.input, &mut run);
    }
    if shrunk.steps > 0 {
        let unshrunk = std::mem::replace(&mut finding.input, shrunk.input);
        finding.unshrunk = Some(Box::new(unshrunk));
        finding.unshrunk_reports = std::mem::take(&mut finding.execution.reports);
        finding.execution = failure.complete(&finding.input, shrunk.execution);
    }
    finding.also_by = also_by(pool, &api, finding, all_oracles);
    Ok(ShrinkSummary {
        tried: shrunk.tried,
        steps: shrunk.steps,
        finished: shrunk.finished,
        elapsed: started.elapsed(),
    })
}

/// What other oracles report of the small input: they have met the same defect.
fn also_by(
    pool: &Pool,
    api: &Arc<Api>,
    finding: &Finding,
    oracles: &Arc<[Oracle]>,
) -> Vec<(Oracle, String)> {
    if finding.verdict.kind != OutcomeKind::WrongResult || oracles.is_empty() {
        return Vec::new();
    }
    let ran = run_inputs(
        pool,
        api,
        oracles,
        false,
        std::slice::from_ref(&finding.input),
    );
    let own = (&finding.verdict.oracle, &finding.verdict.detail);
    let reports = ran.iter().flat_map(|execution| &execution.reports);
    let mut found: Vec<(Oracle, String)> = reports
        .filter(|report| (&report.oracle, &report.detail) != own)
        .map(|report| (report.oracle.clone(), report.detail.clone()))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// What the constraints of an API say of its inputs.
fn documented(spec: &Spec) -> Documented {
    let checker = Checker::new(spec);
    Documented::new(move |input| match checker.check(input).as_slice() {
        [] => Intent::Conform,
        [one] => Intent::Violate {
            param: one.param.clone(),
            category: one.category,
        },
        _ => Intent::Ignore,
    })
}

/// Runs inputs until the first one that ends its process; what would have come after it is not
/// wanted any more, most often.
fn run_inputs(
    pool: &Pool,
    api: &Arc<Api>,
    oracles: &Arc<[Oracle]>,
    check_nan: bool,
    inputs: &[ConcreteInput],
) -> Vec<Execution> {
    let abandoned = Arc::new(AtomicBool::new(false));
    pool.submit(Batch {
        id: 0,
        api: Arc::clone(api),
        check_nan,
        oracles: Arc::clone(oracles),
        inputs: inputs.to_vec(),
        abandoned: Arc::clone(&abandoned),
        slow_calls: None,
    });
    loop {
        match pool.events().recv() {
            Ok(Event::Abnormal { .. }) => abandoned.store(true, Ordering::Relaxed),
            Ok(Event::Done { executions, .. }) => return executions,
            Err(_) => return Vec::new(),
        }
    }
}
