//! JAX.

use fissure_model::{Dtype, TensorValue};

use super::dialect::Dialect;
use super::numpy::{self, Numpy};
use super::writer::Writer;

pub(super) struct Jax;

const NAN: &str = r#"def leaf_holds_nan(value):
    if hasattr(value, "todense") and hasattr(value, "data"):
        value = value.data
    if isinstance(value, jax.Array) and not jax.numpy.issubdtype(value.dtype, jax.numpy.inexact):
        return False
    if hasattr(value, "dtype"):
        return bool((value != value).any())
    return isinstance(value, (float, complex)) and value != value
"#;

const COMPILED: &str = r#"def compiled(function):
    """By `jax.jit`: arrays are its inputs, everything else is part of the function."""
    import numpy

    def is_array(value):
        return isinstance(value, (jax.Array, numpy.ndarray))

    def run(*arguments, **keywords):
        leaves, structure = jax.tree_util.tree_flatten(
            (arguments, keywords), is_leaf=lambda value: value is None
        )

        def inner(*given):
            given = iter(given)
            filled = [next(given) if is_array(leaf) else leaf for leaf in leaves]
            arguments, keywords = jax.tree_util.tree_unflatten(structure, filled)
            return function(*arguments, **keywords)

        return jax.jit(inner)(*[leaf for leaf in leaves if is_array(leaf)])

    return run
"#;

impl Dialect for Jax {
    fn compiled(&self, writer: &mut Writer, target: &str) -> String {
        writer.helper(COMPILED);
        format!("compiled({target})")
    }

    fn tensor(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        format!("jax.device_put({})", numpy::array(writer, tensor))
    }

    fn sparse(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        writer.import("jax.experimental.sparse");
        format!(
            "jax.experimental.sparse.BCOO.fromdense({})",
            self.tensor(writer, tensor)
        )
    }

    fn dtype(&self, writer: &mut Writer, dtype: Dtype) -> String {
        Numpy.dtype(writer, dtype)
    }

    fn nan_function(&self) -> &'static str {
        NAN
    }

    /// Operations run behind the caller's back.
    fn after_call(&self) -> Option<&'static str> {
        Some("jax.block_until_ready(result)")
    }

    fn loaded_modules(&self) -> &'static [&'static str] {
        &[
            "jax.dtypes",
            "jax.lax",
            "jax.nn",
            "jax.numpy",
            "jax.numpy.fft",
            "jax.numpy.linalg",
            "jax.random",
            "jax.tree_util",
        ]
    }
}
