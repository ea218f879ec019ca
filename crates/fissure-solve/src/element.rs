//! Elements of tensors as bytes, of every dtype that has a flat buffer.

use fissure_model::{Dtype, Scalar};
use float8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

/// Appends one element, little-endian; nothing for dtypes without a buffer. Integers are clamped to
/// the dtype, floats are rounded to it.
pub fn write_element(dtype: Dtype, value: Scalar, bytes: &mut Vec<u8>) {
    if let Some((lower, upper)) = dtype.integer_limits() {
        let whole = match value {
            Scalar::Bool(value) => value.into(),
            Scalar::Int(value) => value,
            Scalar::Float(value) | Scalar::Complex(value, _) => value as i128,
        };
        let little = whole.clamp(lower, upper).to_le_bytes();
        bytes.extend_from_slice(&little[..dtype.size().unwrap_or(0)]);
        return;
    }
    let (real, imaginary) = match value {
        Scalar::Bool(value) => (f64::from(u8::from(value)), 0.0),
        Scalar::Int(value) => (value as f64, 0.0),
        Scalar::Float(value) => (value, 0.0),
        Scalar::Complex(real, imaginary) => (real, imaginary),
    };
    match dtype {
        Dtype::Float16 => bytes.extend_from_slice(&f16::from_f64(real).to_le_bytes()),
        Dtype::Bfloat16 => bytes.extend_from_slice(&bf16::from_f64(real).to_le_bytes()),
        Dtype::Float32 => bytes.extend_from_slice(&(real as f32).to_le_bytes()),
        Dtype::Float64 => bytes.extend_from_slice(&real.to_le_bytes()),
        Dtype::Float8E4m3fn => bytes.push(F8E4M3::from_f64(real).to_bits()),
        Dtype::Float8E5m2 => bytes.push(F8E5M2::from_f64(real).to_bits()),
        Dtype::Complex64 => {
            bytes.extend_from_slice(&(real as f32).to_le_bytes());
            bytes.extend_from_slice(&(imaginary as f32).to_le_bytes());
        }
        Dtype::Complex128 => {
            bytes.extend_from_slice(&real.to_le_bytes());
            bytes.extend_from_slice(&imaginary.to_le_bytes());
        }
        // Integers were written above; strings and handles have no buffer.
        _ => {}
    }
}

/// A number to compare with bounds; `None` for complex numbers, which have no order.
pub fn as_number(value: Scalar) -> Option<f64> {
    match value {
        Scalar::Bool(value) => Some(u8::from(value).into()),
        Scalar::Int(value) => Some(value as f64),
        Scalar::Float(value) => Some(value),
        Scalar::Complex(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_with_a_buffer_reads_back_what_was_written() {
        for dtype in Dtype::ALL {
            let Some(size) = dtype.size() else { continue };
            for number in [0.0, 1.0] {
                let value = if dtype == Dtype::Bool {
                    Scalar::Bool(number != 0.0)
                } else if dtype.integer_limits().is_some() {
                    Scalar::Int(number as i128)
                } else if dtype.is_complex() {
                    Scalar::Complex(number, -number)
                } else {
                    Scalar::Float(number)
                };
                let mut bytes = Vec::new();
                write_element(dtype, value, &mut bytes);
                assert_eq!(bytes.len(), size, "{dtype}");
                assert_eq!(Scalar::decode(dtype, &bytes), Some(value), "{dtype}");
            }
        }
    }

    #[test]
    fn integers_beyond_the_dtype_are_clamped() {
        let mut bytes = Vec::new();
        write_element(Dtype::Int8, Scalar::Int(1000), &mut bytes);
        write_element(Dtype::Uint8, Scalar::Int(-5), &mut bytes);
        assert_eq!(bytes, [127, 0]);
    }
}
