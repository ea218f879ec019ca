//! Asks the discovery script for the constraint files of an installed library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, anyhow};
use fissure_execute::{SandboxOptions, ScriptOptions, WORKER, run_script, unpack_package};
use fissure_spec::ExtractedFile;
use serde::Deserialize;
use serde_json::json;

/// Importing a library and reading all of its documentation.
const TIMEOUT: Duration = Duration::from_secs(1200);

/// What the library says of the callables that were asked for.
#[derive(Debug, Deserialize)]
pub(super) struct Discovered {
    /// Versions of the packages involved.
    pub version: BTreeMap<String, String>,
    pub files: Vec<ExtractedFile>,
    /// Path and reason of each callable without a file.
    pub left_out: Vec<(String, String)>,
    pub problems: Vec<String>,
}

/// `names` are packages, modules or single callables; `imports` run first.
pub(super) fn discover(
    python: &Path,
    names: &[String],
    python_path: &[PathBuf],
    imports: &[String],
) -> anyhow::Result<Discovered> {
    let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
    let folder = scratch.path().join("program");
    unpack_package(WORKER, &folder).context("failed to write the discovery script")?;
    // The script may write below its scratch folder only.
    let answer = scratch.path().join("answer.json");
    let absolute: Result<Vec<PathBuf>, _> = python_path.iter().map(std::path::absolute).collect();
    let request = json!({
        "file": answer,
        "files": names,
        "pythonpath": absolute.context("failed to find a folder of --pythonpath")?,
        "imports": imports,
    });
    let options = ScriptOptions {
        timeout: TIMEOUT,
        memory_limit: 8 << 30,
        scratch: scratch.path().to_owned(),
        sandbox: SandboxOptions::default(),
        environment: vec![
            ("FISSURE_DISCOVER".into(), request.to_string()),
            ("TF_CPP_MIN_LOG_LEVEL".into(), "3".into()),
        ],
        cancelled: Arc::new(AtomicBool::new(false)),
    };
    let script = folder.join(WORKER).join("discover/__main__.py");
    let run = run_script(python, &script, options).map_err(|error| anyhow!("failed to {error}"))?;
    let text = std::fs::read(&answer).map_err(|_| {
        anyhow!(
            "the library could not be asked: its process ended with {:?}\n\n{}",
            run.ended,
            run.log.trim_end()
        )
    })?;
    serde_json::from_slice(&text).context("failed to read what the library says")
}
