//! A session: everything a run needs, assembled once.
//!
//! [`Session::start`] finds the folders, starts the workers in their sandbox and says what was
//! found; [`Session::run`] drives a [`Campaign`] with oracles, shrinker, confirmer and store. Both
//! return errors and tell events; nothing is printed here. The command line, the benches and the
//! tests use it alike.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fissure_execute::{
    CoverageOptions, ExecuteError, Pool, PoolOptions, SandboxOptions, SandboxReport, ScriptOptions,
    TargetInfo, has_gpu,
};
use fissure_judge::OracleInfo;
use fissure_model::{Obstacle, Oracle};
use fissure_triage::{KnownIssues, ShrinkBudget};

use crate::{
    Campaign, CampaignError, DenyList, FORMAT, JudgingOptions, Learning, RunEvent, RunFolder,
    RunHeader, RunOptions, RunSummary, ShrinkerOptions, Source, StoreError,
};

/// How inputs are run, whoever asks for it.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Import name of the library.
    pub package: String,
    /// The interpreter that has it.
    pub python: PathBuf,
    /// Folder for everything that is written.
    pub workdir: PathBuf,
    /// Folders of the user's own packages ([`search_path`] adds the current one).
    pub pythonpath: Vec<PathBuf>,
    /// Modules that are imported first, in the zygote: they may register operators, or be what is
    /// under test.
    pub imports: Vec<String>,
    /// For one input.
    pub timeout: Duration,
    /// What a call must exceed to be told as a hang, where that is longer.
    pub hang_after: Duration,
    /// Bytes a worker may use beyond what the library needs.
    pub memory_limit: u64,
    pub no_sandbox: bool,
    /// Fuzz what the deny-list names, too.
    pub include_denied: bool,
    pub known_issues: KnownIssues,
    /// Note which blocks of the library's native code are run.
    pub coverage: Option<CoverageOptions>,
    /// Variables that the target sees.
    pub environment: Vec<(String, String)>,
    /// The command line, for the header of the run, and the folder it was given in.
    pub command: Vec<String>,
    pub folder: PathBuf,
    /// When the user's time began to run, where that was before the session.
    pub begun: Option<Instant>,
    /// What is learned beside the run.
    pub learning: Option<Learning>,
    /// Where rules are that this process or an earlier one has learned.
    pub rules_folder: Option<PathBuf>,
    /// Where it is remembered which shipped rules do not hold for which version; `None`: nowhere.
    pub stale_rules: Option<PathBuf>,
}

