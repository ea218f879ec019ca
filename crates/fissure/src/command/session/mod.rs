//! What every command that runs inputs shows of its session, and what they all read from the user:
//! seed, workers, Ctrl-C. The session itself is `fissure_campaign::Session`.

#![expect(clippy::print_stderr, reason = "says what runs, and warnings")]

pub(super) mod args;
pub(super) mod judging;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use fissure_campaign::{
    Corpus, RunOptions, RunSummary, Session, SessionError, SessionOptions, Source, search_path,
};
use fissure_environment::Surroundings;
use fissure_execute::{Arming, CoverageOptions};
use fissure_model::with_version;
use fissure_report::{Progress, Style};

use crate::console::{self, notice, warning};
use crate::exit_status::{self, ExitStatus, usage};
use crate::protections;
use crate::screen::{self, Screen};
use args::RunArgs;

/// Below the user's cache: what was found in files of machine code.
pub(super) const BLOCKS: &str = "blocks";

/// Memory of one worker beyond what the library needs, in MiB.
const MEMORY: u64 = 2048;

/// A session and how it is shown.
pub(super) struct Shown<'a> {
    pub session: SessionOptions,
    /// The user has chosen the oracles, and wants to know which of them cannot run.
    pub chose_oracles: bool,
    /// The status screen, or lines.
    pub screen: bool,
    pub stop: &'a Arc<AtomicBool>,
}

/// What a session is told by the flags that all commands share.
pub(super) fn session_options(
    package: &str,
    python: PathBuf,
    workdir: &Path,
    args: &RunArgs,
) -> anyhow::Result<SessionOptions> {
    let flag = if args.guide.is_some() {
        "--guide coverage"
    } else {
        "--coverage"
    };
    let covers = args.coverage || args.guide.is_some();
    if let Some(reason) = fissure_coverage::unavailable().filter(|_| covers) {
        return Err(usage(format!("{flag}: {reason}")));
    }
    let arming = if args.guide.is_some() {
        Arming::Rare
    } else {
        Arming::Once
    };
    let blocks = Surroundings::from_process()?.root.join(BLOCKS);
    Ok(SessionOptions {
        coverage: covers.then_some(CoverageOptions {
            cache: blocks,
            arming,
        }),
        pythonpath: pythonpath_of(args, package)?,
        imports: args.import.clone(),
        memory_limit: args.memory_limit.unwrap_or(MEMORY) << 20,
        no_sandbox: args.no_sandbox,
        include_denied: args.include_denied,
        command: std::env::args().collect(),
        folder: current_folder()?,
        ..SessionOptions::new(package, python, workdir)
    })
}

/// The inputs that a run starts from.
pub(super) fn corpus(paths: &[PathBuf]) -> anyhow::Result<Arc<Corpus>> {
    let mut all = Corpus::default();
    for path in paths {
        let corpus = Corpus::load(path).map_err(|error| usage(format!("{:#}", anyhow!(error))))?;
        if corpus.is_empty() {
            return Err(usage(format!(
                "{} has no inputs: a corpus is what a run with --guide coverage leaves in its folder",
                path.display()
            )));
        }
        all.merge(corpus);
    }
    Ok(Arc::new(all))
}

/// The folders of the user's own packages, the current one included where it holds the package.
pub(super) fn pythonpath(named: &[PathBuf], package: &str) -> anyhow::Result<Vec<PathBuf>> {
    pythonpath_for(named, [package])
}

/// The same with what is imported first.
pub(super) fn pythonpath_of(args: &RunArgs, package: &str) -> anyhow::Result<Vec<PathBuf>> {
    let modules = args.import.iter().map(String::as_str).chain([package]);
    pythonpath_for(&args.pythonpath, modules)
}

/// The same where any of several modules may lie.
pub(super) fn pythonpath_for<'a>(
    named: &[PathBuf],
    modules: impl IntoIterator<Item = &'a str>,
) -> anyhow::Result<Vec<PathBuf>> {
    let named = with_variable(named);
    Ok(search_path(&named, &current_folder()?, modules))
}

/// The folders of flags, then those of the variable PYTHONPATH. Workers stand elsewhere, and a finding is tried again
/// when the variable is gone: both need to know where a package lies.
fn with_variable(named: &[PathBuf]) -> Vec<PathBuf> {
    let variable = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let folders = std::env::split_paths(&variable).filter(|folder| folder.is_dir());
    let whole = folders.filter_map(|folder| std::path::absolute(folder).ok());
    named.iter().cloned().chain(whole).collect()
}

