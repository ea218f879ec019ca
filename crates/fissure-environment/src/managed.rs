//! The environments Fissure made: a folder each, whole only when its marker file is there.
//!
//! An environment is built in its final place, because the scripts of a virtual environment hold
//! its absolute path and would break by a rename. The marker is written last, so a build that was
//! interrupted at any moment is never taken for whole; it is removed before the next attempt.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{EnvironmentError, Surroundings, surroundings::make_private, users};

const MARKER: &str = "fissure-environment.json";
const LAST_USED: &str = "fissure-last-used";

/// What the marker file says about an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// `torch-2.9.1-py3.11`.
    pub name: String,
    /// As the user asked for it.
    pub requirement: String,
    pub distribution: String,
    pub version: String,
    /// What the user wanted beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    pub python_version: String,
    /// `uv 0.9.1` or `pip`.
    pub installer: String,
    /// Size when it was made. Files that uv linked from its cache count in full.
    pub bytes: u64,
    /// Seconds since 1970 in universal time.
    pub made: u64,
    pub seconds_to_make: u64,
}

/// A folder in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Managed {
    pub name: String,
    pub folder: PathBuf,
    /// `None`: the build was interrupted or is under way.
    pub record: Option<Record>,
    pub last_used: Option<SystemTime>,
}

impl Managed {
    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Remembers that it was used now; for the eyes of whoever cleans up.
    pub fn touch(&self) -> Result<(), EnvironmentError> {
        let path = self.folder.join(LAST_USED);
        fs::write(&path, "").map_err(EnvironmentError::io("write", path))
    }
}

