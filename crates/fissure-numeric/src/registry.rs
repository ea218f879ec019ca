//! The registry of unstable functions.
