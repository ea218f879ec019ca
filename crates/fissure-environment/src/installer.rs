//! The two installers: uv where it can be had, else the pip of a virtual environment.
//!
//! uv needs no `venv` module in the interpreter, keeps finished downloads across attempts and
//! links files instead of copying them; pip is there where uv cannot run.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
    time::{Duration, Instant},
};

use pep440_rs::Version;

use crate::{
    EnvironmentError, Progress, Requirement, Surroundings,
    failure::Failure,
    index,
    interpreter::Interpreter,
    pins,
    process::{self, Event, Finished},
};

/// A slow line needs most of an hour for the wheels of torch.
const INSTALL_LIMIT: Duration = Duration::from_secs(3 * 3600);
const QUESTION_LIMIT: Duration = Duration::from_secs(600);
/// Variables that would send packages elsewhere than into the environment being made.
const MISLEADING: &[&str] = &[
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONHOME",
    "PYTHONPATH",
    "UV_SYSTEM_PYTHON",
    "UV_TARGET",
    "PIP_USER",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_REPORT",
    "PIP_DRY_RUN",
];

/// A way to make an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Installer {
    Uv { program: PathBuf, version: String },
    Pip,
}

impl Installer {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Uv { version, .. } => version.clone(),
            Self::Pip => "pip".to_owned(),
        }
    }

    /// uv, if `program` is one that runs.
    pub(crate) fn uv(surroundings: &Surroundings, program: PathBuf) -> Option<Self> {
        let mut command = surroundings.command(&program);
        command.arg("--version");
        let finished = process::run(command, QUESTION_LIMIT, &mut |_| ()).ok()?;
        let line = finished.lines.first()?;
        // "uv 0.9.1 (…)"
        let version: Vec<&str> = line.split_whitespace().take(2).collect();
        (finished.success() && version.first() == Some(&"uv")).then(|| Self::Uv {
            program,
            version: version.join(" "),
        })
    }

    /// Makes an empty virtual environment.
    pub(crate) fn create(
        &self,
        work: &Work<'_>,
        base: &Interpreter,
        folder: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let mut attempts = Vec::new();
        match self {
            Self::Uv { program, .. } => {
                let mut command = work.uv(program);
                command.args(["venv", "--no-project", "--python"]);
                command.arg(&base.python).arg(folder);
                attempts.push(command);
            }
            Self::Pip => {
                let mut command = work.command(&base.python);
                command.args(["-m", "venv"]).arg(folder);
                attempts.push(command);
                if let Some(virtualenv) = work.surroundings.find_program("virtualenv") {
                    let mut command = work.command(&virtualenv);
                    command.arg("--python").arg(&base.python).arg(folder);
                    attempts.push(command);
                }
            }
        }
        let mut failure = None;
        for command in attempts {
            match work.run(command, progress) {
                Ok(_) => return Ok(()),
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                Err(error) => failure = failure.or(Some(error)),
            }
            // bare Debian leaves half an environment behind when `ensurepip` is missing
            let _ = fs::remove_dir_all(folder);
        }
        Err(failure.expect("at least one command was tried"))
    }

    /// Installs packages into a virtual environment made by [`Self::create`].
    pub(crate) fn install(
        &self,
        work: &Work<'_>,
        python: &Path,
        packages: &[String],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let hashes = pins::hashes_for(packages).map_err(|e| Failure::Other(e.to_string()))?;
        let mut command = match self {
            Self::Uv { program, .. } => {
                let mut command = work.uv(program);
                // Without byte code every worker's first import costs seconds more where
                // PYTHONDONTWRITEBYTECODE is set.
                command.args(["pip", "install", "--compile-bytecode", "--python"]);
                command.arg(python);
                command
            }
            Self::Pip => {
                let mut command = work.pip(python);
                command.args(["install", "--progress-bar", "off", "--prefer-binary"]);
                command
            }
        };
        match &hashes {
            Some(file) => command
                .args(["--require-hashes", "--only-binary", ":all:", "-r"])
                .arg(file.path()),
            None => command.args(packages),
        };
        work.run(command, progress).map(drop)
    }

    /// The newest version on the index that a requirement allows for this interpreter.
    pub(crate) fn newest(
        &self,
        work: &Work<'_>,
        base: &Interpreter,
        requirement: &Requirement,
    ) -> Result<Version, Failure> {
        let mut file = tempfile::NamedTempFile::new().map_err(|e| Failure::Other(e.to_string()))?;
        let command = match self {
            Self::Uv { program, .. } => {
                writeln!(file, "{requirement}").map_err(|e| Failure::Other(e.to_string()))?;
                let mut command = work.uv(program);
                command.args(["pip", "compile", "--quiet", "--no-deps", "--no-header"]);
                command
                    .args(["--no-annotate", "--python"])
                    .arg(&base.python)
                    .arg(file.path());
                command
            }
            Self::Pip => {
                let mut command = work.pip(&base.python);
                command.args(["index", "versions", &requirement.distribution]);
                command
            }
        };
        let finished = work.run(command, &mut |_| ())?;
        newest_in(&finished.lines, requirement)
            .ok_or_else(|| Failure::NoSolution(finished.tail(10)))
    }
}

