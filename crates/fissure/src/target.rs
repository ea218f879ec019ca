//! Which Python runs the library: the flags, and the resolution with its progress on the terminal.

mod consent;
mod describe;
mod mistyped;
mod progress;

use std::path::PathBuf;

use clap::Args;
use fissure_environment::{
    EnvironmentError, Requirement, Surroundings, Wanted, known_packages, meant_by, packages_beside,
};

use crate::console::notice;
use crate::exit_status::usage;
use crate::suggestion::suggestion;
pub(crate) use describe::describe;
pub(crate) use mistyped::refuse_mistyped;
pub(crate) use progress::MakingDisplay;

/// Flags of every command that runs a library.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Python interpreter, or folder of a virtual environment, that has the library [env: FISSURE_PYTHON]
    #[arg(long, value_name = "PATH", conflicts_with = "env")]
    pub python: Option<PathBuf>,

    /// Library version to run, in a managed environment that is made when missing: torch==2.9.1
    #[arg(long, value_name = "REQUIREMENT")]
    pub env: Option<String>,

    /// Package to have beside the library, or a requirements.txt or pyproject.toml that lists some: a managed
    /// environment with all of them is used, and made when missing
    #[arg(long = "with", value_name = "PACKAGE", conflicts_with = "python")]
    pub beside: Vec<String>,

    /// Never use the network: do not make an environment [env: FISSURE_OFFLINE]
    #[arg(long)]
    pub offline: bool,
}

/// The interpreter that will run the library.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub python: PathBuf,
    /// Which it is and why, with the version of the library.
    pub reason: String,
}

/// Finds an interpreter with `package`, or makes an environment for it with progress on stderr, and
/// says in one line which it is and why.
pub(crate) fn resolve(args: &TargetArgs, package: &str) -> anyhow::Result<Target> {
    resolve_for(args, package, &[])
}

/// The same for a package that may lie in one of the user's own folders.
pub(crate) fn resolve_for(
    args: &TargetArgs,
    package: &str,
    python_path: &[PathBuf],
) -> anyhow::Result<Target> {
    let wanted = Wanted {
        package: package.to_owned(),
        python: args.python.clone(),
        requirement: args.env.as_deref().map(parse_requirement).transpose()?,
        beside: packages_beside(&args.beside).map_err(as_usage)?,
        offline: args.offline,
    };
    let surroundings = Surroundings::from_process()?.with_python_path(python_path)?;
    let mut display = MakingDisplay::new();
    let mut find = |wanted: &Wanted| {
        fissure_environment::resolve(&surroundings, wanted, &mut |news| display.show(news))
    };
    let only_look = Wanted {
        offline: true,
        ..wanted.clone()
    };
    let choice = match find(&only_look) {
        Err(EnvironmentError::Offline { requirement, .. })
            if !args.offline && !surroundings.offline() =>
        {
            // With --env the user has already said what to make.
            match &wanted.requirement {
                Some(typed) => refuse_mistyped(typed)?,
                None if args.beside.is_empty() => {
                    consent::ask(&surroundings, package, &parse_requirement(&requirement)?)?;
                }
                None => {}
            }
            find(&wanted)
        }
        found => found,
    }
    .map_err(as_usage)?;
    display.finish();
    notice!("fissure: using {}", choice.reason);
    Ok(Target {
        python: choice.python,
        reason: choice.reason.to_string(),
    })
}

/// Reads a requirement from the command line.
pub(crate) fn parse_requirement(text: &str) -> anyhow::Result<Requirement> {
    text.parse().map_err(as_usage)
}

/// What the user can only mend by another command line ends with the exit code for that.
pub(crate) fn as_usage(error: EnvironmentError) -> anyhow::Error {
    match error {
        EnvironmentError::UnknownLibrary { ref package, .. } => {
            let meant = match meant_by(package) {
                Some(meant) => format!("\n\ndid you mean {meant}?"),
                None => suggestion(package, known_packages()),
            };
            usage(format!("{error}{meant}"))
        }
        EnvironmentError::Requirement { .. }
        | EnvironmentError::NoSuchInterpreter { .. }
        | EnvironmentError::Interpreter { .. }
        | EnvironmentError::TooOld { .. }
        | EnvironmentError::MissingLibrary { .. }
        | EnvironmentError::NoSolution { .. }
        | EnvironmentError::Offline { .. }
        | EnvironmentError::NoSuchEnvironment { .. } => usage(error.to_string()),
        error => error.into(),
    }
}
