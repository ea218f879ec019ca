//! Finds the Pythons of this machine.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    EnvironmentError, Probe, Requirement, Surroundings,
    library::{self, Compatibility},
    probe,
};

/// The newest minor version of Python 3 looked for by name.
const NEWEST_MINOR: u32 = 15;
const OLDEST_MINOR: u32 = 7;

/// An interpreter that was asked and answered.
#[derive(Clone, Debug)]
pub struct Interpreter {
    pub python: PathBuf,
    pub probe: Probe,
}

/// The interpreter of the active virtual environment, if one is active.
pub fn active(surroundings: &Surroundings) -> Option<(&'static str, PathBuf)> {
    ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .find_map(|name| {
            let python = Path::new(surroundings.variable(name)?).join("bin/python");
            python.exists().then_some((name, python))
        })
}

/// The interpreter of the virtual environment `.venv` in the folder that the user stands in.
pub(crate) fn beside(surroundings: &Surroundings) -> Option<PathBuf> {
    let python = surroundings.folder.as_ref()?.join(".venv/bin/python");
    python.exists().then_some(python)
}

/// Every place where an interpreter may be, best first: active, PATH, pyenv.
fn candidates(surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = active(surroundings)
        .map(|(_, path)| path)
        .into_iter()
        .collect();
    let minors = (OLDEST_MINOR..=NEWEST_MINOR)
        .rev()
        .map(|minor| format!("python3.{minor}"));
    let names = ["python3".to_owned(), "python".to_owned()];
    for name in names.into_iter().chain(minors) {
        // All of them: a shim of pyenv may hide the system's own.
        found.extend(surroundings.find_programs(name));
    }
    found.extend(pyenv_versions(surroundings));
    found
}

fn pyenv_versions(surroundings: &Surroundings) -> Vec<PathBuf> {
    let root = surroundings
        .variable("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| Some(surroundings.home.as_ref()?.join(".pyenv")));
    let Some(Ok(entries)) = root.map(|root| fs::read_dir(root.join("versions"))) else {
        return Vec::new();
    };
    let mut versions: Vec<(Vec<u32>, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let numbers: Result<Vec<u32>, _> = name.split('.').map(str::parse).collect();
            let python = entry.path().join("bin/python");
            // Other names are virtual environments or other implementations.
            Some((numbers.ok()?, python)).filter(|(_, python)| python.exists())
        })
        .filter(|(numbers, _)| numbers.as_slice() >= &[3, OLDEST_MINOR][..])
        .collect();
    versions.sort();
    versions
        .into_iter()
        .rev()
        .map(|(_, python)| python)
        .collect()
}

/// Asks the candidates one after the other and yields those that answer, each once.
pub fn interpreters(
    surroundings: &Surroundings,
    package: &str,
) -> impl Iterator<Item = Interpreter> {
    let mut tried = BTreeSet::new();
    let mut seen = BTreeSet::new();
    candidates(surroundings)
        .into_iter()
        .filter_map(move |candidate| {
            if !tried.insert(candidate.clone()) {
                return None;
            }
            // A shim without a version behind it, or a broken link, is no interpreter.
            let probe = probe(surroundings, &candidate, package).ok()?;
            let python = probe.executable.clone();
            let identity = (
                python.canonicalize().unwrap_or_else(|_| python.clone()),
                python.parent().map(Path::to_owned),
            );
            seen.insert(identity)
                .then_some(Interpreter { python, probe })
        })
}

/// The interpreter to build an environment for `requirement` with, and what the table says about
/// the pair.
pub(crate) fn base_for(
    surroundings: &Surroundings,
    requirement: &Requirement,
    named: Option<&Path>,
) -> Result<(Interpreter, Option<&'static Compatibility>), EnvironmentError> {
    let package = library::package_of(&requirement.distribution);
    let lines = library::compatible_lines(requirement);
    if let Some(named) = named {
        let probe = probe(surroundings, named, &package)?;
        let interpreter = Interpreter {
            python: probe.executable.clone(),
            probe,
        };
        require_new_enough(&interpreter)?;
        // The user's word counts more than the table: it may know less than the index.
        let line = lines.iter().find(|line| fits(line, &interpreter));
        return Ok((interpreter, line.or(lines.first()).copied()));
    }
    let mut found = Vec::new();
    for interpreter in interpreters(surroundings, &package) {
        if !interpreter.probe.is_new_enough() {
            found.push(interpreter.probe.python_version);
            continue;
        }
        match lines.first() {
            None => return Ok((interpreter, None)),
            Some(newest) if fits(newest, &interpreter) => return Ok((interpreter, Some(newest))),
            Some(_) => found.push(interpreter.probe.python_version.clone()),
        }
    }
    // No Python for the newest line: an older one may also satisfy a range.
    for line in lines.iter().skip(1) {
        if let Some(interpreter) = interpreters(surroundings, &package)
            .find(|one| one.probe.is_new_enough() && fits(line, one))
        {
            return Ok((interpreter, Some(line)));
        }
    }
    if found.is_empty() {
        return Err(EnvironmentError::NoPython {
            hint: crate::installer::install_hint("python3"),
        });
    }
    found.dedup();
    Err(EnvironmentError::NoFittingPython {
        requirement: requirement.to_string(),
        pythons: match lines.first() {
            Some(line) => line.pythons_text(),
            None => "3.7 or newer".to_owned(),
        },
        found: found.join(", "),
    })
}

fn fits(line: &Compatibility, interpreter: &Interpreter) -> bool {
    interpreter
        .probe
        .python_minor()
        .is_some_and(|minor| line.fits(minor))
}

pub(crate) fn require_new_enough(interpreter: &Interpreter) -> Result<(), EnvironmentError> {
    if interpreter.probe.is_new_enough() {
        return Ok(());
    }
    Err(EnvironmentError::TooOld {
        python: interpreter.python.clone(),
        version: interpreter.probe.python_version.clone(),
    })
}
