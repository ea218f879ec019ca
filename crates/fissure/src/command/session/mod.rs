//! What every command that runs inputs sets up: interpreter, workers, work folder, Ctrl-C.

#![expect(clippy::print_stderr, reason = "says what runs, and warnings")]

pub mod args;
pub mod judging;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use fissure_campaign::{
    Campaign, DenyList, FORMAT, JudgingOptions, RunFolder, RunHeader, RunOptions, RunSummary,
    ShrinkerOptions, Source,
};
use fissure_execute::{Pool, PoolOptions, SandboxOptions, SandboxReport, ScriptOptions};
use fissure_judge::OracleInfo;
use fissure_model::Obstacle;
use fissure_report::{Progress, Style};
use fissure_triage::{KnownIssues, ShrinkBudget};

use crate::exit_status::usage;
use crate::screen::{self, Screen};

/// How inputs are run, whichever command runs them.
pub struct Session<'a> {
    pub package: &'a str,
    pub python: PathBuf,
    pub workdir: &'a Path,
    /// Folders of the user's own packages.
    pub pythonpath: &'a [PathBuf],
    pub timeout: Duration,
    /// Bytes a worker may use beyond what the library needs.
    pub memory_limit: u64,
    pub no_sandbox: bool,
    pub include_denied: bool,
    pub known_issues: KnownIssues,
    /// The user has chosen the oracles, and wants to know which of them cannot run.
    pub chose_oracles: bool,
    pub style: Style,
    pub verbose: bool,
    /// The status screen, or lines.
    pub screen: bool,
    pub stop: &'a Arc<AtomicBool>,
}

