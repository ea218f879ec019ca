//! The Python files run in whatever interpreter the target needs: 3.7 and everything newer.

use std::path::{Path, PathBuf};
use std::process::Command;

use fissure_environment::{Surroundings, interpreters};

const COMPILE: &str = "
import sys
for path in sys.argv[1:]:
    with open(path, encoding='utf-8') as stream:
        compile(stream.read(), path, 'exec')
";

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            python_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_compiles_with_every_interpreter_of_this_machine() {
    let mut files = Vec::new();
    python_files(&fissure_testing::root().join("python"), &mut files);
    assert!(files.len() > 20, "{files:?}");
    let surroundings = Surroundings::from_process().unwrap();
    let mut tried = 0;
    for interpreter in interpreters(&surroundings, "torch") {
        let output = Command::new(&interpreter.python)
            .arg("-c")
            .arg(COMPILE)
            .args(&files)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}: {}",
            interpreter.python.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        tried += 1;
    }
    assert!(tried > 0, "the tests need a Python");
}
