//! Any text that a library says: reading what it asks for never panics, and what becomes a file's name stays one.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: &str| {
    fissure_generate::wishes(given, &["input", "dim", "kernel_size"]);
    fissure_triage::mask(given);
    let name = fissure_triage::file_name_part(given);
    assert!(
        !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']),
        "{given:?} would be the file {name:?}"
    );
});