fn current_folder() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("failed to ask for the current folder")
}

/// The seed of a run from its flag.
pub(super) fn seed(text: &str) -> anyhow::Result<u64> {
    if text == "random" {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .context("the clock is before 1970")?;
        return Ok(since_epoch.as_nanos() as u64 & 0xffff_ffff);
    }
    text.parse()
        .map_err(|_| usage(format!("--seed {text}: give a whole number, or random")))
}

/// Says what to do about a full disk; other errors stay as they are.
pub(super) fn explain_full_disk(folder: &Path, error: impl Into<anyhow::Error>) -> anyhow::Error {
    let error = error.into();
    if !is_disk_full(&error) {
        return error;
    }
    anyhow!(
        "{error:#}\n\nthe disk is full; all that was reported is safe. Make room, then continue with \
         --resume {}",
        folder.display()
    )
}

impl Shown<'_> {
    /// Runs the session, with its progress on standard error.
    pub(super) fn run(
        self,
        source: Source<'_>,
        options: &RunOptions,
    ) -> anyhow::Result<RunSummary> {
        let workdir = self.session.workdir.clone();
        let package = self.session.package.clone();
        let session = Session::start(self.session, options.clone(), self.stop)
            .map_err(|error| as_usage(&workdir, error))?;
        let info = session.info();
        {
            notice!(
                "fissure: {} on Python {}, {} worker{}, seed {}",
                with_version(&package, &info.library_version),
                info.python_version,
                options.workers,
                if options.workers == 1 { "" } else { "s" },
                options.seed,
            );
            protections::tell(session.protections());
        }
        if self.chose_oracles {
            for obstacle in &info.obstacles {
                warning!("{obstacle}");
            }
        }
        let apis = source.len();
        let library = with_version(&package, &info.library_version);
        let title = format!("{library}, seed {}", options.seed);
        let summary = if self.screen {
            let mut screen = Screen::open(
                title,
                &source.titles(),
                options.total_time,
                self.stop,
                &options.pause,
            )
            .context("failed to open the status screen (--plain does without)")?;
            let summary = session.run(source, &mut |event| screen.observe(event));
            for line in screen.close() {
                eprintln!("{line}");
            }
            summary
        } else {
            let mut progress =
                Progress::new(style(), console::verbose(), apis).colored(console::colored());
            let summary = session.run(source, &mut |event| progress.observe(event));
            progress.finish();
            summary
        };
        summary.map_err(|error| as_usage(&workdir, error))
    }
}

/// What the user can mend ends with the exit code for that.
fn as_usage(workdir: &Path, error: SessionError) -> anyhow::Error {
    if error.is_usage() {
        return usage(error.to_string());
    }
    explain_full_disk(workdir, error)
}

/// Whether an error, or what caused it, is a disk without room.
fn is_disk_full(error: &anyhow::Error) -> bool {
    let full = |cause: &(dyn std::error::Error + 'static)| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        matches!(
            kind,
            Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        )
    };
    error.chain().any(full)
}

fn style() -> Style {
    if console::quiet() {
        Style::Quiet
    } else if io::stderr().is_terminal() {
        Style::Terminal
    } else {
        Style::Plain
    }
}

/// Worker processes: as asked, or one per core.
pub(super) fn workers(asked: Option<usize>) -> anyhow::Result<usize> {
    match asked {
        Some(0) => Err(usage("--workers 0: at least one worker is needed")),
        Some(n) => Ok(n),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

pub(super) fn seconds_of(seconds: f64, flag: &str) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| usage(format!("{flag} {seconds}: not a number of seconds")))
}

/// The first Ctrl-C ends the run with its summary, the second ends the program at once.
pub(super) fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    ctrlc::set_handler(move || {
        exit_status::note_interruption();
        if seen.swap(true, Ordering::Relaxed) {
            screen::close_if_open();
            std::process::exit(ExitStatus::Interrupted as i32);
        }
        // The screen says so itself.
        if screen::is_open() {
            return;
        }
        eprintln!("\nstopping: waiting for what is under way (Ctrl-C again ends at once)");
    })
    .context("failed to listen for Ctrl-C")?;
    Ok(stop)
}
