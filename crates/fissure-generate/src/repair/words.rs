//! Numbers and element types in the text of a rejection.

use fissure_model::Dtype;

/// Larger numbers are addresses and codes.
const LARGEST: i64 = 1 << 20;

/// How libraries call element types beside Fissure's own names.
const NAMES: [(&str, Dtype); 18] = [
    ("float", Dtype::Float32),
    ("double", Dtype::Float64),
    ("half", Dtype::Float16),
    ("long", Dtype::Int64),
    ("int", Dtype::Int32),
    ("short", Dtype::Int16),
    ("char", Dtype::Int8),
    ("byte", Dtype::Uint8),
    ("bool", Dtype::Bool),
    ("boolean", Dtype::Bool),
    ("complexfloat", Dtype::Complex64),
    ("complexdouble", Dtype::Complex128),
    ("floating", Dtype::Float32),
    ("floats", Dtype::Float32),
    ("integral", Dtype::Int64),
    ("integer", Dtype::Int64),
    ("integers", Dtype::Int64),
    ("complex", Dtype::Complex64),
];

/// The element types that a text names, in its order.
pub(super) fn dtypes_in(text: &str) -> Vec<Dtype> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    for word in lower.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        // TensorFlow's own names: `DT_QINT8`.
        let word = word.strip_prefix("dt_").unwrap_or(word);
        let known = word.parse::<Dtype>().ok().or_else(|| {
            let mut names = NAMES.iter();
            names
                .find(|(name, _)| *name == word)
                .map(|(_, dtype)| *dtype)
        });
        if let Some(dtype) = known.filter(|dtype| dtype.size().is_some())
            && !found.contains(&dtype)
        {
            found.push(dtype);
        }
    }
    found
}

/// Does a text speak of element types at all? `int` alone is more often a plain number.
pub(super) fn has_dtype_words(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "dtype",
        "scalar type",
        "tensor",
        "floating",
        "datatype",
        "data type",
        "of type",
        "types:",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// The whole numbers of a text, each once, in its order.
pub(super) fn numbers_in(text: &str) -> Vec<i64> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        let before = start.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let after = bytes.get(at).copied().unwrap_or(b' ');
        // `2x3` is two numbers; `conv2d` and `float32` are none.
        let product = before == b'x' && start >= 2 && bytes[start - 2].is_ascii_digit();
        let joined = (before.is_ascii_alphanumeric() || before == b'_') && !product
            || (after.is_ascii_alphabetic() && after != b'x' || after == b'_');
        let negative = start > 0 && bytes[start - 1] == b'-';
        if let Ok(number) = text[start..at].parse::<i64>()
            && !joined
            && number <= LARGEST
        {
            let number = if negative { -number } else { number };
            if !found.contains(&number) {
                found.push(number);
            }
        }
    }
    found
}
