//! `fissure env`: lists, makes and removes managed environments.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use fissure_environment::machine::human_bytes;
use fissure_environment::{EnvironmentError, Managed, Store, Surroundings, packages_beside};
use fissure_report::{Figures, table};
use serde::Serialize;
use serde_json::json;

use crate::console::notice;
use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::suggestion;
use crate::target::{MakingDisplay, as_usage, parse_requirement, refuse_mistyped};

#[derive(Args, Debug)]
pub(crate) struct EnvArgs {
    #[command(subcommand)]
    command: EnvCommand,
}

#[derive(Debug, Subcommand)]
enum EnvCommand {
    /// Show the environments Fissure made
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make an environment with a library; nothing happens if it is already there
    #[command(alias = "create")]
    Make {
        /// What to install: torch==2.9.1, or torch for the newest
        requirement: String,
        /// Python interpreter to build on [default: one that fits the library]
        #[arg(long, value_name = "PATH")]
        python: Option<PathBuf>,
        /// Package to install beside it; may be given several times
        #[arg(long = "with", value_name = "PACKAGE")]
        beside: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete environments
    #[command(arg_required_else_help = true)]
    Remove {
        /// Names as `fissure env list` shows them
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: EnvArgs) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::from_process()?;
    match args.command {
        EnvCommand::List { json } => list(&surroundings, json)?,
        EnvCommand::Make {
            requirement,
            python,
            beside,
            json,
        } => make(&surroundings, &requirement, python, &beside, json)?,
        EnvCommand::Remove { names, all, json } => remove(&surroundings, names, all, json)?,
    }
    Ok(ExitStatus::NoFinding.into())
}

/// An environment in `fissure env list --json`.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    /// `false`: the making was interrupted or is under way.
    whole: bool,
    distribution: Option<&'a str>,
    version: Option<&'a str>,
    python_version: Option<&'a str>,
    python: PathBuf,
    bytes: u64,
    /// Seconds since 1970.
    last_used: Option<u64>,
}

impl<'a> From<&'a Managed> for Listed<'a> {
    fn from(managed: &'a Managed) -> Self {
        let record = managed.record.as_ref();
        Self {
            name: &managed.name,
            whole: record.is_some(),
            distribution: record.map(|record| record.distribution.as_str()),
            version: record.map(|record| record.version.as_str()),
            python_version: record.map(|record| record.python_version.as_str()),
            python: managed.python(),
            bytes: record.map_or_else(
                || fissure_environment::size_of(&managed.folder),
                |record| record.bytes,
            ),
            last_used: managed
                .last_used
                .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
                .map(|since| since.as_secs()),
        }
    }
}

fn list(surroundings: &Surroundings, json: bool) -> anyhow::Result<()> {
    let store = Store::new(surroundings);
    let environments = store.list()?;
    if json {
        let listed: Vec<Listed<'_>> = environments.iter().map(Listed::from).collect();
        println!("{}", serde_json::to_string_pretty(&listed)?);
        return Ok(());
    }
    if environments.is_empty() {
        println!("no managed environments in {}", store.folder().display());
        return Ok(());
    }
    let rows = environments.iter().map(|managed| {
        let listed = Listed::from(managed);
        let library = match (listed.distribution, listed.version) {
            (Some(distribution), Some(version)) => format!("{distribution} {version}"),
            _ => "unfinished".to_owned(),
        };
        [
            listed.name.to_owned(),
            library,
            listed.python_version.unwrap_or("-").to_owned(),
            human_bytes(listed.bytes),
            managed.last_used.map_or_else(|| "-".to_owned(), ago),
            managed.folder.display().to_string(),
        ]
    });
    let header = ["name", "library", "Python", "size", "last used", "path"];
    print!("{}", table(header, rows, Figures::None));
    Ok(())
}

fn make(
    surroundings: &Surroundings,
    requirement: &str,
    python: Option<PathBuf>,
    beside: &[String],
    json: bool,
) -> anyhow::Result<()> {
    let requirement = parse_requirement(requirement)?;
    refuse_mistyped(&requirement)?;
    let beside = packages_beside(beside).map_err(as_usage)?;
    let python = python
        .map(|path| fissure_environment::locate(surroundings, &path, "--python"))
        .transpose()
        .map_err(as_usage)?;
    let mut display = MakingDisplay::new();
    let made = fissure_environment::make_with(
        surroundings,
        &requirement,
        &beside,
        python.as_deref(),
        &mut |news| display.show(news),
    )
    .map_err(as_usage)?;
    display.finish();
    if json {
        println!("{}", serde_json::to_string(&Listed::from(&made))?);
    } else {
        println!("{}", made.python().display());
    }
    Ok(())
}

fn remove(
    surroundings: &Surroundings,
    names: Vec<String>,
    all: bool,
    json: bool,
) -> anyhow::Result<()> {
    let mut removed = Vec::new();
    let store = Store::new(surroundings);
    let names = if all {
        store
            .list()?
            .into_iter()
            .map(|managed| managed.name)
            .collect()
    } else {
        names
    };
    if names.is_empty() && !all {
        return Err(usage("name an environment, or use --all"));
    }
    for name in names {
        if let Err(error) = store.remove(&name) {
            let EnvironmentError::NoSuchEnvironment { .. } = error else {
                return Err(as_usage(error));
            };
            let known = store.list()?;
            return Err(usage(format!("{error}{}", meant(&name, &known))));
        }
        if json {
            removed.push(name);
        } else {
            notice!("fissure: removed {name}");
        }
    }
    if json {
        println!("{}", json!({ "removed": removed }));
    }
    Ok(())
}

/// Environments whose name, or whose library, is like the one typed.
fn meant(name: &str, known: &[Managed]) -> String {
    let by_name = suggestion(name, known.iter().map(|managed| managed.name.as_str()));
    if !by_name.is_empty() {
        return by_name;
    }
    let library = |managed: &Managed| -> Option<String> {
        let record = managed.record.as_ref()?;
        Some(record.distribution.clone())
    };
    let mut libraries: Vec<String> = known.iter().filter_map(library).collect();
    libraries.dedup();
    let typed = name.split_once(['-', '=']).map_or(name, |(typed, _)| typed);
    let close = fissure_discover::suggest(typed, libraries.iter().map(String::as_str));
    let of_those = known
        .iter()
        .filter(|managed| {
            library(managed).is_some_and(|it| it == typed || close.contains(&it.as_str()))
        })
        .map(|managed| managed.name.as_str());
    let names: Vec<&str> = of_those.take(3).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("\n\ndid you mean {}?", names.join(" or ")),
    }
}

fn ago(time: SystemTime) -> String {
    // A clock that was set back makes a use "in the future"; that is "just now" for the reader.
    let since = SystemTime::now()
        .duration_since(time)
        .unwrap_or(Duration::ZERO);
    match since.as_secs() / 60 {
        0 => "just now".to_owned(),
        minutes @ 1..=119 => format!("{minutes} min ago"),
        minutes if minutes < 48 * 60 => format!("{} h ago", minutes / 60),
        minutes => format!("{} days ago", minutes / (24 * 60)),
    }
}
