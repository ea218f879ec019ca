//! Scans of real programs. They need an interpreter with torch: FISSURE_TEST_PYTHON_TORCH.

mod examples;
mod odd_programs;
mod oracles;
mod support;
