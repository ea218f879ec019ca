//! `fissure report`: a run as a page, or for other programs.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command prints its result"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use fissure_report::run::{Run, RunError, RunReader};
use fissure_report::{export, html};

use super::session::explain_full_disk;
use crate::console;
use crate::exit_status::{ExitStatus, usage};

/// Write what a run found as one HTML page, or for other programs
///
/// RUN is the folder of `fissure fuzz`, `campaign` or `scan`. Without options the page is
/// RUN/report.html: one file that needs no network. A run that is under way can be reported too.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Folder of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,

    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// Where to write it; `-` is standard output [default: RUN/report.html, others standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write JUnit's XML to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write SARIF 2.1.0 to this file
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write JSON (docs/report.md) to this file; without a file, to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write Markdown for a pull-request comment to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Show the evidence of the rule files in this folder too
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Html,
    Json,
    Junit,
    Sarif,
    Markdown,
    /// Annotations of a GitHub workflow
    Github,
}

impl Format {
    fn write(self, run: &Run) -> String {
        match self {
            Format::Html => html::page(run),
            Format::Json => export::json(run),
            Format::Junit => export::junit(run),
            Format::Sarif => export::sarif(run),
            Format::Markdown => export::markdown(run),
            Format::Github => export::github(run),
        }
    }
}

pub(crate) fn run(args: ReportArgs) -> anyhow::Result<ExitCode> {
    let mut reader = open(&args.run)?;
    for folder in &args.rules {
        if !folder.is_dir() {
            return Err(usage(format!("there is no folder {}", folder.display())));
        }
        reader.add_rules(folder);
    }
    let run = reader.into_run();
    if args.format.is_none_or(|format| format == Format::Html) {
        write_coverage(&run.info.folder);
    }
    let files = [
        (Format::Junit, &args.junit),
        (Format::Sarif, &args.sarif),
        (Format::Json, &args.json),
        (Format::Markdown, &args.markdown),
    ];
    for (format, path) in &files {
        match path {
            Some(path) if path == Path::new("-") => print!("{}", format.write(&run)),
            Some(path) => write(path, &format.write(&run))?,
            None => {}
        }
    }
    let only_files = files.iter().any(|(_, path)| path.is_some());
    if only_files && args.format.is_none() && args.output.is_none() {
        return Ok(ExitStatus::NoFinding.into());
    }
    let format = args.format.unwrap_or(Format::Html);
    let text = format.write(&run);
    match &args.output {
        Some(path) if path != Path::new("-") => write(path, &text)?,
        None if format == Format::Html => write(&run.info.folder.join("report.html"), &text)?,
        _ => std::io::stdout()
            .write_all(text.as_bytes())
            .context("failed to write to standard output")?,
    }
    Ok(ExitStatus::NoFinding.into())
}

/// The run in a folder. A folder that is none is the user's mistake.
pub(crate) fn open(folder: &Path) -> anyhow::Result<RunReader> {
    RunReader::open(folder).map_err(|error| match error {
        RunError::Missing(_) | RunError::NoRun(_) | RunError::Several { .. } => {
            usage(error.to_string())
        }
        error => error.into(),
    })
}

/// The page of native coverage, where the run has any. The report is worth having without it.
fn write_coverage(folder: &Path) {
    if let Err(error) = super::coverage::write_page(folder) {
        eprintln!("the page of coverage was not written: {error:#}");
    }
}

/// Writes the page of a run into its folder.
pub(crate) fn write_page(folder: &Path) -> anyhow::Result<()> {
    write_coverage(folder);
    let run = open(folder)?.into_run();
    let path = folder.join("report.html");
    fs::write(&path, html::page(&run))
        .with_context(|| format!("failed to write {}", path.display()))
        .map_err(|error| explain_full_disk(folder, error))
}

/// Writes a file whole or not at all, and says where it is.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let attempt = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new()
            .permissions(fs_permissions())
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    if path.is_dir() {
        return Err(usage(format!("{} is a folder", path.display())));
    }
    attempt().with_context(|| {
        format!(
            "failed to write {} (--output FILE writes elsewhere)",
            path.display()
        )
    })?;
    if !console::quiet() {
        println!("{}", path.display());
    }
    Ok(())
}

/// As readable as any file of the user; the mask of the process applies.
fn fs_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}
