//! JAX.

use fissure_model::{Dtype, TensorValue};

use super::dialect::Dialect;
use super::numpy::{self, Numpy};
use super::writer::Writer;

pub struct Jax;

const NAN: &str = r#"def leaf_holds_nan(value):
    if hasattr(value, "todense") and hasattr(value, "data"):
        value = value.data
    if isinstance(value, jax.Array) and not jax.numpy.issubdtype(value.dtype, jax.numpy.inexact):
        return False
    if hasattr(value, "dtype"):
        return bool((value != value).any())
    return isinstance(value, (float, complex)) and value != value
"#;

impl Dialect for Jax {
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
