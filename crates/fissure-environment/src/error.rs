//! What can go wrong between "fuzz torch" and a Python that has torch.
//!
//! The reader of these messages wants to start fuzzing, so each one that the user can act on ends
//! with a blank line and what to do.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Why no environment could be found or made.
#[derive(Debug, Error)]
pub enum EnvironmentError {
    #[error(
        "`{text}` is not a requirement: {reason}\n\nwrite for example `torch==2.9.1` or `torch`"
    )]
    Requirement { text: String, reason: String },

    #[error(
        "cannot find the interpreter `{name}` given by {origin}\n\ngive the path of a Python program, or of a virtual environment"
    )]
    NoSuchInterpreter { name: String, origin: String },

    #[error("cannot use {} as a Python interpreter: {reason}", python.display())]
    Interpreter { python: PathBuf, reason: String },

    #[error("{} is Python {version}, and Fissure needs 3.7 or newer", python.display())]
    TooOld { python: PathBuf, version: String },

    #[error("{} given by {origin} does not have {wanted} ({found})\n\n{hint}", python.display())]
    MissingLibrary {
        python: PathBuf,
        origin: String,
        wanted: String,
        found: String,
        hint: String,
    },

    #[error(
        "no interpreter has `{package}`, and Fissure does not know which package of the index provides it\n\n{looked}\ninstall it and name its interpreter with --python, or name the package with --env REQUIREMENT"
    )]
    UnknownLibrary { package: String, looked: String },

    #[error(
        "no interpreter has {wanted}, and making an environment needs the network, which --offline or FISSURE_OFFLINE forbids\n\nrun once with network: fissure env make '{requirement}'"
    )]
    Offline { wanted: String, requirement: String },

    #[error(
        "{requirement} needs Python {pythons}, and none of those is here (found: {found})\n\ninstall one of them and put it on PATH, or name it: fissure env make '{requirement}' --python PATH"
    )]
    NoFittingPython {
        requirement: String,
        pythons: String,
        found: String,
    },

    #[error(
        "there is no solver program {}\n\nname a z3 with FISSURE_Z3, or leave that variable unset and let Fissure install one: fissure env make z3-solver", named.display()
    )]
    NoSuchSolver { named: PathBuf },

    #[error("no Python interpreter is on PATH\n\n{hint}")]
    NoPython { hint: String },

    #[error("there is no way to make an environment with {}:\n{reasons}\n\n{hint}", python.display())]
    NoInstaller {
        python: PathBuf,
        reasons: String,
        hint: String,
    },

    #[error("{requirement} needs about {needed} on the disk of {}, and {free} are free\n\nfree some space (`fissure env list` shows what can go), or put the environments elsewhere with FISSURE_HOME", folder.display())]
    DiskSpace {
        requirement: String,
        folder: PathBuf,
        needed: String,
        free: String,
    },

    #[error(
        "could not install {requirement}: the package index cannot be reached\n{output}\n\ncheck the network, the proxy (HTTPS_PROXY) and the index (PIP_INDEX_URL or UV_DEFAULT_INDEX), then run: fissure env make '{requirement}' (finished downloads are kept)"
    )]
    Network { requirement: String, output: String },

    #[error(
        "could not install {requirement} for Python {python_version}: no version of it fits{wheels}\n{output}\n\nask for another version, or for another Python with: fissure env make '{requirement}' --python PATH"
    )]
    NoSolution {
        requirement: String,
        /// Which Pythons would do, where that is known.
        wheels: String,
        python_version: String,
        output: String,
    },

    #[error("could not install {requirement}\n{output}")]
    Install { requirement: String, output: String },

    #[error("{requirement} was installed, but cannot be imported\n{output}")]
    Import { requirement: String, output: String },

    #[error("interrupted while installing {requirement}; what was begun is not used")]
    Interrupted { requirement: String },

    #[error("there is no environment named `{name}`\n\n`fissure env list` shows them")]
    NoSuchEnvironment { name: String },

    #[error("the environment `{name}` is being made by another process right now")]
    Busy { name: String },

    #[error("the environment `{name}` is in use by {process}: wait for it, or end it")]
    InUse { name: String, process: String },

    #[error(
        "the user's home folder is not known: {0}\n\nset FISSURE_HOME to the folder for Fissure's environments"
    )]
    NoHome(String),

    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl EnvironmentError {
    /// For `map_err`: says what was being done to which path.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
