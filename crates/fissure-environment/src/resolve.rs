//! Chooses the interpreter that runs the library under test.

use std::{
    cmp::Reverse,
    path::{Path, PathBuf},
    str::FromStr,
};

use pep440_rs::Version;

use crate::{
    EnvironmentError, Managed, Probe, Progress, Requirement, Store, Surroundings,
    interpreter::{self, Interpreter},
    library, make_with, probe,
};

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The import name of the library: `torch`.
    pub package: String,
    /// `--python`: a program, a name on PATH, or the folder of a virtual environment.
    pub python: Option<PathBuf>,
    /// `--env`.
    pub requirement: Option<Requirement>,
    /// `--with`: what a managed environment must have beside the library.
    pub beside: Vec<String>,
    /// `--offline`: never make an environment.
    pub offline: bool,
}

/// The interpreter that will run the library, and why it and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub python: PathBuf,
    pub python_version: String,
    pub library_version: Option<String>,
    /// One line for the user: `torch 2.9.1, Python 3.11.7: active virtual environment`.
    pub reason: String,
    /// The name of the managed environment, if it is one.
    pub environment: Option<String>,
}

/// Finds an interpreter with the library, or makes an environment for it.
///
/// In this order: `--python`, `FISSURE_PYTHON`, the active virtual environment, managed
/// environments, `python3` on PATH, a new managed environment. What the user named explicitly must
/// have the library; the others are passed over when they lack it or have another version than
/// `--env` says.
pub fn resolve(
    surroundings: &Surroundings,
    wanted: &Wanted,
    progress: &mut dyn FnMut(Progress),
) -> Result<Choice, EnvironmentError> {
    let search = Search {
        surroundings,
        wanted,
    };
    if let Some(python) = &wanted.python {
        return search.named(python, "--python");
    }
    let mut looked = Vec::new();
    // Nothing is installed into what is the user's own.
    if !wanted.beside.is_empty() {
        return match search.managed(&mut looked)? {
            Some(choice) => Ok(choice),
            None => search.make(&looked, progress),
        };
    }
    if let Some(python) = surroundings.variable("FISSURE_PYTHON") {
        let choice = search.named(Path::new(python), "FISSURE_PYTHON");
        match choice {
            // A flag of this run overrules a variable set long ago.
            Err(EnvironmentError::MissingLibrary { found, .. }) if wanted.requirement.is_some() => {
                looked.push(format!("FISSURE_PYTHON: {found}"));
            }
            choice => return choice,
        }
    }
    if let Some((variable, python)) = interpreter::active(surroundings) {
        match search.check(&python) {
            Ok(probe) => {
                return Ok(
                    search.choice(probe, &format!("active virtual environment ({variable})"))
                );
            }
            Err(why) => looked.push(format!("active virtual environment: {why}")),
        }
    }
    // Who asks for a version means the environment that was made for it.
    if wanted.requirement.is_some()
        && let Some(choice) = search.managed(&mut looked)?
    {
        return Ok(choice);
    }
    if let Some(python) = interpreter::beside(surroundings) {
        match search.check(&python) {
            Ok(probe) => return Ok(search.choice(probe, "./.venv")),
            Err(why) => looked.push(format!("./.venv: {why}")),
        }
    }
    for name in ["python3", "python"] {
        let Some(python) = surroundings.find_program(name) else {
            continue;
        };
        match search.check(&python) {
            Ok(probe) => return Ok(search.choice(probe, &format!("{name} on PATH"))),
            Err(why) => looked.push(format!("{name} on PATH: {why}")),
        }
    }
    if wanted.requirement.is_none()
        && let Some(choice) = search.managed(&mut looked)?
    {
        return Ok(choice);
    }
    search.make(&looked, progress)
}

struct Search<'a> {
    surroundings: &'a Surroundings,
    wanted: &'a Wanted,
}

