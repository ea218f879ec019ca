//! Scans of real programs with PyTorch, where it can be had.

mod examples;
mod inputs;
mod odd_programs;
mod oracles;
mod support;