/// Holds the right to build or remove one environment; given back when dropped or when the process
/// ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// All managed environments of a user.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    pub fn new(surroundings: &Surroundings) -> Self {
        Self {
            folder: surroundings.root.join("environments"),
        }
    }

    /// The programs Fissure installs for itself, kept the same way.
    pub(crate) fn of_tools(surroundings: &Surroundings) -> Self {
        Self {
            folder: surroundings.root.join("tools"),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every environment by name, unfinished ones too.
    pub fn list(&self) -> Result<Vec<Managed>, EnvironmentError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(EnvironmentError::io("read", &self.folder)(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(EnvironmentError::io("read", &self.folder))?;
            if let Some(name) = entry.file_name().to_str()
                && !name.starts_with('.')
                && entry.path().is_dir()
            {
                found.push(self.get(name));
            }
        }
        found.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(found)
    }

    /// The environment of that name, whether it is there or not.
    pub fn get(&self, name: &str) -> Managed {
        let folder = self.folder.join(name);
        // A marker that cannot be read is one that was not written completely.
        let record = fs::read(folder.join(MARKER))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        let used = [LAST_USED, MARKER].map(|file| folder.join(file));
        let last_used = used
            .iter()
            .find_map(|path| path.metadata().ok()?.modified().ok());
        Managed {
            name: name.to_owned(),
            folder,
            record,
            last_used,
        }
    }

    /// Deletes an environment. The marker goes first, so that what an interruption leaves over is
    /// seen as unfinished.
    pub fn remove(&self, name: &str) -> Result<(), EnvironmentError> {
        let is_a_name = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
        if !is_a_name || !self.folder.join(name).is_dir() {
            return Err(EnvironmentError::NoSuchEnvironment {
                name: name.to_owned(),
            });
        }
        let _lock = self.lock(name, || {
            Err(EnvironmentError::Busy {
                name: name.to_owned(),
            })
        })?;
        if let Some(process) = users::first(&self.folder.join(name)) {
            return Err(EnvironmentError::InUse {
                name: name.to_owned(),
                process,
            });
        }
        self.clear(name)
    }

    /// Deletes the folder of an environment whose lock is held.
    pub(crate) fn clear(&self, name: &str) -> Result<(), EnvironmentError> {
        let folder = self.folder.join(name);
        for result in [
            fs::remove_file(folder.join(MARKER)),
            fs::remove_dir_all(&folder),
        ] {
            match result {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(EnvironmentError::io("remove", folder)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the lock of a name; `when_taken` is called first if another process has it, and may
    /// refuse to wait.
    pub(crate) fn lock(
        &self,
        name: &str,
        when_taken: impl FnOnce() -> Result<(), EnvironmentError>,
    ) -> Result<Lock, EnvironmentError> {
        make_private(&self.folder).map_err(EnvironmentError::io("create", &self.folder))?;
        // Beside the folder and never deleted: a deleted lock file could be locked by one process
        // while another locks its successor.
        let path = self.folder.join(format!(".{name}.lock"));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(EnvironmentError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                when_taken()?;
                file.lock().map_err(EnvironmentError::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(EnvironmentError::io("lock", &path)(error));
            }
        }
        Ok(Lock { _file: file })
    }

    /// Writes the marker that makes an environment whole.
    pub(crate) fn finish(&self, record: &Record) -> Result<Managed, EnvironmentError> {
        let marker = self.folder.join(&record.name).join(MARKER);
        let unfinished = marker.with_extension("unfinished");
        let text = serde_json::to_vec_pretty(record)
            .map_err(|error| EnvironmentError::io("write", &marker)(error.into()))?;
        fs::write(&unfinished, text).map_err(EnvironmentError::io("write", &unfinished))?;
        fs::rename(&unfinished, &marker).map_err(EnvironmentError::io("write", &marker))?;
        Ok(self.get(&record.name))
    }
}

/// Bytes of all files below a folder. What disappears meanwhile does not count.
pub fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, data)| {
            if data.is_dir() {
                size_of(&path)
            } else {
                data.len()
            }
        })
        .sum()
}

pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let root = tempfile::tempdir().unwrap();
        let surroundings = Surroundings::new(root.path().to_owned(), [("PATH", "")]);
        let store = Store::new(&surroundings);
        (root, store)
    }

    fn record(name: &str) -> Record {
        Record {
            name: name.to_owned(),
            requirement: "torch==2.9.1".to_owned(),
            distribution: "torch".to_owned(),
            version: "2.9.1".to_owned(),
            beside: Vec::new(),
            python_version: "3.11.7".to_owned(),
            installer: "pip".to_owned(),
            bytes: 1,
            made: 2,
            seconds_to_make: 3,
        }
    }

    #[test]
    fn a_folder_without_its_marker_is_unfinished() {
        let (_root, store) = store();
        let lock = store.lock("a", || unreachable!()).unwrap();
        fs::create_dir_all(store.folder().join("a/bin")).unwrap();
        assert_eq!(store.list().unwrap()[0].record, None);
        store.finish(&record("a")).unwrap();
        assert_eq!(store.list().unwrap()[0].record, Some(record("a")));
        drop(lock);
    }

    #[test]
    fn half_a_marker_does_not_make_an_environment_whole() {
        let (_root, store) = store();
        fs::create_dir_all(store.folder().join("a")).unwrap();
        fs::write(store.folder().join("a").join(MARKER), "{\"name\": \"a\",").unwrap();
        assert_eq!(store.get("a").record, None);
    }

    #[test]
    fn an_environment_being_made_cannot_be_removed() {
        let (_root, store) = store();
        fs::create_dir_all(store.folder().join("a")).unwrap();
        let lock = store.lock("a", || unreachable!()).unwrap();
        assert!(matches!(
            store.remove("a"),
            Err(EnvironmentError::Busy { .. })
        ));
        drop(lock);
        store.remove("a").unwrap();
        assert!(store.list().unwrap().is_empty());
    }

    #[test]
    fn an_environment_that_a_process_runs_in_is_not_removed() {
        let (_root, store) = store();
        let bin = store.folder().join("a/bin");
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("python");
        // A link as in a virtual environment; a copy could still be open for writing in a process that
        // another test forked meanwhile, and not be started.
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
        let mut child = std::process::Command::new(&program)
            .args(["-c", "echo started; read line"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // `spawn` comes back before the kernel shows the new program's arguments in `/proc`.
        let mut said = [0; 8];
        let output = child.stdout.as_mut().unwrap();
        io::Read::read_exact(output, &mut said).unwrap();
        let refused = store.remove("a");
        child.kill().unwrap();
        child.wait().unwrap();
        let Err(EnvironmentError::InUse { process, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert!(process.contains(&child.id().to_string()), "{process}");
        store.remove("a").unwrap();
    }

    #[test]
    fn removing_takes_names_and_not_paths() {
        let (root, store) = store();
        fs::create_dir_all(store.folder().join("a")).unwrap();
        for name in ["", ".", "..", "../environments", "a/..", "b"] {
            let error = store.remove(name).unwrap_err();
            assert!(
                matches!(error, EnvironmentError::NoSuchEnvironment { .. }),
                "{name}: {error}"
            );
        }
        assert!(root.path().join("environments/a").is_dir());
    }

    #[test]
    fn use_is_remembered() {
        let (_root, store) = store();
        fs::create_dir_all(store.folder().join("a")).unwrap();
        assert_eq!(store.get("a").last_used, None);
        store.get("a").touch().unwrap();
        assert!(store.get("a").last_used.is_some());
    }
}
