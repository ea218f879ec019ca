//! The folder of a finding: written whole or not at all, and read back.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fissure_model::{
    Api, ArgumentRole, ConcreteInput, Execution, Finding, Interest, Oracle, Outcome, Report,
    Reproduction, Verdict,
};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use crate::error::TriageError;
use crate::issue::issue;
use crate::script::script;

/// Raised when a reader of an earlier version could not make sense of the files.
const FORMAT: u32 = 1;
/// Folders that a killed process left behind begin with this.
const UNFINISHED: &str = ".unfinished-";

/// `finding.json`: the finding without what has a file of its own, in the order a reader asks.
#[derive(Serialize, Deserialize)]
struct FindingFile {
    format: u32,
    id: String,
    api: Api,
    verdict: Verdict,
    reproduction: Option<Reproduction>,
    library_version: String,
    python_version: String,
    seed: u64,
    outcome: Outcome,
    duration: Duration,
    signature: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roles: Vec<ArgumentRole>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also_through: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also_by: Vec<(Oracle, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folded: Vec<String>,
    /// For readers; it follows from the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interest: Option<Interest>,
    #[serde(default)]
    rank: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    environment: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    native_frames: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reports: Vec<Report>,
    /// `log.txt` is what the process wrote; otherwise it only repeats the exception.
    log_captured: bool,
}

/// The first thing to know about a file.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// `input.json`: the call as plain data.
#[derive(Serialize, Deserialize)]
struct InputFile {
    format: u32,
    api: Api,
    input: ConcreteInput,
}

/// Writes `finding.json`, `input.json`, `reproduce.py`, `issue.md` and `log.txt` (and
/// `unshrunk.json`, if the input was made smaller) into the folder `dir/<id>` and returns its path.
/// An earlier version of the same finding is replaced.
///
/// Everything is written and flushed to disk in a temporary folder beside it, which then takes its
/// name in one step: whoever looks, and whenever the process is killed, there is a whole finding or
/// none.
pub fn write_finding(dir: &Path, finding: &Finding) -> Result<PathBuf, TriageError> {
    fs::create_dir_all(dir).map_err(TriageError::io("create", dir))?;
    let temporary = tempfile::Builder::new()
        .prefix(UNFINISHED)
        // As readable as any folder of the user (the mask of the process applies).
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(dir)
        .map_err(TriageError::io("create a folder in", dir))?;
    let target = dir.join(&finding.id);

    let call = |input: &ConcreteInput| InputFile {
        format: FORMAT,
        api: finding.api.clone(),
        input: input.clone(),
    };
    write_json(&temporary.path().join("input.json"), &call(&finding.input))?;
    if let Some(unshrunk) = &finding.unshrunk {
        write_json(&temporary.path().join(UNSHRUNK), &call(unshrunk))?;
    }
    write(
        &temporary.path().join("issue.md"),
        issue(finding).as_bytes(),
    )?;
    write(
        &temporary.path().join("reproduce.py"),
        script(finding).as_bytes(),
    )?;
    write(&temporary.path().join("log.txt"), log(finding).as_bytes())?;
    let file = FindingFile {
        format: FORMAT,
        id: finding.id.clone(),
        api: finding.api.clone(),
        verdict: finding.verdict.clone(),
        reproduction: finding.reproduction,
        library_version: finding.library_version.clone(),
        python_version: finding.python_version.clone(),
        seed: finding.seed,
        outcome: finding.execution.outcome.clone(),
        duration: finding.execution.duration,
        signature: finding.signature.clone(),
        roles: finding.roles.clone(),
        also_through: finding.also_through.clone(),
        also_by: finding.also_by.clone(),
        folded: finding.folded.clone(),
        interest: Some(finding.interest()),
        rank: finding.interest().rank(),
        remarks: finding.remarks.clone(),
        environment: finding.environment.clone(),
        native_frames: finding.execution.native_frames.clone(),
        reports: finding.execution.reports.clone(),
        log_captured: finding.execution.log.is_some(),
    };
    write_json(&temporary.path().join("finding.json"), &file)?;
    sync_folder(temporary.path())?;

    put_in_place(temporary.path(), &target)?;
    sync_folder(dir)?;
    // When it took the place of an earlier version, that one is in the temporary folder now and
    // goes with it; when not, there is nothing left to remove.
    let leftover = temporary.keep();
    match fs::remove_dir_all(&leftover) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(TriageError::io("remove", &leftover)(error))
        }
        _ => Ok(target),
    }
}

