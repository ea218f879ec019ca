//! Why a pool or a script could not run. What a target does is never an error: it is an outcome.

use std::io;
use std::path::PathBuf;

/// Fragments that continue "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    #[error("start the interpreter `{}`: {source}", path.display())]
    InterpreterMissing { path: PathBuf, source: io::Error },
    #[error("use the interpreter `{}`: it did not answer: {output}", path.display())]
    InterpreterSilent { path: PathBuf, output: String },
    #[error("use the interpreter `{}`: it is Python {version}, 3.7 or newer is needed", path.display())]
    InterpreterTooOld { path: PathBuf, version: String },
    /// The last lines of the Python traceback.
    #[error("import `{package}`:\n{traceback}")]
    ImportFailed { package: String, traceback: String },
    #[error("start the process that imports `{package}`: it ended during the import:\n{log}")]
    ZygoteDied { package: String, log: String },
    #[error("start the process that imports `{package}`: no answer after {seconds} s:\n{log}")]
    ZygoteSilent {
        package: String,
        seconds: u64,
        log: String,
    },
    #[error("fork a worker: {reason}")]
    ForkRefused { reason: String },
    #[error("describe `{path}`: {reason}")]
    Describe { path: String, reason: String },
    #[error("take native coverage: {reason}")]
    Coverage { reason: String },
    #[error("{action}: {source}")]
    System {
        action: &'static str,
        source: io::Error,
    },
}

impl ExecuteError {
    /// For `map_err`: names what was being done.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| ExecuteError::System {
            action,
            source: source.into(),
        }
    }
}

/// A traceback without the frames of Python's import system and of Fissure, which tell nobody anything.
pub(crate) fn without_machinery(traceback: &str) -> String {
    let mut kept = Vec::new();
    let mut leaving = false;
    for line in traceback.lines() {
        if line.starts_with("  File \"") {
            leaving = [
                "\"<frozen importlib",
                "\"<fissure",
                "/importlib/__init__.py\"",
            ]
            .iter()
            .any(|place| line.contains(place));
        } else if !line.starts_with("    ") {
            // No source line of the frame above.
            leaving = false;
        }
        if !leaving {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// The end of a text: the last `lines` lines of it.
pub(crate) fn last_lines(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_import_system_are_left_out() {
        let told = "Traceback (most recent call last):\n  File \"<frozen importlib._bootstrap>\", line 1, in _load\n  File \"/b/importlib/__init__.py\", line 126, in import_module\n    return x\n  \
                    File \"/a/broken.py\", line 2\n    def f(:\n          ^\nSyntaxError: invalid syntax";
        let kept = without_machinery(told);
        assert!(
            !kept.contains("importlib") && kept.contains("broken.py"),
            "{kept}"
        );
        assert!(
            kept.contains("def f(:") && kept.ends_with("invalid syntax"),
            "{kept}"
        );
    }

    #[test]
    fn last_lines_keeps_the_end_of_a_text() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a", 5), "a");
        assert_eq!(last_lines("", 5), "");
    }
}
