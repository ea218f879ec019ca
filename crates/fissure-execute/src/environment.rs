//! The environment variables and folders a target gets.

use crate::folder::Folder;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Marks every process below a pool or a script run, so that all of them can be found again.
pub(crate) const MARKER: &str = "FISSURE_RUN";

/// One computing thread per worker: the pool is what runs in parallel.
const ONE_THREAD: [&str; 6] = [
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
];

/// Names of more variables to hand on, with commas between them.
const PASSED_BY_NAME: &str = "FISSURE_PASS_ENVIRONMENT";

/// What every program needs, and what a Python environment is found by.
const PASSED: [&str; 26] = [
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONUSERBASE",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONWARNINGS",
    "PYTHONOPTIMIZE",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "COLUMNS",
    "LINES",
    "CC",
    "CXX",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// What libraries read.
const PASSED_PREFIXES: [&str; 37] = [
    "LC_",
    "CUDA",
    "CUBLAS",
    "CUDNN",
    "CUFFT",
    "NVIDIA_",
    "NCCL_",
    "ROCM_",
    "ROCR_",
    "HIP_",
    "HSA_",
    "MIOPEN_",
    "ZE_",
    "SYCL_",
    "TORCH",
    "PYTORCH_",
    "ATEN_",
    "TRITON_",
    "C10_",
    "TF_",
    "XLA_",
    "TPU_",
    "JAX_",
    "KERAS_",
    "MXNET_",
    "DMLC_",
    "NUMPY_",
    "NPY_",
    "NUMBA_",
    "MKL_",
    "OMP_",
    "KMP_",
    "GOMP_",
    "OPENBLAS_",
    "ONEDNN_",
    "DNNL_",
    "MALLOC_",
];

const SECRET_PARTS: [&str; 13] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "COOKIE",
    "_AUTH",
    "AUTH_",
];
const SECRET_NAMES: [&str; 8] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DOCKER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "KUBECONFIG",
    "PGPASSFILE",
];

/// A value for the marker that no other run has.
pub(crate) fn new_marker() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    // A clock before 1970 still leaves process number and counter.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    format!("{}-{count}-{now}", std::process::id())
}

/// The marker as it stands in an environment.
pub(crate) fn marker_variable(marker: &str) -> String {
    format!("{MARKER}={marker}")
}

/// Makes the folders of a target below `scratch` and returns the current one, absolute.
pub(crate) fn make_folders(scratch: &Path) -> io::Result<PathBuf> {
    let scratch = std::path::absolute(scratch)?;
    fs::create_dir_all(&scratch)?;
    let open = Folder::open(&scratch)?;
    for folder in ["home", "tmp", "work"] {
        // Not through a link that an earlier target has left.
        open.below(folder)?;
    }
    fs::canonicalize(scratch)
}

/// Sets the environment of a target whose folders are below `scratch` (see [`make_folders`]).
pub(crate) fn set_environment(
    command: &mut Command,
    scratch: &Path,
    extra_path: &[PathBuf],
    additions: &[(String, String)],
) {
    only_allowed(command, &scratch.join("home"));
    for name in ONE_THREAD {
        command.env(name, "1");
    }
    command
        .env("TMPDIR", scratch.join("tmp"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONUNBUFFERED", "1")
        .env("PYTHONIOENCODING", "utf-8:backslashreplace");
    if let Some(path) = python_path(extra_path) {
        command.env("PYTHONPATH", path);
    }
    for (name, value) in additions {
        command.env(name, value);
    }
}

/// Leaves of our environment what a target gets, with `home` in place of the user's own folder.
pub fn only_allowed(command: &mut Command, home: &Path) {
    command.env_clear();
    for (name, value) in env::vars_os() {
        if name.to_str().is_some_and(is_passed_on) {
            command.env(name, value);
        }
    }
    if env::var_os("PYTHONUSERBASE").is_none()
        && let Some(home) = env::var_os("HOME")
    {
        // Packages of the user's own site folder are found although HOME leads elsewhere.
        command.env("PYTHONUSERBASE", Path::new(&home).join(".local"));
    }
    command.env("HOME", home);
}

/// Whether a target gets a variable of ours: what finds programs and libraries, what the libraries
/// themselves read, and what the user names in `FISSURE_PASS_ENVIRONMENT`.
fn is_passed_on(name: &str) -> bool {
    let named = env::var(PASSED_BY_NAME).is_ok_and(|names| names.split(',').any(|it| it == name));
    let known = PASSED.contains(&name)
        || PASSED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix));
    named || (known && !is_secret(name))
}

/// Names under which programs keep keys and passwords, or ways to act for the user.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part)) || SECRET_NAMES.contains(&name.as_str())
}

/// Takes from the environment of a program of the user what it has no need of: the program may be
/// anybody's.
pub fn without_secrets(command: &mut Command) {
    let named = env::var(PASSED_BY_NAME).unwrap_or_default();
    for (name, _) in env::vars_os() {
        if let Some(text) = name.to_str()
            && is_secret(text)
            && !named.split(',').any(|it| it == text)
        {
            command.env_remove(text);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_gets_what_libraries_read_and_no_secret() {
        for name in [
            "PATH",
            "LC_ALL",
            "CUDA_VISIBLE_DEVICES",
            "TF_CPP_MIN_LOG_LEVEL",
        ] {
            assert!(is_passed_on(name), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "TF_API_TOKEN",
            "SSH_AUTH_SOCK",
            "OPENAI_API_KEY",
            "MY_OWN_NAME",
            "FISSURE_LLM_KEY",
        ] {
            assert!(!is_passed_on(name), "{name}");
        }
    }
}
