//! `fissure replay`: do earlier findings still hold?

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use fissure_campaign::{StoredFinding, facts, replay_finding, stored_findings};
use fissure_environment::is_older;
use fissure_execute::{SandboxOptions, ScriptOptions};
use fissure_model::Api;
use fissure_report::words::printable;
use fissure_report::{Figures, table};
use fissure_triage::Replay;
use serde::Serialize;

use crate::command::fuzz::needs::interpreter_package;
use crate::console::{notice, warning};
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};

/// Run findings again, here or with another version of the library
///
/// Each finding's own script is run in a fresh process. Exit code 1 when any of them still fails.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// Folders of findings, or of runs (all of their findings)
    #[arg(required = true, value_name = "FINDING")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    limits: LimitArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a script may take.
#[derive(Args, Clone, Debug)]
pub(crate) struct LimitArgs {
    /// Time for a script, the import of the library included
    #[arg(long, value_name = "TIME", value_parser = crate::duration::seconds, default_value = "60s")]
    pub timeout: f64,

    /// MiB of memory for a script, the library included
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub memory_limit: u64,

    /// Folders of your own packages
    #[arg(long, value_name = "DIR")]
    pub pythonpath: Vec<PathBuf>,

    /// Do not confine scripts
    #[arg(long)]
    pub no_sandbox: bool,
}

impl LimitArgs {
    pub(crate) fn script_options(&self, scratch: &Path) -> anyhow::Result<ScriptOptions> {
        let timeout = Duration::try_from_secs_f64(self.timeout).map_err(|_| {
            usage(format!(
                "--timeout {}: not a number of seconds",
                self.timeout
            ))
        })?;
        let folders: Vec<PathBuf> = self
            .pythonpath
            .iter()
            .map(|folder| {
                folder
                    .canonicalize()
                    .map_err(|_| usage(format!("there is no folder {}", folder.display())))
            })
            .collect::<anyhow::Result<_>>()?;
        let joined = std::env::join_paths(folders).context("a --pythonpath holds a colon")?;
        let joined = joined
            .into_string()
            .map_err(|_| usage("a --pythonpath is not valid text"))?;
        Ok(ScriptOptions {
            timeout,
            memory_limit: self.memory_limit << 20,
            scratch: scratch.to_owned(),
            sandbox: SandboxOptions {
                confine_writes: !self.no_sandbox,
                cut_network: !self.no_sandbox,
            },
            environment: vec![("PYTHONPATH".to_owned(), joined)],
            cancelled: Arc::new(AtomicBool::new(false)),
        })
    }
}

/// One line of the result.
#[derive(Serialize)]
struct Replayed {
    id: String,
    folder: PathBuf,
    kind: &'static str,
    found_in: String,
    #[serde(flatten)]
    replay: Replay,
}

pub(crate) fn run(args: ReplayArgs) -> anyhow::Result<ExitCode> {
    let findings = findings(&args.paths)?;
    let scratch = tempfile::tempdir().context("failed to make a temporary folder")?;
    let options = args.limits.script_options(scratch.path())?;
    let mut by_package: BTreeMap<(String, Vec<PathBuf>), Vec<StoredFinding>> = BTreeMap::new();
    for stored in findings {
        let api = &stored.finding.api;
        let key = (api.package.clone(), api.folders.clone());
        by_package.entry(key).or_default().push(stored);
    }
    let mut lines = Vec::new();
    for findings in by_package.into_values() {
        let api = &findings[0].finding.api;
        let python = interpreter(&args.target, api, &args.limits)?;
        let version = version(&python, &api.package, &options)?;
        for stored in findings {
            let mut replay = replay_finding(&stored, &python, &options)?;
            if is_older(&version, &stored.finding.library_version) {
                replay = replay.in_an_older_version();
            }
            if !args.json {
                notice!("{}: {}", stored.finding.id, replay.name());
            }
            lines.push(Replayed {
                id: stored.finding.id,
                folder: stored.folder,
                kind: stored.finding.verdict.kind.name(),
                found_in: stored.finding.library_version,
                replay,
            });
        }
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&lines)?);
    } else {
        print_table(&lines);
    }
    let status = if lines.iter().any(|line| line.replay.fails()) {
        ExitStatus::Findings
    } else {
        ExitStatus::NoFinding
    };
    Ok(status.into())
}

/// The version that an interpreter has of a library; empty where it does not say.
fn version(python: &Path, package: &str, options: &ScriptOptions) -> anyhow::Result<String> {
    let facts = facts(python, package, options)
        .with_context(|| format!("failed to ask {} for its version", python.display()))?;
    let named = facts
        .environment
        .into_iter()
        .find(|(name, _)| name == package);
    Ok(named.map(|(_, version)| version).unwrap_or_default())
}

/// An interpreter with the library of an API, which may be a package of the user's own.
pub(crate) fn interpreter(
    target: &TargetArgs,
    api: &Api,
    limits: &LimitArgs,
) -> anyhow::Result<PathBuf> {
    let mut path = limits.pythonpath.clone();
    path.extend(api.folders.iter().cloned());
    let needed = interpreter_package(&api.package, &path);
    Ok(target::resolve_for(target, needed, &path)?.python)
}

/// The findings that the paths stand for; one that cannot be read is told and left out.
pub(crate) fn findings(paths: &[PathBuf]) -> anyhow::Result<Vec<StoredFinding>> {
    let mut found = Vec::new();
    let mut notes = 0;
    for path in paths {
        if !path.exists() {
            return Err(usage(format!(
                "there is no finding and no run at {}",
                path.display()
            )));
        }
        let stored =
            stored_findings(path).with_context(|| format!("failed to read {}", path.display()))?;
        let one_named = stored.len() == 1;
        for one in stored {
            match one {
                // What its own input explains is run only when it is named itself.
                Ok(one) if one.finding.is_note() && !one_named => notes += 1,
                Ok(one) => found.push(one),
                Err(error) => warning!("{:#}", anyhow::Error::from(error)),
            }
        }
    }
    if notes > 0 {
        notice!("fissure: {notes} notes are left out (name one to run it)");
    }
    if found.is_empty() {
        let names: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(usage(format!("no finding in {}", names.join(", "))));
    }
    Ok(found)
}

fn print_table(lines: &[Replayed]) {
    let rows = lines.iter().map(|line| {
        let (id, version) = (line.id.as_str(), line.found_in.as_str());
        [id, version, line.replay.name(), line.replay.detail()].map(|it| printable(it).into_owned())
    });
    let header = ["finding", "found in", "now", ""];
    println!("\n{}", table(header, rows, Figures::None).trim_end());
    let count = |name: &str| {
        lines
            .iter()
            .filter(|line| line.replay.name() == name)
            .count()
    };
    let parts: Vec<String> = [
        "still fails",
        "changed",
        "fixed",
        "not yet broken",
        "cannot run",
    ]
    .iter()
    .map(|name| (count(name), name))
    .filter(|(count, _)| *count > 0)
    .map(|(count, name)| format!("{count} {name}"))
    .collect();
    println!("\n{}", parts.join(", "));
}
