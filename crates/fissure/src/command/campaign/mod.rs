//! `fissure campaign`: a library from end to end.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

pub(crate) mod args;
mod options;
mod run;
mod slurm;
mod specs;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Context;
use clap::FromArgMatches;
use fissure_campaign::{CampaignFolder, CampaignPlan, FORMAT, Part, RunSummary};
use fissure_learn::Seeds;

use crate::command::apis::{Asker, nothing_called, public_names};
use crate::command::fuzz::needs;
use crate::command::offered::Library;
use crate::command::session::seed;
use crate::command::{report, session};
use crate::console::{self, notice, warning};
use crate::exit_status::{ExitStatus, usage};
use crate::target;
use args::{Action, CampaignArgs, CampaignRunArgs};
use options::shard_of;
use run::ShardRun;

pub(crate) fn run(args: CampaignArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Some(Action::Status(args)) => return slurm::status(&args),
        Some(Action::Merge(args)) => return slurm::merge(&args),
        Some(Action::Template { json }) => return slurm::print_template(json),
        Some(Action::Task(args)) => return slurm::task(&args),
        None => {}
    }
    // What the user waits for counts from here on.
    let begun = Instant::now();
    let args = args.run;
    let stop = session::stop_on_interrupt()?;
    let (args, folder, plan) = match &args.resume {
        Some(path) => resume(path, &args)?,
        None => {
            let (folder, plan) = begin(&args, &stop)?;
            (args, folder, plan)
        }
    };
    if args.slurm.slurm {
        return slurm::submit(&args, &folder, &plan);
    }
    let shard = shard_of(args.shard, plan.shards)?;
    let run = ShardRun {
        args: &args,
        folder: &folder,
        plan: &plan,
        shard,
        part: Part::All,
        stop: &stop,
    };
    let summary = run.fuzz(Default::default(), begun)?;
    report::write_page(&folder.shard(shard))?;
    print_summary(&args, &summary, &folder.shard(shard))
}

/// Prints what came of a run.
pub(crate) fn print_summary(
    args: &CampaignRunArgs,
    summary: &RunSummary,
    folder: &Path,
) -> anyhow::Result<ExitCode> {
    if args.run.json {
        println!("{}", serde_json::to_string(summary)?);
    } else if !console::quiet() {
        print!("\n{}\n", fissure_report::api_table(summary));
        print!("{}", fissure_report::oracle_table(summary));
        if let Some(line) = fissure_report::acceptance_line(summary) {
            println!("{line}");
        }
        println!("{}", fissure_report::closing_line(summary));
        println!("everything is in {}", folder.display());
    }
    Ok(ExitStatus::of_run(summary.findings, summary.ran_nothing()).into())
}

