//! The process that has imported the library and forks workers.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use fissure_model::{Dtype, Obstacle, Oracle};
use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};

use crate::coverage::{Armed, Imported};
use crate::environment::set_environment;
use crate::error::{ExecuteError, last_lines, without_machinery};
use crate::options::{PoolOptions, SandboxReport, TargetInfo};
use crate::output::Output;
use crate::process;
use crate::sandbox::Confinement;
use crate::socket::{Socket, wait_readable};
use crate::sources::{bootstrap, worker_sources};
use crate::warden::{AsFdRaw, Warded, WardedCommand};

/// A cold import of a large library from a slow disk takes minutes.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(300);
/// Time for the zygote to end its workers itself.
const END_TIMEOUT: Duration = Duration::from_secs(2);
const TRACEBACK_LINES: usize = 12;

#[derive(Serialize)]
struct Settings<'a> {
    sources: BTreeMap<String, String>,
    package: &'a str,
    imports: &'a [String],
    dtypes: Vec<&'static str>,
    oracles: &'a [Oracle],
    coverage: bool,
    niceness: u8,
    main: i32,
    slots: Vec<i32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Hello {
    Ready(Ready),
    Failed(String),
    /// The library is imported, and its code can be armed.
    Imported(Imported),
    /// The code cannot be armed.
    NotArmed(String),
}

/// Why the zygote is not heard.
enum Silence {
    Socket(io::Error),
    Failed(ExecuteError),
}

#[derive(Deserialize)]
struct Ready {
    library_version: String,
    tensors: String,
    fresh_inputs: u64,
    python_version: String,
    executable: PathBuf,
    dtypes: Vec<String>,
    import_seconds: f64,
    obstacles: Vec<Obstacle>,
}

/// A started zygote. Dropping it ends every process below it.
#[derive(Debug)]
pub(crate) struct Zygote {
    child: Warded,
    /// Closing it is what ends the zygote, however we end ourselves.
    main: Option<Socket>,
    slots: Vec<Option<Socket>>,
    /// Resident bytes after the import: what a worker has before it does anything.
    pub baseline: u64,
    pub info: TargetInfo,
    pub coverage: Option<Arc<Armed>>,
}

impl Zygote {
    /// Starts the interpreter and waits until the library is imported.
    pub(crate) fn start(
        options: &PoolOptions,
        executable: &Path,
        scratch: &Path,
        slots: usize,
    ) -> Result<Zygote, ExecuteError> {
        let pair = || Socket::pair().map_err(ExecuteError::system("create a socket"));
        let (main, their_main) = pair()?;
        let (ours, theirs): (Vec<_>, Vec<_>) = (0..slots)
            .map(|_| pair())
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .unzip();
        let settings = settings_file(options, &their_main, &theirs)?;
        let (output, their_output) = Output::new()?;

        let confine = options.sandbox.confine_writes;
        let mut warded = WardedCommand::new(executable, confine)?;
        warded
            .command
            .args(["-X", "faulthandler", "-u", "-c", &bootstrap()])
            .arg(settings.as_raw_fd().to_string())
            .current_dir(scratch.join("work"))
            .stdin(Stdio::null())
            .stdout(clone(&their_output)?)
            .stderr(their_output);
        set_environment(
            &mut warded.command,
            scratch,
            &options.extra_path,
            &options.environment,
        );
        let mut inherited: Vec<&dyn AsFdRaw> = vec![&settings, &their_main];
        inherited.extend(theirs.iter().map(|theirs| theirs as &dyn AsFdRaw));
        let confinement = Confinement::of_target(options.sandbox, scratch.to_owned());
        let child = warded.spawn(&confinement, &inherited)?;
        let sandbox = child.report;
        drop((their_main, theirs));

        let mut zygote = Zygote {
            child,
            main: None,
            slots: ours.into_iter().map(Some).collect(),
            baseline: 0,
            info: TargetInfo {
                library_version: String::new(),
                tensors: String::new(),
                fresh_inputs: 0,
                python_version: String::new(),
                executable: executable.to_owned(),
                sandbox,
                dtypes: Vec::new(),
                import_time: Duration::ZERO,
                obstacles: Vec::new(),
                modules: Vec::new(),
            },
            coverage: None,
        };
        let log = drain_in_background(output);
        zygote.await_import(&main, options, sandbox, &log)?;
        zygote.main = Some(main);
        Ok(zygote)
    }

