//! Findings are tried in fresh processes before they are reported.
//!
//! What is tried is the very script the user gets. All runs but the last are forks of the zygote,
//! which has imported the library and run nothing; the last is a plain interpreter, without
//! anything of Fissure. They run on threads of their own, so that fuzzing goes on meanwhile.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fissure_execute::{ForkedScripts, ScriptOptions, Spares};
use fissure_model::{Finding, OutcomeKind};
use fissure_triage::{MemoryLimit, ScriptRun};

use crate::fresh::{Facts, facts, run_fresh, script_run, with_limit};

/// Time that a script has, beside that of its call, at the very least.
const START: Duration = Duration::from_secs(5);

/// A finding and the API's position in the run.
type Job = (usize, Box<Finding>);

/// What came of the attempt.
pub(crate) struct Confirmed {
    pub at: usize,
    /// With its reproduction filled in, unless it could not be tried.
    pub finding: Box<Finding>,
    pub outcome: Result<(), String>,
    pub elapsed: Duration,
}

pub(crate) struct Confirmer {
    jobs: Option<Sender<Job>>,
    results: Receiver<Confirmed>,
    threads: Vec<JoinHandle<()>>,
    pending: usize,
}

#[derive(Clone)]
pub(crate) struct ConfirmOptions {
    pub python: PathBuf,
    /// Where forked processes come from.
    pub spares: Spares,
    pub script: ScriptOptions,
    /// Runs of each script; never fewer than three.
    pub runs: u32,
    pub threads: usize,
    /// Where scripts are while they are tried: nowhere that a target may write to.
    pub folder: PathBuf,
}

impl Confirmer {
    pub(crate) fn start(options: ConfirmOptions) -> Self {
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

    pub(crate) fn submit(&mut self, lane: usize, finding: Box<Finding>) {
        let jobs = self
            .jobs
            .as_ref()
            .expect("jobs are only dropped with the confirmer");
        if jobs.send((lane, finding)).is_ok() {
            self.pending += 1;
        }
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending
    }

    /// A finished attempt, if there is one within the limit.
    pub(crate) fn wait(&mut self, limit: Duration) -> Option<Confirmed> {
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
    // Without one every run is a plain interpreter: slower, nothing else.
    let mut forked = options.spares.scripts().ok();
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
        let wanted = fissure_triage::runs(options.runs);
        let begin = Instant::now();
        finding.environment.clone_from(&known.environment);
        let script_options = limits(&finding, known, &options.script);
        let mut runs = 0;
        let mut run = |script: &Path, limit: MemoryLimit| {
            runs += 1;
            let limited = with_limit(&script_options, limit)?;
            // With more memory than other workers have, or for the last time: as the user will.
            let plain = limit == MemoryLimit::Larger || runs % wanted == 0;
            let forked = forked.as_mut().filter(|_| !plain);
            match forked.map(|forked| run_forked(forked, script, &limited)) {
                Some(Ok(run)) => Ok(run),
                // A zygote that is gone says nothing of the finding.
                Some(Err(_)) | None => run_fresh(&options.python, script, &limited),
            }
        };
        let outcome =
            fissure_triage::confirm(&mut finding, &mut run, options.runs, &options.folder)
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

fn run_forked(
    forked: &mut ForkedScripts,
    script: &Path,
    options: &ScriptOptions,
) -> io::Result<ScriptRun> {
    let run = forked.run(script, options).map_err(io::Error::other)?;
    script_run(run)
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
