//! Which basic blocks of a library's machine code were run, on the library as it was installed.
//!
//! Block starts are found in the file ([`Image`]), an `int3` is written on each of them inside the
//! process that has the library loaded, and the handler of the trap ([`handler`]) puts the byte back
//! and notes the address in shared memory: a block costs something once, and nothing after.
//!
//! Invariant: nothing here runs a process. `fissure-execute` has the zygote arm itself and hands the
//! addresses on; this crate knows files of machine code and sets of blocks.

mod cache;
mod error;
mod functions;
pub mod handler;
mod image;
pub mod names;
mod page;
mod python_lines;
mod record;
mod summary;
mod symbols;

pub use error::CoverageError;
pub use image::{Function, Image};
pub use page::page;
pub use record::{BlockSet, CoverageRecord, Growth, ModuleRecord};
pub use summary::{FunctionRow, ModuleRow, NamespaceRow, Summary};

/// Why coverage cannot be had on this kind of machine, or `None`.
pub fn unavailable() -> Option<&'static str> {
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        None
    } else {
        Some("native coverage needs Linux on x86-64")
    }
}
