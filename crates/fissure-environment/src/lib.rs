//! Which Python runs the library under test.
//!
//! [`resolve`] finds an interpreter that has the library or makes a managed environment for it.
//! Nothing is ever installed into an environment of the user's: managed environments are virtual
//! environments of Fissure's own in the user's cache folder, and installers see only the package
//! index that the user configured.

mod beside;
mod check;
mod error;
mod failure;
mod index;
mod installer;
mod interpreter;
mod library;
pub mod machine;
mod make;
mod managed;
mod pins;
mod probe;
mod process;
mod progress;
mod releases;
mod requirement;
mod resolve;
mod solver;
mod surroundings;
mod users;
mod uv_tool;

pub use beside::packages_beside;
pub use check::{Plan, can_make, try_import, uv_version};
pub use error::EnvironmentError;
pub use installer::install_hint;
pub use interpreter::{Interpreter, active, interpreters};
pub use library::{
    COMPATIBILITY, Compatibility, DEFAULT_TORCH, bytes_on_disk, bytes_to_download,
    compatible_lines, default_requirement, known_packages, meant_by, package_of,
};
pub use make::{make, make_with};
pub use managed::{Managed, Record, Store, size_of};
pub use probe::{Probe, probe};
pub use progress::Progress;
pub use releases::releases;
pub use requirement::{Requirement, is_older};
pub use resolve::{Choice, Wanted, locate, resolve};
pub use solver::{find_solver, provide_solver};
pub use surroundings::Surroundings;
