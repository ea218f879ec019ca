//! Answers, without changing anything and without the network, what would work on this machine.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    EnvironmentError, Requirement, Store, Surroundings,
    installer::{self, Installer},
    interpreter::{self, Interpreter},
    library, make, process, uv_tool,
};

/// The first import from a cold disk takes a minute on a slow machine.
const IMPORT_LIMIT: Duration = Duration::from_secs(600);

/// Imports a library in a process of its own; how long that took, or its last words.
pub fn try_import(
    surroundings: &Surroundings,
    python: &Path,
    package: &str,
) -> Result<Duration, String> {
    try_script(surroundings, python, package, "")
}

/// The same, and uses what workers and oracles need of it.
pub(crate) fn try_parts(
    surroundings: &Surroundings,
    python: &Path,
    package: &str,
) -> Result<Duration, String> {
    let parts = library::parts_of(package);
    let load = "
import importlib
import importlib.util


def load(*names):
    for name in names:
        try:
            known = importlib.util.find_spec(name)
        except ImportError:
            # A package of it is not in this release.
            known = None
        if known is not None:
            importlib.import_module(name)

";
    try_script(surroundings, python, package, &format!("{load}{parts}"))
}

fn try_script(
    surroundings: &Surroundings,
    python: &Path,
    package: &str,
    then: &str,
) -> Result<Duration, String> {
    let mut command = surroundings.command(python);
    // Without the current folder, which may hold a folder named like the library.
    let script = format!(
        "import sys\nsys.path[:] = filter(None, sys.path)\nimport {package}\n\
         library = sys.modules['{package}']\n{then}"
    );
    command.args(["-c", &script]);
    let started = Instant::now();
    let finished =
        process::run(command, IMPORT_LIMIT, &mut |_| ()).map_err(|error| error.to_string())?;
    if finished.success() {
        Ok(started.elapsed())
    } else {
        Err(finished.tail(15))
    }
}

/// The version of the uv that would be used, if one is here.
pub fn uv_version(surroundings: &Surroundings) -> Option<String> {
    uv_tool::find(surroundings).map(|uv| uv.describe())
}

/// How an environment would be made.
#[derive(Clone, Debug)]
pub struct Plan {
    pub base: Interpreter,
    pub installer: String,
}

/// Whether an environment for `requirement` could be made here, the network permitting.
pub fn can_make(
    surroundings: &Surroundings,
    requirement: &Requirement,
) -> Result<Plan, EnvironmentError> {
    let (base, _) = interpreter::base_for(surroundings, requirement, None)?;
    make::check_disk(surroundings, &Store::new(surroundings), requirement)?;
    let installer = if let Some(version) = uv_version(surroundings) {
        version
    } else if interpreter::interpreters(surroundings, "uv").any(|one| one.probe.has_pip) {
        "uv, to be installed".to_owned()
    } else if base.probe.has_venv || surroundings.find_program("virtualenv").is_some() {
        Installer::Pip.describe()
    } else {
        let reason = "neither `uv` nor the modules `pip` and `venv` are here".to_owned();
        return Err(installer::no_installer(&base, &[reason]));
    };
    Ok(Plan { base, installer })
}