impl SessionOptions {
    /// Defaults for all but what has none.
    pub fn new(
        package: impl Into<String>,
        python: impl Into<PathBuf>,
        workdir: impl Into<PathBuf>,
    ) -> Self {
        SessionOptions {
            package: package.into(),
            python: python.into(),
            workdir: workdir.into(),
            pythonpath: Vec::new(),
            imports: Vec::new(),
            timeout: Duration::from_secs(10),
            hang_after: Duration::ZERO,
            memory_limit: 2 << 30,
            no_sandbox: false,
            include_denied: false,
            known_issues: KnownIssues::default(),
            coverage: None,
            environment: Vec::new(),
            command: Vec::new(),
            folder: PathBuf::new(),
            begun: None,
            learning: None,
            rules_folder: None,
            stale_rules: None,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("there is no {0}")]
    NoFolder(PathBuf),
    #[error("failed to make {path}")]
    Scratch {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("a folder of --pythonpath holds a colon or is not valid text")]
    Path,
    // Its text continues "failed to" and holds its cause.
    #[error("failed to {0}")]
    Execute(ExecuteError),
    #[error("none of these oracles can run here")]
    NoOracle,
    #[error("the run was begun with {package} {before} and cannot go on with {now}")]
    OtherVersion {
        package: String,
        before: String,
        now: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Campaign(#[from] CampaignError),
}

impl SessionError {
    /// The user can mend it with another command line.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            SessionError::NoFolder(_)
                | SessionError::Path
                | SessionError::NoOracle
                | SessionError::OtherVersion { .. }
                | SessionError::Execute(ExecuteError::ImportFailed { .. })
        )
    }
}

/// Workers that are ready, and the folder that their run goes to.
pub struct Session {
    options: SessionOptions,
    run: RunOptions,
    store: RunFolder,
    scratch: PathBuf,
    sandbox: SandboxOptions,
    pool: Pool,
    script_path: String,
    /// Folders of the user's own packages.
    folders: Vec<PathBuf>,
    stop: Arc<AtomicBool>,
    begun: Instant,
}

impl Session {
    /// Opens the folder and starts the workers. `stop` set from outside ends the run early, with
    /// its summary.
    pub fn start(
        options: SessionOptions,
        mut run: RunOptions,
        stop: &Arc<AtomicBool>,
    ) -> Result<Session, SessionError> {
        let begun = options.begun.unwrap_or_else(Instant::now);
        let store = RunFolder::open(&options.workdir)?;
        let scratch = options.workdir.join("scratch");
        let scratch = std::fs::create_dir_all(&scratch)
            .and_then(|()| scratch.canonicalize())
            .map_err(|source| SessionError::Scratch {
                path: scratch.clone(),
                source,
            })?;
        let folders: Vec<PathBuf> = options
            .pythonpath
            .iter()
            .map(|dir| {
                dir.canonicalize()
                    .map_err(|_| SessionError::NoFolder(dir.clone()))
            })
            .collect::<Result<_, _>>()?;
        let script_path = std::env::join_paths(&folders)
            .ok()
            .and_then(|joined| joined.into_string().ok())
            .ok_or(SessionError::Path)?;
        // Drivers of a GPU write where Landlock would not let them.
        let sandbox = SandboxOptions {
            confine_writes: !options.no_sandbox && !has_gpu(),
            cut_network: !options.no_sandbox,
        };
        let pool_options = PoolOptions {
            extra_path: folders.clone(),
            imports: options.imports.clone(),
            environment: options.environment.clone(),
            workers: run.workers,
            timeout: options.timeout,
            memory_limit: options.memory_limit,
            sandbox,
            oracles: Arc::clone(&run.judging.oracles),
            coverage: options.coverage.clone(),
            ..PoolOptions::new(&options.python, &options.package, &scratch)
        };
        let pool = Pool::start(pool_options).map_err(SessionError::Execute)?;
        run.judging = can_run(&run.judging, &pool.info().obstacles);
        if run.resume {
            let before = RunFolder::read_header(&options.workdir)?;
            let now = &pool.info().library_version;
            if before.library_version != *now {
                return Err(SessionError::OtherVersion {
                    package: options.package,
                    before: before.library_version,
                    now: now.clone(),
                });
            }
        }
        Ok(Session {
            options,
            run,
            store,
            scratch,
            sandbox,
            pool,
            script_path,
            folders,
            stop: Arc::clone(stop),
            begun,
        })
    }

    /// The library as it was found.
    pub fn info(&self) -> &TargetInfo {
        self.pool.info()
    }

    /// For questions about the library before the run.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// As asked, without the oracles that cannot run here.
    pub fn run_options(&self) -> &RunOptions {
        &self.run
    }

    /// What keeps the target from doing harm; `None` if nothing was asked for.
    pub fn protections(&self) -> Option<SandboxReport> {
        (!self.sandbox.is_off()).then(|| self.pool.info().sandbox)
    }

