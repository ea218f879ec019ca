//! The Python runtime, embedded in the program and unpacked for the interpreter.

use std::io;
use std::path::Path;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../python/fissure_scan/", $name)))),*]
    };
}

pub const FILES: &[(&str, &str)] = files![
    "__init__.py",
    "__main__.py",
    "analytic.py",
    "archive.py",
    "arguments.py",
    "array_shadow.py",
    "arrays.py",
    "backends.py",
    "candidates.py",
    "constants.py",
    "descent.py",
    "docstrings.py",
    "events.py",
    "findings.py",
    "fix_check.py",
    "formulas.py",
    "gradient_watch.py",
    "graph_backend.py",
    "graph_operations.py",
    "jax_backend.py",
    "learned.py",
    "learned_arrays.py",
    "loaders.py",
    "low_precision.py",
    "math_backend.py",
    "monitor.py",
    "monitor_tools.py",
    "names.py",
    "numpy_backend.py",
    "numpy_distances.py",
    "numpy_patterns.py",
    "numpy_precision.py",
    "numpy_shadow.py",
    "observe.py",
    "oracles.py",
    "patches.py",
    "patterns.py",
    "precision.py",
    "program.py",
    "registry.py",
    "reproduce.py",
    "reproduce_arrays.txt",
    "reproduce_graph.txt",
    "reproduce_numpy.txt",
    "reproduce_program.txt",
    "resize.py",
    "scalars.py",
    "scratch.py",
    "search.py",
    "session.py",
    "shadow.py",
    "shadows.py",
    "shrink.py",
    "soft_assertions.py",
    "sources.py",
    "steering.py",
    "synthesis.py",
    "tape.py",
    "targets.py",
    "tensorflow_backend.py",
    "torch_backend.py",
    "trace.py",
    "users.py",
    "variations.py",
    "wrapping.py",
];

/// The file the interpreter is started with. It is outside the package, so that the package's
/// relative imports work and nothing of it shadows a module of the user.
const STARTER: &str = "import runpy\nrunpy.run_module('fissure_scan', run_name='__main__')\n";

/// Writes the runtime below `folder`; returns the path of the file to run.
pub fn unpack(folder: &Path) -> io::Result<std::path::PathBuf> {
    let package = folder.join("fissure_scan");
    std::fs::create_dir_all(&package)?;
    for (name, text) in FILES {
        std::fs::write(package.join(name), text)?;
    }
    let starter = folder.join("start.py");
    std::fs::write(&starter, STARTER)?;
    Ok(starter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_runtime_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/fissure_scan");
        let mut present: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".py") || name.ends_with(".txt"))
            .collect();
        present.sort();
        let embedded: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(present, embedded);
    }
}
