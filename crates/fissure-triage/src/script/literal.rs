//! Python source text for plain values, exact to the bit.

use std::fmt::Write;

use fissure_model::{Dtype, Scalar};
use half::{bf16, f16};

/// A string literal in ASCII.
pub(super) fn text(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            ' '..='~' => literal.push(c),
            '\0'..='\u{ff}' => write!(literal, "\\x{:02x}", c as u32).expect("into a string"),
            '\u{100}'..='\u{ffff}' => {
                write!(literal, "\\u{:04x}", c as u32).expect("into a string");
            }
            _ => write!(literal, "\\U{:08x}", c as u32).expect("into a string"),
        }
    }
    literal.push('"');
    literal
}

pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut literal = String::from("b\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                literal.push('\\');
                literal.push(char::from(*byte));
            }
            b' '..=b'~' => literal.push(char::from(*byte)),
            _ => write!(literal, "\\x{byte:02x}").expect("into a string"),
        }
    }
    literal.push('"');
    literal
}

pub(super) fn float(value: f64) -> String {
    if value.is_nan() {
        "float(\"nan\")".into()
    } else if value.is_infinite() {
        if value > 0.0 {
            "float(\"inf\")".into()
        } else {
            "-float(\"inf\")".into()
        }
    } else {
        // The shortest text that reads back as the same double, as Python's own `repr`.
        format!("{value:?}")
    }
}

pub(super) fn complex(re: f64, im: f64) -> String {
    format!("complex({}, {})", float(re), float(im))
}

/// The shortest text that gives back this value through a double. Libraries refuse a double beyond
/// the largest value of the type, even one that would round to it, so such a text is not taken.
fn narrow(value: f64, largest: f64) -> String {
    let short = format!("{:?}", value as f32);
    match short.parse::<f64>() {
        Ok(double)
            if (double as f32).to_bits() == (value as f32).to_bits() && double.abs() <= largest =>
        {
            short
        }
        _ => float(value),
    }
}

/// An element as source text; `None` when no literal gives back the same bits (a NaN with a
/// payload, a truth value stored as 2).
pub(super) fn element(dtype: Dtype, bytes: &[u8]) -> Option<String> {
    let largest = dtype.float_max().unwrap_or(f64::MAX);
    let word = bytes
        .iter()
        .rev()
        .fold(0u128, |word, byte| (word << 8) | u128::from(*byte));
    Some(match Scalar::decode(dtype, bytes)? {
        Scalar::Bool(value) => match word {
            0 | 1 => if value { "True" } else { "False" }.into(),
            _ => return None,
        },
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) if value.is_nan() => {
            // What libraries store for `float("nan")`.
            let usual = match dtype {
                Dtype::Float16 => u128::from(f16::NAN.to_bits()),
                Dtype::Bfloat16 => u128::from(bf16::NAN.to_bits()),
                Dtype::Float32 => 0x7fc0_0000,
                Dtype::Float64 => 0x7ff8_0000_0000_0000,
                Dtype::Float8E4m3fn | Dtype::Float8E5m2 => 0x7f,
                _ => return None,
            };
            if word != usual {
                return None;
            }
            float(value)
        }
        Scalar::Float(value) if dtype == Dtype::Float64 => float(value),
        Scalar::Float(value) => narrow(value, largest),
        Scalar::Complex(re, im) => {
            let (part, nan) = match dtype {
                Dtype::Complex64 => (32, 0x7fc0_0000),
                _ => (64, 0x7ff8_0000_0000_0000),
            };
            let real_bits = word & ((1 << part) - 1);
            let imaginary_bits = word >> part;
            if (re.is_nan() && real_bits != nan) || (im.is_nan() && imaginary_bits != nan) {
                return None;
            }
            if dtype == Dtype::Complex64 {
                format!("complex({}, {})", narrow(re, largest), narrow(im, largest))
            } else {
                complex(re, im)
            }
        }
    })
}

/// A name that can stand before `=` in a call.
pub(super) fn is_keyword_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&name)
}

/// A dotted path of names.
pub(super) fn is_path(path: &str) -> bool {
    path.split('.').all(is_keyword_name)
}

const RESERVED: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_kind_is_an_ascii_literal() {
        assert_eq!(
            text("a\"b\\c\n\0é→🦀"),
            r#""a\"b\\c\n\x00\xe9\u2192\U0001f980""#
        );
        assert_eq!(bytes(b"a\"\xff"), r#"b"a\"\xff""#);
    }

    #[test]
    fn floats_are_short_and_exact() {
        assert_eq!(
            element(Dtype::Float32, &0.1f32.to_le_bytes()).unwrap(),
            "0.1"
        );
        let largest = element(Dtype::Float32, &f32::MAX.to_le_bytes()).unwrap();
        assert_eq!(largest, "3.4028234663852886e38");
        assert_eq!(float(-0.0), "-0.0");
        assert_eq!(float(5e-324), "5e-324");
        assert_eq!(element(Dtype::Float32, &0x7fc0_0001u32.to_le_bytes()), None);
        assert_eq!(element(Dtype::Bool, &[2]), None);
    }

    #[test]
    fn reserved_words_are_not_keyword_names() {
        assert!(is_keyword_name("kernel_size"));
        for name in ["from", "input*", "", "2d", "a b"] {
            assert!(!is_keyword_name(name), "{name}");
        }
    }
}
