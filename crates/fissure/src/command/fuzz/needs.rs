//! Which library a package of the user's own is built on.

use std::path::{Path, PathBuf};

use fissure_environment::known_packages;

/// Files that are looked at.
const FILES: usize = 300;

/// The library of an environment that the user named (`numpy==2.4`), where it is one of those.
pub(crate) fn named_library(requirement: Option<&str>) -> Option<&'static str> {
    let name = requirement?
        .split(|letter: char| !letter.is_alphanumeric())
        .next()?;
    known_packages().find(|library| *library == name)
}

/// The package whose interpreter is needed: of a folder or file of the user's own, the library
/// that its sources import; else the package itself.
pub(crate) fn interpreter_package<'a>(package: &'a str, pythonpath: &[PathBuf]) -> &'a str {
    let found = pythonpath.iter().find_map(|folder| {
        let (file, inner) = (folder.join(format!("{package}.py")), folder.join(package));
        if file.is_file() {
            Some(vec![file])
        } else if inner.is_dir() {
            Some(sources(&inner))
        } else {
            None
        }
    });
    let Some(files) = found else { return package };
    let texts: Vec<String> = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect();
    let imported = |library: &&str| texts.iter().any(|text| imports(text, library));
    known_packages().find(imported).unwrap_or(package)
}

/// The modules of the user's own folders that paths lead through: what they import tells the
/// library whose tensors are made, which the package itself may not.
pub(crate) fn own_modules<'a>(
    paths: impl IntoIterator<Item = &'a str>,
    pythonpath: &[PathBuf],
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for path in paths {
        let parts: Vec<&str> = path.split('.').collect();
        let is_module = |length: &usize| {
            let below: PathBuf = parts[..*length].iter().collect();
            pythonpath.iter().any(|folder| {
                let place = folder.join(&below);
                place.join("__init__.py").is_file() || place.with_extension("py").is_file()
            })
        };
        if let Some(length) = (1..=parts.len()).rev().find(is_module) {
            let module = parts[..length].join(".");
            if !found.contains(&module) {
                found.push(module);
            }
        }
    }
    found
}

fn imports(text: &str, library: &str) -> bool {
    text.lines().any(|line| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("import" | "from"))
            && words.any(|word| word.split(['.', ',']).next() == Some(library))
    })
}

/// The Python files of a folder and of those below it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            if entry.is_dir() {
                waiting.push(entry);
            } else if entry.extension().is_some_and(|it| it == "py") && found.len() < FILES {
                found.push(entry);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_the_one_that_the_sources_import() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("mine");
        std::fs::create_dir(&package).unwrap();
        std::fs::write(package.join("__init__.py"), "import numpy as np\n").unwrap();
        std::fs::write(package.join("ops.py"), "from torch.nn import functional\n").unwrap();
        let path = [folder.path().to_owned()];
        assert_eq!(interpreter_package("mine", &path), "torch");
        assert_eq!(interpreter_package("other", &path), "other");
        // Sources may import what they can do without; who names an environment knows.
        assert_eq!(named_library(Some("numpy==2.4")), Some("numpy"));
        assert_eq!(named_library(Some("numpydoc")), None);
        let modules = own_modules(["mine.ops.Window.sum", "other.f"], &path);
        assert_eq!(modules, ["mine.ops"]);
    }
}
