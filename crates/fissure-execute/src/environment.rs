//! The environment variables and folders a target gets.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Marks every process below a pool or a script run, so that all of them can be found again.
const MARKER: &str = "FISSURE_RUN";

/// One computing thread per worker: the pool is what runs in parallel.
const ONE_THREAD: [&str; 6] = [
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
];

/// A value for the marker that no other run has.
pub fn new_marker() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    // A clock before 1970 still leaves process number and counter.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    format!("{}-{count}-{now}", std::process::id())
}

/// The marker as it stands in an environment.
pub fn marker_variable(marker: &str) -> String {
    format!("{MARKER}={marker}")
}

/// Makes the folders of a target below `scratch` and returns the current one, absolute.
pub fn make_folders(scratch: &Path) -> io::Result<PathBuf> {
    let scratch = std::path::absolute(scratch)?;
    for folder in ["home", "tmp", "work"] {
        fs::create_dir_all(scratch.join(folder))?;
    }
    fs::canonicalize(scratch)
}

/// Sets the environment of a target whose folders are below `scratch` (see [`make_folders`]).
pub fn set_environment(
    command: &mut Command,
    scratch: &Path,
    marker: &str,
    extra_path: &[PathBuf],
    additions: &[(String, String)],
) {
    for name in ONE_THREAD {
        command.env(name, "1");
    }
    if env::var_os("PYTHONUSERBASE").is_none()
        && let Some(home) = env::var_os("HOME")
    {
        // Packages of the user's own site folder are found although HOME leads elsewhere.
        command.env("PYTHONUSERBASE", Path::new(&home).join(".local"));
    }
    command
        .env("HOME", scratch.join("home"))
        .env("TMPDIR", scratch.join("tmp"))
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("PYTHONSTARTUP")
        .env_remove("PYTHONINSPECT")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONUNBUFFERED", "1")
        .env("PYTHONIOENCODING", "utf-8:backslashreplace")
        .env(MARKER, marker);
    if let Some(path) = python_path(extra_path) {
        command.env("PYTHONPATH", path);
    }
    for (name, value) in additions {
        command.env(name, value);
    }
}

/// `extra_path`, absolute, in front of what the user has.
fn python_path(extra_path: &[PathBuf]) -> Option<OsString> {
    if extra_path.is_empty() {
        return None;
    }
    let own = env::var_os("PYTHONPATH");
    let present = own.iter().flat_map(env::split_paths);
    let all = extra_path
        .iter()
        .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
        .chain(present);
    // A folder with a colon in its name cannot be said in PYTHONPATH at all.
    env::join_paths(all.filter(|path| !path.to_string_lossy().contains(':'))).ok()
}
