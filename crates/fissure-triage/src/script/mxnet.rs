//! MXNet 1.x.

use fissure_model::{Dtype, TensorValue};

use super::dialect::Dialect;
use super::numpy;
use super::writer::Writer;

pub(super) struct Mxnet;

const NAN: &str = r#"def leaf_holds_nan(value):
    if isinstance(value, mxnet.nd.NDArray):
        value = value.asnumpy()
    if getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c"):
        return bool((value != value).any())
    return isinstance(value, (float, complex)) and value != value
"#;

const HYBRIDIZED: &str = r#"def hybridized(target):
    """A layer as a graph; functions have no other way to run."""
    if isinstance(target, mxnet.gluon.HybridBlock):
        target.hybridize()
    return target
"#;

impl Dialect for Mxnet {
    fn compiled(&self, writer: &mut Writer, target: &str) -> String {
        writer.helper(HYBRIDIZED);
        format!("hybridized({target})")
    }

    fn tensor(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        // Named again: without it everything becomes float32.
        format!(
            "mxnet.nd.array({}, dtype=\"{}\")",
            numpy::array(writer, tensor),
            tensor.dtype
        )
    }

    fn sparse(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        let kind = if tensor.shape.len() == 2 {
            "csr"
        } else {
            "row_sparse"
        };
        format!("{}.tostype(\"{kind}\")", self.tensor(writer, tensor))
    }

    /// MXNet's dtype objects are NumPy's scalar types.
    fn dtype(&self, writer: &mut Writer, dtype: Dtype) -> String {
        writer.import("numpy");
        match dtype {
            Dtype::Bool => "numpy.bool_".into(),
            _ => format!("numpy.{dtype}"),
        }
    }

    fn nan_function(&self) -> &'static str {
        NAN
    }

    fn after_construction(&self) -> Option<&'static str> {
        Some("layer.initialize()")
    }

    /// Operations run behind the caller's back.
    fn after_call(&self) -> Option<&'static str> {
        Some("mxnet.nd.waitall()")
    }

    fn loaded_modules(&self) -> &'static [&'static str] {
        &[
            "mxnet.autograd",
            "mxnet.gluon",
            "mxnet.gluon.loss",
            "mxnet.gluon.nn",
            "mxnet.gluon.rnn",
            "mxnet.image",
            "mxnet.initializer",
            "mxnet.metric",
            "mxnet.nd",
            "mxnet.ndarray",
            "mxnet.ndarray.contrib",
            "mxnet.ndarray.linalg",
            "mxnet.ndarray.random",
            "mxnet.ndarray.sparse",
            "mxnet.random",
            "mxnet.symbol",
        ]
    }
}
