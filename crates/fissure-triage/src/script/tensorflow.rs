//! TensorFlow 2.

use fissure_model::{Dtype, TensorValue};

use super::dialect::Dialect;
use super::elements::{Elements, elements, tuple};
use super::numpy;
use super::writer::Writer;

pub(super) struct Tensorflow;

const FROM_BYTES: &str = r#"def from_bytes(hexadecimal, dtype, *shape):
    """A tensor from its bytes, which are repeated until it is full."""
    import numpy

    pattern = numpy.frombuffer(bytes.fromhex(hexadecimal), dtype.as_numpy_dtype)
    count = 1
    for size in shape:
        count *= size
    times = -(-count // max(1, pattern.size))
    return tensorflow.constant(numpy.tile(pattern, times)[:count].reshape(shape))
"#;

const NAN: &str = r#"def leaf_holds_nan(value):
    if isinstance(value, (tensorflow.SparseTensor, tensorflow.IndexedSlices)):
        value = value.values
    elif isinstance(value, tensorflow.RaggedTensor):
        value = value.flat_values
    if isinstance(value, (tensorflow.Tensor, tensorflow.Variable)):
        if not (value.dtype.is_floating or value.dtype.is_complex):
            return False
        value = value.numpy()
    if hasattr(value, "dtype"):
        return bool((value != value).any())
    return isinstance(value, (float, complex)) and value != value
"#;

/// The plain type that holds the stored integers of a quantized one.
fn stored_as(dtype: Dtype) -> Option<Dtype> {
    match dtype {
        Dtype::Qint8 => Some(Dtype::Int8),
        Dtype::Quint8 => Some(Dtype::Uint8),
        Dtype::Qint16 => Some(Dtype::Int16),
        Dtype::Quint16 => Some(Dtype::Uint16),
        Dtype::Qint32 => Some(Dtype::Int32),
        _ => None,
    }
}

/// Numbers of these types cannot be written in a list: `constant` converts them on the way.
fn by_bytes(dtype: Dtype) -> bool {
    matches!(
        dtype,
        Dtype::Bfloat16 | Dtype::Float8E4m3fn | Dtype::Float8E5m2
    )
}

impl Dialect for Tensorflow {
    fn compiled(&self, _writer: &mut Writer, target: &str) -> String {
        format!("tensorflow.function({target})")
    }

    fn tensor(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        let dtype = self.dtype(writer, tensor.dtype);
        if let Some(plain) = stored_as(tensor.dtype) {
            let stored = TensorValue {
                dtype: plain,
                ..tensor.clone()
            };
            let stored = self.tensor(writer, &stored);
            return format!("tensorflow.bitcast({stored}, {dtype})");
        }
        let shape = tuple(&tensor.shape);
        let hexadecimal = |writer: &mut Writer, bytes: &str| {
            writer.helper(FROM_BYTES);
            let sizes: String = tensor
                .shape
                .iter()
                .map(|size| format!(", {size}"))
                .collect();
            format!("from_bytes({bytes}, {dtype}{sizes})")
        };
        if by_bytes(tensor.dtype) {
            let bytes: String = tensor
                .data
                .pattern
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            return hexadecimal(writer, &format!("\"{bytes}\""));
        }
        match elements(tensor) {
            Elements::Empty => format!("tensorflow.zeros({shape}, {dtype})"),
            Elements::Single(element) => format!("tensorflow.constant({element}, {dtype})"),
            Elements::Constant(element) => {
                format!("tensorflow.constant({element}, {dtype}, shape={shape})")
            }
            Elements::Listed(list) if tensor.shape.len() == 1 => {
                format!("tensorflow.constant({list}, {dtype})")
            }
            Elements::Listed(list) => {
                format!("tensorflow.constant({list}, {dtype}, shape={shape})")
            }
            Elements::Repeated(_) => {
                format!("tensorflow.constant({})", numpy::array(writer, tensor))
            }
            Elements::Hexadecimal(bytes) => hexadecimal(writer, &bytes),
            Elements::Impossible(what) => writer.impossible(&what),
        }
    }

    fn sparse(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        format!(
            "tensorflow.sparse.from_dense({})",
            self.tensor(writer, tensor)
        )
    }

    fn dtype(&self, _writer: &mut Writer, dtype: Dtype) -> String {
        match dtype {
            Dtype::Float8E4m3fn | Dtype::Float8E5m2 => {
                format!("tensorflow.dtypes.as_dtype(\"{dtype}\")")
            }
            _ => format!("tensorflow.{dtype}"),
        }
    }

    fn nan_function(&self) -> &'static str {
        NAN
    }

    fn loaded_modules(&self) -> &'static [&'static str] {
        &[
            "tensorflow.audio",
            "tensorflow.autograph",
            "tensorflow.bitwise",
            "tensorflow.compat.v1",
            "tensorflow.config",
            "tensorflow.data",
            "tensorflow.debugging",
            "tensorflow.dtypes",
            "tensorflow.errors",
            "tensorflow.feature_column",
            "tensorflow.image",
            "tensorflow.initializers",
            "tensorflow.io",
            "tensorflow.keras",
            "tensorflow.keras.activations",
            "tensorflow.keras.backend",
            "tensorflow.keras.layers",
            "tensorflow.keras.losses",
            "tensorflow.keras.metrics",
            "tensorflow.keras.utils",
            "tensorflow.linalg",
            "tensorflow.losses",
            "tensorflow.math",
            "tensorflow.nest",
            "tensorflow.nn",
            "tensorflow.quantization",
            "tensorflow.queue",
            "tensorflow.ragged",
            "tensorflow.random",
            "tensorflow.raw_ops",
            "tensorflow.sets",
            "tensorflow.signal",
            "tensorflow.sparse",
            "tensorflow.strings",
            "tensorflow.summary",
            "tensorflow.train",
        ]
    }
}