/// Finds out which APIs there are, and writes the plan. A shard whose campaign another process has
/// begun takes that one's plan.
fn begin(
    args: &CampaignRunArgs,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<(CampaignFolder, CampaignPlan)> {
    let shards = args.shards.unwrap_or(1) as usize;
    if shards > 1 && args.shard.is_none() && !args.slurm.slurm {
        return Err(usage(
            "--shards divides the campaign among processes: say which this one is (--shard 0), or \
             submit all of them (--slurm)",
        ));
    }
    if args.shard.is_some() {
        shard_of(args.shard, shards)?;
    }
    let path = match &args.output {
        Some(path) => path.clone(),
        None if args.shard.is_some() => {
            return Err(usage(
                "--shard needs --output DIR, the folder that all shards share",
            ));
        }
        None => crate::results::new_folder("campaign")?,
    };
    if CampaignFolder::exists(&path) {
        if args.shard.is_none() {
            return Err(usage(format!(
                "{} holds a campaign already: continue it with --resume {0}, or choose another \
                 --output",
                path.display()
            )));
        }
        let (folder, plan) = CampaignFolder::open(&path)?;
        if plan.shards != shards {
            return Err(usage(format!(
                "the campaign in {} has {} shards, not {shards}",
                path.display(),
                plan.shards
            )));
        }
        return Ok((folder, plan));
    }
    let seed = seed(&args.run.seed)?;
    let package = specs::package(args)?;
    let mut known = specs::find(args, &package)?;
    let own = session::pythonpath_of(&args.run, &package)?;
    let needed = needs::interpreter_package(&package, &own);
    let target = target::resolve_for(&args.target, needed, &own)?;
    let python = target.python;
    std::fs::create_dir_all(&path).with_context(|| format!("failed to make {}", path.display()))?;
    let path = path.canonicalize()?;
    let (mut unknown, mut asked) = (0, 0);
    if !args.no_learn || known.specs.is_empty() {
        let asker = Asker {
            python: &python,
            path: &own,
        };
        let public = public_names(false, &package, &target.reason, &asker)?;
        if let Some(typed) = args.api.iter().find(|api| !known.knows(api, &public)) {
            return Err(nothing_called(typed, &package, &public));
        }
        if !args.no_learn {
            let library = Library {
                name: &package,
                reason: &target.reason,
                own: !own.is_empty(),
            };
            let listed = names_to_learn(args, &library, &python, stop)?;
            unknown = known.add_unknown(args, &package, &listed);
        }
        asked = known.add_public(args, &package, &public);
        if let (true, [pattern, ..]) = (known.specs.is_empty(), args.api.as_slice()) {
            let module = pattern
                .split_once('*')
                .map_or(&**pattern, |(before, _)| before);
            return Err(nothing_called(
                module.trim_end_matches('.'),
                &package,
                &public,
            ));
        }
    }
    if known.specs.is_empty() {
        return Err(usage(format!(
            "{package} has no public callable{} that can be fuzzed (fissure apis {package} lists \
             them)",
            if args.api.is_empty() {
                ""
            } else {
                " under the names that --api gives"
            },
        )));
    }
    for warning in known.warnings.iter().take(5) {
        warning!("{warning}");
    }
    if known.warnings.len() > 5 {
        warning!(
            "{} more about the files (fissure specs check shows all)",
            known.warnings.len() - 5
        );
    }
    notice!(
        "phase  specs: {} APIs of {package}: {} constraint files, {} rule files, {unknown} to be \
         learned, {asked} as the library describes them",
        known.apis.len(),
        known.constraint_files,
        known.rule_files,
    );
    let plan = CampaignPlan {
        format: FORMAT,
        fissure_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
        folder: std::env::current_dir().context("failed to ask for the current folder")?,
        package,
        python,
        seed,
        shards,
        apis: known.apis,
    };
    let folder = CampaignFolder::create(&path, &plan, &known.specs)?;
    Ok((folder, plan))
}

/// The APIs that the library's sample database has, where they matter: names that `--api` gives
/// without a pattern need no list.
fn names_to_learn(
    args: &CampaignRunArgs,
    library: &Library<'_>,
    python: &Path,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Vec<String>> {
    if !args.api.is_empty() && !args.api.iter().any(|api| api.contains('*')) {
        return Ok(Vec::new());
    }
    let package = library.name;
    let names = library.kept("samples", false, || {
        notice!("fissure: asking which APIs {package} has samples of");
        let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
        Ok(Seeds::names(python, package, scratch.path(), stop)?)
    });
    // Everything can be fuzzed all the same.
    Ok(names.unwrap_or_else(|error| {
        let text = error.to_string();
        let reason = text.lines().next().unwrap_or_default();
        warning!("nothing can be learned of {package}: {reason}");
        Vec::new()
    }))
}

/// The campaign in a folder, with the command it was begun with.
pub(crate) fn open(path: &Path) -> anyhow::Result<(CampaignRunArgs, CampaignFolder, CampaignPlan)> {
    let path = path
        .canonicalize()
        .map_err(|_| usage(format!("there is no folder {}", path.display())))?;
    let (folder, plan) = CampaignFolder::open(&path).map_err(|error| {
        usage(format!(
            "{} is not the folder of a campaign: {:#}",
            path.display(),
            anyhow::Error::from(error)
        ))
    })?;
    std::env::set_current_dir(&plan.folder)
        .with_context(|| format!("failed to go to {}", plan.folder.display()))?;
    let matches = crate::matches_again(&plan.command, "campaign")
        .map_err(|error| usage(format!("its command cannot be given again: {error}")))?;
    let mut args = CampaignArgs::from_arg_matches(&matches)?.run;
    args.output = Some(path);
    Ok((args, folder, plan))
}

/// What stays is the campaign; how it is watched, and by how many, is for the one who resumes it.
fn resume(
    path: &Path,
    now: &CampaignRunArgs,
) -> anyhow::Result<(CampaignRunArgs, CampaignFolder, CampaignPlan)> {
    let (mut args, folder, plan) = open(path)?;
    args.run.json = now.run.json;
    args.run.screen = now.run.screen;
    args.workers = now.workers.or(args.workers);
    if now.shard.is_some() {
        args.shard = now.shard;
    }
    Ok((args, folder, plan))
}
