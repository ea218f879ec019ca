//! One element of a tensor, as a number.

use half::{bf16, f16};

use crate::{Dtype, TensorValue};

/// An element, widened without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    /// Quantized types: the stored integer, before scale and zero point.
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Scalar {
    /// Reads one little-endian element; `None` when the type has no flat form or the bytes are
    /// not exactly one element.
    pub fn decode(dtype: Dtype, bytes: &[u8]) -> Option<Scalar> {
        if dtype.size() != Some(bytes.len()) {
            return None;
        }
        let word = bytes
            .iter()
            .rev()
            .fold(0u128, |word, byte| (word << 8) | u128::from(*byte));
        Some(match dtype {
            Dtype::Bool => Scalar::Bool(word != 0),
            Dtype::Uint8
            | Dtype::Uint16
            | Dtype::Uint32
            | Dtype::Uint64
            | Dtype::Quint8
            | Dtype::Quint16 => Scalar::Int(word as i128),
            Dtype::Int8 | Dtype::Qint8 => Scalar::Int((word as i8).into()),
            Dtype::Int16 | Dtype::Qint16 => Scalar::Int((word as i16).into()),
            Dtype::Int32 | Dtype::Qint32 => Scalar::Int((word as i32).into()),
            Dtype::Int64 => Scalar::Int((word as i64).into()),
            Dtype::Float16 => Scalar::Float(f16::from_bits(word as u16).to_f64()),
            Dtype::Bfloat16 => Scalar::Float(bf16::from_bits(word as u16).to_f64()),
            Dtype::Float32 => Scalar::Float(f32::from_bits(word as u32).into()),
            Dtype::Float64 => Scalar::Float(f64::from_bits(word as u64)),
            Dtype::Float8E4m3fn => Scalar::Float(e4m3fn(word as u8)),
            // The upper half of a float16.
            Dtype::Float8E5m2 => Scalar::Float(f16::from_bits((word as u16) << 8).to_f64()),
            Dtype::Complex64 => Scalar::Complex(
                f32::from_bits(word as u32).into(),
                f32::from_bits((word >> 32) as u32).into(),
            ),
            Dtype::Complex128 => Scalar::Complex(
                f64::from_bits(word as u64),
                f64::from_bits((word >> 64) as u64),
            ),
            Dtype::String | Dtype::Resource | Dtype::Variant => return None,
        })
    }
}

/// 4 exponent bits, 3 mantissa bits, bias 7, no infinities, one NaN per sign.
fn e4m3fn(byte: u8) -> f64 {
    let mantissa = f64::from(byte & 7);
    let magnitude = match (byte >> 3) & 15 {
        15 if byte & 7 == 7 => f64::NAN,
        0 => mantissa * (2f64).powi(-9),
        exponent => (8.0 + mantissa) * (2f64).powi(i32::from(exponent) - 10),
    };
    if byte & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

impl TensorValue {
    /// The elements of the pattern, in order; empty for types without a flat form.
    pub fn pattern_scalars(&self) -> impl Iterator<Item = Scalar> + '_ {
        let size = self.dtype.size().unwrap_or(usize::MAX);
        self.data
            .pattern
            .chunks_exact(size)
            .filter_map(|bytes| Scalar::decode(self.dtype, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_decode_to_their_documented_limits() {
        for (dtype, byte, value) in [
            (Dtype::Float8E4m3fn, 0x7e, 448.0),
            (Dtype::Float8E4m3fn, 0x01, 0.001953125),
            (Dtype::Float8E4m3fn, 0x08, 0.015625),
            (Dtype::Float8E4m3fn, 0xb8, -1.0),
            (Dtype::Float8E5m2, 0x7b, 57344.0),
            (Dtype::Float8E5m2, 0xfc, f64::NEG_INFINITY),
        ] {
            assert_eq!(
                Scalar::decode(dtype, &[byte]),
                Some(Scalar::Float(value)),
                "{byte:#x}"
            );
        }
        assert!(matches!(
            Scalar::decode(Dtype::Float8E4m3fn, &[0xff]),
            Some(Scalar::Float(value)) if value.is_nan()
        ));
    }

    #[test]
    fn integers_keep_their_sign_and_their_width() {
        assert_eq!(
            Scalar::decode(Dtype::Int16, &[0xfe, 0xff]),
            Some(Scalar::Int(-2))
        );
        assert_eq!(
            Scalar::decode(Dtype::Uint64, &[0xff; 8]),
            Some(Scalar::Int(i128::from(u64::MAX)))
        );
        assert_eq!(Scalar::decode(Dtype::Int16, &[0]), None, "half an element");
        assert_eq!(Scalar::decode(Dtype::String, &[]), None);
    }
}
