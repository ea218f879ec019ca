//! `fissure.toml`: the soft assertions of a project's own functions. As with Cargo's manifest, the file
//! of the nearest folder above counts, and its paths are relative to it.
//!
//! ```toml
//! [[assertion]]
//! function = "my_package.my_function"
//! file = "soft-assertions/my_package.my_function.safetensors"
//! oracle = ["my_oracle.py"]
//! ```

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::assertion::SoftAssertion;
use crate::catalogue::PLAIN_ORACLES;
use crate::file::FileError;

pub(crate) const FILE_NAME: &str = "fissure.toml";

/// Why a project file is refused.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("failed to read `{path}`: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("failed to write `{path}`: {error}")]
    Write { path: String, error: std::io::Error },
    #[error("`{path}` is not valid: {error}")]
    Syntax {
        path: String,
        error: Box<toml::de::Error>,
    },
    #[error("`{path}`: {problem}")]
    Invalid { path: String, problem: String },
    #[error("in `{path}`: {error}")]
    Assertion { path: String, error: FileError },
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    #[serde(default)]
    assertion: Vec<Entry>,
    /// What `fissure fuzz` reads.
    #[serde(default)]
    #[expect(dead_code, reason = "read by another command")]
    fuzz: serde::de::IgnoredAny,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    function: String,
    file: PathBuf,
    #[serde(default)]
    oracle: Vec<String>,
}

/// A function of the project with its soft assertion.
#[derive(Clone, Debug)]
pub struct OwnAssertion {
    pub function: String,
    pub assertion: SoftAssertion,
    /// Oracles that need nothing but the function, by name.
    pub oracles: Vec<String>,
    /// The Python file of further oracles.
    pub oracle_file: Option<PathBuf>,
}

/// Reads the project file of a folder or of the nearest one above; nothing when there is none.
pub fn load_project(folder: &Path) -> Result<Vec<OwnAssertion>, ProjectError> {
    let folder = project_folder(folder)?;
    let path = folder.join(FILE_NAME);
    let Some(file) = read(&path)? else {
        return Ok(Vec::new());
    };
    file.assertion
        .into_iter()
        .map(|entry| ready(&folder, &path, entry))
        .collect()
}

/// The nearest folder with a project file, from this one up; this one when there is none.
fn project_folder(start: &Path) -> Result<PathBuf, ProjectError> {
    let start = std::path::absolute(start).map_err(|error| ProjectError::Read {
        path: start.display().to_string(),
        error,
    })?;
    let found = start.ancestors().find(|it| it.join(FILE_NAME).exists());
    Ok(found.unwrap_or(&start).to_owned())
}

/// A path as the project file says it: relative to its folder where it lies below.
fn from_project(project: &Path, start: &Path, path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.to_owned();
    }
    let below = std::path::absolute(start)
        .ok()
        .and_then(|start| Some(start.strip_prefix(project).ok()?.join(path)));
    below.unwrap_or_else(|| path.to_owned())
}

fn read(path: &Path) -> Result<Option<ProjectFile>, ProjectError> {
    let shown = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ProjectError::Read { path: shown, error }),
    };
    let file = toml::from_str(&text).map_err(|error| ProjectError::Syntax {
        path: shown,
        error: Box::new(error),
    })?;
    Ok(Some(file))
}

fn ready(folder: &Path, path: &Path, entry: Entry) -> Result<OwnAssertion, ProjectError> {
    let shown = path.display().to_string();
    let invalid = |problem: String| ProjectError::Invalid {
        path: shown.clone(),
        problem,
    };
    let function = entry.function;
    let assertion =
        SoftAssertion::load(&folder.join(entry.file)).map_err(|error| ProjectError::Assertion {
            path: shown.clone(),
            error,
        })?;
    if assertion.header().function != function {
        return Err(invalid(format!(
            "the file of `{function}` was trained for `{}`",
            assertion.header().function
        )));
    }
    let mut oracles = Vec::new();
    let mut oracle_file = None;
    for oracle in entry.oracle {
        if PLAIN_ORACLES.contains(&oracle.as_str()) {
            oracles.push(oracle);
        } else {
            let file = folder.join(&oracle);
            if !file.is_file() {
                return Err(invalid(format!("there is no oracle `{oracle}`")));
            }
            oracle_file = Some(file);
        }
    }
    Ok(OwnAssertion {
        function,
        assertion,
        oracles,
        oracle_file,
    })
}

