//! `fissure fuzz`: run it.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

pub(crate) mod args;
pub(crate) mod needs;
mod plan;
mod project;
mod targets;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use clap::FromArgMatches;
use fissure_campaign::{RunFolder, RunSummary, SessionOptions, Source};
use fissure_environment::Surroundings;
use fissure_model::Spec;

use crate::command::session::{self, Shown, session_options};
use crate::console::{self, notice, warning};
use crate::exit_status::{ExitStatus, usage};
use crate::{screen, target};
use args::FuzzArgs;
use plan::Plan;

/// Below Fissure's own folder: which shipped rules do not hold for which version.
const STALE: &str = "stale-rules";

pub(crate) fn run(args: FuzzArgs) -> anyhow::Result<ExitCode> {
    let (args, resumed) = match &args.resume {
        Some(folder) => resume(folder).map(|(args, package)| (args, Some(package)))?,
        None => (args, None),
    };
    let mut args = args;
    let own = project::complete(&mut args)?;
    let mut plan = Plan::new(&args, own)?;
    if let Some(package) = resumed {
        // A command for several libraries has a folder for each.
        plan.specs.retain(|spec| spec.api.package == package);
        plan.run.resume = true;
    }
    warn(&plan);
    let stop = session::stop_on_interrupt()?;
    let mut by_package: BTreeMap<&str, Vec<Spec>> = BTreeMap::new();
    for spec in &plan.specs {
        by_package
            .entry(&spec.api.package)
            .or_default()
            .push(spec.clone());
    }
    let several = by_package.len() > 1;
    let (mut findings, mut ran_nothing) = (0, false);
    for (package, specs) in by_package {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let workdir = if several {
            plan.workdir.join(package)
        } else {
            plan.workdir.clone()
        };
        let summary = fuzz_package(package, &specs, &workdir, &plan, &args, &stop)?;
        findings += summary.findings;
        ran_nothing |= summary.ran_nothing();
        if summary.missing > 0 && summary.apis.is_empty() {
            // Each was told when it was skipped, unless nothing is.
            let lines = summary.skipped.iter();
            let lines = lines.map(|(api, reason)| format!("{api} is {reason}"));
            return Err(usage(match console::quiet() {
                true => lines.collect::<Vec<_>>().join("\n"),
                false => "there is nothing to fuzz".to_owned(),
            }));
        }
        if args.run.json {
            println!("{}", serde_json::to_string(&summary)?);
        } else if !console::quiet() {
            print!("\n{}\n", fissure_report::api_table(&summary));
            print!("{}", fissure_report::oracle_table(&summary));
            if let Some(line) = fissure_report::acceptance_line(&summary) {
                println!("{line}");
            }
            println!("{}", fissure_report::closing_line(&summary));
            println!("everything is in {}", workdir.display());
        }
    }
    Ok(ExitStatus::of_run(findings, ran_nothing).into())
}

/// The command that a run was begun with, and the library of this folder.
fn resume(folder: &Path) -> anyhow::Result<(FuzzArgs, String)> {
    let folder = folder
        .canonicalize()
        .map_err(|_| usage(format!("there is no folder {}", folder.display())))?;
    let header = RunFolder::read_header(&folder).map_err(|error| {
        usage(format!(
            "{} is not the folder of a run: {:#}",
            folder.display(),
            anyhow::Error::from(error)
        ))
    })?;
    if header.command.get(1).is_some_and(|name| name == "campaign") {
        return Err(usage(format!(
            "{0} is of a campaign: fissure campaign --resume {0} continues it",
            folder.display()
        )));
    }
    std::env::set_current_dir(&header.folder)
        .with_context(|| format!("failed to go to {}", header.folder.display()))?;
    let matches = crate::matches_again(&header.command, "fuzz")
        .map_err(|error| usage(format!("its command cannot be given again: {error}")))?;
    let args = FuzzArgs {
        workdir: Some(folder),
        ..FuzzArgs::from_arg_matches(&matches)?
    };
    Ok((args, header.package))
}

fn fuzz_package(
    package: &str,
    specs: &[Spec],
    workdir: &Path,
    plan: &Plan,
    args: &FuzzArgs,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<RunSummary> {
    let path = session::pythonpath_of(&args.run, package)?;
    let needed = match needs::interpreter_package(package, &path) {
        own if own == package => own,
        guessed => needs::named_library(args.target.env.as_deref()).unwrap_or(guessed),
    };
    let python = target::resolve_for(&args.target, needed, &path)?.python;
    let options = session_options(package, python, workdir, &args.run)?;
    let mut imports = options.imports.clone();
    imports.extend(needs::own_modules(
        specs.iter().map(|spec| spec.api.path.as_str()),
        &path,
    ));
    let session = Shown {
        session: SessionOptions {
            imports,
            timeout: plan.timeout,
            known_issues: args.judging.known_issues()?,
            environment: environment(plan, args)?,
            stale_rules: Some(Surroundings::from_process()?.root.join(STALE)),
            ..options
        },
        chose_oracles: args.judging.oracles.is_some(),
        screen: args.run.screen.wanted(
            screen::is_long(&plan.run),
            console::quiet() || console::verbose(),
        ),
        stop,
    };
    session.run(Source::Specs(specs), &plan.run)
}

/// What workers are told by variables: the user's own oracles, and what of theirs is observed.
fn environment(plan: &Plan, args: &FuzzArgs) -> anyhow::Result<Vec<(String, String)>> {
    let mut told = plan.own.environment()?;
    if args.observe.is_empty() {
        return Ok(told);
    }
    let mut places = Vec::new();
    for place in &args.observe {
        let found = place.canonicalize().map_err(|_| {
            usage(format!(
                "--observe {}: no such file or folder",
                place.display()
            ))
        })?;
        places.push(found);
    }
    let joined = std::env::join_paths(places)
        .ok()
        .and_then(|joined| joined.into_string().ok())
        .ok_or_else(|| usage("--observe: a path holds a colon or is not valid text".to_owned()))?;
    told.push(("FISSURE_OBSERVE".to_owned(), joined));
    Ok(told)
}

/// What the files say and we do not support or read otherwise is told, never dropped in silence; in short when there
/// is a lot of it.
fn warn(plan: &Plan) {
    let verbose = console::verbose();
    const SHOWN: usize = 5;
    for line in &plan.rules {
        notice!("fissure: {line}");
    }
    let shown = if verbose {
        plan.warnings.len()
    } else {
        SHOWN.min(plan.warnings.len())
    };
    for warning in &plan.warnings[..shown] {
        warning!("{warning}");
    }
    if plan.warnings.len() > shown {
        warning!(
            "{} more about the constraint files (fissure specs check shows all)",
            plan.warnings.len() - shown
        );
    }
    if verbose {
        for repair in &plan.repairs {
            notice!("note: {repair}");
        }
    } else if !plan.repairs.is_empty() {
        notice!(
            "note: {} of the files' constraints contradict the type they document and are read as \
             that type (--verbose lists them, --no-repair keeps them)",
            plan.repairs.len(),
        );
    }
}
