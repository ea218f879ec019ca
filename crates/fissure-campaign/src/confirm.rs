//! Findings are tried in fresh processes before they are reported.
//!
//! What is tried is the very script the user gets. All runs but the last are forks of the zygote,
//! which has imported the library and run nothing; the last is a plain interpreter, without
//! anything of Fissure. They run on threads of their own, so that fuzzing goes on meanwhile. A run by the clock over
//! many APIs tells of a finding after the forks: the plain interpreter, which imports the library anew, comes at the end,
//! for all findings together.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fissure_execute::{ForkedScripts, ScriptOptions, Spares};
use fissure_model::{Finding, OutcomeKind};
use fissure_triage::{MemoryLimit, ScriptRun};

use crate::fresh::{Facts, facts, run_fresh, script_run, with_limit};
use crate::index::ApiIndex;
use crate::plain::run_together;
use crate::triage_queue::{self, TriageQueue};

/// Time that a script has, beside that of its call, at the very least.
const START: Duration = Duration::from_secs(5);
/// The same for a fork.
const FORKED_START: Duration = Duration::from_secs(1);

/// How often a finding is tried at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// In forks and in a plain interpreter.
    Whole,
    /// In forks only, so that it can be told soon.
    Forks,
    /// Once more in a plain interpreter, at the end. `stable`: it failed in every fork.
    Plain { stable: bool },
}

/// A finding and the API's position in the run.
type Job = (ApiIndex, Box<Finding>, Attempt);

impl triage_queue::Job for Job {
    fn finding(&self) -> &Finding {
        &self.1
    }
}

/// A finding that was told after forks: API, finding, whether it failed in all of them.
type Told = (ApiIndex, Box<Finding>, bool);

/// What came of the attempt.
pub(crate) struct Confirmed {
    pub at: ApiIndex,
    /// With its reproduction filled in, unless it could not be tried.
    pub finding: Box<Finding>,
    pub outcome: Result<(), String>,
    pub elapsed: Duration,
    pub attempt: Attempt,
}

pub(crate) struct Confirmer {
    jobs: Arc<TriageQueue<Job>>,
    sender: Sender<Confirmed>,
    results: Receiver<Confirmed>,
    threads: Vec<JoinHandle<()>>,
    pending: usize,
    /// What a plain interpreter tries at the end.
    told: Vec<Told>,
    options: ConfirmOptions,
    known: Arc<OnceLock<Facts>>,
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
    /// What a call must exceed to be told as a hang, where that is longer than it took.
    pub hang_after: Duration,
    /// Where scripts are while they are tried: nowhere that a target may write to.
    pub folder: PathBuf,
}

impl Confirmer {
    pub(crate) fn start(options: ConfirmOptions) -> Self {
        let jobs = Arc::new(TriageQueue::new());
        let (sender, results) = channel();
        let known = Arc::new(OnceLock::new());
        let threads = (0..options.threads.max(1))
            .map(|_| {
                let (jobs, sender, options) = (jobs.clone(), sender.clone(), options.clone());
                let known = known.clone();
                std::thread::spawn(move || work(&jobs, &sender, &options, &known))
            })
            .collect();
        Confirmer {
            jobs,
            sender,
            results,
            threads,
            pending: 0,
            told: Vec::new(),
            options,
            known,
        }
    }

    /// What a call must exceed to be told as a hang.
    pub(crate) fn hang_after(&self) -> Duration {
        self.options.hang_after
    }

    pub(crate) fn submit(&mut self, lane: ApiIndex, finding: Box<Finding>, attempt: Attempt) {
        self.jobs.push((lane, finding, attempt));
        self.pending += 1;
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending
    }

    /// Keeps a finding that was told after forks for [`Confirmer::try_plainly`].
    pub(crate) fn keep_for_the_end(&mut self, lane: ApiIndex, finding: Box<Finding>, stable: bool) {
        self.told.push((lane, finding, stable));
    }

    /// Findings that wait for it.
    pub(crate) fn kept(&self) -> usize {
        self.told.len()
    }

    /// Has plain interpreters try what was kept, a few findings at least in each.
    pub(crate) fn try_plainly(&mut self) {
        const TOGETHER: usize = 8;
        let told = std::mem::take(&mut self.told);
        self.pending += told.len();
        let threads = self.options.threads.max(1);
        let together = told.len().div_ceil(threads).max(TOGETHER);
        let mut told = told.into_iter().peekable();
        while told.peek().is_some() {
            let some: Vec<Told> = told.by_ref().take(together).collect();
            let (sender, options) = (self.sender.clone(), self.options.clone());
            let known = self.known.clone();
            self.threads.push(std::thread::spawn(move || {
                try_together(some, &sender, &options, &known);
            }));
        }
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
        self.jobs.close();
        for thread in self.threads.drain(..) {
            // A panic in a confirming thread has already lost only its own attempt.
            let _ = thread.join();
        }
    }
}

