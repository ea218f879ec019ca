//! `fissure campaign`: the phases of one shard.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context;
use fissure_campaign::{
    ApiIndex, CampaignFolder, CampaignPlan, Learning, Part, PlanIndex, RunOptions, RunSummary,
    SessionOptions, Shard, Source,
};
use fissure_environment::Surroundings;
use fissure_execute::PoolOptions;
use fissure_learn::{KnownCalls, LearnOptions, Many};
use fissure_model::Spec;

use super::args::CampaignRunArgs;
use super::options::run_options;
use crate::command::fuzz::needs;
use crate::command::session::{self, Shown, session_options};
use crate::console::{self, notice};

/// Time for learning where nothing else is asked for.
const LEARN_TOTAL: Duration = Duration::from_secs(600);
/// Memory of one worker, in MiB: what takes more takes the time of other APIs with it.
const MEMORY: u64 = 1024;
/// Time for one call while learning.
const CALL: Duration = Duration::from_secs(4);
/// Calls of each API that the library's sample database is asked for.
const SEEDS: usize = 60;

pub(super) struct ShardRun<'a> {
    pub args: &'a CampaignRunArgs,
    pub folder: &'a CampaignFolder,
    pub plan: &'a CampaignPlan,
    pub shard: Shard,
    pub part: Part,
    pub stop: &'a Arc<AtomicBool>,
}

/// What is learned beside fuzzing takes the time that is left.
const LEARNING_NICENESS: u8 = 10;

/// Why APIs are left out, by position in the shard.
pub(super) type LeftOut = BTreeMap<ApiIndex, String>;

/// What a call must exceed to be told as a hang, where the user does not say it.
const HANG: Duration = Duration::from_secs(10);

/// Time one input may take: one that hangs must not take what many APIs have together.
fn usual_timeout(total: Option<Duration>) -> Duration {
    const MOST: Duration = Duration::from_secs(5);
    const LEAST: Duration = Duration::from_millis(500);
    const OF_THE_WHOLE: u32 = 240;
    total.map_or(MOST, |total| (total / OF_THE_WHOLE).clamp(LEAST, MOST))
}