    /// Fuzzes what the source says, until its end. What is found is on disk before `observer` hears
    /// of it.
    pub fn run(
        mut self,
        source: Source<'_>,
        observer: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunSummary, SessionError> {
        if matches!(source, Source::Saved(_)) && self.run.judging.oracles.is_empty() {
            return Err(SessionError::NoOracle);
        }
        let header = self.header();
        // Who judges the inputs of a run later leaves what was asked of the run as it is.
        let is_of_another =
            matches!(source, Source::Saved(_)) && RunFolder::read_header(self.store.path()).is_ok();
        if self.run.resume || is_of_another {
            self.store.note_resumed(&header)?;
        } else {
            self.store.write_header(&header)?;
        }
        let halt = Arc::new(AtomicBool::new(false));
        let campaign = Campaign {
            source,
            pool: &self.pool,
            deny_list: (!self.options.include_denied).then(DenyList::built_in),
            known_issues: self.options.known_issues.clone(),
            shrink: self.run.shrink_time.map(|time| ShrinkerOptions {
                spares: self.pool.spares(),
                threads: self.run.workers,
                timeout: self.options.timeout,
                oracles: Arc::clone(&self.run.judging.oracles),
                budget: ShrinkBudget {
                    time,
                    ..ShrinkBudget::default()
                },
                stop: Arc::clone(&halt),
            }),
            script: self.script(&halt),
            hang_after: self.options.hang_after,
            folders: self.folders.clone(),
            options: &self.run,
            learner: self.options.learning.take().map(Learning::start),
            rules_folder: self.options.rules_folder.clone(),
            stale_rules: self.options.stale_rules.clone(),
            begun: self.begun,
            stop: &self.stop,
            halt: Arc::clone(&halt),
        };
        let summary = campaign.run(&mut self.store, observer);
        self.pool.stop();
        // The scratch folder holds only what targets wrote; what is worth keeping is elsewhere.
        if let Err(error) = std::fs::remove_dir_all(&self.scratch) {
            let message = format!("failed to remove {}: {error}", self.scratch.display());
            observer(RunEvent::Warning { message });
        }
        Ok(summary?)
    }

    fn header(&self) -> RunHeader {
        let info = self.pool.info();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        RunHeader {
            format: FORMAT,
            fissure_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.options.command.clone(),
            folder: self.options.folder.clone(),
            seed: self.run.seed,
            package: self.options.package.clone(),
            library_version: info.library_version.clone(),
            python_version: info.python_version.clone(),
            python: self.options.python.clone(),
            workers: self.run.workers,
            started_unix: since_epoch.map_or(0, |time| time.as_secs()),
        }
    }

    /// How a finding's own script is run.
    fn script(&self, halt: &Arc<AtomicBool>) -> ScriptOptions {
        // A script imports the library itself, which the limits of an input do not cover.
        let import = (self.pool.info().import_time * 10).max(Duration::from_secs(30));
        ScriptOptions {
            timeout: self.options.timeout + import,
            memory_limit: self.options.memory_limit + (2 << 30),
            scratch: self.scratch.join("confirm"),
            sandbox: self.sandbox,
            environment: vec![("PYTHONPATH".to_owned(), self.script_path.clone())],
            cancelled: Arc::clone(halt),
        }
    }
}

/// The folders that the user names, and the current folder where it holds one of the modules: a
/// package of one's own needs no flag when its folder is where one stands. Elsewhere the current
/// folder stays out, because a file of it could hide a module of the standard library.
pub fn search_path<'a>(
    named: &[PathBuf],
    current: &Path,
    modules: impl IntoIterator<Item = &'a str>,
) -> Vec<PathBuf> {
    let mut path = named.to_vec();
    let modules: Vec<&str> = modules.into_iter().collect();
    // `src/` is where many projects keep their package.
    for folder in [current.to_owned(), current.join("src")] {
        if modules.iter().any(|module| holds(&folder, module)) && !path.contains(&folder) {
            path.push(folder);
        }
    }
    path
}

/// Whether a module, or the package it belongs to, lies in a folder.
pub(crate) fn holds(folder: &Path, module: &str) -> bool {
    let root = module.split('.').next().unwrap_or(module);
    !root.is_empty()
        && (folder.join(root).join("__init__.py").is_file()
            || folder.join(format!("{root}.py")).is_file()
            || holds_extension(folder, root))
}

/// Whether a folder has a compiled module: `fast.so`, `fast.cpython-311-x86_64-linux-gnu.so`.
fn holds_extension(folder: &Path, root: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let name = entry.file_name();
        let inner = name.to_str().and_then(|name| name.strip_prefix(root));
        inner.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".so"))
    })
}

/// Judging without the oracles that cannot run here, and without their price.
fn can_run(judging: &JudgingOptions, obstacles: &[Obstacle]) -> JudgingOptions {
    let stopped = |oracle: &Oracle| {
        obstacles
            .iter()
            .any(|obstacle| obstacle.oracle == *oracle && !obstacle.partly)
    };
    let left: Vec<&OracleInfo> = judging
        .oracles
        .iter()
        .filter(|oracle| !stopped(oracle))
        .filter_map(OracleInfo::of)
        .collect();
    JudgingOptions {
        oracles: left.iter().map(|info| info.oracle.clone()).collect(),
        price: left.iter().map(|oracle| oracle.price).sum(),
        ..judging.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_folder_is_searched_when_it_holds_the_package() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.py"), "").unwrap();
        let path = |modules: &[&str]| search_path(&[], folder.path(), modules.iter().copied());
        assert_eq!(path(&["mine.layers"]), [folder.path()]);
        assert_eq!(path(&["torch"]), Vec::<PathBuf>::new());
        let named = [folder.path().to_owned()];
        assert_eq!(search_path(&named, folder.path(), ["mine"]).len(), 1);
    }

    #[test]
    fn a_compiled_module_is_found_and_one_that_only_begins_alike_is_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("fast.cpython-311-x86_64-linux-gnu.so"),
            "",
        )
        .unwrap();
        assert!(holds(folder.path(), "fast"));
        assert!(!holds(folder.path(), "fa"));
        assert!(!holds(folder.path(), "fas"));
    }

    #[test]
    fn a_package_below_src_is_found_too() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("src/mine");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("__init__.py"), "").unwrap();
        let path = search_path(&[], folder.path(), ["mine.ops"]);
        assert_eq!(path, [folder.path().join("src")]);
    }
}
