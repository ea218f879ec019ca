//! Makes a managed environment.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use pep440_rs::Version;

use crate::{
    EnvironmentError, Managed, Progress, Requirement, Store, Surroundings, beside,
    check::try_parts,
    failure::Failure,
    installer::{self, Installer, Work},
    interpreter::{self, Interpreter},
    library, machine,
    managed::{self, Record},
    probe,
    surroundings::make_private,
    uv_tool,
};

/// uv keeps finished downloads, so each attempt gets further on a bad line.
const ATTEMPTS: u32 = 4;
/// Free disk without which nothing is begun, for a package about which nothing is known.
const UNKNOWN_NEEDS: u64 = 300_000_000;

/// Makes an environment that satisfies `requirement`, or returns the one that is already there.
/// `python` is the interpreter to build on; without it a fitting one is looked for.
pub fn make(
    surroundings: &Surroundings,
    requirement: &Requirement,
    python: Option<&Path>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Managed, EnvironmentError> {
    make_with(surroundings, requirement, &[], python, progress)
}

/// The same with packages of the user's beside the library ([`crate::packages_beside`]).
pub fn make_with(
    surroundings: &Surroundings,
    requirement: &Requirement,
    beside: &[String],
    python: Option<&Path>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Managed, EnvironmentError> {
    let (base, line) = interpreter::base_for(surroundings, requirement, python)?;
    let store = Store::new(surroundings);
    if let Some(version) = requirement.pinned()
        && let Some(whole) = whole(
            surroundings,
            &store.get(&name_of(requirement, version, &base, beside)),
        )
    {
        return Ok(whole);
    }
    if surroundings.offline() {
        return Err(EnvironmentError::Offline {
            wanted: requirement.to_string(),
            requirement: requirement.to_string(),
        });
    }
    make_private(store.folder()).map_err(EnvironmentError::io("create", store.folder()))?;
    let installers = installers(surroundings, &base, progress)?;
    let work = Work {
        surroundings,
        folder: store.folder(),
    };
    let failed = |failure: Failure| {
        failure.into_error(requirement.to_string(), base.probe.python_version.clone())
    };
    let version = match requirement.pinned() {
        Some(version) => version.clone(),
        None => {
            progress(Progress::Step(format!(
                "looking for the newest {requirement}"
            )));
            newest(&installers, &work, &base, requirement).map_err(failed)?
        }
    };
    let exact = requirement.pinned_to(&version);
    // A range may have ended in another line of the table than the newest.
    let line = library::compatible_lines(&exact).first().copied().or(line);
    let mut packages = vec![exact.to_string()];
    packages.extend(
        line.iter()
            .flat_map(|line| line.companions)
            .map(|&text| text.to_owned()),
    );
    packages.extend_from_slice(beside);

    let build = Build {
        store: &store,
        work,
        name: name_of(requirement, &version, &base, beside),
        beside,
        exact,
        packages,
        base: &base,
    };
    build.run(requirement, &installers, progress)
}

/// The environment, if it is whole and its interpreter still runs: the Python it was built on may
/// have been removed since.
fn whole(surroundings: &Surroundings, managed: &Managed) -> Option<Managed> {
    let record = managed.record.as_ref()?;
    let package = library::package_of(&record.distribution);
    probe(surroundings, &managed.python(), &package).ok()?;
    Some(managed.clone())
}

/// What can be used on this machine, best first; never empty.
fn installers(
    surroundings: &Surroundings,
    base: &Interpreter,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Installer>, EnvironmentError> {
    let mut found = Vec::new();
    let mut reasons = Vec::new();
    match uv_tool::provide(surroundings, progress)? {
        Ok(uv) => found.push(uv),
        Err(why) => reasons = why,
    }
    if base.probe.has_venv || surroundings.find_program("virtualenv").is_some() {
        found.push(Installer::Pip);
    } else {
        reasons.push(format!(
            "{} has no modules `venv` and `ensurepip`, and `virtualenv` is not on PATH",
            base.python.display()
        ));
    }
    if found.is_empty() {
        return Err(installer::no_installer(base, &reasons));
    }
    Ok(found)
}

/// Asks the installers in order; the first one's failure counts.
fn newest(
    installers: &[Installer],
    work: &Work<'_>,
    base: &Interpreter,
    requirement: &Requirement,
) -> Result<Version, Failure> {
    let mut answers = installers
        .iter()
        .map(|one| one.newest(work, base, requirement));
    match answers.next().expect("there is at least one installer") {
        Err(failure @ Failure::Other(_)) => answers.find_map(Result::ok).ok_or(failure),
        answer => answer,
    }
}

fn name_of(
    requirement: &Requirement,
    version: &Version,
    base: &Interpreter,
    beside: &[String],
) -> String {
    let (major, minor) = base
        .probe
        .python_minor()
        .expect("a base interpreter was found new enough by its version");
    let beside = beside::name_part(beside);
    format!(
        "{}-{version}-py{major}.{minor}{beside}",
        requirement.distribution
    )
}

pub(crate) fn check_disk(
    surroundings: &Surroundings,
    store: &Store,
    requirement: &Requirement,
) -> Result<(), EnvironmentError> {
    // A seventh more: byte code, and what is unpacked before it is linked.
    let needed = library::bytes_on_disk(surroundings, requirement)
        .map_or(UNKNOWN_NEEDS, |bytes| bytes / 7 * 8);
    let folder = store.folder();
    let free = machine::free_disk(folder)
        .map_err(EnvironmentError::io("ask the free space of", folder))?;
    if free >= needed {
        return Ok(());
    }
    Err(EnvironmentError::DiskSpace {
        requirement: requirement.to_string(),
        folder: folder.to_owned(),
        needed: machine::human_bytes(needed),
        free: machine::human_bytes(free),
    })
}

struct Build<'a> {
    store: &'a Store,
    work: Work<'a>,
    name: String,
    beside: &'a [String],
    exact: Requirement,
    packages: Vec<String>,
    base: &'a Interpreter,
}

impl Build<'_> {
    fn run(
        &self,
        requirement: &Requirement,
        installers: &[Installer],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Managed, EnvironmentError> {
        let name = &self.name;
        let _lock = self.store.lock(name, || {
            progress(Progress::Step(format!(
                "waiting for another process that makes {name}"
            )));
            Ok(())
        })?;
        // Made meanwhile by the process waited for, or found now that a range has its version.
        if let Some(whole) = whole(self.work.surroundings, &self.store.get(name)) {
            return Ok(whole);
        }
        self.check_disk()?;
        progress(Progress::Making {
            name: name.clone(),
            requirement: self.exact.to_string(),
            folder: self.folder(),
            python: self.base.python.clone(),
            python_version: self.base.probe.python_version.clone(),
            bytes: library::bytes_on_disk(self.work.surroundings, &self.exact),
            download: library::bytes_to_download(self.work.surroundings, &self.exact),
        });
        let started = Instant::now();
        let built = self
            .install_with_any(installers, progress)
            .map_err(|failure| {
                failure.into_error(
                    self.exact.to_string(),
                    self.base.probe.python_version.clone(),
                )
            })
            .and_then(|installer| self.check_import(progress).map(|()| installer));
        let installer = match built {
            Ok(installer) => installer,
            Err(error) => {
                self.store.clear(name)?;
                return Err(error);
            }
        };
        let record = Record {
            name: name.clone(),
            requirement: requirement.to_string(),
            distribution: self.exact.distribution.clone(),
            beside: self.beside.to_vec(),
            version: self
                .exact
                .pinned()
                .map_or_else(String::new, ToString::to_string),
            python_version: self.base.probe.python_version.clone(),
            installer,
            bytes: managed::size_of(&self.folder()),
            made: managed::now(),
            seconds_to_make: started.elapsed().as_secs(),
        };
        let made = self.store.finish(&record)?;
        progress(Progress::Made {
            name: name.clone(),
            seconds: record.seconds_to_make,
            bytes: record.bytes,
        });
        Ok(made)
    }

    fn folder(&self) -> PathBuf {
        self.store.folder().join(&self.name)
    }

    fn check_disk(&self) -> Result<(), EnvironmentError> {
        // What an earlier, unfinished build left behind goes away first.
        self.store.clear(&self.name)?;
        check_disk(self.work.surroundings, self.store, &self.exact)
    }

    /// Tries the installers in order; answers which one did it.
    fn install_with_any(
        &self,
        installers: &[Installer],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<String, Failure> {
        let mut first_failure = None;
        for installer in installers {
            match self.install_with(installer, progress) {
                Ok(()) => return Ok(installer.describe()),
                // Another installer would meet the same index.
                Err(
                    failure @ (Failure::Interrupted
                    | Failure::NoSolution(_)
                    | Failure::Unreachable(_)),
                ) => {
                    return Err(failure);
                }
                Err(failure) => {
                    progress(Progress::Step(format!("{} failed", installer.describe())));
                    first_failure = first_failure.or(Some(failure));
                }
            }
        }
        Err(first_failure.expect("there is at least one installer"))
    }

    fn install_with(
        &self,
        installer: &Installer,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let name = installer.describe();
        let folder = self.folder();
        // Half an environment of the installer before this one is in the way.
        self.store
            .clear(&self.name)
            .map_err(|error| Failure::Other(error.to_string()))?;
        progress(Progress::Step(format!(
            "creating the environment with {name}"
        )));
        installer.create(&self.work, self.base, &folder, progress)?;
        let python = folder.join("bin/python");
        let mut attempt = 1;
        loop {
            let again = match attempt {
                1 => String::new(),
                _ => format!(" (attempt {attempt} of {ATTEMPTS})"),
            };
            progress(Progress::Step(format!(
                "installing {} with {name}{again}",
                self.packages.join(" ")
            )));
            match installer.install(&self.work, &python, &self.packages, progress) {
                Err(Failure::Network(_)) if attempt < ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    /// An environment whose library cannot be imported on this machine is worth nothing, and the
    /// time to say so is now.
    fn check_import(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), EnvironmentError> {
        let package = library::package_of(&self.exact.distribution);
        let python = self.folder().join("bin/python");
        let found = probe(self.work.surroundings, &python, &package)?;
        if !found.library_found {
            // The import name of an unknown package may be anything.
            return Ok(());
        }
        progress(Progress::Step(format!("importing {package}")));
        try_parts(self.work.surroundings, &python, &package)
            .map(drop)
            .map_err(|output| EnvironmentError::Import {
                requirement: self.exact.to_string(),
                output,
            })
    }
}