impl ShardRun<'_> {
    fn phase(&self, text: &str) {
        notice!("phase  {text}");
    }

    /// Where this shard's rules go: each process has a folder of its own.
    fn learned(&self) -> PathBuf {
        self.folder.shard(self.shard).join("invariants")
    }

    /// Positions in the plan of this shard's APIs.
    fn positions(&self) -> impl Iterator<Item = PlanIndex> {
        self.shard.positions(self.plan.apis.len())
    }

    fn options(&self, left_out: LeftOut) -> anyhow::Result<RunOptions> {
        run_options(self.args, self.plan, self.shard, self.part, left_out)
    }

    /// What is to be learned, and how long; `None` when everything is known.
    fn learning(&self, workers: usize) -> anyhow::Result<Option<Learning>> {
        let names: Vec<String> = self
            .positions()
            .map(|at| &self.plan.apis[at])
            .filter(|api| api.learn)
            .map(|api| api.title.clone())
            .collect();
        if names.is_empty() {
            return Ok(None);
        }
        let scratch = self.folder.shard(self.shard).join("scratch").join("learn");
        std::fs::create_dir_all(&scratch)
            .with_context(|| format!("failed to make {}", scratch.display()))?;
        let solver = fissure_environment::find_solver(&Surroundings::from_process()?)?;
        Ok(Some(Learning {
            many: Many {
                names,
                calls: KnownCalls::Asked(SEEDS),
                own: Vec::new(),
                options: LearnOptions {
                    seed: self.plan.seed,
                    time: self.args.learn_time,
                    solver,
                    ..LearnOptions::default()
                },
                pool: PoolOptions {
                    timeout: CALL,
                    niceness: LEARNING_NICENESS,
                    extra_path: session::pythonpath(&self.args.run.pythonpath, &self.plan.package)?,
                    ..PoolOptions::new(
                        &self.plan.python,
                        &self.plan.package,
                        scratch.canonicalize()?,
                    )
                },
                workers,
                deadline: None,
            },
            out: self.learned(),
        }))
    }

    /// Learns what nothing is known of, and nothing else: a task of its own on a cluster.
    pub(super) fn learn(&self) -> anyhow::Result<()> {
        let options = self.options(LeftOut::new())?;
        let Some(mut learning) = self.learning(options.workers)? else {
            return Ok(());
        };
        let total = self.args.learn_total.unwrap_or(LEARN_TOTAL);
        learning.many.deadline = Some(Instant::now() + total);
        let apis = learning.many.names.len();
        self.phase(&format!(
            "learn: {apis} APIs, in {} at most",
            fissure_report::human_duration(total)
        ));
        learning.run(self.stop, |learned| {
            let outcome = match &learned.spec {
                Ok(_) => "learned".to_owned(),
                Err(reason) => reason.clone(),
            };
            self.phase(&format!("learn: {}: {outcome}", learned.title));
        })?;
        Ok(())
    }

    /// The specs of this shard as they were known when the campaign began.
    fn known_specs(&self) -> anyhow::Result<Vec<Spec>> {
        let all = self.folder.specs()?;
        Ok(self.positions().map(|at| all[at].clone()).collect())
    }

    /// The specs of this shard, those that were learned included, and why some have none.
    fn specs(&self) -> anyhow::Result<(Vec<Spec>, LeftOut)> {
        let learned = self.learned();
        let failures = fissure_campaign::failures(&learned)?;
        let mut left_out = LeftOut::new();
        let mut specs = self.known_specs()?;
        for (local, at) in (0..).map(ApiIndex::new).zip(self.positions()) {
            let api = &self.plan.apis[at];
            if !api.learn {
                continue;
            }
            match fissure_campaign::learned_spec(&learned, &api.title) {
                Some(spec) => specs[local] = spec,
                None => {
                    let reason = failures.get(&api.title).cloned();
                    let late = || fissure_campaign::LATE.to_owned();
                    left_out.insert(local, reason.unwrap_or_else(late));
                }
            }
        }
        Ok((specs, left_out))
    }

    /// Which specs have inputs; why the others are left out.
    pub(super) fn solve(&self) -> anyhow::Result<LeftOut> {
        let (specs, mut left_out) = self.specs()?;
        let options = self.options(LeftOut::new())?;
        let mut distinct = 0;
        for (at, spec) in (0..).map(ApiIndex::new).zip(&specs) {
            if left_out.contains_key(&at) || spec.is_bare() {
                continue;
            }
            match fissure_campaign::solve(spec, &options.generate, self.plan.seed).distinct {
                Ok(inputs) => distinct += inputs,
                Err(reason) => {
                    left_out.insert(at, reason);
                }
            }
        }
        self.phase(&format!(
            "solve: {} of {} APIs have inputs ({distinct} distinct ones drawn)",
            specs.len() - left_out.len(),
            specs.len()
        ));
        Ok(left_out)
    }

    fn solved_file(&self) -> PathBuf {
        self.folder.shard(self.shard).join("solved.json")
    }

    /// Keeps what [`ShardRun::solve`] found for the processes of later phases.
    pub(super) fn write_solved(&self) -> anyhow::Result<()> {
        let left_out = self.solve()?;
        let path = self.solved_file();
        std::fs::create_dir_all(self.folder.shard(self.shard))
            .and_then(|()| std::fs::write(&path, serde_json::to_vec_pretty(&left_out)?))
            .with_context(|| format!("failed to write {}", path.display()))
    }

    pub(super) fn read_solved(&self) -> anyhow::Result<LeftOut> {
        let path = self.solved_file();
        let read =
            || -> std::io::Result<LeftOut> { Ok(serde_json::from_slice(&std::fs::read(&path)?)?) };
        read().with_context(|| format!("failed to read {}", path.display()))
    }

    /// Fuzzes, judges and triages, and learns meanwhile; continues what an earlier process began.
    pub(super) fn fuzz(&self, left_out: LeftOut, begun: Instant) -> anyhow::Result<RunSummary> {
        let specs = self.known_specs()?;
        let workdir = self.folder.shard(self.shard);
        let mut options = self.options(left_out)?;
        options.resume = workdir.join("run.json").exists();
        let mut learning = match self.part {
            Part::All => self.learning(options.workers.div_ceil(2))?,
            Part::Fuzz | Part::Judge => None,
        };
        if let Some(learning) = &mut learning {
            // A run that has an end ends learning with it.
            let usual = options.total_time.is_none().then_some(LEARN_TOTAL);
            let limit = self.args.learn_total.or(usual);
            learning.many.deadline = limit.map(|limit| Instant::now() + limit);
        }
        self.phase(match self.part {
            Part::All => "fuzz, judge, triage",
            Part::Fuzz => "fuzz, triage",
            Part::Judge => "judge, triage",
        });
        let python = self.plan.python.clone();
        let run = &self.args.run;
        let session = session_options(&self.plan.package, python, &workdir, run)?;
        let paths = specs.iter().map(|spec| spec.api.path.as_str());
        let own = needs::own_modules(paths, &session.pythonpath);
        let memory = self.args.run.memory_limit.unwrap_or(MEMORY);
        let session = Shown {
            session: SessionOptions {
                timeout: self
                    .args
                    .timeout
                    .unwrap_or_else(|| usual_timeout(options.total_time)),
                hang_after: self.args.timeout.unwrap_or(HANG),
                known_issues: self.args.judging.known_issues()?,
                memory_limit: memory << 20,
                begun: Some(begun),
                learning,
                rules_folder: Some(self.learned()),
                imports: session.imports.iter().cloned().chain(own).collect(),
                ..session
            },
            chose_oracles: self.args.judging.oracles.is_some(),
            screen: self
                .args
                .run
                .screen
                .wanted(true, console::quiet() || console::verbose()),
            stop: self.stop,
        };
        session.run(Source::Specs(&specs), &options)
    }
}
