//! Element types of every supported library, under one set of names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An element type. The text form (`float32`, `bfloat16`, …) is the one used in files, flags and
/// reports, whatever the library calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Float16,
    Bfloat16,
    Float32,
    Float64,
    #[serde(rename = "float8_e4m3fn")]
    Float8E4m3fn,
    #[serde(rename = "float8_e5m2")]
    Float8E5m2,
    Complex64,
    Complex128,
    Qint8,
    Quint8,
    Qint16,
    Quint16,
    Qint32,
    String,
    Resource,
    Variant,
}

/// A group of element types that a constraint names at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DtypeFamily {
    Int,
    Uint,
    Float,
    Complex,
    /// Integers and floats.
    Numeric,
    Bool,
    String,
}

impl Dtype {
    pub const ALL: [Dtype; 25] = [
        Dtype::Bool,
        Dtype::Uint8,
        Dtype::Uint16,
        Dtype::Uint32,
        Dtype::Uint64,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::Float16,
        Dtype::Bfloat16,
        Dtype::Float32,
        Dtype::Float64,
        Dtype::Float8E4m3fn,
        Dtype::Float8E5m2,
        Dtype::Complex64,
        Dtype::Complex128,
        Dtype::Qint8,
        Dtype::Quint8,
        Dtype::Qint16,
        Dtype::Quint16,
        Dtype::Qint32,
        Dtype::String,
        Dtype::Resource,
        Dtype::Variant,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Dtype::Bool => "bool",
            Dtype::Uint8 => "uint8",
            Dtype::Uint16 => "uint16",
            Dtype::Uint32 => "uint32",
            Dtype::Uint64 => "uint64",
            Dtype::Int8 => "int8",
            Dtype::Int16 => "int16",
            Dtype::Int32 => "int32",
            Dtype::Int64 => "int64",
            Dtype::Float16 => "float16",
            Dtype::Bfloat16 => "bfloat16",
            Dtype::Float32 => "float32",
            Dtype::Float64 => "float64",
            Dtype::Float8E4m3fn => "float8_e4m3fn",
            Dtype::Float8E5m2 => "float8_e5m2",
            Dtype::Complex64 => "complex64",
            Dtype::Complex128 => "complex128",
            Dtype::Qint8 => "qint8",
            Dtype::Quint8 => "quint8",
            Dtype::Qint16 => "qint16",
            Dtype::Quint16 => "quint16",
            Dtype::Qint32 => "qint32",
            Dtype::String => "string",
            Dtype::Resource => "resource",
            Dtype::Variant => "variant",
        }
    }

    /// Bytes per element in a flat buffer; `None` for types that have no such buffer.
    pub fn size(self) -> Option<usize> {
        Some(match self {
            Dtype::Bool
            | Dtype::Uint8
            | Dtype::Int8
            | Dtype::Qint8
            | Dtype::Quint8
            | Dtype::Float8E4m3fn
            | Dtype::Float8E5m2 => 1,
            Dtype::Uint16
            | Dtype::Int16
            | Dtype::Float16
            | Dtype::Bfloat16
            | Dtype::Qint16
            | Dtype::Quint16 => 2,
            Dtype::Uint32 | Dtype::Int32 | Dtype::Float32 | Dtype::Qint32 => 4,
            Dtype::Uint64 | Dtype::Int64 | Dtype::Float64 | Dtype::Complex64 => 8,
            Dtype::Complex128 => 16,
            Dtype::String | Dtype::Resource | Dtype::Variant => return None,
        })
    }

    pub fn family(self) -> Option<DtypeFamily> {
        Some(match self {
            Dtype::Bool => DtypeFamily::Bool,
            Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64 => DtypeFamily::Uint,
            Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => DtypeFamily::Int,
            Dtype::Float16
            | Dtype::Bfloat16
            | Dtype::Float32
            | Dtype::Float64
            | Dtype::Float8E4m3fn
            | Dtype::Float8E5m2 => DtypeFamily::Float,
            Dtype::Complex64 | Dtype::Complex128 => DtypeFamily::Complex,
            Dtype::String => DtypeFamily::String,
            Dtype::Qint8
            | Dtype::Quint8
            | Dtype::Qint16
            | Dtype::Quint16
            | Dtype::Qint32
            | Dtype::Resource
            | Dtype::Variant => return None,
        })
    }

    pub fn is_float(self) -> bool {
        self.family() == Some(DtypeFamily::Float)
    }

    pub fn is_integer(self) -> bool {
        matches!(self.family(), Some(DtypeFamily::Int | DtypeFamily::Uint))
    }

    pub fn is_complex(self) -> bool {
        self.family() == Some(DtypeFamily::Complex)
    }

    /// Smallest and largest value of an integer type.
    pub fn integer_limits(self) -> Option<(i128, i128)> {
        Some(match self {
            Dtype::Bool => (0, 1),
            Dtype::Uint8 | Dtype::Quint8 => (0, u8::MAX.into()),
            Dtype::Uint16 | Dtype::Quint16 => (0, u16::MAX.into()),
            Dtype::Uint32 => (0, u32::MAX.into()),
            Dtype::Uint64 => (0, u64::MAX.into()),
            Dtype::Int8 | Dtype::Qint8 => (i8::MIN.into(), i8::MAX.into()),
            Dtype::Int16 | Dtype::Qint16 => (i16::MIN.into(), i16::MAX.into()),
            Dtype::Int32 | Dtype::Qint32 => (i32::MIN.into(), i32::MAX.into()),
            Dtype::Int64 => (i64::MIN.into(), i64::MAX.into()),
            _ => return None,
        })
    }

    /// Largest finite value of a floating type (of one part, for complex types).
    pub fn float_max(self) -> Option<f64> {
        Some(match self {
            Dtype::Float16 => 65504.0,
            Dtype::Bfloat16 => 3.3895313892515355e38,
            Dtype::Float32 | Dtype::Complex64 => f64::from(f32::MAX),
            Dtype::Float64 | Dtype::Complex128 => f64::MAX,
            Dtype::Float8E4m3fn => 448.0,
            Dtype::Float8E5m2 => 57344.0,
            _ => return None,
        })
    }

    /// The same by a library's name, also of types that inputs are never made of.
    pub fn float_max_of(name: &str) -> Option<f64> {
        match name {
            "complex32" => Dtype::Float16.float_max(),
            "float8_e5m2fnuz" => Dtype::Float8E5m2.float_max(),
            "float8_e4m3fnuz" => Some(240.0),
            name => name.parse::<Dtype>().ok()?.float_max(),
        }
    }
}

