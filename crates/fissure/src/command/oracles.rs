//! `fissure oracles`: what counts as a failure.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::process::ExitCode;

use clap::Args;

use crate::exit_status::{ExitStatus, usage};

/// List the oracles of `fissure fuzz`, or show the page of one
#[derive(Args, Debug)]
pub struct OraclesArgs {
    /// Show this oracle's page: when it fires, and when it stays silent
    name: Option<String>,
}

pub fn run(args: OraclesArgs) -> anyhow::Result<ExitCode> {
    let oracles = fissure_judge::oracles();
    match &args.name {
        None => {
            for oracle in oracles {
                println!("{:<18} {}", oracle.name, oracle.summary);
            }
        }
        Some(name) => {
            let oracle = oracles
                .iter()
                .find(|oracle| oracle.name == name)
                .ok_or_else(|| {
                    usage(format!(
                        "there is no oracle {name}: fissure oracles lists them"
                    ))
                })?;
            println!("{}", oracle.doc);
        }
    }
    Ok(ExitStatus::NoFinding.into())
}
