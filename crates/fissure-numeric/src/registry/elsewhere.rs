//! The names of registered functions in JAX and TensorFlow.
//!
//! These libraries mostly call a function what NumPy or PyTorch calls it; the table of functions has the rest.

use fissure_functions::{Dialect, functions};

/// Modules whose functions are looked up by their last name.
const MODULES: &[(&str, Dialect)] = &[
    ("jax.numpy.linalg.", Dialect::Jax),
    ("jax.numpy.", Dialect::Jax),
    ("jax.nn.", Dialect::Jax),
    ("jax.lax.", Dialect::Jax),
    ("jax.scipy.special.", Dialect::Jax),
    ("tensorflow.compat.v1.math.", Dialect::TensorFlow),
    ("tensorflow.compat.v1.nn.", Dialect::TensorFlow),
    ("tensorflow.compat.v1.linalg.", Dialect::TensorFlow),
    ("tensorflow.compat.v1.", Dialect::TensorFlow),
    ("tensorflow.math.", Dialect::TensorFlow),
    ("tensorflow.nn.", Dialect::TensorFlow),
    ("tensorflow.linalg.", Dialect::TensorFlow),
    ("tensorflow.", Dialect::TensorFlow),
];

/// The short name of a dotted name of JAX or TensorFlow, as the registry's other libraries have it;
/// nothing for other libraries.
pub(crate) fn short_name(dotted: &str) -> Option<&str> {
    let (name, dialect) = MODULES
        .iter()
        .find_map(|&(module, dialect)| Some((dotted.strip_prefix(module)?, dialect)))
        .filter(|(name, _)| !name.contains('.'))?;
    Some(
        functions()
            .operations()
            .called(dialect, name)
            .unwrap_or(name),
    )
}
