//! Any text in a field of a constraint file: reading it never panics, and what is read and printed is read back.

#![no_main]

use fissure_spec::{
    parse_default, parse_dtype, parse_expression, parse_library_dtype, parse_ndim, parse_range,
    parse_shape, parse_structure, parse_tensor, text,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: &str| {
    let _ = parse_expression(given);
    if let Ok(term) = parse_ndim(given) {
        assert_eq!(parse_ndim(&text::ndim(&term)).as_ref(), Ok(&term));
    }
    if let Ok(term) = parse_shape(given) {
        assert_eq!(parse_shape(&text::shape(&term)).as_ref(), Ok(&term));
    }
    let _ = parse_range(given);
    let _ = parse_structure(given);
    let _ = parse_tensor(given);
    let _ = parse_library_dtype(given);
    let terms: Vec<_> = parse_dtype(given).into_iter().collect();
    let _ = parse_default(given, "torch", &terms);
});
