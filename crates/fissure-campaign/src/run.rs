//! The main loop.

mod batches;
mod discovery;
mod earlier;
mod findings;
mod fold;
mod lanes;
mod learned;
mod pace;
mod scout;
mod triage;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fissure_coverage::CoverageError;
use fissure_execute::{ExecuteError, Pool, ScriptOptions};
use fissure_model::{Api, Finding, Reproduction, Spec};
use fissure_triage::{Collector, KnownIssues, Signature};

use crate::clock::Clock;
use crate::confirm::{ConfirmOptions, Confirmer};
use crate::coverage::Coverage;
use crate::index::{ApiIndex, BatchIndex};
use crate::lane::Lane;
use crate::learning::Learner;
use crate::order::order;
use crate::record::Record;
use crate::restore::Restored;
use crate::shrinker::{Shrinker, ShrinkerOptions};
use crate::stale::StaleRules;
use crate::{
    ApiSummary, DenyList, RunEvent, RunFolder, RunOptions, RunSummary, SavedInputs, StoreError,
};
use batches::Handed;
use pace::Pace;
use scout::{Closing, Scout};

/// How often the loop looks up from waiting, for the clock and for the user's Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// How much longer than its time a batch may take at the end of a timed run.
const GRACE: Duration = Duration::from_secs(1);

/// How often the observer is told what goes on.
const TELLING: Duration = Duration::from_millis(200);

