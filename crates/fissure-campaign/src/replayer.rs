//! Earlier findings, run again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fissure_execute::ScriptOptions;
use fissure_model::{Finding, OutcomeKind};
use fissure_triage::{Replay, TriageError, read_finding, read_findings, replay};

use crate::fresh::run_fresh;

/// Time that the script of a hang has beside that of its call: for the interpreter and the library.
const START: Duration = Duration::from_secs(20);

/// The name of the script in a finding's folder.
const SCRIPT: &str = "reproduce.py";

/// A finding in a folder of its own.
#[derive(Clone, Debug)]
pub struct StoredFinding {
    pub folder: PathBuf,
    pub finding: Finding,
}

/// The findings that a path stands for: the folder of one (or its `finding.json`), or everything in
/// the folder of a run. Folders that cannot be read come back as errors of their own.
pub fn stored_findings(
    path: &Path,
) -> Result<Vec<Result<StoredFinding, TriageError>>, TriageError> {
    let folder = match path.file_name() {
        Some(name) if name == "finding.json" || name == SCRIPT => {
            path.parent().unwrap_or(Path::new("."))
        }
        _ => path,
    };
    if folder.join("finding.json").exists() {
        return Ok(vec![read_finding(folder).map(|finding| StoredFinding {
            folder: folder.to_owned(),
            finding,
        })]);
    }
    let inside = folder.join("findings");
    let folder = if inside.is_dir() { &inside } else { folder };
    Ok(read_findings(folder)?
        .into_iter()
        .map(|found| {
            found.finding.map(|finding| StoredFinding {
                folder: found.path,
                finding,
            })
        })
        .collect())
}

/// Runs the script that lies in the finding's folder and says what became of the failure. A hang is
/// waited for as long as it was when it was found.
pub fn replay_finding(
    stored: &StoredFinding,
    python: &Path,
    options: &ScriptOptions,
) -> Result<Replay, TriageError> {
    let script = stored.folder.join(SCRIPT);
    let mut options = options.clone();
    if stored.finding.verdict.kind == OutcomeKind::Timeout {
        let limit = stored.finding.execution.duration + START;
        options.timeout = options.timeout.min(limit);
    }
    let mut run = |script: &Path| run_fresh(python, script, &options);
    replay(&stored.finding, &script, &mut run)
}
