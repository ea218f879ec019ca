//! What tests share: the interpreters they need, and the data beside the checkout.
//!
//! Messages go straight to standard error: the test harness hides what a passing test prints, and
//! a skipped test must say so.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fissure_environment::{DEFAULT_TORCH, Progress, Surroundings, Wanted};

/// Says something about a test that the harness does not swallow.
pub fn say(message: &str) {
    // Nothing can be done about a closed standard error, and no test depends on it.
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate is two folders below the root")
        .to_owned()
}

/// A folder of the data that lies beside the checkout on the project's own machines, or `None`
/// (with a message) elsewhere.
pub fn shared(below: &str) -> Option<PathBuf> {
    let path = root().parent()?.join("shared").join(below);
    if path.exists() {
        return Some(path);
    }
    say(&format!(
        "extra data absent: no ../shared/{below}, so the tests over it are not run"
    ));
    None
}

/// An interpreter with the tested PyTorch: `FISSURE_TEST_PYTHON_TORCH`, or the managed environment,
/// made if need be. `None`, with the reason printed, when it cannot be had.
pub fn torch_python() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(find_torch).clone()
}

fn find_torch() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FISSURE_TEST_PYTHON_TORCH") {
        return Some(named.into());
    }
    environment("torch", DEFAULT_TORCH, false)
}

/// An interpreter with a library in this version, from a managed environment that is made if need
/// be. For libraries whose download takes seconds; `None`, with the reason printed, when it cannot
/// be had.
pub fn library_python(package: &str, requirement: &str) -> Option<PathBuf> {
    environment(package, requirement, false)
}

/// The same for releases that only some machines need: nothing is made unless the variable
/// `FISSURE_TEST_OLD_LIBRARIES` asks for it.
pub fn old_library_python(package: &str, requirement: &str) -> Option<PathBuf> {
    let asked = std::env::var_os("FISSURE_TEST_OLD_LIBRARIES").is_some();
    environment(package, requirement, !asked)
}

/// The solver Z3, installed if need be. `None`, with the reason printed, when it cannot be had.
pub fn z3() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let found = Surroundings::from_process().and_then(|surroundings| {
            fissure_environment::provide_solver(&surroundings, &mut |_| ())
        });
        found
            .inspect_err(|error| say(&format!("no Z3, so what asks it is not tested: {error}")))
            .ok()
    };
    FOUND.get_or_init(find).clone()
}

fn environment(package: &str, requirement: &str, offline: bool) -> Option<PathBuf> {
    let made = Surroundings::from_process().and_then(|surroundings| {
        let wanted = Wanted {
            package: package.to_owned(),
            python: None,
            requirement: Some(requirement.parse()?),
            beside: Vec::new(),
            offline,
        };
        fissure_environment::resolve(&surroundings, &wanted, &mut |news| match news {
            Progress::Making { name, .. } => say(&format!("making the environment {name}")),
            Progress::Step(step) => say(&format!("  {step}")),
            Progress::Downloaded { package } => say(&format!("  downloaded {package}")),
            Progress::Made { name, seconds, .. } => say(&format!("made {name} in {seconds} s")),
            _ => {}
        })
    });
    match made {
        Ok(choice) => Some(choice.python),
        Err(_) if offline => {
            say(&format!(
                "no environment with {requirement} here, so the tests that need it are not run \
                 (FISSURE_TEST_OLD_LIBRARIES=1 makes one)"
            ));
            None
        }
        Err(error) => {
            say(&format!(
                "no {requirement} here, so the tests that need it are not run: {error}"
            ));
            None
        }
    }
}
