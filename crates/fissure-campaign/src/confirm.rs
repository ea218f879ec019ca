//! Findings are tried in a fresh process before they are reported.
//!
//! What is tried is the very script the user gets: a plain interpreter, the library, no Fissure.
//! It runs on threads of its own, so that fuzzing goes on meanwhile.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fissure_execute::ScriptOptions;
use fissure_model::{Finding, OutcomeKind};
use fissure_triage::MemoryLimit;

use crate::fresh::{Facts, facts, run_fresh, with_limit};

/// Time that a script has, beside that of its call, at the very least.
const START: Duration = Duration::from_secs(5);

/// A finding and the API's position in the run.
type Job = (usize, Box<Finding>);

/// What came of the attempt.
pub struct Confirmed {
    pub at: usize,
    /// With its reproduction filled in, unless it could not be tried.
    pub finding: Box<Finding>,
    pub outcome: Result<(), String>,
    pub elapsed: Duration,
}

pub struct Confirmer {
    jobs: Option<Sender<Job>>,
    results: Receiver<Confirmed>,
    threads: Vec<JoinHandle<()>>,
    pending: usize,
}

#[derive(Clone, Debug)]
pub struct ConfirmOptions {
    pub python: PathBuf,
    pub script: ScriptOptions,
    /// Runs of each script; never fewer than three.
    pub runs: u32,
    pub threads: usize,
}

impl Confirmer {
    pub fn start(options: ConfirmOptions) -> Self {
        let (jobs, queue) = channel::<Job>();
        let (sender, results) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let known = Arc::new(OnceLock::new());
        let threads = (0..options.threads.max(1))
            .map(|_| {
                let (queue, sender, options) = (queue.clone(), sender.clone(), options.clone());
                let known = known.clone();
                std::thread::spawn(move || work(&queue, &sender, &options, &known))
            })
            .collect();
        Confirmer {
            jobs: Some(jobs),
            results,
            threads,
            pending: 0,
        }
    }

    pub fn submit(&mut self, lane: usize, finding: Box<Finding>) {
        let jobs = self
            .jobs
            .as_ref()
            .expect("jobs are only dropped with the confirmer");
        if jobs.send((lane, finding)).is_ok() {
            self.pending += 1;
        }
    }

    pub fn pending(&self) -> usize {
        self.pending
    }

    /// A finished attempt, if there is one within the limit.
    pub fn wait(&mut self, limit: Duration) -> Option<Confirmed> {
        let confirmed = self.results.recv_timeout(limit).ok()?;
        self.pending -= 1;
        Some(confirmed)
    }
}

impl Drop for Confirmer {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A panic in a confirming thread has already lost only its own attempt.
            let _ = thread.join();
        }
    }
}

fn work(
    queue: &Mutex<Receiver<Job>>,
    results: &Sender<Confirmed>,
    options: &ConfirmOptions,
    known: &OnceLock<Facts>,
) {
    loop {
        let job = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok((at, mut finding)) = job else { return };
        let package = &finding.api.package;
        // Asked once for all findings of a run.
        let known = known.get_or_init(|| {
            facts(&options.python, package, &options.script).unwrap_or_else(|_| Facts {
                duration: options.script.timeout,
                ..Facts::default()
            })
        });
        let begin = Instant::now();
        finding.environment.clone_from(&known.environment);
        let script_options = limits(&finding, known, &options.script);
        let mut run = |script: &Path, limit: MemoryLimit| {
            run_fresh(
                &options.python,
                script,
                &with_limit(&script_options, limit)?,
            )
        };
        let outcome = fissure_triage::confirm(&mut finding, &mut run, options.runs)
            .map(|_| ())
            .map_err(|error| with_causes(&error));
        let confirmed = Confirmed {
            at,
            finding,
            outcome,
            elapsed: begin.elapsed(),
        };
        if results.send(confirmed).is_err() {
            return;
        }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}

/// A hang costs the whole limit each time, so its limit is what the call had before and a generous
/// measure of what starting took just now.
fn limits(finding: &Finding, known: &Facts, script: &ScriptOptions) -> ScriptOptions {
    let mut options = script.clone();
    if finding.verdict.kind == OutcomeKind::Timeout {
        let limit = finding.execution.duration + START.max(known.duration * 4);
        options.timeout = options.timeout.min(limit);
    }
    options
}
