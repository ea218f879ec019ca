//! Constraint files, through the public interface.

mod comparing;
mod extracting;
mod hinting;
mod loading;
mod released_files;
mod repairing;
mod robustness;
