//! The solver Z3, which exact answers about rules need: a program of its own, not a library.

use std::path::PathBuf;

use crate::{EnvironmentError, Progress, Requirement, Store, Surroundings, make, pins};

/// Its name on the package index; the wheel brings the program.
const DISTRIBUTION: &str = "z3-solver";

/// The program, if it is there: `FISSURE_Z3`, else `z3` on the PATH, else the newest that Fissure
/// installed.
pub fn find_solver(surroundings: &Surroundings) -> Result<Option<PathBuf>, EnvironmentError> {
    if let Some(named) = surroundings.variable("FISSURE_Z3") {
        let program = surroundings.find_program(named);
        return program
            .map(Some)
            .ok_or_else(|| EnvironmentError::NoSuchSolver {
                named: named.into(),
            });
    }
    if let Some(program) = surroundings.find_program("z3") {
        return Ok(Some(program));
    }
    let installed = Store::new(surroundings).list()?.into_iter().rev();
    Ok(installed
        .filter(|managed| {
            let record = managed.record.as_ref();
            record.is_some_and(|record| record.distribution == DISTRIBUTION)
        })
        .map(|managed| managed.folder.join("bin/z3"))
        .find(|program| program.is_file()))
}

/// The program; a managed environment is made for it where there is none and the network may be
/// used.
pub fn provide_solver(
    surroundings: &Surroundings,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, EnvironmentError> {
    if let Some(program) = find_solver(surroundings)? {
        return Ok(program);
    }
    let requirement: Requirement = pins::pinned(DISTRIBUTION).unwrap_or(DISTRIBUTION).parse()?;
    let made = make(surroundings, &requirement, None, progress)?;
    let program = made.folder.join("bin/z3");
    if program.is_file() {
        Ok(program)
    } else {
        Err(EnvironmentError::NoSuchSolver { named: program })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &std::path::Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join("z3");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_named_program_comes_before_the_path_and_that_before_the_installed_one() {
        let root = tempfile::tempdir().unwrap();
        let on_path = program(&root.path().join("path"));
        let installed = program(&root.path().join("environments/z3-solver-5-py3.11/bin"));
        let marker = r#"{"name": "z3-solver-5-py3.11", "requirement": "z3-solver", "distribution":
            "z3-solver", "version": "5", "python_version": "3.11", "installer": "pip", "bytes": 1,
            "made": 2, "seconds_to_make": 3}"#;
        let folder = root.path().join("environments/z3-solver-5-py3.11");
        fs::write(folder.join("fissure-environment.json"), marker).unwrap();
        let path = root.path().join("path").display().to_string();
        let find = |variables: &[(&str, &str)]| {
            let surroundings = Surroundings::new(root.path().to_owned(), variables.iter().copied());
            find_solver(&surroundings)
        };
        assert_eq!(find(&[("PATH", "")]).unwrap(), Some(installed.clone()));
        assert_eq!(find(&[("PATH", &path)]).unwrap(), Some(on_path));
        let named = installed.display().to_string();
        let both = [("PATH", path.as_str()), ("FISSURE_Z3", named.as_str())];
        assert_eq!(find(&both).unwrap(), Some(installed));
        let wrong = find(&[("PATH", &path), ("FISSURE_Z3", "/nowhere/z3")]).unwrap_err();
        assert!(wrong.to_string().contains("FISSURE_Z3"), "{wrong}");
    }

    #[test]
    fn without_a_network_the_error_says_how_to_get_one() {
        let root = tempfile::tempdir().unwrap();
        let variables = [("PATH", ""), ("FISSURE_OFFLINE", "1")];
        let surroundings = Surroundings::new(root.path().to_owned(), variables);
        assert_eq!(find_solver(&surroundings).unwrap(), None);
        assert!(provide_solver(&surroundings, &mut |_| ()).is_err());
    }
}
