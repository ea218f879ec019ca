//! The Python runtime, unpacked for the interpreter.

use std::io;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "fissure_scan";
/// The one table of element types in Python.
const DTYPES: [&str; 2] = ["fissure_worker/__init__.py", "fissure_worker/dtypes.py"];
/// What `watch/operations.py` reads.
const OPERATIONS: &str = "operations.json";
/// The file the interpreter is started with. It is outside the package, so that the package's
/// relative imports work and nothing of it shadows a module of the user.
const STARTER: &str = "import runpy\nrunpy.run_module('fissure_scan', run_name='__main__')\n";

/// Writes the runtime below `folder`; returns the path of the file to run.
pub(super) fn unpack(folder: &Path) -> io::Result<PathBuf> {
    fissure_execute::unpack_package(PACKAGE, folder)?;
    for path in DTYPES {
        let to = folder.join(path);
        std::fs::create_dir_all(to.parent().expect("it is in a package"))?;
        std::fs::write(to, fissure_execute::python_file(path))?;
    }
    let operations = fissure_functions::functions().operations().to_json();
    std::fs::write(
        folder.join(PACKAGE).join(OPERATIONS),
        operations.to_string(),
    )?;
    let starter = folder.join("start.py");
    std::fs::write(&starter, STARTER)?;
    Ok(starter)
}
