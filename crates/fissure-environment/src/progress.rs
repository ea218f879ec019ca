//! What is told while an environment is made.

use std::{path::PathBuf, time::Duration};

/// One piece of news. The library never prints: the command line decides how it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Said once, before anything is downloaded.
    Making {
        name: String,
        requirement: String,
        folder: PathBuf,
        python: PathBuf,
        python_version: String,
        /// About how much disk it will take, if that is known.
        bytes: Option<u64>,
        /// About how much is fetched for it, if nothing of it is in the installer's cache.
        download: Option<u64>,
    },
    /// A new step begins: `creating the environment`, `attempt 2 of 4`.
    Step(String),
    Downloading {
        package: String,
        size: Option<String>,
    },
    Downloaded {
        package: String,
    },
    /// Any other line of the installer.
    Line(String),
    /// Still at it. `written` is what the installer has written to disk in this step so far.
    Running {
        elapsed: Duration,
        written: Option<u64>,
    },
    Made {
        name: String,
        seconds: u64,
        bytes: u64,
    },
}

impl Progress {
    /// Understands the lines that uv and pip print when they do not write to a terminal.
    pub(crate) fn from_installer_line(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Downloading", name, size] if size.starts_with('(') => Self::Downloading {
                package: name.to_owned(),
                size: Some(size.trim_matches(['(', ')']).to_owned()),
            },
            // pip: "Downloading torch-2.9.1-cp311-….whl (899.7 MB)"
            ["Downloading", name, size, unit] if size.starts_with('(') => Self::Downloading {
                package: name.split('-').next().unwrap_or(name).to_owned(),
                size: Some(format!(
                    "{} {}",
                    size.trim_matches('('),
                    unit.trim_matches(')')
                )),
            },
            ["Downloaded", name] => Self::Downloaded {
                package: name.to_owned(),
            },
            _ => Self::Line(line.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_uv_and_pip_are_understood() {
        let downloading = |package: &str, size: &str| Progress::Downloading {
            package: package.to_owned(),
            size: Some(size.to_owned()),
        };
        for (line, expected) in [
            (
                "Downloading torch (858.1MiB)",
                downloading("torch", "858.1MiB"),
            ),
            (
                "  Downloading six-1.16.0-py2.py3-none-any.whl (11 kB)",
                downloading("six", "11 kB"),
            ),
            (
                " Downloaded torch",
                Progress::Downloaded {
                    package: "torch".to_owned(),
                },
            ),
            (
                "Resolved 26 packages",
                Progress::Line("Resolved 26 packages".to_owned()),
            ),
        ] {
            assert_eq!(Progress::from_installer_line(line), expected);
        }
    }
}
