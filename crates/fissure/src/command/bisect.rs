//! `fissure bisect`: in which release a failure came, and in which it went.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context;
use clap::Args;
use fissure_campaign::{StoredFinding, replay_finding};
use fissure_environment::{EnvironmentError, Requirement, Store, Surroundings};
use fissure_execute::ScriptOptions;
use fissure_triage::{Bisection, Replay, bisect};
use serde::Serialize;

use super::replay::{LimitArgs, findings};
use crate::console::notice;
use crate::exit_status::{ExitStatus, usage};
use crate::target::{MakingDisplay, as_usage, parse_requirement};

/// Find the first release in which a finding fails, and the first in which it no longer does
///
/// Makes a managed environment for each release that has to be tried (a binary search: few of
/// them) and removes it afterwards. Uses the network.
#[derive(Args, Debug)]
pub(crate) struct BisectArgs {
    /// Folder of the finding
    #[arg(value_name = "FINDING")]
    path: PathBuf,

    /// First and last release: 2.0..2.15
    #[arg(long, value_name = "FROM..TO")]
    versions: String,

    /// Package on the index that provides the library [default: its usual one]
    #[arg(long, value_name = "NAME")]
    package: Option<String>,

    #[command(flatten)]
    limits: LimitArgs,

    /// Keep the environments that are made
    #[arg(long)]
    keep: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: BisectArgs) -> anyhow::Result<ExitCode> {
    let stored = match <[StoredFinding; 1]>::try_from(findings(std::slice::from_ref(&args.path))?) {
        Ok([one]) => one,
        Err(several) => {
            return Err(usage(format!(
                "{} findings in {}: name one of them",
                several.len(),
                args.path.display()
            )));
        }
    };
    let surroundings = Surroundings::from_process()?;
    let range = requirement(&args, &stored.finding.api.package)?;
    notice!("fissure: looking for releases of {range}");
    let releases = fissure_environment::releases(&surroundings, &range).map_err(as_usage)?;
    if releases.is_empty() {
        return Err(usage(format!(
            "no release of {range} for the Pythons of this machine"
        )));
    }
    let names: Vec<String> = releases.iter().map(ToString::to_string).collect();
    notice!(
        "fissure: {} releases, {} to {}",
        names.len(),
        names[0],
        names[names.len() - 1]
    );
    // `2.9.1+cu128` is the release 2.9.1.
    let recorded = stored.finding.library_version.split('+').next();
    let known_bad = names
        .iter()
        .position(|name| Some(name.as_str()) == recorded);
    let scratch = tempfile::tempdir().context("failed to make a temporary folder")?;
    let trial = Trial {
        stored: &stored,
        surroundings: &surroundings,
        options: args.limits.script_options(scratch.path())?,
        keep: args.keep,
    };
    let found = bisect(names.len(), known_bad, &mut |at| {
        let exact = range.pinned_to(&releases[at]);
        let replay = trial.release(&exact)?;
        notice!(
            "fissure: {exact}: {}{}{}",
            replay.name(),
            if replay.detail().is_empty() { "" } else { ": " },
            replay.detail()
        );
        Ok::<_, anyhow::Error>(replay)
    })?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&told(&names, &found))?);
    } else {
        print_result(&names, &found);
    }
    let newest_fails = found.first_bad.is_some() && found.first_good.is_none();
    let status = if newest_fails {
        ExitStatus::Findings
    } else {
        ExitStatus::NoFinding
    };
    Ok(status.into())
}

/// `torch>=2.0,<=2.15.*` of `--versions 2.0..2.15`.
fn requirement(args: &BisectArgs, package: &str) -> anyhow::Result<Requirement> {
    let wrong = || {
        usage(format!(
            "--versions {}: two versions are needed, as in 2.0..2.15",
            args.versions
        ))
    };
    let (from, to) = args.versions.split_once("..").ok_or_else(wrong)?;
    let (from, to) = (from.trim(), to.trim_start_matches('=').trim());
    let distribution = match &args.package {
        Some(name) => name.clone(),
        None => fissure_environment::default_requirement(package)
            .map(|default| default.distribution)
            .ok_or_else(|| {
                usage(format!(
                    "which package on the index provides {package}? Name it with --package"
                ))
            })?,
    };
    // 2.15 stands for every release that begins so: below the number after it.
    let after = next_after(to).ok_or_else(wrong)?;
    if from.is_empty() || next_after(from).is_none() {
        return Err(wrong());
    }
    parse_requirement(&format!("{distribution}>={from},<{after}"))
}

