//! The Python side, embedded: everything below `python/`, and the data that it reads.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use rust_embed::RustEmbed;

/// Builds without optimisation read the folder when they run, so that a change of a Python file needs no
/// compilation.
#[derive(RustEmbed)]
#[folder = "../../python"]
#[include = "*.py"]
#[include = "*.txt"]
// What users import; it is in the wheel.
#[exclude = "fissure/*"]
struct Embedded;

/// The package that workers import.
pub const WORKER: &str = "fissure_worker";
const SWEEP: &str = "fissure_sweep";
const BOOTSTRAP: &str = "fissure_worker/bootstrap.py";
const WARDEN: &str = "fissure_worker/warden.py";
/// The table of functions, by the name that `functions.py` asks for.
const FUNCTIONS: &str = "data/functions.json";

/// The text of one file, by its path below `python/`.
///
/// # Panics
/// Where there is no such file: the paths are constants of the program.
pub fn python_file(path: &str) -> String {
    let file = Embedded::get(path).unwrap_or_else(|| panic!("python/{path} is not embedded"));
    text(file.data)
}

/// All files of a package, by their paths below `python/`.
pub fn python_package(name: &str) -> BTreeMap<String, String> {
    let within = format!("{name}/");
    Embedded::iter()
        .filter(|path| path.starts_with(&within))
        .filter_map(|path| Some((path.to_string(), text(Embedded::get(&path)?.data))))
        .collect()
}

/// Writes a package below `folder`, as an interpreter imports it from there.
pub fn unpack_package(name: &str, folder: &Path) -> io::Result<()> {
    for (path, text) in python_package(name) {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

/// The text that a zygote is started with.
pub(crate) fn bootstrap() -> String {
    python_file(BOOTSTRAP)
}

/// The text of the program that stands above every other.
pub(crate) fn warden() -> String {
    python_file(WARDEN)
}

/// What the bootstrap imports from: the worker's package, what its oracle of sweeps asks, and its data.
pub(crate) fn worker_sources() -> BTreeMap<String, String> {
    let mut sources = python_package(WORKER);
    sources.extend(python_package(SWEEP));
    sources.insert(
        FUNCTIONS.to_owned(),
        fissure_functions::worker_json().to_owned(),
    );
    sources
}

fn text(bytes: Cow<'static, [u8]>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_unpacked_with_the_folders_in_it_and_without_caches() {
        let folder = tempfile::tempdir().unwrap();
        unpack_package(WORKER, folder.path()).unwrap();
        assert!(
            folder
                .path()
                .join("fissure_worker/oracles/__init__.py")
                .is_file()
        );
        assert!(
            python_package(WORKER)
                .keys()
                .all(|path| !path.contains("__pycache__"))
        );
        assert_eq!(python_package("fissure"), BTreeMap::new());
    }
}
