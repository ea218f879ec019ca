//! What Fissure was started with: environment variables and the folder for its own things.
//!
//! Everything in this crate reads variables from here and starts programs through here, so that a
//! test can give it another PATH without changing the process it runs in.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
};

use etcetera::BaseStrategy;

use crate::EnvironmentError;

/// Mode of folders that are nobody else's business.
const PRIVATE: u32 = 0o700;

/// The variables and folders that decide what is found.
#[derive(Clone, Debug)]
pub struct Surroundings {
    variables: BTreeMap<OsString, OsString>,
    /// `$FISSURE_HOME`, else `fissure` in the user's cache folder.
    pub root: PathBuf,
    /// The user's home folder, where it is known.
    pub home: Option<PathBuf>,
    /// The folder that the user stands in.
    pub folder: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn from_process() -> Result<Self, EnvironmentError> {
        let variables: BTreeMap<_, _> = env::vars_os().collect();
        let chosen = variables.get(OsStr::new("FISSURE_HOME"));
        let root = match chosen.filter(|value| !value.is_empty()) {
            Some(folder) => std::path::absolute(folder)
                .map_err(EnvironmentError::io("make absolute", folder))?,
            None => etcetera::choose_base_strategy()
                .map_err(|error| EnvironmentError::NoHome(error.to_string()))?
                .cache_dir()
                .join("fissure"),
        };
        close(&root);
        Ok(Self {
            variables,
            root,
            home: env::home_dir(),
            folder: env::current_dir().ok(),
        })
    }

    /// Exactly these variables, and this folder for Fissure's own things.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(
        root: PathBuf,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let variables: BTreeMap<OsString, OsString> = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let home = variables.get(OsStr::new("HOME")).map(PathBuf::from);
        Self {
            variables,
            root,
            home,
            folder: None,
        }
    }

    /// The same, with folders of the user's own searched before the interpreter's.
    pub fn with_python_path(mut self, folders: &[PathBuf]) -> Result<Self, EnvironmentError> {
        if folders.is_empty() {
            return Ok(self);
        }
        let name = OsString::from("PYTHONPATH");
        let mut all = Vec::new();
        for folder in folders {
            all.push(std::path::absolute(folder).map_err(EnvironmentError::io("find", folder))?);
        }
        if let Some(before) = self.variables.get(&name) {
            all.extend(env::split_paths(before).filter(|part| !part.as_os_str().is_empty()));
        }
        let joined = env::join_paths(all).map_err(|error| {
            EnvironmentError::io("put on PYTHONPATH", &folders[0])(io::Error::other(error))
        })?;
        self.variables.insert(name, joined);
        Ok(self)
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// `FISSURE_OFFLINE` set to anything but `0`.
    pub fn offline(&self) -> bool {
        self.variable("FISSURE_OFFLINE")
            .is_some_and(|value| value != "0")
    }

    /// A program by name on PATH, or a path as it is, if it can be executed.
    pub fn find_program(&self, name: impl AsRef<Path>) -> Option<PathBuf> {
        let name = name.as_ref();
        if name.components().count() > 1 {
            return is_executable(name).then(|| name.to_owned());
        }
        self.find_programs(name).into_iter().next()
    }

    /// Every program of that name on PATH, in its order.
    pub fn find_programs(&self, name: impl AsRef<Path>) -> Vec<PathBuf> {
        let Some(path) = self.variable("PATH") else {
            return Vec::new();
        };
        env::split_paths(path)
            .map(|folder| folder.join(name.as_ref()))
            .filter(|candidate| is_executable(candidate))
            .collect()
    }

    /// A command that sees these variables and no others.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.variables);
        command
    }
}

/// A folder that nobody else may look into; folders above it that are not there are made the same way.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(PRIVATE).create(folder)
}

/// Takes rights of others away from the folder for Fissure's own things, which an earlier version may
/// have made for all. Programs are run from there: whoever could write to it could run theirs.
fn close(root: &Path) {
    let Ok(data) = root.metadata() else { return };
    let ours = data.uid() == rustix::process::geteuid().as_raw();
    if ours && data.is_dir() && data.mode() & 0o077 != 0 {
        // A file system without modes leaves it as it is.
        let _ = fs::set_permissions(root, fs::Permissions::from_mode(PRIVATE));
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn nobody_else_may_look_into_the_folder_for_fissures_own_things() {
        let above = tempfile::tempdir().unwrap();
        let root = above.path().join("cache/fissure");
        make_private(&root.join("environments")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!(mode(&root), PRIVATE);
        fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
        close(&root);
        assert_eq!(mode(&root), PRIVATE);
    }

    use super::*;

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let surroundings = Surroundings::new("r".into(), [("VIRTUAL_ENV", ""), ("A", "b")]);
        assert_eq!(surroundings.variable("VIRTUAL_ENV"), None);
        assert_eq!(surroundings.variable("A"), Some(OsStr::new("b")));
    }

    #[test]
    fn offline_is_on_for_any_value_but_zero() {
        for (value, expected) in [("1", true), ("yes", true), ("0", false), ("", false)] {
            let surroundings = Surroundings::new("r".into(), [("FISSURE_OFFLINE", value)]);
            assert_eq!(surroundings.offline(), expected, "{value:?}");
        }
    }

    #[test]
    fn folders_of_the_user_come_before_those_of_the_variable() {
        let surroundings = Surroundings::new("r".into(), [("PYTHONPATH", "/old")])
            .with_python_path(&["/new".into()])
            .unwrap();
        assert_eq!(
            surroundings.variable("PYTHONPATH"),
            Some(OsStr::new("/new:/old"))
        );
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_not_a_program() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("python3"), "").unwrap();
        let surroundings = Surroundings::new("r".into(), [("PATH", folder.path())]);
        assert_eq!(surroundings.find_program("python3"), None);
    }
}
