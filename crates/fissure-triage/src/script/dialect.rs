//! What differs between libraries.

use fissure_model::{Dtype, TensorValue};

use super::jax::Jax;
use super::mxnet::Mxnet;
use super::numpy::Numpy;
use super::tensorflow::Tensorflow;
use super::torch::Torch;
use super::writer::Writer;

/// How a library's own values are written in Python. One file each.
pub(super) trait Dialect: Sync {
    /// An expression for a dense tensor.
    fn tensor(&self, writer: &mut Writer, tensor: &TensorValue) -> String;

    /// An expression for the same elements as a sparse tensor.
    fn sparse(&self, writer: &mut Writer, tensor: &TensorValue) -> String;

    /// An expression for a dtype object.
    fn dtype(&self, writer: &mut Writer, dtype: Dtype) -> String;

    /// Source of a function `leaf_holds_nan(value)` for a value that is not a container.
    fn nan_function(&self) -> &'static str;

    /// An expression for a function, as the library's compiler runs it.
    fn compiled(&self, _writer: &mut Writer, target: &str) -> String {
        target.to_owned()
    }

    /// A statement between the construction of a `layer` and its call.
    fn after_construction(&self) -> Option<&'static str> {
        None
    }

    /// A statement after a call whose `result` may still be under way.
    fn after_call(&self) -> Option<&'static str> {
        None
    }

    /// Submodules that importing the package imports as well, so that scripts need not.
    fn loaded_modules(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The dialect of a package; NumPy arrays for packages without one of their own, as in the worker.
pub(super) fn choose(package: &str) -> &'static dyn Dialect {
    match package.split('.').next() {
        Some("torch") => &Torch,
        Some("tensorflow") => &Tensorflow,
        Some("jax") => &Jax,
        Some("mxnet") => &Mxnet,
        _ => &Numpy,
    }
}