/// The seed of a run from its flag.
pub fn seed(text: &str) -> anyhow::Result<u64> {
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
pub fn explain_full_disk(folder: &Path, error: impl Into<anyhow::Error>) -> anyhow::Error {
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

impl Session<'_> {
    /// Runs the campaign, with its progress on standard error.
    pub fn run(&self, source: Source<'_>, options: &RunOptions) -> anyhow::Result<RunSummary> {
        let mut folder = RunFolder::open(self.workdir)?;
        let scratch = self.workdir.join("scratch");
        std::fs::create_dir_all(&scratch)
            .with_context(|| format!("failed to make {}", scratch.display()))?;
        let scratch = scratch.canonicalize()?;
        let extra_path: Vec<PathBuf> = self
            .pythonpath
            .iter()
            .map(|dir| {
                dir.canonicalize()
                    .with_context(|| format!("there is no {}", dir.display()))
            })
            .collect::<anyhow::Result<_>>()?;
        // Drivers of a GPU write where Landlock would not let them.
        let sandbox = SandboxOptions {
            confine_writes: !self.no_sandbox && !has_gpu(),
            cut_network: !self.no_sandbox,
        };
        let pool_options = PoolOptions {
            extra_path: extra_path.clone(),
            workers: options.workers,
            timeout: self.timeout,
            memory_limit: self.memory_limit,
            sandbox,
            oracles: Arc::clone(&options.judging.oracles),
            ..PoolOptions::new(&self.python, self.package, &scratch)
        };
        let pool =
            Pool::start(pool_options.clone()).map_err(|error| anyhow!("failed to {error}"))?;
        let info = pool.info();
        if self.style != Style::Quiet {
            eprintln!(
                "fissure: {} {} on Python {}, {} worker{}, seed {}{}",
                self.package,
                info.library_version,
                info.python_version,
                options.workers,
                if options.workers == 1 { "" } else { "s" },
                options.seed,
                sandbox_gaps(sandbox, info.sandbox),
            );
        }
        if self.chose_oracles {
            for obstacle in &info.obstacles {
                eprintln!("warning: {obstacle}");
            }
        }
        let options = &RunOptions {
            judging: can_run(&options.judging, &info.obstacles),
            ..options.clone()
        };
        if matches!(source, Source::Saved(_)) && options.judging.oracles.is_empty() {
            return Err(usage("none of these oracles can run here"));
        }
        if options.resume {
            let before = RunFolder::read_header(self.workdir)?;
            if before.library_version != info.library_version {
                return Err(usage(format!(
                    "the run was begun with {} {} and cannot go on with {}",
                    self.package, before.library_version, info.library_version
                )));
            }
        }
        let header = RunHeader {
            format: FORMAT,
            fissure_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args().collect(),
            folder: std::env::current_dir().context("failed to ask for the current folder")?,
            seed: options.seed,
            package: self.package.to_owned(),
            library_version: info.library_version.clone(),
            python_version: info.python_version.clone(),
            python: self.python.clone(),
            workers: options.workers,
            started_unix: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
        };
        if options.resume {
            folder.note_resumed(&header)?;
        } else {
            folder.write_header(&header)?;
        }
        // A script imports the library itself, which the limits of an input do not cover.
        let import = (info.import_time * 10).max(Duration::from_secs(30));
        let script = ScriptOptions {
            timeout: self.timeout + import,
            memory_limit: self.memory_limit + (2 << 30),
            scratch: scratch.join("confirm"),
            sandbox,
            environment: vec![("PYTHONPATH".to_owned(), join_paths(&extra_path)?)],
            cancelled: Arc::clone(self.stop),
        };
        let apis = source.len();
        let campaign = Campaign {
            source,
            pool: &pool,
            deny_list: (!self.include_denied).then(DenyList::built_in),
            known_issues: self.known_issues.clone(),
            shrink: options.shrink_time.map(|time| ShrinkerOptions {
                pool: PoolOptions {
                    scratch: scratch.join("shrink"),
                    // Most failures need none of them; the one that does can wait a second.
                    oracles: Arc::default(),
                    ..pool_options
                },
                budget: ShrinkBudget {
                    time,
                    ..ShrinkBudget::default()
                },
                stop: Arc::clone(self.stop),
            }),
            script,
            options,
            stop: self.stop,
        };
        let title = format!(
            "{} {}, seed {}",
            self.package, info.library_version, options.seed
        );
        let summary = if self.screen {
            let mut screen =
                Screen::open(title, apis, options.total_time, self.stop, &options.pause)
                    .context("failed to open the status screen (--plain does without)")?;
            let summary = campaign.run(&mut folder, &mut |event| screen.observe(event));
            for line in screen.close() {
                eprintln!("{line}");
            }
            summary
        } else {
            let mut progress = Progress::new(self.style, self.verbose, apis);
            let summary = campaign.run(&mut folder, &mut |event| progress.observe(event));
            progress.finish();
            summary
        };
        pool.stop();
        // The scratch folder holds only what targets wrote; what is worth keeping is elsewhere.
        if let Err(error) = std::fs::remove_dir_all(&scratch) {
            eprintln!("warning: failed to remove {}: {error}", scratch.display());
        }
        summary.map_err(|error| explain_full_disk(self.workdir, error))
    }
}

/// Judging without the oracles that cannot run here, and without their price.
fn can_run(judging: &JudgingOptions, obstacles: &[Obstacle]) -> JudgingOptions {
    let stopped = |name: &str| {
        obstacles
            .iter()
            .any(|obstacle| obstacle.oracle == name && !obstacle.partly)
    };
    let left: Vec<&OracleInfo> = judging
        .oracles
        .iter()
        .filter(|name| !stopped(name))
        .filter_map(|name| fissure_judge::oracle(name))
        .collect();
    JudgingOptions {
        oracles: left.iter().map(|oracle| oracle.name.to_owned()).collect(),
        price: left.iter().map(|oracle| oracle.price).sum(),
        share: judging.share,
    }
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

fn has_gpu() -> bool {
    ["/dev/nvidiactl", "/dev/kfd"]
        .iter()
        .any(|device| Path::new(device).exists())
}

fn join_paths(paths: &[PathBuf]) -> anyhow::Result<String> {
    let joined = std::env::join_paths(paths).context("a --pythonpath holds a colon")?;
    joined
        .into_string()
        .map_err(|_| usage("a --pythonpath is not valid text"))
}

/// What was asked of the sandbox and this machine does not give.
fn sandbox_gaps(asked: SandboxOptions, given: SandboxReport) -> &'static str {
    let writes = asked.confine_writes && !given.writes_confined;
    let network = asked.cut_network && !given.network_cut;
    match (writes, network) {
        (false, false) => "",
        (true, false) => " (writes are not confined here: no Landlock)",
        (false, true) => " (the network is not cut here: no network namespace)",
        (true, true) => " (no sandbox here: neither Landlock nor a network namespace)",
    }
}

pub fn style(quiet: bool) -> Style {
    if quiet {
        Style::Quiet
    } else if io::stderr().is_terminal() {
        Style::Terminal
    } else {
        Style::Plain
    }
}

/// Worker processes: as asked, or one per core.
pub fn workers(asked: Option<usize>) -> anyhow::Result<usize> {
    match asked {
        Some(0) => Err(usage("--workers 0: at least one worker is needed")),
        Some(n) => Ok(n),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

pub fn seconds_of(seconds: f64, flag: &str) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| usage(format!("{flag} {seconds}: not a number of seconds")))
}

/// The first Ctrl-C ends the run with its summary, the second ends the program at once.
pub fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            screen::close_if_open();
            std::process::exit(130);
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