    fn await_import(
        &mut self,
        main: &Socket,
        options: &PoolOptions,
        sandbox: SandboxReport,
        log: &Mutex<Output>,
    ) -> Result<(), ExecuteError> {
        let package = options.package.clone();
        let log = || last_lines(&lock(log).text(), TRACEBACK_LINES);
        let hello = match self.hear(main, options) {
            Ok(hello) => hello,
            Err(Silence::Failed(error)) => return Err(error),
            Err(Silence::Socket(error)) if error.kind() == io::ErrorKind::TimedOut => {
                let seconds = IMPORT_TIMEOUT.as_secs();
                return Err(ExecuteError::ZygoteSilent {
                    package,
                    seconds,
                    log: log(),
                });
            }
            Err(Silence::Socket(source)) => {
                return Err(ExecuteError::System {
                    action: "hear from the zygote",
                    source,
                });
            }
        };
        match hello {
            Some(Hello::Ready(ready)) => {
                self.info = TargetInfo {
                    library_version: ready.library_version,
                    tensors: ready.tensors,
                    fresh_inputs: ready.fresh_inputs,
                    python_version: ready.python_version,
                    executable: ready.executable,
                    sandbox,
                    dtypes: ready
                        .dtypes
                        .iter()
                        .filter_map(|name| name.parse().ok())
                        .collect(),
                    import_time: Duration::try_from_secs_f64(ready.import_seconds)
                        .unwrap_or(Duration::ZERO),
                    obstacles: ready.obstacles,
                    modules: self
                        .coverage
                        .as_ref()
                        .map_or_else(Vec::new, |armed| armed.modules.clone()),
                };
                self.baseline = process::resident(self.pid()).map_or(0, |bytes| bytes);
                Ok(())
            }
            Some(Hello::NotArmed(reason)) => Err(ExecuteError::Coverage { reason }),
            Some(Hello::Failed(traceback)) => Err(ExecuteError::ImportFailed {
                package,
                traceback: last_lines(&without_machinery(&traceback), TRACEBACK_LINES),
            }),
            Some(Hello::Imported(_)) | None => {
                // Its last words may still be in the pipe.
                let _ = self.child.wait(END_TIMEOUT);
                thread::sleep(Duration::from_millis(50));
                Err(ExecuteError::ZygoteDied {
                    package,
                    log: log(),
                })
            }
        }
    }

    /// The zygote's last word before it serves; in between its library is armed where that is asked for.
    fn hear(&mut self, main: &Socket, options: &PoolOptions) -> Result<Option<Hello>, Silence> {
        let receive = || -> Result<Option<Hello>, Silence> {
            let message = main
                .receive_within(IMPORT_TIMEOUT)
                .map_err(Silence::Socket)?;
            Ok(message.and_then(|message| serde_json::from_slice(&message).ok()))
        };
        let first = receive()?;
        match (first, &options.coverage) {
            (Some(Hello::Imported(imported)), Some(coverage)) => {
                let slots = self.slots.len();
                let armed = Armed::new(main, imported, coverage, &options.extra_path, slots)
                    .map_err(Silence::Failed)?;
                self.coverage = Some(Arc::new(armed));
                receive()
            }
            (first, _) => Ok(first),
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// The socket of a slot, once.
    pub(crate) fn take_slot(&mut self, slot: usize) -> Option<Socket> {
        self.slots.get_mut(slot).and_then(Option::take)
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        drop(self.main.take());
        self.slots.clear();
        // It ends its workers itself; what it does not end, its warden does.
        self.child.wait(END_TIMEOUT);
        self.child.end();
    }
}

/// The configuration as a memory file: nothing on disk that a target could change.
fn settings_file(
    options: &PoolOptions,
    main: &OwnedFd,
    slots: &[OwnedFd],
) -> Result<OwnedFd, ExecuteError> {
    let settings = Settings {
        sources: worker_sources(),
        package: &options.package,
        imports: &options.imports,
        dtypes: Dtype::ALL.iter().map(|dtype| dtype.name()).collect(),
        oracles: &options.oracles,
        coverage: options.coverage.is_some(),
        niceness: options.niceness,
        main: main.as_raw_fd(),
        slots: slots.iter().map(AsRawFd::as_raw_fd).collect(),
    };
    let text = serde_json::to_vec(&settings).expect("strings and numbers are always JSON");
    let file = rustix::fs::memfd_create("fissure-settings", MemfdFlags::CLOEXEC)
        .map_err(ExecuteError::system("create shared memory"))?;
    let mut rest = &text[..];
    while !rest.is_empty() {
        let written =
            rustix::io::write(&file, rest).map_err(ExecuteError::system("write shared memory"))?;
        rest = &rest[written..];
    }
    Ok(file)
}

fn clone(descriptor: &OwnedFd) -> Result<OwnedFd, ExecuteError> {
    descriptor
        .try_clone()
        .map_err(ExecuteError::system("copy a file descriptor"))
}

/// The zygote prints next to nothing, but what it prints must not block it. The thread ends when
/// the pipe is closed everywhere.
fn drain_in_background(output: Output) -> Arc<Mutex<Output>> {
    let shared = Arc::new(Mutex::new(output));
    let watched = Arc::clone(&shared);
    thread::spawn(move || {
        let Ok(pipe) = lock(&watched).as_fd().try_clone_to_owned() else {
            return;
        };
        while wait_readable(&[pipe.as_fd()], Duration::from_secs(3600)).is_ok() {
            if !lock(&watched).drain() {
                return;
            }
        }
    });
    shared
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
