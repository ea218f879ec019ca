//! What an input says about itself: does it ask for much work, does it hold odd numbers?
//!
//! Only looked at once an execution went wrong, never on the fast path.

use fissure_model::{ConcreteInput, Dtype, Scalar, TensorValue, Value};

/// An integer beyond this asks for that much work or memory by itself.
const LARGE_NUMBER: i128 = 1 << 20;
/// Sizes that multiply to more than this ask for hundreds of megabytes of elements, and seconds of work.
const LARGE_PRODUCT: i128 = 1 << 26;
/// Numbers that multiply to less than this are no sizes of a large result.
const SIZES: i128 = 1 << 16;
/// Tensors that are large themselves.
const LARGE_BYTES: u64 = 16 << 20;

fn walk<'a>(input: &'a ConcreteInput, visit: &mut impl FnMut(&'a Value)) {
    for argument in input
        .arguments
        .iter()
        .chain(input.layer_arguments.iter().flatten())
    {
        argument.value.walk(visit);
    }
}

fn tensor(value: &Value) -> Option<&TensorValue> {
    match value {
        Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
            Some(tensor)
        }
        _ => None,
    }
}

/// The input by itself explains that the call needs much time or memory.
///
/// True when a number in it is beyond 2^20 in magnitude (a size, a count, a repetition, an index
/// inside an integer tensor), when its small numbers multiply to more than 2^26 (`eye(100000,
/// 100000)`, a list of sizes, for each element of a tensor), when a float (a `scale_factor`) enlarges a tensor to more than that, or when its tensors take more than 16 MiB.
pub(crate) fn asks_for_much(input: &ConcreteInput) -> bool {
    let mut large = false;
    let mut product: i128 = 1;
    let mut factor: f64 = 1.0;
    let mut elements: f64 = 1.0;
    let mut spatial: i32 = 1;
    let mut bytes: u64 = 0;
    walk(input, &mut |value| match value {
        Value::Int(number) => {
            large |= number.unsigned_abs() > LARGE_NUMBER as u128;
            product = product.saturating_mul((*number).max(1));
        }
        Value::Float(number) => {
            large |= number.abs() > LARGE_NUMBER as f64;
            factor *= number.abs().max(1.0);
        }
        value => {
            if let Some(tensor) = tensor(value) {
                let count = tensor.elements().unwrap_or(u64::MAX);
                elements = elements.max(count as f64);
                // A factor of sizes counts once for each dimension behind batch and channels.
                let rank = i32::try_from(tensor.shape.len()).unwrap_or(i32::MAX);
                spatial = spatial.max(rank.saturating_sub(2));
                bytes = bytes.saturating_add(tensor.byte_len().unwrap_or(u64::MAX));
                // No elements, but results may have as many as the other sizes say.
                let sizes = tensor.shape.iter().filter(|size| **size > 0);
                let sizes = sizes.fold(1, |product: i128, size| {
                    product.saturating_mul(i128::from(*size))
                });
                large |= sizes > LARGE_PRODUCT;
                large |= tensor.dtype.is_integer()
                    && tensor.pattern_scalars().any(|scalar| {
                        matches!(scalar, Scalar::Int(number)
                            if number.unsigned_abs() > LARGE_NUMBER as u128)
                    });
            }
        }
    });
    let enlarged = factor > 1.0 && elements * factor.powi(spatial) > LARGE_PRODUCT as f64;
    let sizes = product as f64 * if product >= SIZES { elements } else { 1.0 };
    large || enlarged || sizes > LARGE_PRODUCT as f64 || bytes > LARGE_BYTES
}

/// Some tensor has no elements.
pub(crate) fn has_empty_tensor(input: &ConcreteInput) -> bool {
    let mut found = false;
    walk(input, &mut |value| {
        found |= tensor(value).is_some_and(|tensor| tensor.elements() == Some(0));
    });
    found
}

/// Some number `holds`, told together with the element type it will be computed in. A plain
/// Python number counts as `float32`, the type it is most often combined with.
pub(crate) fn any_number(input: &ConcreteInput, mut holds: impl FnMut(Dtype, f64) -> bool) -> bool {
    let mut found = false;
    walk(input, &mut |value| match value {
        _ if found => {}
        Value::Int(number) => found = holds(Dtype::Float32, *number as f64),
        Value::Float(number) => found = holds(Dtype::Float32, *number),
        Value::Complex { re, im } => {
            found = holds(Dtype::Complex64, *re) || holds(Dtype::Complex64, *im);
        }
        value => {
            if let Some(tensor) = tensor(value) {
                found = tensor.pattern_scalars().any(|scalar| match scalar {
                    Scalar::Float(number) => holds(tensor.dtype, number),
                    Scalar::Complex(re, im) => holds(tensor.dtype, re) || holds(tensor.dtype, im),
                    Scalar::Int(number) => holds(tensor.dtype, number as f64),
                    Scalar::Bool(_) => false,
                });
            }
        }
    });
    found
}

/// Some number that stands alone `holds`: a plain one, or the element of a tensor without
/// dimensions.
pub(crate) fn any_single_number(input: &ConcreteInput, mut holds: impl FnMut(f64) -> bool) -> bool {
    let mut found = false;
    walk(input, &mut |value| match value {
        _ if found => {}
        Value::Int(number) => found = holds(*number as f64),
        Value::Float(number) => found = holds(*number),
        value => {
            if let Some(tensor) = tensor(value).filter(|tensor| tensor.shape.is_empty()) {
                found = tensor.pattern_scalars().any(|scalar| match scalar {
                    Scalar::Float(number) => holds(number),
                    Scalar::Int(number) => holds(number as f64),
                    Scalar::Bool(_) | Scalar::Complex(..) => false,
                });
            }
        }
    });
    found
}