/// What the process wrote; for a failure inside a living process, the exception.
fn log(finding: &Finding) -> String {
    if let Some(log) = &finding.execution.log {
        return log.clone();
    }
    match &finding.execution.outcome {
        Outcome::Rejected(exception) | Outcome::Fatal(exception) => {
            let mut text = format!("{}: {}\n", exception.class, exception.message);
            for frame in &exception.frames {
                text.push_str(&format!("  {frame}\n"));
            }
            text
        }
        _ => "the process wrote nothing\n".into(),
    }
}

/// The input that showed the finding first, when it was made smaller.
const UNSHRUNK: &str = "unshrunk.json";

/// The finding in a folder that [`write_finding`] wrote.
pub fn read_finding(folder: &Path) -> Result<Finding, TriageError> {
    let file: FindingFile = read_json(&folder.join("finding.json"))?;
    let InputFile { input, .. } = read_json(&folder.join("input.json"))?;
    let log = if file.log_captured {
        let path = folder.join("log.txt");
        Some(fs::read_to_string(&path).map_err(TriageError::io("read", &path))?)
    } else {
        None
    };
    let unshrunk = folder.join(UNSHRUNK);
    let unshrunk = if unshrunk.exists() {
        let InputFile { input, .. } = read_json(&unshrunk)?;
        Some(Box::new(input))
    } else {
        None
    };
    Ok(Finding {
        id: file.id,
        api: file.api,
        verdict: file.verdict,
        signature: file.signature,
        execution: Execution {
            log,
            native_frames: file.native_frames,
            reports: file.reports,
            ..Execution::new(input.number, file.outcome, file.duration)
        },
        unshrunk,
        unshrunk_reports: Vec::new(),
        also_by: file.also_by,
        folded: file.folded,
        roles: file.roles,
        also_through: file.also_through,
        remarks: file.remarks,
        environment: file.environment,
        input,
        reproduction: file.reproduction,
        library_version: file.library_version,
        python_version: file.python_version,
        seed: file.seed,
    })
}

/// A folder among findings, and what it holds.
#[derive(Debug)]
pub struct FindingFolder {
    pub path: PathBuf,
    pub finding: Result<Finding, TriageError>,
}

/// Every finding below `dir`, by name. A folder that is none gives an error of its own, so that one
/// broken finding hides no other.
pub fn read_findings(dir: &Path) -> Result<Vec<FindingFolder>, TriageError> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(dir).map_err(TriageError::io("read", dir))? {
        let entry = entry.map_err(TriageError::io("read", dir))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders
        .into_iter()
        .map(|path| FindingFolder {
            finding: read_finding(&path),
            path,
        })
        .collect())
}

/// Removes what killed processes left behind in `dir`. Only safe while no other process writes
/// findings there.
pub fn remove_unfinished(dir: &Path) -> Result<(), TriageError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        other => other.map_err(TriageError::io("read", dir))?,
    };
    for entry in entries {
        let entry = entry.map_err(TriageError::io("read", dir))?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path()).map_err(TriageError::io("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Gives the temporary folder its name. An earlier version changes places with it in one step.
fn put_in_place(temporary: &Path, target: &Path) -> Result<(), TriageError> {
    let failed = TriageError::io("write", target);
    match renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE) {
        Ok(()) => return Ok(()),
        Err(rustix::io::Errno::EXIST) => {}
        // File systems without these flags (some network ones).
        Err(_) if !target.exists() => return fs::rename(temporary, target).map_err(failed),
        Err(_) => {}
    }
    if renameat_with(CWD, temporary, CWD, target, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    // Two steps: killed between them, the old version is gone and the new one is unfinished. The
    // event log of the run still has it.
    fs::remove_dir_all(target)
        .and_then(|()| fs::rename(temporary, target))
        .map_err(failed)
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, TriageError> {
    let text = fs::read_to_string(path).map_err(TriageError::io("read", path))?;
    let Format { format } = serde_json::from_str(&text).map_err(TriageError::json(path))?;
    if format != FORMAT {
        return Err(TriageError::Format {
            path: path.to_owned(),
            found: format,
            expected: FORMAT,
        });
    }
    serde_json::from_str(&text).map_err(TriageError::json(path))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), TriageError> {
    let mut text = serde_json::to_string_pretty(value).map_err(TriageError::json(path))?;
    text.push('\n');
    write(path, text.as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), TriageError> {
    let mut file = File::create(path).map_err(TriageError::io("create", path))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(TriageError::io("write", path))
}

fn sync_folder(folder: &Path) -> Result<(), TriageError> {
    File::open(folder)
        .and_then(|handle| handle.sync_all())
        .map_err(TriageError::io("flush", folder))
}
