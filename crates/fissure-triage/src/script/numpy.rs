//! NumPy arrays: beside the tensors of another library, and in their place for libraries that have
//! none.

use fissure_model::{Dtype, TensorValue};

use super::dialect::Dialect;
use super::elements::{Elements, elements, tuple};
use super::writer::Writer;

pub(super) struct Numpy;

const FROM_BYTES: &str = r#"def array_from_bytes(hexadecimal, dtype, *shape):
    """An array from its bytes, which are repeated until it is full."""
    return numpy.resize(numpy.frombuffer(bytes.fromhex(hexadecimal), dtype), shape)
"#;

const NAN: &str = r#"def leaf_holds_nan(value):
    if getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c"):
        return bool((value != value).any())
    return isinstance(value, (float, complex)) and value != value
"#;

/// An expression for a NumPy array.
pub(super) fn array(writer: &mut Writer, tensor: &TensorValue) -> String {
    let Some(dtype) = dtype_expression(writer, tensor.dtype) else {
        return writer.impossible(&format!("a NumPy array of dtype {}", tensor.dtype));
    };
    let shape = tuple(&tensor.shape);
    match elements(tensor) {
        Elements::Empty => format!("numpy.empty({shape}, {dtype})"),
        Elements::Single(element) => format!("numpy.array({element}, {dtype})"),
        Elements::Constant(element) => format!("numpy.full({shape}, {element}, {dtype})"),
        Elements::Listed(list) if tensor.shape.len() == 1 => {
            format!("numpy.array({list}, {dtype})")
        }
        Elements::Listed(list) => format!("numpy.array({list}, {dtype}).reshape({shape})"),
        Elements::Repeated(list) => format!("numpy.resize(numpy.array({list}, {dtype}), {shape})"),
        Elements::Hexadecimal(bytes) => {
            writer.helper(FROM_BYTES);
            let sizes = tensor
                .shape
                .iter()
                .map(|size| format!(", {size}"))
                .collect::<String>();
            format!("array_from_bytes({bytes}, {dtype}{sizes})")
        }
        Elements::Impossible(what) => writer.impossible(&what),
    }
}

/// The dtype argument of an array; `None` for types that NumPy has not.
fn dtype_expression(writer: &mut Writer, dtype: Dtype) -> Option<String> {
    writer.import("numpy");
    match dtype {
        Dtype::Bfloat16 | Dtype::Float8E4m3fn | Dtype::Float8E5m2 => {
            writer.import("ml_dtypes");
            Some(format!("ml_dtypes.{dtype}"))
        }
        _ if dtype.size().is_none() || dtype.family().is_none() => None,
        _ => Some(format!("\"{dtype}\"")),
    }
}

impl Dialect for Numpy {
    fn tensor(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        array(writer, tensor)
    }

    fn sparse(&self, writer: &mut Writer, _tensor: &TensorValue) -> String {
        writer.impossible("a sparse tensor")
    }

    fn dtype(&self, writer: &mut Writer, dtype: Dtype) -> String {
        match dtype_expression(writer, dtype) {
            Some(expression) => format!("numpy.dtype({expression})"),
            None => writer.impossible(&format!("the dtype {dtype}")),
        }
    }

    fn nan_function(&self) -> &'static str {
        NAN
    }
}