/// Adds a function to the project file of a folder or of the nearest one above, which is made in the
/// folder if there is none; what the user wrote stays as it is. File and oracles are named as seen from
/// the folder. Returns the project file.
pub fn plug(
    folder: &Path,
    function: &str,
    file: &Path,
    oracles: &[String],
) -> Result<PathBuf, ProjectError> {
    let project = project_folder(folder)?;
    let file = from_project(&project, folder, file);
    let oracles: Vec<String> = oracles
        .iter()
        .map(|oracle| {
            if PLAIN_ORACLES.contains(&oracle.as_str()) {
                oracle.clone()
            } else {
                from_project(&project, folder, Path::new(oracle))
                    .display()
                    .to_string()
            }
        })
        .collect();
    let path = project.join(FILE_NAME);
    let shown = path.display().to_string();
    let present = read(&path)?.unwrap_or_default();
    let entry = present.assertion.iter().find(|it| it.function == function);
    if let Some(entry) = entry {
        if entry.file == file && entry.oracle == oracles {
            return Ok(path);
        }
        return Err(ProjectError::Invalid {
            path: shown,
            problem: format!(
                "`{function}` is there with the file `{}` and the oracles {:?}: remove that entry or name the same",
                entry.file.display(),
                entry.oracle
            ),
        });
    }
    let write = |error| ProjectError::Write {
        path: shown.clone(),
        error,
    };
    let mut text = match std::fs::read_to_string(&path) {
        Ok(text) if !text.is_empty() => text.trim_end().to_owned() + "\n\n",
        Ok(_) => String::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(write(error)),
    };
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let oracles: Vec<String> = oracles.iter().map(|oracle| quoted(oracle)).collect();
    text.push_str(&format!(
        "[[assertion]]\nfunction = {}\nfile = {}\noracle = [{}]\n",
        quoted(function),
        quoted(&file.display().to_string()),
        oracles.join(", ")
    ));
    std::fs::write(&path, text).map_err(write)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugging_keeps_what_is_there_and_is_done_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, "# ours\n").unwrap();
        for _ in 0..2 {
            plug(folder.path(), "a.b", Path::new("x.safetensors"), &[]).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# ours\n"), "{text}");
        assert_eq!(text.matches("[[assertion]]").count(), 1);
        let other = plug(folder.path(), "a.b", Path::new("y.safetensors"), &[]);
        assert!(other.unwrap_err().to_string().contains("remove that entry"));
    }

    #[test]
    fn the_project_file_of_a_folder_above_counts() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("experiments/one");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(folder.path().join(FILE_NAME), "").unwrap();
        let oracles = ["nonfinite".to_owned(), "oracle.py".to_owned()];
        let path = plug(&below, "a.b", Path::new("x.safetensors"), &oracles).unwrap();
        assert_eq!(path, folder.path().join(FILE_NAME));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"experiments/one/x.safetensors\""), "{text}");
        assert!(
            text.contains("\"nonfinite\", \"experiments/one/oracle.py\""),
            "{text}"
        );
        // It is read from below, too: the missing model is the problem now.
        let problem = load_project(&below).unwrap_err().to_string();
        assert!(problem.contains("x.safetensors"), "{problem}");
    }

    #[test]
    fn a_wrong_project_file_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        assert!(load_project(folder.path()).unwrap().is_empty());
        for text in [
            "[[assertion]]\nfunction = 3\n",
            "[[assertion]]\nfunction = \"a.b\"\nfile = \"missing.safetensors\"\n",
            "[[asertion]]\n",
        ] {
            std::fs::write(folder.path().join(FILE_NAME), text).unwrap();
            let problem = load_project(folder.path()).unwrap_err().to_string();
            assert!(problem.contains("fissure.toml"), "{problem}");
        }
    }
}