fn work(
    jobs: &TriageQueue<Job>,
    results: &Sender<Confirmed>,
    options: &ConfirmOptions,
    known: &OnceLock<Facts>,
) {
    // Without one every run is a plain interpreter: slower, nothing else.
    let mut forked = options.spares.scripts().ok();
    while let Some((at, mut finding, attempt)) = jobs.pop() {
        let known = facts_of(&finding, options, known);
        let wanted = fissure_triage::runs(options.runs);
        let begin = Instant::now();
        finding.environment.clone_from(&known.environment);
        let plain_limits = limits(&finding, options, START.max(known.duration * 4));
        // A fork has imported the library.
        let forked_limits = limits(&finding, options, FORKED_START);
        let mut runs = 0;
        let mut run = |script: &Path, limit: MemoryLimit| {
            runs += 1;
            // With more memory than other workers have, or for the last time: as the user will.
            let last = attempt == Attempt::Whole && runs % wanted == 0;
            let plain = last || limit == MemoryLimit::Larger;
            let forked = forked.as_mut().filter(|_| !plain);
            let limited = with_limit(&forked_limits, limit)?;
            match forked.map(|forked| run_forked(forked, script, &limited)) {
                Some(Ok(run)) => Ok(run),
                // A zygote that is gone says nothing of the finding.
                Some(Err(_)) | None => {
                    let limited = with_limit(&plain_limits, limit)?;
                    run_fresh(&options.python, script, &limited)
                }
            }
        };
        let folder = &options.folder;
        let outcome = fissure_triage::confirm(&mut finding, &mut run, options.runs, folder)
            .map(|_| ())
            .map_err(|error| with_causes(&error));
        let confirmed = Confirmed {
            at,
            finding,
            outcome,
            elapsed: begin.elapsed(),
            attempt,
        };
        if results.send(confirmed).is_err() {
            return;
        }
    }
}

/// Where findings are confirmed; asked once for all of a run.
fn facts_of<'a>(
    finding: &Finding,
    options: &ConfirmOptions,
    known: &'a OnceLock<Facts>,
) -> &'a Facts {
    known.get_or_init(|| {
        facts(&options.python, &finding.api.package, &options.script).unwrap_or_else(|_| Facts {
            duration: options.script.timeout,
            ..Facts::default()
        })
    })
}

/// Tries findings in one plain interpreter, and by itself each of which it has nothing to tell.
fn try_together(
    told: Vec<Told>,
    results: &Sender<Confirmed>,
    options: &ConfirmOptions,
    known: &OnceLock<Facts>,
) {
    let Some((_, first, _)) = told.first() else {
        return;
    };
    let known = facts_of(first, options, known);
    let start = START.max(known.duration * 4);
    let begin = Instant::now();
    // Limits are for one process, and what ends by them may end the others with it.
    let (alone, together): (Vec<Told>, Vec<Told>) =
        told.into_iter().partition(|(_, finding, _)| {
            matches!(
                finding.verdict.kind,
                OutcomeKind::Timeout | OutcomeKind::OutOfMemory
            )
        });
    let answers = answers(&together, options, start).unwrap_or_default();
    let answers = answers.into_iter().map(Some).chain(std::iter::repeat(None));
    let alone = alone.into_iter().zip(std::iter::repeat(None));
    for ((at, mut finding, stable), answer) in together.into_iter().zip(answers).chain(alone) {
        let mut answer: Option<ScriptRun> = answer;
        let limits = limits(&finding, options, start);
        let mut run = |script: &Path, limit: MemoryLimit| match answer.take() {
            Some(run) => Ok(run),
            None => run_fresh(&options.python, script, &with_limit(&limits, limit)?),
        };
        let outcome = fissure_triage::confirm_once_more(&mut finding, &mut run, &options.folder);
        let confirmed = Confirmed {
            at,
            finding,
            outcome: outcome.map_err(|error| with_causes(&error)),
            elapsed: begin.elapsed(),
            attempt: Attempt::Plain { stable },
        };
        if results.send(confirmed).is_err() {
            return;
        }
    }
}

/// What the scripts of findings do in one plain interpreter; of the first ones, where it came to an end.
fn answers(told: &[Told], options: &ConfirmOptions, start: Duration) -> io::Result<Vec<ScriptRun>> {
    let Some((_, first, _)) = told.first() else {
        return Ok(Vec::new());
    };
    std::fs::create_dir_all(&options.folder)?;
    let folder = tempfile::Builder::new().tempdir_in(&options.folder)?;
    let mut scripts = Vec::new();
    for (number, (_, finding, _)) in told.iter().enumerate() {
        let path = folder.path().join(format!("{number}.py"));
        std::fs::write(&path, fissure_triage::script(finding))?;
        scripts.push(path);
    }
    let (python, package) = (&options.python, &first.api.package);
    run_together(
        python,
        package,
        &scripts,
        folder.path(),
        &options.script,
        start,
    )
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
/// measure of what starting takes.
fn limits(finding: &Finding, options: &ConfirmOptions, start: Duration) -> ScriptOptions {
    let mut script = options.script.clone();
    if finding.verdict.kind == OutcomeKind::Timeout {
        let limit = finding.execution.duration.max(options.hang_after) + start;
        script.timeout = script.timeout.min(limit);
    }
    script
}
