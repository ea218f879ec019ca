//! Any text that a library says: reading what it asks for never panics, and what becomes a file's name stays one.

#![no_main]

use std::sync::LazyLock;

use fissure_model::{Argument, ConcreteInput, Intent, Passing, Value};
use libfuzzer_sys::fuzz_target;

/// The input that was refused.
static INPUT: LazyLock<ConcreteInput> = LazyLock::new(|| {
    let argument = |name: &str, value| Argument {
        name: name.to_owned(),
        passing: Passing::Keyword,
        value,
    };
    ConcreteInput {
        number: 0,
        arguments: vec![
            argument("input", Value::List(vec![Value::Int(3), Value::Int(4)])),
            argument("dim", Value::Int(-1)),
            argument("kernel_size", Value::None),
        ],
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: Vec::new(),
    }
});

fuzz_target!(|given: &str| {
    fissure_generate::wishes(given, &INPUT);
    fissure_triage::mask(given);
    let name = fissure_triage::file_name_part(given);
    assert!(
        !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']),
        "{given:?} would be the file {name:?}"
    );
});
