//! Scans of real programs with PyTorch, where it can be had.

mod configuration;
mod examples;
mod inputs;
mod interrupt;
mod odd_programs;
mod oracles;
mod reproducers;
mod support;
