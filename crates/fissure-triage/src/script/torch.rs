//! PyTorch.

use fissure_model::{Dtype, TensorValue};

use super::dialect::Dialect;
use super::elements::{Elements, elements, sizes, tuple};
use super::writer::Writer;

pub(super) struct Torch;

const REPEATED: &str = r#"def repeated(pattern, *shape):
    """The elements of `pattern`, over and over, until a tensor of this shape is full."""
    count = 1
    for size in shape:
        count *= size
    flat = pattern.repeat(-(-count // pattern.numel()))
    return flat[:count].clone().reshape(shape)
"#;

const FROM_BYTES: &str = r#"def from_bytes(hexadecimal, dtype, *shape):
    """A tensor from its bytes, which are repeated until it is full."""
    data = bytearray.fromhex(hexadecimal)
    if hasattr(torch, "frombuffer"):
        pattern = torch.frombuffer(data, dtype=dtype)
    else:
        import numpy

        pattern = torch.from_numpy(numpy.frombuffer(data, str(dtype).split(".")[1]))
    return repeated(pattern, *shape)
"#;

const NAN: &str = r#"def leaf_holds_nan(value):
    if isinstance(value, torch.Tensor):
        if not (value.is_floating_point() or value.is_complex()):
            return False
        value = value.detach()
        if value.layout is not torch.strided:
            value = value.to_dense()
        if not value.is_complex():
            value = value.to(torch.float64)
        return bool((value != value).any())
    return isinstance(value, (float, complex)) and value != value
"#;

/// The plain type that holds the stored integers of a quantized one.
fn stored_as(dtype: Dtype) -> Option<Dtype> {
    match dtype {
        Dtype::Qint8 => Some(Dtype::Int8),
        Dtype::Quint8 => Some(Dtype::Uint8),
        Dtype::Qint32 => Some(Dtype::Int32),
        _ => None,
    }
}

impl Dialect for Torch {
    fn tensor(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        if let Some(dtype) = stored_as(tensor.dtype) {
            let stored = self.tensor(
                writer,
                &TensorValue {
                    dtype,
                    ..tensor.clone()
                },
            );
            return format!("torch._make_per_tensor_quantized_tensor({stored}, 1.0, 0)");
        }
        let dtype = self.dtype(writer, tensor.dtype);
        let shape = &tensor.shape;
        match elements(tensor) {
            Elements::Empty => format!("torch.empty({}, dtype={dtype})", tuple(shape)),
            Elements::Single(element) => format!("torch.tensor({element}, dtype={dtype})"),
            Elements::Constant(element) => {
                let shape = tuple(shape);
                match element.as_str() {
                    "0" | "0.0" => format!("torch.zeros({shape}, dtype={dtype})"),
                    "1" | "1.0" => format!("torch.ones({shape}, dtype={dtype})"),
                    _ => format!("torch.full({shape}, {element}, dtype={dtype})"),
                }
            }
            Elements::Listed(list) if shape.len() == 1 => {
                format!("torch.tensor({list}, dtype={dtype})")
            }
            Elements::Listed(list) => {
                format!(
                    "torch.tensor({list}, dtype={dtype}).reshape({})",
                    sizes(shape)
                )
            }
            Elements::Repeated(list) => {
                writer.helper(REPEATED);
                format!(
                    "repeated(torch.tensor({list}, dtype={dtype}), {})",
                    sizes(shape)
                )
            }
            Elements::Hexadecimal(bytes) => {
                writer.helper(REPEATED);
                writer.helper(FROM_BYTES);
                match shape.is_empty() {
                    true => format!("from_bytes({bytes}, {dtype})"),
                    false => format!("from_bytes({bytes}, {dtype}, {})", sizes(shape)),
                }
            }
            Elements::Impossible(what) => writer.impossible(&what),
        }
    }

    fn sparse(&self, writer: &mut Writer, tensor: &TensorValue) -> String {
        format!("{}.to_sparse()", self.tensor(writer, tensor))
    }

    fn dtype(&self, _writer: &mut Writer, dtype: Dtype) -> String {
        format!("torch.{dtype}")
    }

    fn nan_function(&self) -> &'static str {
        NAN
    }

    fn loaded_modules(&self) -> &'static [&'static str] {
        &[
            "torch.Tensor",
            "torch._C",
            "torch._C._fft",
            "torch._C._linalg",
            "torch._C._nn",
            "torch._C._special",
            "torch.autograd",
            "torch.cuda",
            "torch.distributions",
            "torch.fft",
            "torch.func",
            "torch.jit",
            "torch.linalg",
            "torch.masked",
            "torch.nested",
            "torch.nn",
            "torch.nn.functional",
            "torch.nn.init",
            "torch.nn.utils",
            "torch.nn.utils.rnn",
            "torch.ops.aten",
            "torch.optim",
            "torch.random",
            "torch.signal.windows",
            "torch.sparse",
            "torch.special",
        ]
    }
}
