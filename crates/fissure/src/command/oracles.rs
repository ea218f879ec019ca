//! `fissure oracles`: what counts as a failure.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::process::ExitCode;

use clap::Args;
use fissure_judge::OracleInfo;

use crate::exit_status::{ExitStatus, usage};

/// List the oracles of `fissure fuzz`, or show the page of one
#[derive(Args, Debug)]
pub struct OraclesArgs {
    /// Show this oracle's page: when it fires, and when it stays silent
    name: Option<String>,
}

pub fn run(args: OraclesArgs) -> anyhow::Result<ExitCode> {
    match &args.name {
        None => list(),
        Some(name) => {
            let oracle = fissure_judge::oracle(name).ok_or_else(|| {
                usage(format!(
                    "there is no oracle {name}: fissure oracles lists them"
                ))
            })?;
            println!("{}", oracle.doc);
        }
    }
    Ok(ExitStatus::NoFinding.into())
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
            "  {:<16} {} ({}, {} call{})",
            oracle.name,
            oracle.summary,
            oracle.tier.name(),
            oracle.price,
            if oracle.price == 1 { "" } else { "s" }
        );
    }
    println!("\nProfiles (--profile):\n");
    for profile in &fissure_judge::PROFILES {
        println!("  {:<16} {}", profile.name, profile.summary);
    }
}
