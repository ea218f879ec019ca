//! Gets uv: from PATH, from an earlier installation of ours, else from the package index.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    EnvironmentError, Progress, Surroundings,
    failure::Failure,
    installer::{Installer, Work},
    interpreter::{self, Interpreter},
    managed::{self, Record, Store},
    pins,
};

const NAME: &str = "uv";
/// uv's wheels ask for Python 3.8.
const OLDEST_PYTHON: (u32, u32) = (3, 8);
/// Interpreters tried; beyond that it is not the interpreter that is at fault.
const TRIED_INTERPRETERS: usize = 3;

/// uv without installing anything.
pub(crate) fn find(surroundings: &Surroundings) -> Option<Installer> {
    let home = surroundings.home.as_deref();
    let in_home = |folder: &str| home.map(|home| home.join(folder).join("uv"));
    let store = Store::of_tools(surroundings);
    let ours = store.get(NAME);
    [
        surroundings.find_program("uv"),
        in_home(".local/bin"),
        in_home(".cargo/bin"),
        ours.record.as_ref().and_then(|_| program_in(&ours.folder)),
    ]
    .into_iter()
    .flatten()
    .filter(|program| program.is_file())
    .find_map(|program| Installer::uv(surroundings, program))
}

/// A virtual environment has its programs in `bin`, a folder of packages (`--target`) below it.
fn program_in(folder: &Path) -> Option<PathBuf> {
    ["bin/uv", "packages/bin/uv"]
        .map(|path| folder.join(path))
        .into_iter()
        .find(|program| program.is_file())
}

/// uv in any way. The outer error ends the whole undertaking (no network, Ctrl-C); the inner one
/// lists why this machine cannot have uv.
pub(crate) fn provide(
    surroundings: &Surroundings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Result<Installer, Vec<String>>, EnvironmentError> {
    if let Some(found) = find(surroundings) {
        return Ok(Ok(found));
    }
    progress(Progress::Step("installing uv, the installer".to_owned()));
    let store = Store::of_tools(surroundings);
    let _lock = store.lock(NAME, || {
        progress(Progress::Step(
            "waiting for another process that installs uv".to_owned(),
        ));
        Ok(())
    })?;
    if let Some(found) = find(surroundings) {
        return Ok(Ok(found));
    }
    let started = Instant::now();
    let folder = store.folder().join(NAME);
    let work = Work {
        surroundings,
        folder: store.folder(),
    };
    let mut reasons = Vec::new();
    let usable = interpreter::interpreters(surroundings, NAME).filter(|one| {
        one.probe
            .python_minor()
            .is_some_and(|minor| minor >= OLDEST_PYTHON)
    });
    for interpreter in usable.take(TRIED_INTERPRETERS) {
        for way in [in_virtual_environment, in_target_folder] {
            store.clear(NAME)?;
            match way(&work, &interpreter, &folder, progress) {
                Ok(()) => {}
                Err(
                    failure
                    @ (Failure::Interrupted | Failure::Network(_) | Failure::Unreachable(_)),
                ) => {
                    store.clear(NAME)?;
                    let version = interpreter.probe.python_version;
                    return Err(failure.into_error(NAME.to_owned(), version));
                }
                Err(Failure::NoSolution(output) | Failure::Other(output)) => {
                    let last = output.lines().last().map_or("no output", str::trim);
                    reasons.push(format!("{}: {last}", interpreter.python.display()));
                    continue;
                }
            }
            let installed = program_in(&folder).and_then(|uv| Installer::uv(surroundings, uv));
            if let Some(installer) = installed {
                let seconds = started.elapsed().as_secs();
                store.finish(&record(&installer, &interpreter, &folder, seconds))?;
                return Ok(Ok(installer));
            }
            reasons.push(format!(
                "{}: the installed uv does not run",
                interpreter.python.display()
            ));
        }
    }
    store.clear(NAME)?;
    if reasons.is_empty() {
        reasons
            .push("uv is not on PATH, and no Python of 3.8 or newer could install it".to_owned());
    }
    Ok(Err(reasons))
}

fn in_virtual_environment(
    work: &Work<'_>,
    interpreter: &Interpreter,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    Installer::Pip.create(work, interpreter, folder, progress)?;
    let python = folder.join("bin/python");
    Installer::Pip.install(work, &python, &[release()], progress)
}

/// For an interpreter that has pip but cannot make virtual environments.
fn in_target_folder(
    work: &Work<'_>,
    interpreter: &Interpreter,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    let mut command = work.pip(&interpreter.python);
    let hashes = pins::hashes_for(&[release()])
        .map_err(|error| Failure::Other(error.to_string()))?
        .ok_or_else(|| Failure::Other("no release of uv is pinned".to_owned()))?;
    command.args(["install", "--progress-bar", "off", "--target"]);
    command.arg(folder.join("packages"));
    command.args(["--require-hashes", "--only-binary", ":all:", "-r"]);
    command.arg(hashes.path());
    work.run(command, progress).map(drop)
}

/// The release that is installed, pinned by the hashes of its wheels.
fn release() -> String {
    pins::pinned(NAME).unwrap_or(NAME).to_owned()
}

fn record(installer: &Installer, interpreter: &Interpreter, folder: &Path, seconds: u64) -> Record {
    let version = installer.describe();
    Record {
        name: NAME.to_owned(),
        requirement: NAME.to_owned(),
        distribution: NAME.to_owned(),
        version: version.trim_start_matches("uv ").to_owned(),
        beside: Vec::new(),
        python_version: interpreter.probe.python_version.clone(),
        installer: Installer::Pip.describe(),
        bytes: managed::size_of(folder),
        made: managed::now(),
        seconds_to_make: seconds,
    }
}