/// How long a new failure waits for a simpler input to show it too.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to {0}")]
    Coverage(#[from] CoverageError),
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

impl Source<'_> {
    /// Number of APIs.
    pub fn len(self) -> usize {
        match self {
            Source::Specs(specs) => specs.len(),
            Source::Saved(saved) => saved.len(),
        }
    }

    /// Whether more than the name of an API is known.
    fn describes(self, at: ApiIndex) -> bool {
        match self {
            Source::Specs(specs) => !specs[at].is_bare(),
            Source::Saved(_) => true,
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The name of every API.
    pub fn titles(self) -> Vec<String> {
        match self {
            Source::Specs(specs) => specs.iter().map(|spec| spec.api.title.clone()).collect(),
            Source::Saved(saved) => saved.iter().map(|one| one.api.title.clone()).collect(),
        }
    }

    /// Every API, with the library whose tensors it gets.
    fn apis(self, tensors: &str) -> Vec<Arc<Api>> {
        let known = |api: &Api| {
            let tensors = (api.package != tensors).then(|| tensors.to_owned());
            Arc::new(Api {
                tensors,
                ..api.clone()
            })
        };
        match self {
            Source::Specs(specs) => specs.iter().map(|spec| known(&spec.api)).collect(),
            Source::Saved(saved) => saved.iter().map(|one| known(&one.api)).collect(),
        }
    }
}

/// What is fuzzed, with what, and how.
pub struct Campaign<'a> {
    pub source: Source<'a>,
    pub pool: &'a Pool,
    /// APIs to leave out.
    pub deny_list: Option<DenyList>,
    /// Failures that are only counted.
    pub known_issues: KnownIssues,
    /// How failing inputs are made smaller; `None`: they are not.
    pub shrink: Option<ShrinkerOptions>,
    /// How a finding's script is run.
    pub script: ScriptOptions,
    /// What a call must exceed to be told as a hang, where that is longer than the limit of an input.
    pub hang_after: Duration,
    /// Folders of the user's own packages.
    pub folders: Vec<PathBuf>,
    pub options: &'a RunOptions,
    /// Who learns rules beside the run.
    pub learner: Option<Learner>,
    /// Where rules that were learned are, by this process or an earlier one.
    pub rules_folder: Option<PathBuf>,
    /// Where it is remembered which shipped rules do not hold.
    pub stale_rules: Option<PathBuf>,
    /// When the user's time began to run: what came before the run counts, too.
    pub begun: Instant,
    /// Set from outside to end the run early, with its summary.
    pub stop: &'a AtomicBool,
    /// Set by the run when nothing may take longer: whoever makes inputs smaller or tries scripts
    /// stops.
    pub halt: Arc<AtomicBool>,
}

impl Campaign<'_> {
    /// Fuzzes every spec, and returns when all are done or `stop` is set.
    pub fn run(
        self,
        folder: &mut RunFolder,
        observer: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunSummary, CampaignError> {
        let confirmer = Confirmer::start(ConfirmOptions {
            python: self.pool.info().executable.clone(),
            spares: self.pool.spares(),
            script: self.script.clone(),
            runs: self.options.confirm_runs,
            threads: self.options.workers,
            folder: folder.confirming(),
            hang_after: self.hang_after,
        });
        let apis = self.source.apis(&self.pool.info().tensors);
        let restored = if self.options.resume {
            folder.restore()?
        } else {
            Restored::default()
        };
        let earlier = Duration::try_from_secs_f64(restored.seconds).unwrap_or(Duration::ZERO)
            + self.begun.elapsed();
        let timed = self.options.total_time.is_some() || self.options.turn.is_some();
        let takes_turns = apis.len() > 1 && timed;
        let waiting = if takes_turns {
            let all = order(apis.iter().map(|api| api.title.as_str()), self.options.seed);
            // What files or rules describe is what people use most: a short run ends with it.
            let (described, others): (VecDeque<_>, VecDeque<_>) =
                all.into_iter().partition(|at| self.source.describes(*at));
            described.into_iter().chain(others).collect()
        } else {
            ApiIndex::first(apis.len()).collect()
        };
        let package = apis.first().map_or("", |api| api.package.as_str());
        let version = &self.pool.info().library_version;
        let stale = self.stale_rules.as_deref();
        let stale = StaleRules::open(stale, package, version, folder.path());
        let scout = Scout::new();
        let pool = self.pool;
        let mut run = Run {
            stale,
            scout: &scout,
            looked_ahead: None,
            restored,
            waiting,
            takes_turns,
            limit: pace::limit(
                self.options,
                apis.len(),
                lanes::most(self.options, self.pool),
            ),
            learner: self.learner,
            rules_folder: self.rules_folder,
            learned: HashMap::new(),
            switches: HashMap::new(),
            unlearned: BTreeSet::new(),
            halt: self.halt,
            picked: 0,
            found: vec![Found::default(); apis.len()],
            apis,
            source: self.source,
            pool: self.pool,
            deny_list: self.deny_list.as_ref(),
            options: self.options,
            folder,
            stop: self.stop,
            observer,
            known_issues: self.known_issues,
            script: self.script,
            folders: self.folders,
            shrinker: self.shrink.map(Shrinker::start),
            confirmer,
            coverage: Coverage::new(&self.pool.info().modules),
            pace: Pace::new(),
            collector: Collector::default(),
            lanes: HashMap::new(),
            parked: VecDeque::new(),
            in_flight: HashMap::new(),
            next_batch_id: 0,
            last_served: ApiIndex::default(),
            clock: Clock::starting_at(earlier),
            paused: false,
            ticked: None,
            summary: RunSummary {
                obstacles: self.pool.info().obstacles.clone(),
                ..RunSummary::default()
            },
            finished: Vec::new(),
            seen: Vec::new(),
            written: Vec::new(),
            untried: BTreeMap::new(),
        };
        if run.options.resume {
            run.restore()?;
        } else {
            run.replay_earlier()?;
        }
        run.begin_learning()?;
        std::thread::scope(|threads| {
            threads.spawn(|| scout.serve(pool));
            let _closing = Closing {
                scout: &scout,
                pool,
            };
            run.drive()
        })
    }
}

struct Run<'a> {
    /// Who asks the library about the APIs that come next.
    scout: &'a Scout,
    /// The first that waited when it was last told what comes next, and how many did.
    looked_ahead: Option<(ApiIndex, usize)>,
    source: Source<'a>,
    /// What is fuzzed; everything else refers to it by position.
    apis: Vec<Arc<Api>>,
    pool: &'a Pool,
    deny_list: Option<&'a DenyList>,
    options: &'a RunOptions,
    folder: &'a mut RunFolder,
    stop: &'a AtomicBool,
    observer: &'a mut dyn FnMut(RunEvent<'_>),
    known_issues: KnownIssues,
    script: ScriptOptions,
    folders: Vec<PathBuf>,
    shrinker: Option<Shrinker>,
    confirmer: Confirmer,
    coverage: Coverage,
    /// How long triage takes.
    pace: Pace,
    collector: Collector,
    /// APIs under way.
    lanes: HashMap<ApiIndex, Lane>,
    waiting: VecDeque<ApiIndex>,
    /// APIs that wait for their next turn.
    parked: VecDeque<(ApiIndex, Lane)>,
    /// APIs take turns, because the run ends by the clock or not at all.
    takes_turns: bool,
    /// Turns that were given so far.
    picked: u64,
    /// Time for everything.
    limit: Option<Duration>,
    learner: Option<Learner>,
    rules_folder: Option<PathBuf>,
    /// Shipped rules that an earlier run found not to hold.
    stale: StaleRules,
    /// Specs that were learned, in place of those of the source.
    learned: HashMap<ApiIndex, Spec>,
    /// Specs that were learned when their API was under way already, and the batch at which an
    /// earlier process took them up.
    switches: HashMap<ApiIndex, (BatchIndex, Spec)>,
    /// APIs of which nothing is known before they are learned.
    unlearned: BTreeSet<ApiIndex>,
    halt: Arc<AtomicBool>,
    /// Each batch handed to the pool, by its id.
    in_flight: HashMap<u64, Handed>,
    next_batch_id: u64,
    /// The API that got a batch last.
    last_served: ApiIndex,
    /// Time at work, that of interrupted processes included.
    clock: Clock,
    paused: bool,
    /// When the observer was last told what goes on.
    ticked: Option<Instant>,
    summary: RunSummary,
    /// APIs that are done.
    finished: Vec<(ApiIndex, ApiSummary)>,
    /// Failures not yet handed to triage: API, since when, signature.
    seen: Vec<(ApiIndex, Instant, Signature)>,
    /// Findings that are written, with the APIs that are named in them beside their own.
    written: Vec<(Signature, PathBuf, usize)>,
    /// Findings that an interrupted process wrote without having tried them, by id.
    untried: BTreeMap<String, (ApiIndex, Finding)>,
    /// What an interrupted process had done.
    restored: Restored,
    /// What was found: a finding may be confirmed after its API is done.
    found: Vec<Found>,
}

