//! Is this a Python that can be used?

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{ExecuteError, last_lines};

/// The oldest Python that the embedded files are valid for.
const OLDEST: (u32, u32) = (3, 7);
/// Valid in every Python there ever was.
const QUESTION: &str = "import sys; sys.stdout.write('%d %d %s' % (sys.version_info[0], sys.version_info[1], sys.executable))";

/// The interpreter itself behind a path that may lead to it through wrapper scripts. These look
/// for their files below HOME, which a target does not have.
pub(crate) fn find(python: &Path) -> Result<PathBuf, ExecuteError> {
    let output = Command::new(python)
        .args(["-c", QUESTION])
        .stdin(Stdio::null())
        .output()
        .map_err(|source| ExecuteError::InterpreterMissing {
            path: python.to_owned(),
            source,
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut parts = text.trim().splitn(3, ' ');
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
    let (Some(major), Some(minor)) = (number(), number()) else {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(ExecuteError::InterpreterSilent {
            path: python.to_owned(),
            output: last_lines(&format!("{text}\n{errors}"), 5),
        });
    };
    if (major, minor) < OLDEST {
        return Err(ExecuteError::InterpreterTooOld {
            path: python.to_owned(),
            version: format!("{major}.{minor}"),
        });
    }
    // An embedded interpreter may not know where it lies.
    Ok(match parts.next() {
        Some(executable) if !executable.is_empty() => PathBuf::from(executable),
        _ => python.to_owned(),
    })
}
