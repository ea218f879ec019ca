//! Files and folders of constraint files.

use std::path::{Path, PathBuf};

use fissure_model::Spec;
use rayon::prelude::*;

use crate::document;
use crate::dtype_config::DtypeConfig;
use crate::error::{Problem, SpecError, Warning};
use crate::yaml::{self, Node};

/// A spec and what is odd about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub spec: Spec,
    /// In the order of the file.
    pub warnings: Vec<Warning>,
}

/// A YAML file in a folder that is no constraint file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: &'static str,
}

/// Everything that a list of files and folders holds, each part sorted by path.
#[derive(Debug, Default)]
pub struct Collection {
    pub loaded: Vec<Loaded>,
    pub failed: Vec<SpecError>,
    pub skipped: Vec<Skipped>,
}

/// How many files of a [`Collection`] went which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub files: usize,
    pub loaded: usize,
    pub with_warnings: usize,
    pub failed: usize,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts {
            files,
            loaded,
            with_warnings,
            failed,
        } = self;
        write!(
            f,
            "{files} files: {loaded} loaded, {with_warnings} with warnings, {failed} failed"
        )
    }
}

impl Collection {
    /// Skipped files are not counted: they were never meant to be loaded.
    pub fn counts(&self) -> Counts {
        Counts {
            files: self.loaded.len() + self.failed.len(),
            loaded: self.loaded.len(),
            with_warnings: self
                .loaded
                .iter()
                .filter(|loaded| !loaded.warnings.is_empty())
                .count(),
            failed: self.failed.len(),
        }
    }
}

/// Loads one constraint file.
pub fn load_file(path: &Path) -> Result<Loaded, SpecError> {
    load_node(path, &parse_file(path)?)
}

/// Loads a constraint file from its text; `path` only names it in messages.
pub fn load_text(path: &Path, text: &str) -> Result<Loaded, SpecError> {
    load_node(path, &parse_text(path, text)?)
}

/// Loads files, and every `.yaml` and `.yml` below folders. A file named directly must be a
/// constraint file; in a folder, other YAML is skipped.
pub fn load_paths(paths: &[PathBuf]) -> Collection {
    let mut collection = Collection::default();
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for path in paths {
        if path.is_dir() {
            collect(path, &mut files, &mut collection.failed);
        } else {
            files.push((path.clone(), true));
        }
    }
    files.sort();
    // The same file may be named directly and lie in a named folder.
    files.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        earlier.1 |= same && later.1;
        same
    });
    let outcomes: Vec<Outcome> = files
        .par_iter()
        .map(|(path, named)| load_found(path, *named))
        .collect();
    for outcome in outcomes {
        match outcome {
            Outcome::Loaded(loaded) => collection.loaded.push(*loaded),
            Outcome::Failed(error) => collection.failed.push(error),
            Outcome::Skipped(skipped) => collection.skipped.push(skipped),
        }
    }
    collection
}

enum Outcome {
    Loaded(Box<Loaded>),
    Failed(SpecError),
    Skipped(Skipped),
}

fn load_found(path: &Path, named: bool) -> Outcome {
    let root = match parse_file(path) {
        Ok(root) => root,
        Err(error) => return Outcome::Failed(error),
    };
    if !named && !document::is_spec(&root) {
        let reason = if DtypeConfig::is_one(&root) {
            "a dtype configuration"
        } else {
            "not a constraint file"
        };
        return Outcome::Skipped(Skipped {
            path: path.to_owned(),
            reason,
        });
    }
    match load_node(path, &root) {
        Ok(loaded) => Outcome::Loaded(Box::new(loaded)),
        Err(error) => Outcome::Failed(error),
    }
}

/// Symbolic links to folders are not followed, so that a circle of them ends.
fn collect(folder: &Path, files: &mut Vec<(PathBuf, bool)>, failed: &mut Vec<SpecError>) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return failed.push(unreadable(folder, error)),
    };
    for entry in entries {
        let (path, kind) = match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok(found) => found,
            Err(error) => {
                failed.push(unreadable(folder, error));
                continue;
            }
        };
        let is_yaml = path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml");
        if kind.is_dir() {
            collect(&path, files, failed);
        } else if is_yaml {
            files.push((path, false));
        }
    }
}

pub(crate) fn parse_file(path: &Path) -> Result<Node, SpecError> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, error))?;
    match String::from_utf8(bytes) {
        Ok(text) => parse_text(path, &text),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(SpecError {
                path: path.to_owned(),
                line: u32::try_from(line).ok(),
                column: None,
                problem: Problem::NotUtf8,
            })
        }
    }
}

fn parse_text(path: &Path, text: &str) -> Result<Node, SpecError> {
    yaml::parse(text).map_err(|error| SpecError {
        path: path.to_owned(),
        line: Some(error.line),
        column: Some(error.column),
        problem: Problem::Syntax(error.message),
    })
}

fn load_node(path: &Path, root: &Node) -> Result<Loaded, SpecError> {
    let (spec, warnings) = document::read(path, root)?;
    Ok(Loaded { spec, warnings })
}

fn unreadable(path: &Path, error: std::io::Error) -> SpecError {
    SpecError {
        path: path.to_owned(),
        line: None,
        column: None,
        problem: Problem::Unreadable(error),
    }
}
