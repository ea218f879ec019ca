//! `fissure diff`: what changed from one run to another.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fissure_report::diff::{Diff, TotalsRow, diff};
use fissure_report::{Figures, table};

use super::report;
use crate::exit_status::{ExitStatus, usage};

/// Show new, gone and changed findings of two runs, validity and speed
///
/// A finding is the same in both when it has the same id. Exit code 1 when RUN2 has new findings, 0
/// when not. Notes are left out. Two files of `fissure sweep --json` are compared by their accuracy profiles.
#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// Folder of the earlier run, or file of a sweep
    #[arg(value_name = "RUN1")]
    before: PathBuf,

    /// Folder of the later run, or file of a sweep
    #[arg(value_name = "RUN2")]
    after: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Rows of the table of validity; JSON has all.
const SHOWN: usize = 20;

pub(crate) fn run(args: DiffArgs) -> anyhow::Result<ExitCode> {
    if args.before.is_file() && args.after.is_file() {
        return sweeps(&args);
    }
    let before = report::open(&args.before)?.into_run();
    let after = report::open(&args.after)?.into_run();
    let diff = diff(&before, &after);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&diff)?);
    } else {
        show(&diff);
    }
    let status = if diff.new.is_empty() {
        ExitStatus::NoFinding
    } else {
        ExitStatus::Findings
    };
    Ok(status.into())
}

/// Two reports of `fissure sweep --json`: profiles that became better or worse.
fn sweeps(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let read = |path: &PathBuf| -> anyhow::Result<fissure_sweep::Report> {
        let text = std::fs::read(path)
            .map_err(|error| usage(format!("failed to read {}: {error}", path.display())))?;
        serde_json::from_slice(&text).map_err(|error| {
            let path = path.display();
            usage(format!(
                "{path} is no report of fissure sweep --json: {error}"
            ))
        })
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let changes = fissure_sweep::changes(&before, &after);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&changes)?);
    } else {
        for change in &changes {
            println!(
                "{:<16} {} {}\n    {}\n    {}",
                change.what, change.function, change.dtype, change.before, change.after
            );
        }
        println!(
            "{} {} → {}: {} profiles changed",
            after.library,
            before.version,
            after.version,
            changes.len()
        );
    }
    let worse =
        |it: &&fissure_sweep::ProfileChange| it.what == "less accurate" || it.what == "newly wrong";
    Ok(match changes.iter().find(worse) {
        Some(_) => ExitStatus::Findings.into(),
        None => ExitStatus::NoFinding.into(),
    })
}

fn show(diff: &Diff) {
    for finding in &diff.new {
        println!("new      {}  {}", finding.id, finding.call);
    }
    for gone in &diff.gone {
        let why = if gone.not_tried {
            "  (its API was not tried)"
        } else {
            ""
        };
        println!("gone     {}{why}", gone.finding.id);
    }
    for changed in &diff.changed {
        println!(
            "changed  {}  {}",
            changed.id,
            changed.differences.join("; ")
        );
    }
    if diff.new.len() + diff.gone.len() + diff.changed.len() > 0 {
        println!();
    }
    for change in diff.validity.iter().take(SHOWN) {
        println!(
            "validity {}  {:.1} % → {:.1} %",
            change.api, change.before, change.after
        );
    }
    if diff.validity.len() > SHOWN {
        println!("validity of {} more (--json)", diff.validity.len() - SHOWN);
    }
    if !diff.validity.is_empty() {
        println!();
    }
    let header = [
        "run",
        "library",
        "APIs",
        "inputs",
        "findings",
        "valid accepted",
        "inputs/s",
        "inputs/s of a worker",
    ];
    let rows = diff.totals.iter().map(cells);
    print!("{}", table(header, rows, Figures::None));
    println!(
        "\n{} new, {} gone, {} changed, {} the same",
        diff.new.len(),
        diff.gone.len(),
        diff.changed.len(),
        diff.same
    );
}

fn cells(row: &TotalsRow) -> [String; 8] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.0}"));
    [
        row.name.clone(),
        row.library.clone(),
        row.apis.to_string(),
        row.inputs.to_string(),
        row.findings.to_string(),
        row.conforming_percent
            .map_or_else(String::new, |percent| format!("{percent:.1} %")),
        number(row.inputs_per_second),
        number(row.inputs_per_busy_second),
    ]
}
