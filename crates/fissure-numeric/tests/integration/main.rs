//! Scans of real programs, with the libraries that can be had.

mod backends;
mod configuration;
mod confinement;
mod examples;
mod inputs;
mod interrupt;
mod libraries;
mod odd_programs;
mod oracles;
mod reproducers;
mod support;
