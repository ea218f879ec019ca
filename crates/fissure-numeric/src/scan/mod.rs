//! One scan from target to report.
//!
//! The static analysis makes a plan, the runtime in the target's interpreter runs the real program
//! and searches, its events become the report, and proposed fixes are checked by the same process
//! before anybody sees them.

mod assertions;
mod config;
mod event;
mod library;
mod npy;
mod options;
mod output;
mod plan;
mod process;
mod proposals;
mod report;
mod runtime;
mod softassertion;

use std::time::Duration;

use fissure_execute::SandboxReport;

pub use assertions::{Models, Steering};
pub use config::{Config, ConfigError, LogFormat};
pub use event::{InputEvent, OwnRun, Question};
pub use fissure_model::{ScanFinding, ScanSite};
pub use library::{Library, imported};
pub use options::{Bounds, Layout, ScanOptions, ScanTarget, TargetParseError};
pub use output::{OutputError, write_output};
pub use process::interrupt;
pub use report::{ScanReport, SiteStatus};
pub use softassertion::{CaseStudy, case_study};

use event::Event;
use process::{Ended, Runtime};

/// Why a scan could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    #[error("failed to read `{path}`: {error}")]
    Read { path: String, error: std::io::Error },
    #[error(transparent)]
    Syntax(#[from] crate::analysis::SyntaxError),
    #[error("failed to start `{python}`: {error}")]
    Start {
        python: String,
        error: std::io::Error,
    },
    #[error(transparent)]
    Project(#[from] fissure_assertions::ProjectError),
    #[error("a soft assertion that ships does not load: {0}")]
    Assertion(#[from] fissure_assertions::FileError),
    #[error("failed to prepare the scan's files: {0}")]
    Prepare(std::io::Error),
}

/// Fixes are begun as long as the command may take, and so much longer for those of the last finding.
const LAST_FIX: Duration = Duration::from_secs(4);

/// What the caller may show while the scan runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// What keeps the program from doing harm, where that is wanted.
    Protected(Option<SandboxReport>),
    Started {
        versions: &'a std::collections::BTreeMap<String, String>,
    },
    OwnRun(&'a OwnRun),
    Understood {
        sites: &'a [ScanSite],
        inputs: &'a [InputEvent],
    },
    UnknownInputs {
        names: &'a [String],
        known: &'a [String],
    },
    Note(&'a str),
    /// One of several functions is scanned now.
    Target(&'a str),
    TargetDone(&'a fissure_model::TargetStatus),
}

/// Whether a file can be scanned at all: it can be read, and is Python. For before anything is made for it.
pub fn check_syntax(file: &std::path::Path) -> Result<(), ScanError> {
    let source = plan::read(file)?;
    Ok(crate::analysis::check_syntax(&source, file)?)
}

/// Scans a program. Every way the program itself can end is part of the report, not an error.
pub fn scan(
    options: &ScanOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<ScanReport, ScanError> {
    let registry = crate::registry::Registry::embedded();
    let analysed = plan::analyse_target(options, &registry)?;
    let models = Models::load(options.steering, &options.project)?;
    let mut report = ScanReport::new(options, &analysed);
    let mut runtime = Runtime::start(options, &analysed, &models)?;
    progress(Progress::Protected(runtime.protections(options)));
    let patience = options.timeout + options.own_run_timeout + Duration::from_secs(60);
    let mut searched = false;
    let deadline = std::time::Instant::now() + options.timeout + LAST_FIX;
    let mut sources = proposals::Sources::new(&analysed, &registry);
    let mut checked = 0;
    let ended = loop {
        match runtime.next(patience) {
            Ok(Event::Direction(question)) => runtime.command(&models.answer(&question)),
            Ok(event) => {
                show(&event, progress);
                let last = matches!(event, Event::Searched { .. });
                let finished = matches!(event, Event::Finished);
                report.take(event);
                if last {
                    searched = true;
                    proposals::check(&mut sources, &mut report, &mut runtime, checked, deadline);
                    checked = report.results.findings.len();
                    runtime.finish();
                }
                if finished {
                    break Ended::Normally;
                }
            }
            Err(ended) => break ended,
        }
    };
    report.results.interrupted = process::was_interrupted();
    report.close(ended, searched, runtime.close());
    Ok(report)
}

fn show(event: &Event, progress: &mut dyn FnMut(Progress<'_>)) {
    match event {
        Event::Started { versions, .. } => progress(Progress::Started { versions }),
        Event::OwnRun(own_run) => progress(Progress::OwnRun(own_run)),
        Event::Understood { sites, inputs, .. } => progress(Progress::Understood { sites, inputs }),
        Event::UnknownInputs { names, known } => {
            progress(Progress::UnknownInputs { names, known });
        }
        Event::Note { text } => progress(Progress::Note(text)),
        Event::Target { name } => progress(Progress::Target(name)),
        Event::TargetDone(status) => progress(Progress::TargetDone(status)),
        _ => {}
    }
}
