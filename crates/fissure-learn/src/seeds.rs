//! Calls that the library is known to accept, before anything is learned.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fissure_execute::{SandboxOptions, ScriptOptions, WORKER, python_file, run_script};
use serde_json::json;

use crate::error::LearnError;
use crate::params::Observed;

/// The script that asks the sample database of PyTorch.
const DATABASE: [&str; 1] = ["seeds.py"];
/// The script for libraries without one, and what it imports.
const TYPED: [&str; 4] = [
    "seeds_typed.py",
    "seeds_examples.py",
    "seeds_library.py",
    "seeds_registry.py",
];
/// Tensors of more elements are left out: they cost more than they tell.
const ELEMENTS: u64 = 2048;

/// Names the APIs and how many calls there are of each.
const INDEX: &str = "index.json";

/// Files of observed calls, one per API.
#[derive(Clone, Debug)]
pub struct Seeds {
    folder: PathBuf,
    /// Names of the APIs, and how many calls there are of each.
    pub counts: BTreeMap<String, usize>,
}

impl Seeds {
    /// Asks the library's own sample database, in one process for all APIs. `apis` are their names,
    /// `None` means all that it knows. A library without one is asked by examples and small values.
    pub fn from_database(
        python: &Path,
        package: &str,
        scratch: &Path,
        apis: Option<&[String]>,
        most: usize,
        stop: &Arc<AtomicBool>,
    ) -> Result<Seeds, LearnError> {
        let folder = scratch.join("seeds");
        let make =
            |path: &Path| std::fs::create_dir_all(path).map_err(LearnError::file("make", path));
        make(&folder)?;
        let folder = folder
            .canonicalize()
            .map_err(LearnError::file("find", &folder))?;
        let files: &[&str] = if package == "torch" {
            &DATABASE
        } else {
            &TYPED
        };
        for name in files {
            let path = scratch.join(name);
            let text = python_file(&format!("{WORKER}/{name}"));
            std::fs::write(&path, text).map_err(LearnError::file("write", &path))?;
        }
        let script = scratch.join(files[0]);
        let request = json!({
            "package": package,
            "apis": apis,
            "most": most,
            "elements": ELEMENTS,
            "folder": folder,
        });
        let options = ScriptOptions {
            timeout: Duration::from_secs(1800),
            memory_limit: 8 << 30,
            scratch: scratch.to_owned(),
            sandbox: SandboxOptions::default(),
            environment: vec![("FISSURE_SEEDS".into(), request.to_string())],
            cancelled: Arc::clone(stop),
        };
        let run = run_script(python, &script, options)?;
        let index = folder.join(INDEX);
        let counts = std::fs::read(&index)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        match counts {
            Some(counts) => Ok(Seeds { folder, counts }),
            None => Err(LearnError::Database { log: run.log }),
        }
    }

    /// Names of the APIs that the database knows, without their calls: as fast as it is imported.
    pub fn names(
        python: &Path,
        package: &str,
        scratch: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Vec<String>, LearnError> {
        let found = Seeds::from_database(python, package, scratch, None, 0, stop)?;
        Ok(found.counts.into_keys().collect())
    }

    /// Are files there that [`Seeds::keep`] wrote?
    pub fn are_in(folder: &Path) -> bool {
        folder.join(INDEX).is_file()
    }

    /// Copies the files to where they can be found again; the index last, so that a folder with an
    /// index is whole.
    pub fn keep(&self, folder: &Path) -> Result<(), LearnError> {
        std::fs::create_dir_all(folder).map_err(LearnError::file("make", folder))?;
        let calls = self.counts.keys().map(|api| format!("{api}.jsonl"));
        for name in calls.chain([INDEX.to_owned()]) {
            let to = folder.join(&name);
            std::fs::copy(self.folder.join(&name), &to).map_err(LearnError::file("write", &to))?;
        }
        Ok(())
    }

    /// Files that were made before.
    pub fn from_folder(folder: &Path) -> Result<Seeds, LearnError> {
        let index = folder.join(INDEX);
        let text = std::fs::read(&index).map_err(LearnError::file("read", &index))?;
        let counts = serde_json::from_slice(&text).map_err(|error| LearnError::Seed {
            path: index,
            line: error.line(),
            reason: error.to_string(),
        })?;
        Ok(Seeds {
            folder: folder.to_owned(),
            counts,
        })
    }

    /// The calls of one API; none when the database does not know it.
    pub fn of(&self, api: &str) -> Result<Vec<Observed>, LearnError> {
        if !self.counts.contains_key(api) {
            return Ok(Vec::new());
        }
        read_calls(&self.folder.join(format!("{api}.jsonl")))
    }
}

/// Reads a file of calls, one JSON object per line: `arguments`, `keywords`, and `call` for the
/// call on a constructed object.
pub fn read_calls(path: &Path) -> Result<Vec<Observed>, LearnError> {
    let text = std::fs::read_to_string(path).map_err(LearnError::file("read", path))?;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        found.push(
            serde_json::from_str(line).map_err(|error| LearnError::Seed {
                path: path.to_owned(),
                line: number + 1,
                reason: error.to_string(),
            })?,
        );
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::Value;

    #[test]
    fn a_users_file_of_calls_is_read_and_a_wrong_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let good = r#"{"arguments": [{"int": 3}], "keywords": {"dim": "none"}}"#;
        std::fs::write(&path, format!("{good}\n\n")).unwrap();
        let calls = read_calls(&path).unwrap();
        assert_eq!(calls[0].arguments, [Value::Int(3)]);
        assert_eq!(calls[0].keywords["dim"], Value::None);
        std::fs::write(&path, format!("{good}\n{{\"arguments\": 3}}\n")).unwrap();
        let error = read_calls(&path).unwrap_err();
        assert!(error.to_string().starts_with("line 2 of "), "{error}");
    }
}
