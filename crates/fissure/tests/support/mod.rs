//! The real binary in a folder of its own.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

pub(crate) struct TestContext {
    folder: TempDir,
}

/// What a finished command said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl TestContext {
    pub(crate) fn new() -> Self {
        TestContext {
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
        }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("below the folder")).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// `fissure`, in this folder, without what the user's environment might add.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fissure"));
        command.current_dir(self.folder.path());
        for name in [
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "FISSURE_PYTHON",
            "FISSURE_HOME",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// `fissure fuzz` on the planted library, with results in `out`.
    pub(crate) fn fuzz_planted(&self, names: &[&str]) -> Command {
        let mut command = self.command();
        command.arg("fuzz");
        for name in names {
            command.arg(planted().join(format!("specs/planted.{name}.yaml")));
        }
        command
            .args(["--workdir", "out", "--timeout", "2", "--pythonpath"])
            .arg(planted());
        command
    }
}

/// What the folder of every finding holds.
pub(crate) const FINDING_FILES: &[&str] = &[
    "finding.json",
    "input.json",
    "issue.md",
    "log.txt",
    "reproduce.py",
];

pub(crate) fn planted() -> PathBuf {
    fissure_testing::root().join("testdata/planted")
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("fissure starts");
    Ran {
        code: status.code(),
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

/// Names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