impl DtypeFamily {
    pub fn contains(self, dtype: Dtype) -> bool {
        match self {
            // "int" in a constraint means any integer, signed or not.
            DtypeFamily::Int => dtype.is_integer(),
            DtypeFamily::Numeric => dtype.is_integer() || dtype.is_float(),
            _ => dtype.family() == Some(self),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            DtypeFamily::Int => "int",
            DtypeFamily::Uint => "uint",
            DtypeFamily::Float => "float",
            DtypeFamily::Complex => "complex",
            DtypeFamily::Numeric => "numeric",
            DtypeFamily::Bool => "bool",
            DtypeFamily::String => "string",
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for DtypeFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no element type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{0}`")]
pub struct UnknownDtype(pub String);

impl FromStr for Dtype {
    type Err = UnknownDtype;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Dtype::ALL
            .into_iter()
            .find(|dtype| dtype.name() == text)
            .ok_or_else(|| UnknownDtype(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back_and_matches_serde() {
        for dtype in Dtype::ALL {
            assert_eq!(dtype.name().parse::<Dtype>(), Ok(dtype));
            assert_eq!(serde_json::to_value(dtype).unwrap(), dtype.name());
        }
    }

    #[test]
    fn the_largest_value_is_known_by_name_and_a_type_without_one_has_none() {
        assert_eq!(Dtype::float_max_of("float16"), Some(65504.0));
        assert_eq!(Dtype::float_max_of("complex32"), Some(65504.0));
        assert_eq!(Dtype::float_max_of("float8_e4m3fnuz"), Some(240.0));
        assert_eq!(Dtype::float_max_of("int32"), None);
        assert_eq!(Dtype::float_max_of("float9"), None);
    }

    #[test]
    fn int_family_includes_unsigned() {
        assert!(DtypeFamily::Int.contains(Dtype::Uint8));
        assert!(!DtypeFamily::Int.contains(Dtype::Bool));
        assert!(DtypeFamily::Numeric.contains(Dtype::Bfloat16));
    }
}
