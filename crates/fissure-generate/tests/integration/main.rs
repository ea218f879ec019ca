//! Generated inputs, through the public interface.

mod alternative;
mod common;
mod contract;
mod mutators;
mod pinned;
mod rules;
mod shared_files;
mod subscripts;
mod wordless;
