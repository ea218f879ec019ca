//! `fissure oracles`: what counts as a failure.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Args;
use fissure_execute::{Pool, PoolOptions};
use fissure_functions::Oracle as ScanOracle;
use fissure_judge::OracleInfo;
use fissure_model::Obstacle;
use serde_json::json;

use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::suggestion;
use crate::target::{self, TargetArgs};

/// What `--python` alone is asked for.
const USUAL_LIBRARY: &str = "torch";

/// List the oracles of `fissure fuzz` and `fissure scan`, or show the page of one
#[derive(Args, Debug)]
pub(crate) struct OraclesArgs {
    /// Show this oracle's page: when it fires, and when it stays silent
    name: Option<String>,

    /// Say which of them cannot run with this library, and why
    #[arg(long, value_name = "LIBRARY", conflicts_with = "name")]
    library: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: OraclesArgs) -> anyhow::Result<ExitCode> {
    match &args.name {
        None => {
            let obstacles = obstacles(&args)?;
            if args.json {
                println!("{}", listed(obstacles.as_ref()));
                return Ok(ExitStatus::NoFinding.into());
            }
            list();
            if let Some((library, obstacles)) = obstacles {
                println!("\nWith {library}:\n");
                if obstacles.is_empty() {
                    println!("  all of them can run");
                }
                for obstacle in obstacles {
                    println!("  {obstacle}");
                }
            }
        }
        Some(name) => {
            if let Some(oracle) = of_scan(name) {
                if args.json {
                    println!("{}", described_of_scan(oracle));
                } else {
                    println!(
                        "{oracle} (of fissure scan)\n\n{}.\n\ndocs/scan.md",
                        oracle.summary()
                    );
                }
                return Ok(ExitStatus::NoFinding.into());
            }
            let oracle = fissure_judge::oracle(name).ok_or_else(|| unknown(name))?;
            if args.json {
                println!("{}", described(oracle));
            } else {
                println!("{}", oracle.doc);
            }
        }
    }
    Ok(ExitStatus::NoFinding.into())
}

/// The oracle of a scan with this name; a dash is as good as an underscore.
fn of_scan(name: &str) -> Option<ScanOracle> {
    let name = name.replace('-', "_");
    let mut all = ScanOracle::ALL.into_iter();
    all.find(|oracle| oracle.to_string() == name)
}

fn unknown(name: &str) -> anyhow::Error {
    let scan = ScanOracle::ALL.map(|oracle| oracle.to_string());
    let names = fissure_judge::oracles().iter().map(|oracle| oracle.name);
    let meant = suggestion(name, names.chain(scan.iter().map(String::as_str)));
    usage(format!(
        "there is no oracle {name}: fissure oracles lists them{meant}"
    ))
}

fn described_of_scan(oracle: ScanOracle) -> serde_json::Value {
    json!({"name": oracle.to_string(), "summary": oracle.summary(), "command": "scan"})
}

/// What keeps oracles from running in the environment that was named, if one was.
fn obstacles(args: &OraclesArgs) -> anyhow::Result<Option<(String, Vec<Obstacle>)>> {
    let named = match &args.target.env {
        Some(text) => Some(fissure_environment::package_of(
            &target::parse_requirement(text)?.distribution,
        )),
        None if args.target.python.is_some() => Some(USUAL_LIBRARY.to_owned()),
        None => None,
    };
    let Some(package) = args.library.clone().or(named) else {
        return Ok(None);
    };
    let python = target::resolve(&args.target, &package)?.python;
    let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
    let pool = Pool::start(PoolOptions {
        oracles: fissure_judge::oracles()
            .iter()
            .filter(|oracle| oracle.is_comparing())
            .map(|info| info.oracle.clone())
            .collect(),
        ..PoolOptions::new(python, &package, scratch.path())
    })
    .map_err(|error| anyhow!("failed to {error}"))?;
    let info = pool.info();
    let library = format!("{package} {}", info.library_version);
    let obstacles = info.obstacles.clone();
    pool.stop();
    Ok(Some((library, obstacles)))
}

/// An oracle for `--json`.
fn described(oracle: &OracleInfo) -> serde_json::Value {
    json!({"name": oracle.name, "summary": oracle.summary, "comparing": oracle.is_comparing(),
           "tier": oracle.tier.name(), "calls": oracle.price, "page": oracle.doc})
}

/// The list for `--json`.
fn listed(obstacles: Option<&(String, Vec<Obstacle>)>) -> serde_json::Value {
    let oracles: Vec<_> = fissure_judge::oracles().iter().map(described).collect();
    let profiles = fissure_judge::PROFILES.iter();
    let profiles: Vec<_> = profiles
        .map(|profile| json!({"name": profile.name, "summary": profile.summary}))
        .collect();
    let cannot = obstacles.map(|(library, obstacles)| {
        let obstacles: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
        json!({"library": library, "obstacles": obstacles})
    });
    let scan = ScanOracle::ALL.map(described_of_scan);
    json!({"oracles": oracles, "profiles": profiles, "cannot_run": cannot, "scan": scan})
}

fn list() {
    let oracles = fissure_judge::oracles();
    println!("Look at every input:\n");
    for oracle in oracles.iter().filter(|oracle| !oracle.is_comparing()) {
        println!("  {:<16} {}", oracle.name, oracle.summary);
    }
    println!("\nMake calls of their own, for a part of the accepted inputs:\n");
    let mut comparing: Vec<&OracleInfo> = oracles
        .iter()
        .filter(|oracle| oracle.is_comparing())
        .collect();
    comparing.sort_by_key(|oracle| oracle.tier);
    for oracle in comparing {
        println!(
            "  {:<16} {} ({}, {} call{}{})",
            oracle.name,
            oracle.summary,
            oracle.tier.name(),
            oracle.price,
            if oracle.price == 1 { "" } else { "s" },
            if oracle.once { ", once" } else { "" }
        );
    }
    println!("\nOf fissure scan, all of them always on:\n");
    for oracle in ScanOracle::ALL {
        println!("  {:<18} {}", oracle.to_string(), oracle.summary());
    }
    println!("\nProfiles (--profile):\n");
    for profile in &fissure_judge::PROFILES {
        println!("  {:<16} {}", profile.name, profile.summary);
    }
}
