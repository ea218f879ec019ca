//! `fissure campaign`: the phases of one shard.

#![expect(clippy::print_stderr, reason = "says what runs")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context;
use fissure_campaign::{
    CampaignFolder, CampaignPlan, Part, RunOptions, RunSummary, SessionOptions, Shard, Source,
};
use fissure_learn::LearnOptions;
use fissure_model::Spec;

use super::args::CampaignRunArgs;
use super::learn::{self, Learning};
use super::options::run_options;
use crate::command::session::{self, Shown, session_options};
use fissure_rules::RuleLibrary;

/// Time for learning where nothing else is asked for.
const LEARN_TOTAL: Duration = Duration::from_secs(600);

pub struct ShardRun<'a> {
    pub args: &'a CampaignRunArgs,
    pub folder: &'a CampaignFolder,
    pub plan: &'a CampaignPlan,
    pub shard: Shard,
    pub part: Part,
    pub stop: &'a Arc<AtomicBool>,
}

/// Why APIs are left out, by position in the shard.
pub type LeftOut = BTreeMap<usize, String>;

impl ShardRun<'_> {
    fn phase(&self, text: &str) {
        if !self.args.run.quiet {
            eprintln!("phase  {text}");
        }
    }

    /// Where this shard's rules go: each process has a folder of its own.
    fn learned(&self) -> PathBuf {
        self.folder.shard(self.shard).join("invariants")
    }

    /// Positions in the plan of this shard's APIs.
    fn positions(&self) -> impl Iterator<Item = usize> {
        self.shard.positions(self.plan.apis.len())
    }

    fn options(&self, left_out: LeftOut) -> anyhow::Result<RunOptions> {
        run_options(self.args, self.plan, self.shard, self.part, left_out)
    }

    /// Time for learning: a run that has an end is not spent on it.
    fn learn_total(&self, total: Option<Duration>) -> Duration {
        let asked = self.args.learn_total;
        asked.unwrap_or_else(|| total.map_or(LEARN_TOTAL, |total| LEARN_TOTAL.min(total / 2)))
    }

    /// Learns what nothing is known of; returns how long that took.
    pub fn learn(&self) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        let names: Vec<&str> = self
            .positions()
            .map(|at| &self.plan.apis[at])
            .filter(|api| api.learn)
            .map(|api| api.title.as_str())
            .collect();
        if names.is_empty() {
            return Ok(Duration::ZERO);
        }
        let out = self.learned();
        let options = self.options(LeftOut::new())?;
        let total = self.learn_total(options.total_time);
        self.phase(&format!(
            "learn: {} APIs, in {} at most",
            names.len(),
            fissure_report::human_duration(total)
        ));
        let learning = Learning {
            package: &self.plan.package,
            python: &self.plan.python,
            out: &out,
            options: LearnOptions {
                seed: self.plan.seed,
                time: self.args.learn_time,
                ..LearnOptions::default()
            },
            total,
            workers: options.workers.min(names.len()),
            quiet: self.args.run.quiet,
            stop: self.stop,
            names,
        };
        learning.run()?;
        Ok(begin.elapsed())
    }

    /// The specs of this shard, those that were learned included, and why some have none.
    fn specs(&self) -> anyhow::Result<(Vec<Spec>, LeftOut)> {
        let all = self.folder.specs()?;
        let learned = self.learned();
        let failures = learn::failures(&learned)?;
        let mut left_out = LeftOut::new();
        let mut specs = Vec::new();
        for (local, at) in self.positions().enumerate() {
            let api = &self.plan.apis[at];
            let mut spec = all[at].clone();
            if api.learn {
                let path = learn::rules_of(&learned, &api.title);
                let sheet = match path.is_file() {
                    true => RuleLibrary::only(&path).find("*")?.pop(),
                    false => None,
                };
                match sheet {
                    Some(sheet) => spec = sheet.into_spec(),
                    None => {
                        let reason = failures.get(&api.title).cloned();
                        let late = || learn::LATE.to_owned();
                        left_out.insert(local, reason.unwrap_or_else(late));
                    }
                }
            }
            specs.push(spec);
        }
        Ok((specs, left_out))
    }

    /// Which specs have inputs; why the others are left out.
    pub fn solve(&self) -> anyhow::Result<LeftOut> {
        let (specs, mut left_out) = self.specs()?;
        let options = self.options(LeftOut::new())?;
        let mut distinct = 0;
        for (at, spec) in specs.iter().enumerate() {
            if left_out.contains_key(&at) {
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
    pub fn write_solved(&self) -> anyhow::Result<()> {
        let left_out = self.solve()?;
        let path = self.solved_file();
        std::fs::create_dir_all(self.folder.shard(self.shard))
            .and_then(|()| std::fs::write(&path, serde_json::to_vec_pretty(&left_out)?))
            .with_context(|| format!("failed to write {}", path.display()))
    }

    pub fn read_solved(&self) -> anyhow::Result<LeftOut> {
        let path = self.solved_file();
        let read =
            || -> std::io::Result<LeftOut> { Ok(serde_json::from_slice(&std::fs::read(&path)?)?) };
        read().with_context(|| format!("failed to read {}", path.display()))
    }

    /// Fuzzes, judges and triages; continues what an earlier process began. `learned` is the part
    /// of the time for the whole that is spent.
    pub fn fuzz(&self, left_out: LeftOut, learned: Duration) -> anyhow::Result<RunSummary> {
        let (specs, _) = self.specs()?;
        let workdir = self.folder.shard(self.shard);
        let mut options = self.options(left_out)?;
        options.resume = workdir.join("run.json").exists();
        options.total_time = options
            .total_time
            .map(|total| total.saturating_sub(learned).max(total / 2));
        self.phase(match self.part {
            Part::All => "fuzz, judge, triage",
            Part::Fuzz => "fuzz, triage",
            Part::Judge => "judge, triage",
        });
        let python = self.plan.python.clone();
        let session = Shown {
            session: SessionOptions {
                timeout: self.args.timeout,
                known_issues: self.args.judging.known_issues()?,
                ..session_options(&self.plan.package, python, &workdir, &self.args.run)?
            },
            chose_oracles: self.args.judging.oracles.is_some(),
            style: session::style(self.args.run.quiet),
            verbose: self.args.run.verbose,
            screen: self
                .args
                .run
                .screen
                .wanted(true, self.args.run.quiet || self.args.run.verbose),
            stop: self.stop,
        };
        session.run(Source::Specs(&specs), &options)
    }
}