/// Reads `torch==2.9.1` of uv and `Available versions: 2.9.1, 2.9.0` of pip.
fn newest_in(lines: &[String], requirement: &Requirement) -> Option<Version> {
    let pinned = format!("{}==", requirement.distribution);
    lines
        .iter()
        .flat_map(|line| match line.strip_prefix("Available versions:") {
            Some(versions) => versions.split(',').collect(),
            None => line.strip_prefix(&pinned).into_iter().collect::<Vec<_>>(),
        })
        .filter_map(|text| Version::from_str(text.trim()).ok())
        .filter(|version| !version.any_prerelease() && requirement.versions.contains(version))
        .max()
}

/// Where and with what variables installers run.
pub(crate) struct Work<'a> {
    pub surroundings: &'a Surroundings,
    /// Not the user's current folder: a project's own uv configuration there is none of ours.
    pub folder: &'a Path,
}

impl Work<'_> {
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = self.surroundings.command(program);
        for name in MISLEADING {
            command.env_remove(name);
        }
        command.env("NO_COLOR", "1").current_dir(self.folder);
        command
    }

    fn uv(&self, program: &Path) -> Command {
        let mut command = self.command(program);
        command.envs(index::variables_for_uv(self.surroundings));
        // Interpreters come from this machine, never from another server.
        command.env("UV_PYTHON_DOWNLOADS", "never");
        // uv gives up on a wheel of 900 MB after 30 s of its default.
        for (name, value) in [("UV_HTTP_TIMEOUT", "600"), ("UV_CONCURRENT_DOWNLOADS", "4")] {
            if self.surroundings.variable(name).is_none() {
                command.env(name, value);
            }
        }
        command
    }

    pub(crate) fn pip(&self, python: &Path) -> Command {
        let mut command = self.command(python);
        command.args(["-m", "pip", "--no-input", "--disable-pip-version-check"]);
        if self.surroundings.variable("PIP_DEFAULT_TIMEOUT").is_none() {
            command.env("PIP_DEFAULT_TIMEOUT", "180");
        }
        command
    }

    pub(crate) fn run(
        &self,
        command: Command,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Finished, Failure> {
        let started = Instant::now();
        let program = command.get_program().to_owned();
        let finished = process::run(command, INSTALL_LIMIT, &mut |event| {
            progress(match event {
                Event::Line(line) => Progress::from_installer_line(line),
                Event::Tick { written } => Progress::Running {
                    elapsed: started.elapsed(),
                    written,
                },
            });
        })
        .map_err(|error| Failure::Other(format!("  {}: {error}", program.display())))?;
        if finished.success() {
            Ok(finished)
        } else {
            Err(Failure::of(&finished))
        }
    }
}

/// The command with which the user gets what is missing, on this distribution of Linux.
pub fn install_hint(missing: &str) -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_else(|_| String::new());
    hint_for(&release, missing)
}

fn hint_for(release: &str, missing: &str) -> String {
    let is = |name: &str| {
        release.lines().any(|line| {
            line.split_once('=').is_some_and(|(key, value)| {
                ["ID", "ID_LIKE"].contains(&key)
                    && value.trim_matches('"').split(' ').any(|word| word == name)
            })
        })
    };
    let venv = missing == "python3-venv";
    if is("debian") || is("ubuntu") {
        format!("run: apt install {missing}")
    } else if is("fedora") || is("rhel") {
        format!(
            "run: dnf install {}",
            if venv { "python3-pip" } else { missing }
        )
    } else if is("arch") {
        format!(
            "run: pacman -S {}",
            if venv { "python-pip" } else { "python" }
        )
    } else if is("alpine") {
        format!("run: apk add {}", if venv { "py3-pip" } else { missing })
    } else if venv {
        "install the modules `venv` and `pip` for this Python, or the program `uv`".to_owned()
    } else {
        format!("install {missing}")
    }
}

/// What to do when no installer works, as an error.
pub(crate) fn no_installer(base: &Interpreter, reasons: &[String]) -> EnvironmentError {
    EnvironmentError::NoInstaller {
        python: base.python.clone(),
        reasons: reasons
            .iter()
            .map(|reason| format!("  {reason}"))
            .collect::<Vec<_>>()
            .join("\n"),
        hint: install_hint("python3-venv"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_read_from_uv_and_from_pip() {
        let requirement = "torch<2.9".parse().unwrap();
        let uv = ["torch==2.8.0".to_owned()];
        let pip = [
            "torch (2.15.0)",
            "Available versions: 2.15.0, 2.9.0, 2.9.0rc1, 2.8.0, 2.10.0",
        ];
        let pip = pip.map(str::to_owned);
        assert_eq!(newest_in(&uv, &requirement).unwrap().to_string(), "2.8.0");
        assert_eq!(newest_in(&pip, &requirement).unwrap().to_string(), "2.8.0");
        assert_eq!(
            newest_in(&pip, &"torch".parse().unwrap())
                .unwrap()
                .to_string(),
            "2.15.0"
        );
        assert_eq!(newest_in(&pip, &"torch>3".parse().unwrap()), None);
    }

    #[test]
    fn the_hint_is_the_command_of_the_users_distribution() {
        for (release, command) in [
            ("ID=debian\n", "run: apt install python3-venv"),
            (
                "NAME=x\nID=mint\nID_LIKE=\"ubuntu debian\"",
                "run: apt install python3-venv",
            ),
            ("ID=fedora", "run: dnf install python3-pip"),
            ("ID=arch", "run: pacman -S python-pip"),
        ] {
            assert_eq!(hint_for(release, "python3-venv"), command);
        }
        assert!(hint_for("", "python3-venv").contains("`uv`"));
    }
}