fn next_after(version: &str) -> Option<String> {
    let mut parts: Vec<u64> = version
        .split('.')
        .map(u64::from_str)
        .collect::<Result<_, _>>()
        .ok()?;
    *parts.last_mut()? += 1;
    let texts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    Some(texts.join("."))
}

struct Trial<'a> {
    stored: &'a StoredFinding,
    surroundings: &'a Surroundings,
    options: ScriptOptions,
    keep: bool,
}

impl Trial<'_> {
    /// Tries one release in an environment of its own.
    fn release(&self, exact: &Requirement) -> anyhow::Result<Replay> {
        let store = Store::new(self.surroundings);
        let before: Vec<String> = store
            .list()?
            .into_iter()
            .filter(|managed| managed.record.is_some())
            .map(|managed| managed.name)
            .collect();
        let mut display = MakingDisplay::new();
        let made = fissure_environment::make(self.surroundings, exact, None, &mut |news| {
            display.show(news);
        });
        display.finish();
        let managed = match made {
            Ok(managed) => managed,
            // This release has no wheel for any Python here, or does not import: others may.
            Err(
                error @ (EnvironmentError::NoFittingPython { .. }
                | EnvironmentError::NoSolution { .. }
                | EnvironmentError::Install { .. }
                | EnvironmentError::Import { .. }),
            ) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or("no environment").to_owned();
                return Ok(Replay::CannotRun(first));
            }
            Err(error) => return Err(as_usage(error)),
        };
        let replay = replay_finding(self.stored, &managed.python(), &self.options)?;
        if !self.keep && !before.contains(&managed.name) {
            store.remove(&managed.name)?;
        }
        Ok(replay)
    }
}

/// The result in JSON.
#[derive(Serialize)]
struct Told<'a> {
    first_bad: Option<&'a str>,
    first_good: Option<&'a str>,
    last_good_before: Option<&'a str>,
    tried: Vec<TriedRelease<'a>>,
}

#[derive(Serialize)]
struct TriedRelease<'a> {
    version: &'a str,
    #[serde(flatten)]
    replay: &'a Replay,
}

fn told<'a>(names: &'a [String], found: &'a Bisection) -> Told<'a> {
    let name = |at: Option<usize>| at.map(|at| names[at].as_str());
    Told {
        first_bad: name(found.first_bad),
        first_good: name(found.first_good),
        last_good_before: name(found.good_before),
        tried: found
            .tried
            .iter()
            .map(|(at, replay)| TriedRelease {
                version: &names[*at],
                replay,
            })
            .collect(),
    }
}

fn print_result(names: &[String], found: &Bisection) {
    println!();
    match (found.first_bad, found.good_before) {
        (None, _) => println!("it fails in none of the releases that were tried"),
        (Some(bad), Some(good)) => println!(
            "first bad release: {} ({} does not fail)",
            names[bad], names[good]
        ),
        (Some(bad), None) => println!(
            "first bad release: {} or before (no earlier one that runs is in the range)",
            names[bad]
        ),
    }
    match (found.first_bad, found.first_good) {
        (None, _) => {}
        (Some(_), Some(good)) => println!("first good release after it: {}", names[good]),
        (Some(_), None) => println!(
            "it still fails in {}",
            found
                .tried
                .iter()
                .rfind(|(_, replay)| replay.fails())
                .map_or("", |(at, _)| names[*at].as_str())
        ),
    }
    let skipped: Vec<String> = found
        .cannot_run()
        .map(|(at, why)| format!("{} ({why})", names[at]))
        .collect();
    if !skipped.is_empty() {
        println!("cannot run: {}", skipped.join(", "));
    }
    println!(
        "{} of {} releases were tried",
        found.tried.len(),
        names.len()
    );
}
