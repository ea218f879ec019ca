//! Any bytes as the log of a run: reading them never panics and takes no more memory than a frame may have.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fissure_campaign::read_hostile_log(bytes));
