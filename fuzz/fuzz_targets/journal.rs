//! Any bytes in a worker's journal: reading them never panics and never reads outside of it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fissure_execute::read_hostile_journal(bytes));