impl Search<'_> {
    fn wanted_text(&self) -> String {
        match &self.wanted.requirement {
            Some(requirement) => requirement.to_string(),
            None => self.wanted.package.clone(),
        }
    }

    /// Asks an interpreter; an error is the reason to pass it over.
    fn check(&self, python: &Path) -> Result<Probe, String> {
        let package = &self.wanted.package;
        let found = probe(self.surroundings, python, package).map_err(|error| error.to_string())?;
        if !found.is_new_enough() {
            return Err(format!("Python {} is older than 3.7", found.python_version));
        }
        if !found.library_found || found.import_error.is_some() {
            return Err(found.found(package));
        }
        if let Some(requirement) = &self.wanted.requirement {
            self.check_version(python, &found, requirement)?;
        }
        Ok(found)
    }

    fn check_version(
        &self,
        python: &Path,
        found: &Probe,
        requirement: &Requirement,
    ) -> Result<(), String> {
        let provided = library::package_of(&requirement.distribution);
        let other;
        let about = if provided == self.wanted.package {
            found
        } else {
            // `--env torch==2.9.1` for a library that only builds on torch
            other =
                probe(self.surroundings, python, &provided).map_err(|error| error.to_string())?;
            &other
        };
        match &about.library_version {
            Some(version) if requirement.allows(version) => Ok(()),
            _ => Err(format!("{}, not {requirement}", about.found(&provided))),
        }
    }

    /// An interpreter the user named must do.
    fn named(&self, name: &Path, origin: &str) -> Result<Choice, EnvironmentError> {
        let python = locate(self.surroundings, name, origin)?;
        let found = probe(self.surroundings, &python, &self.wanted.package)?;
        interpreter::require_new_enough(&Interpreter {
            python: python.clone(),
            probe: found,
        })?;
        match self.check(&python) {
            Ok(probe) => Ok(self.choice(probe, origin)),
            Err(found) => Err(EnvironmentError::MissingLibrary {
                hint: self.hint(&python),
                python,
                origin: origin.to_owned(),
                wanted: self.wanted_text(),
                found,
            }),
        }
    }

    fn hint(&self, python: &Path) -> String {
        let install = self
            .wanted
            .requirement
            .clone()
            .or_else(|| library::default_requirement(&self.wanted.package));
        match install {
            Some(requirement) => format!(
                "install it there: {} -m pip install '{requirement}'\nor let Fissure make an environment: --env '{requirement}'",
                python.display()
            ),
            None => "install it there, or name another interpreter".to_owned(),
        }
    }

    /// The best managed environment. Without a wish: the version Fissure is tested with, else the
    /// newest; among equals the one used last.
    fn managed(&self, looked: &mut Vec<String>) -> Result<Option<Choice>, EnvironmentError> {
        let default = library::default_requirement(&self.wanted.package);
        let provides = library::distributions_of(&self.wanted.package);
        let store = Store::new(self.surroundings);
        let mut fitting: Vec<(Managed, String)> = store
            .list()?
            .into_iter()
            .filter_map(|managed| {
                let record = managed.record.as_ref()?;
                let fits = match &self.wanted.requirement {
                    Some(requirement) => {
                        requirement.distribution == record.distribution
                            && requirement.allows(&record.version)
                    }
                    None => provides.contains(&record.distribution),
                };
                let has_all = self
                    .wanted
                    .beside
                    .iter()
                    .all(|one| record.beside.contains(one));
                let version = record.version.clone();
                (fits && has_all).then_some((managed, version))
            })
            .collect();
        fitting.sort_by_cached_key(|(managed, version)| {
            let tested = self.wanted.requirement.is_none()
                && default
                    .as_ref()
                    .is_some_and(|default| default.allows(version));
            let bare = managed
                .record
                .as_ref()
                .is_some_and(|record| record.beside.is_empty());
            Reverse((
                tested,
                Version::from_str(version).ok(),
                bare,
                managed.last_used,
            ))
        });
        for (managed, _) in fitting {
            match self.check(&managed.python()) {
                Ok(probe) => {
                    // Only for the user's eyes in `fissure env list`: a read-only folder of a
                    // colleague serves as well.
                    let _ = managed.touch();
                    return Ok(Some(self.managed_choice(probe, &managed)));
                }
                Err(why) => looked.push(format!("environment {}: {why}", managed.name)),
            }
        }
        Ok(None)
    }

    fn make(
        &self,
        looked: &[String],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Choice, EnvironmentError> {
        let package = &self.wanted.package;
        let requirement = self
            .wanted
            .requirement
            .clone()
            .or_else(|| library::default_requirement(package))
            .ok_or_else(|| EnvironmentError::UnknownLibrary {
                package: package.clone(),
                looked: looked.iter().map(|line| format!("{line}\n")).collect(),
            })?;
        if self.wanted.offline || self.surroundings.offline() {
            return Err(EnvironmentError::Offline {
                wanted: self.wanted_text(),
                requirement: requirement.to_string(),
            });
        }
        let beside = &self.wanted.beside;
        let managed = make_with(self.surroundings, &requirement, beside, None, progress)?;
        let python = managed.python();
        match self.check(&python) {
            Ok(probe) => {
                managed.touch()?;
                Ok(self.managed_choice(probe, &managed))
            }
            Err(found) => Err(EnvironmentError::MissingLibrary {
                python,
                origin: format!("--env {requirement}"),
                wanted: package.clone(),
                found,
                hint: format!("name the package that provides `{package}` with --env"),
            }),
        }
    }

    fn managed_choice(&self, probe: Probe, managed: &Managed) -> Choice {
        // `sys.executable` of a virtual environment is its own link; keep the path we know.
        let mut choice = self.choice(probe, &format!("managed environment {}", managed.name));
        choice.python = managed.python();
        choice.environment = Some(managed.name.clone());
        choice
    }

    fn choice(&self, probe: Probe, why: &str) -> Choice {
        let reason = format!(
            "{}, Python {}: {why}",
            probe.found(&self.wanted.package),
            probe.python_version
        );
        Choice {
            python: probe.executable,
            python_version: probe.python_version,
            library_version: probe.library_version,
            reason,
            environment: None,
        }
    }
}

/// A program by path or by name on PATH, or the interpreter of a virtual environment's folder.
pub fn locate(
    surroundings: &Surroundings,
    name: &Path,
    origin: &str,
) -> Result<PathBuf, EnvironmentError> {
    let candidate = if name.is_dir() {
        name.join("bin/python")
    } else {
        name.to_owned()
    };
    surroundings
        .find_program(&candidate)
        .map(|found| std::path::absolute(&found).unwrap_or(found))
        .ok_or_else(|| EnvironmentError::NoSuchInterpreter {
            name: name.display().to_string(),
            origin: origin.to_owned(),
        })
}
