//! The folder of one run.
//!
//! `run.json` says what was asked and of which library, `events.zst` is the append-only truth,
//! `findings/` has one folder per distinct failure, `summary.json` is written at the end.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::RunSummary;
use crate::event_log::EventLog;
use crate::record::{Record, Stamped};
use crate::restore::Restored;

const HEADER_FILE: &str = "run.json";
const CONFIRMING: &str = "confirming";

/// Version of the files in a run folder; raised when a reader of the old one would misread.
pub const FORMAT: u32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("failed to {action} {}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is in use by another fissure ({owner}): wait for it, or choose another --output", folder.display())]
    InUse { folder: PathBuf, owner: String },
}

impl StoreError {
    /// Says what was being done to which file.
    pub(crate) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_owned();
        move |source| StoreError::Io {
            action,
            path,
            source,
        }
    }
}

/// What was asked, and of what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunHeader {
    pub format: u32,
    pub fissure_version: String,
    pub command: Vec<String>,
    /// Where the command was given: its paths are relative to it.
    #[serde(default)]
    pub folder: PathBuf,
    pub seed: u64,
    pub package: String,
    pub library_version: String,
    pub python_version: String,
    pub python: PathBuf,
    pub workers: usize,
    pub started_unix: u64,
}

impl RunHeader {
    /// Whether it is `fissure judge` that wrote it.
    pub(crate) fn is_of_judge(&self) -> bool {
        let mut words = self.command.iter().skip(1);
        words
            .find(|word| !word.starts_with('-'))
            .is_some_and(|word| word == "judge")
    }
}

pub struct RunFolder {
    path: PathBuf,
    events: EventLog,
    /// Held as long as this is open: another process cannot use the folder meanwhile.
    _lock: File,
}

impl RunFolder {
    /// Opens (or makes) the folder, for this process alone.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        make_private(path).map_err(StoreError::at("make", path))?;
        let findings = path.join("findings");
        fs::create_dir_all(&findings).map_err(StoreError::at("make", &findings))?;
        let lock = lock(path)?;
        // What a process left that was killed; nobody else writes here now.
        fissure_triage::remove_unfinished(&findings)
            .map_err(|error| StoreError::at("clear", &findings)(io::Error::other(error)))?;
        remove(&path.join(CONFIRMING))?;
        let events = EventLog::open(path).map_err(StoreError::at("open", path))?;
        Ok(RunFolder {
            path: path.to_owned(),
            events,
            _lock: lock,
        })
    }

    /// What was asked when the run was begun.
    pub fn read_header(path: &Path) -> Result<RunHeader, StoreError> {
        let path = path.join(HEADER_FILE);
        let text = fs::read(&path).map_err(StoreError::at("read", &path))?;
        serde_json::from_slice(&text).map_err(|error| StoreError::at("read", &path)(error.into()))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn findings(&self) -> PathBuf {
        self.path.join("findings")
    }

    /// Where scripts of findings are while they are tried.
    pub(crate) fn confirming(&self) -> PathBuf {
        self.path.join(CONFIRMING)
    }

    /// What an earlier process did in this folder.
    pub(crate) fn restore(&self) -> Result<Restored, StoreError> {
        Restored::read(&self.path).map_err(StoreError::at("read", self.events.path()))
    }

    /// Says who runs what.
    pub fn write_header(&mut self, header: &RunHeader) -> Result<(), StoreError> {
        self.write_json(HEADER_FILE, header)?;
        self.note_resumed(header)
    }

    /// Says who continues; what was asked stays what it was.
    pub fn note_resumed(&mut self, header: &RunHeader) -> Result<(), StoreError> {
        self.append(&Record::Run(header.clone()))?;
        self.sync()
    }

    pub(crate) fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        self.events
            .append(&Stamped::now(record))
            .map_err(StoreError::at("write", self.events.path()))
    }

    /// Everything appended so far is safe.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        self.events
            .sync()
            .map_err(StoreError::at("write", self.events.path()))
    }

    pub fn write_summary(&mut self, summary: &RunSummary) -> Result<(), StoreError> {
        self.append(&Record::End {
            interrupted: summary.interrupted,
        })?;
        self.sync()?;
        self.write_json("summary.json", summary)?;
        remove(&self.confirming())?;
        if summary.interrupted {
            return Ok(());
        }
        self.events
            .finish()
            .map_err(StoreError::at("write", self.events.path()))
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), StoreError> {
        let path = self.path.join(name);
        let text = json_text(value, &path)?;
        let temporary = self.path.join(format!("{name}.partial"));
        fs::write(&temporary, text)
            .and_then(|()| fs::rename(&temporary, &path))
            .map_err(StoreError::at("write", &path))
    }
}

/// The text of a file. What cannot be written as JSON is a path that is no text.
pub(crate) fn json_text(value: &impl Serialize, path: &Path) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec_pretty(value).map_err(|error| StoreError::at("write", path)(error.into()))
}

/// Makes a folder that nobody else may look into: inputs and logs are the user's business. One that is
/// there stays as it is.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::at("remove", folder)(error))
        }
        _ => Ok(()),
    }
}

/// Takes the folder for this process. The lock goes with the process, however it ends.
fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(StoreError::at("make", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            // Who it is helps, but is not needed.
            let _ = file.read_to_string(&mut owner);
            return Err(StoreError::InUse {
                folder: folder.to_owned(),
                owner: owner.trim().to_owned(),
            });
        }
        // A file system without locks: better to go on than to refuse every run there.
        Err(TryLockError::Error(_)) => {}
    }
    file.set_len(0)
        .and_then(|()| writeln!(file, "process {}", std::process::id()))
        .map_err(StoreError::at("write", &path))?;
    Ok(file)
}
