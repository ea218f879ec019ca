//! How the elements of a tensor are best written down.

use std::fmt::Write;

use fissure_model::TensorValue;

use super::literal;

/// Patterns up to this many elements are written as numbers.
const LISTED: usize = 64;
/// So are longer ones whose numbers are short, all together; the rest is hexadecimal bytes.
const LISTED_IF_SHORT: usize = 512;
const SHORT: usize = 1600;
/// Fewer equal elements than this, in a row, are still listed one by one.
const CONSTANT_FROM: u64 = 5;

/// Source text for the elements.
pub(super) enum Elements {
    /// There are none.
    Empty,
    /// The one element of a tensor without dimensions.
    Single(String),
    /// Every element is this.
    Constant(String),
    /// All of them in order.
    Listed(String),
    /// The first of them; the rest repeats these.
    Repeated(String),
    /// A string literal with the bytes of the first of them in hexadecimal; the rest repeats these.
    Hexadecimal(String),
    /// No data can be made for this tensor, and why.
    Impossible(String),
}

pub(super) fn elements(tensor: &TensorValue) -> Elements {
    let count = match tensor.elements() {
        _ if tensor.shape.contains(&0) => return Elements::Empty,
        Some(count) => count,
        None => return Elements::Impossible("more elements than 64 bits can count".into()),
    };
    let Some(size) = tensor.dtype.size() else {
        return Elements::Impossible(format!("a tensor of dtype {}", tensor.dtype));
    };
    let available = (tensor.data.pattern.len() / size) as u64;
    if available == 0 {
        return Elements::Impossible("a tensor without data".into());
    }
    let used = available.min(count) as usize;
    let pattern = &tensor.data.pattern[..used * size];
    let first = &pattern[..size];
    let constant = pattern.chunks_exact(size).all(|element| element == first);
    if constant
        && (count >= CONSTANT_FROM || tensor.shape.len() != 1)
        && let Some(element) = literal::element(tensor.dtype, first)
    {
        return match tensor.shape.is_empty() {
            true => Elements::Single(element),
            false => Elements::Constant(element),
        };
    }
    if used <= LISTED_IF_SHORT {
        let listed: Option<Vec<String>> = pattern
            .chunks_exact(size)
            .map(|element| literal::element(tensor.dtype, element))
            .collect();
        let is_short = |listed: &Vec<String>| {
            used <= LISTED || listed.iter().map(|one| one.len() + 2).sum::<usize>() <= SHORT
        };
        if let Some(listed) = listed.filter(is_short) {
            // Few elements are written out even where they repeat.
            if count <= LISTED.max(used) as u64 {
                let all: Vec<String> = listed.into_iter().cycle().take(count as usize).collect();
                return Elements::Listed(list(&all));
            }
            return Elements::Repeated(list(&listed));
        }
    }
    Elements::Hexadecimal(hexadecimal(pattern))
}

/// `[a, b, c]`, on several lines when long.
fn list(items: &[String]) -> String {
    const WIDTH: usize = 80;
    let length: usize = items.iter().map(|item| item.len() + 2).sum();
    if length <= WIDTH {
        return format!("[{}]", items.join(", "));
    }
    let mut text = String::from("[");
    let mut column = WIDTH;
    for item in items {
        if column + item.len() + 2 > WIDTH {
            text.push_str("\n            ");
            column = 0;
        } else {
            text.push(' ');
        }
        text.push_str(item);
        text.push(',');
        column += item.len() + 2;
    }
    text.push_str("\n        ]");
    text
}

/// One string literal, or several that Python joins.
fn hexadecimal(bytes: &[u8]) -> String {
    const BYTES_PER_LINE: usize = 40;
    let line = |bytes: &[u8]| {
        let mut text = String::with_capacity(2 * bytes.len() + 2);
        text.push('"');
        for byte in bytes {
            write!(text, "{byte:02x}").expect("into a string");
        }
        text.push('"');
        text
    };
    if bytes.len() <= BYTES_PER_LINE {
        return line(bytes);
    }
    let lines: Vec<String> = bytes.chunks(BYTES_PER_LINE).map(line).collect();
    format!("\n            {}", lines.join("\n            "))
}

/// `2, 3` for a shape, as the arguments of a function.
pub(super) fn sizes(shape: &[u64]) -> String {
    shape
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// `(2, 3)` for a shape, `(2,)` for one dimension, `()` for none.
pub(super) fn tuple(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", sizes(shape)),
    }
}