/// The line of a finding in the log.
fn found_record(at: ApiIndex, finding: &Finding) -> Record {
    let reproduction = finding.reproduction.unwrap_or(Reproduction {
        failures: 0,
        runs: 0,
    });
    Record::Found {
        at,
        api: finding.api.title.clone(),
        id: finding.id.clone(),
        kind: finding.verdict.kind,
        number: finding.input.number,
        failures: reproduction.failures,
        runs: reproduction.runs,
        note: finding.is_note(),
        early: triage::is_early(finding),
    }
}

#[derive(Clone, Default)]
struct Found {
    findings: Vec<String>,
    notes: Vec<String>,
}

impl Run<'_> {
    fn drive(&mut self) -> Result<RunSummary, CampaignError> {
        let mut cancelled = false;
        loop {
            self.follow_pause();
            self.tick();
            if self.stop.load(Ordering::Relaxed) && !cancelled {
                cancelled = true;
                self.summary.interrupted = true;
                self.halt.store(true, Ordering::Relaxed);
                self.learner = None;
                self.waiting.clear();
                self.unlearned.clear();
                self.lanes.extend(self.parked.drain(..));
                self.lanes.values_mut().for_each(Lane::interrupt);
                self.pool.cancel();
            }
            if let Some(end) = self.fuzzing_ends()
                && self.clock.elapsed() >= end
            {
                self.learner = None;
                self.lanes.extend(self.parked.drain(..));
                self.lanes.values_mut().for_each(Lane::expire);
                self.leave_unreached()?;
                if self.clock.elapsed() >= end + GRACE {
                    // What is under way is slow, and the time is promised.
                    self.pool.cancel();
                }
            }
            self.watch_limit();
            self.hear_learner()?;
            self.open_lanes()?;
            if !self.paused {
                self.hand_out();
            }
            self.close_lanes()?;
            self.confirm_seen(Run::has_waited)?;
            let none_left =
                self.waiting.is_empty() && self.parked.is_empty() && self.unlearned.is_empty();
            if none_left && self.lanes.is_empty() && self.in_flight.is_empty() {
                break;
            }
            crossbeam_channel::select! {
                recv(self.pool.events()) -> event => {
                    if let Ok(event) = event {
                        self.handle(event)?;
                    }
                    while let Ok(event) = self.pool.events().try_recv() {
                        self.handle(event)?;
                    }
                }
                recv(self.scout.news()) -> _ => {}
                default(TICK) => {}
            }
            self.triage(Duration::ZERO)?;
            if let Some(message) = self.pool.failure() {
                return Err(CampaignError::Pool(message));
            }
        }
        self.learner = None;
        // What was met again is reported first: it is tried once.
        self.finish_triage()?;
        self.try_untried()?;
        self.finish_triage()?;
        self.count_untried();
        self.complete_aliases()?;
        self.fold_findings()?;
        self.tell_known_issues();
        self.summary.elapsed = self.clock.elapsed();
        self.finished.sort_by_key(|(at, _)| *at);
        for (at, mut api) in self.finished.drain(..) {
            let found = std::mem::take(&mut self.found[at]);
            api.findings = found.findings;
            api.notes = found.notes;
            self.summary.apis.push(api);
        }
        self.summary.blocks = self.coverage.blocks();
        self.coverage.save(self.folder.path())?;
        self.folder.write_summary(&self.summary)?;
        Ok(std::mem::take(&mut self.summary))
    }

    fn finish_triage(&mut self) -> Result<(), CampaignError> {
        loop {
            // What is told already is tried beside what is not: a hang may take all the time that is left.
            if !self.halt.load(Ordering::Relaxed) {
                self.confirmer.try_plainly();
            }
            while self.triage(TICK)? {
                self.watch_limit();
                self.tick();
            }
            self.watch_limit();
            if self.confirmer.kept() == 0 || self.halt.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }

    /// When the time for everything is up, nobody makes inputs smaller or tries scripts any more.
    fn watch_limit(&mut self) {
        let up = self
            .limit
            .is_some_and(|limit| self.clock.elapsed() + pace::writing(limit) >= limit);
        if (up || self.summary.interrupted) && !self.halt.swap(true, Ordering::Relaxed) {
            self.learner = None;
        }
    }

    /// Tells the observer what goes on, now and then.
    fn tick(&mut self) {
        if self.ticked.is_some_and(|last| last.elapsed() < TELLING) {
            return;
        }
        self.ticked = Some(Instant::now());
        (self.observer)(RunEvent::Tick {
            workers: self.pool.busy(),
            shrinking: self.shrinker.as_ref().map_or(0, Shrinker::pending),
            confirming: self.confirmer.pending(),
        });
    }

    /// Stops or starts the clocks when the user asked for a pause or for its end.
    fn follow_pause(&mut self) {
        // An interrupt ends the pause, too: what is under way is waited for.
        let wanted = self.options.pause.load(Ordering::Relaxed) && !self.summary.interrupted;
        if wanted == self.paused {
            return;
        }
        self.paused = wanted;
        if wanted {
            self.clock.stand_still();
        } else {
            self.clock.go_on();
        }
        self.lanes.values_mut().for_each(|lane| lane.pause(wanted));
    }
}
