//! `fissure index`: runs as a SQLite database.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fissure_report::index::write_index;
use fissure_report::run::{Run, RunReader, runs_below};

use super::report;
use crate::console::warning;
use crate::exit_status::{ExitStatus, usage};

/// Make a SQLite database of a run, or of all runs in a folder
///
/// It is made anew from the event logs and put in place in one step; docs/report.md describes its
/// tables. The runs themselves do not need it.
#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// Folder of a run, or a folder with runs in it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// The database [default: FOLDER/index.sqlite]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: IndexArgs) -> anyhow::Result<ExitCode> {
    let runs = runs(&args)?;
    let path = args
        .output
        .unwrap_or_else(|| args.folder.join("index.sqlite"));
    if path.is_dir() {
        return Err(usage(format!("{} is a folder", path.display())));
    }
    write_index(&path, runs.iter())?;
    if args.json {
        println!(
            "{}",
            serde_json::json!({"database": path, "runs": runs.len()})
        );
    } else {
        println!("{}", path.display());
    }
    Ok(ExitStatus::NoFinding.into())
}

fn runs(args: &IndexArgs) -> anyhow::Result<Vec<Run>> {
    let below = if args.folder.join("run.json").exists() {
        Vec::new()
    } else {
        runs_below(&args.folder)
    };
    if below.is_empty() {
        return Ok(vec![report::open(&args.folder)?.into_run()]);
    }
    let mut runs = Vec::new();
    for folder in below {
        match RunReader::open(&folder) {
            Ok(reader) => runs.push(reader.into_run()),
            // One broken run hides no other.
            Err(error) => warning!("{:#}", anyhow::Error::from(error)),
        }
    }
    if runs.is_empty() {
        let folder = args.folder.display();
        return Err(usage(format!("no run in {folder} can be read")));
    }
    Ok(runs)
}
