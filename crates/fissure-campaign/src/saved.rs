//! Inputs that an earlier run kept, to be judged now.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fissure_model::{Api, ConcreteInput};
use serde::Deserialize;

/// The kept inputs of one API, in the order of their numbers.
#[derive(Clone, Debug)]
pub struct SavedInputs {
    pub api: Api,
    pub inputs: Vec<ConcreteInput>,
}

#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    #[error("failed to read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not an input that a run kept: {problem}", path.display())]
    Format { path: PathBuf, problem: String },
}

#[derive(Deserialize)]
struct InputFile {
    api: Api,
    input: ConcreteInput,
}

/// Reads the inputs with numbers `from..=to` below a run folder: of its APIs, or of the one it has; of a campaign that was
/// divided those of its shards.
pub fn read_saved(run: &Path, from: u64, to: u64) -> Result<Vec<SavedInputs>, SavedError> {
    let mut runs = vec![run.to_owned()];
    let shards = run.join("shards");
    if shards.is_dir() {
        runs.extend(list(&shards)?);
    }
    let mut folders = Vec::new();
    for run in runs {
        folders.push(run.join("inputs"));
        let apis = run.join("apis");
        if apis.is_dir() {
            folders.extend(list(&apis)?.into_iter().map(|api| api.join("inputs")));
        }
    }
    let mut by_path: BTreeMap<String, SavedInputs> = BTreeMap::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for path in list(folder)? {
            let wanted = number(&path).is_some_and(|number| (from..=to).contains(&number));
            if !wanted {
                continue;
            }
            let text = fs::read(&path).map_err(|source| SavedError::Read {
                path: path.clone(),
                source,
            })?;
            let file: InputFile =
                serde_json::from_slice(&text).map_err(|error| SavedError::Format {
                    path: path.clone(),
                    problem: error.to_string(),
                })?;
            by_path
                .entry(file.api.path.clone())
                .or_insert_with(|| SavedInputs {
                    api: file.api,
                    inputs: Vec::new(),
                })
                .inputs
                .push(file.input);
        }
    }
    Ok(by_path.into_values().collect())
}

/// `000012.json` → 12.
fn number(path: &Path) -> Option<u64> {
    if path.extension()? != "json" {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok()
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    let failed = |source| SavedError::Read {
        path: folder.to_owned(),
        source,
    };
    let mut paths = fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<PathBuf>>>()
        .map_err(failed)?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(run: &Path, number: u64) {
        let folder = run.join("apis/planted.f/inputs");
        fs::create_dir_all(&folder).unwrap();
        let input = ConcreteInput {
            number,
            arguments: vec![],
            layer_arguments: None,
            intent: fissure_model::Intent::Conform,
            mutations: vec![],
        };
        let api = Api {
            path: "planted.f".into(),
            ..Api::default()
        };
        let text = serde_json::json!({ "api": api, "input": input }).to_string();
        fs::write(folder.join(format!("{number:06}.json")), text).unwrap();
    }

    #[test]
    fn a_range_of_numbers_is_read_in_order() {
        let run = tempfile::tempdir().unwrap();
        for number in [11, 2, 5, 900] {
            keep(run.path(), number);
        }
        let saved = read_saved(run.path(), 3, 20).unwrap();
        assert_eq!(saved.len(), 1);
        let numbers: Vec<u64> = saved[0].inputs.iter().map(|one| one.number).collect();
        assert_eq!(numbers, [5, 11]);
    }

    #[test]
    fn a_file_that_is_no_input_is_named() {
        let run = tempfile::tempdir().unwrap();
        keep(run.path(), 1);
        let path = run.path().join("apis/planted.f/inputs/000002.json");
        fs::write(&path, "{").unwrap();
        let error = read_saved(run.path(), 0, u64::MAX).unwrap_err().to_string();
        assert!(error.contains("000002.json"), "{error}");
    }

    #[test]
    fn inputs_of_shards_are_those_of_the_campaign() {
        let run = tempfile::tempdir().unwrap();
        keep(&run.path().join("shards/0"), 4);
        keep(&run.path().join("shards/1"), 6);
        let saved = read_saved(run.path(), 5, 9).unwrap();
        assert_eq!(saved.len(), 1);
        assert_eq!(saved[0].inputs[0].number, 6);
    }
}
