//! Type phrases: `int or tuple of ints, optional`, `LongTensor`, `Tuple[int, int]`.

use fissure_model::{Bound, Dtype, DtypeFamily, DtypeTerm, Expression, Range, Value};

use super::{Kind, ParamHints};

/// Reads a type phrase into `hints`. What is not understood is left out: a wrong hint costs more
/// than a missing one.
pub(super) fn read(text: &str, hints: &mut ParamHints) {
    let text = text
        .replace(['`', '*'], "")
        .replace("python:", "")
        .replace("(non-negative)", "nonneg");
    // `(Tensor, Tensor), optional` loses its first bracket in the files; what it groups is unknown.
    if brackets_unbalanced(&text) {
        return;
    }
    for alternative in alternatives(&text) {
        let alternative = alternative.trim();
        let sentence_end = alternative.ends_with('.') && !alternative.ends_with("...");
        read_alternative(
            if sentence_end {
                alternative.trim_end_matches('.')
            } else {
                alternative
            },
            hints,
        );
    }
    // In `Tensor or float` the word is about the number; only `LongTensor` is about the tensor.
    if hints.kinds.iter().any(Kind::is_tensor) {
        hints
            .dtypes
            .retain(|term| matches!(term, DtypeTerm::Exact(_)));
    }
}

fn read_alternative(text: &str, hints: &mut ParamHints) {
    let lower = text.to_lowercase();
    if let Some(inner) = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        for choice in inner.split(',') {
            match choice.trim() {
                "None" | "'None'" => hints.none_allowed = true,
                quoted => hints
                    .choices
                    .extend(unquote(quoted).map(|word| Value::Text(word.to_owned()))),
            }
        }
        return;
    }
    match lower.as_str() {
        "" | "required" | "deprecated" => return,
        "none" | "optional" => {
            hints.none_allowed = true;
            return;
        }
        "inf" | "-inf" => return,
        _ if lower.starts_with("default") => return,
        _ => {}
    }
    if let Some(word) = unquote(text) {
        hints.choices.push(Value::Text(word.to_owned()));
        return;
    }
    let (lower, non_negative) = match lower.strip_suffix(" nonneg") {
        Some(rest) => (rest.to_owned(), true),
        None => (lower, false),
    };
    if let Some((structure, element, length)) = structure(&lower) {
        if let Some(element) = &element {
            element.describe(hints);
        }
        hints.length = hints.length.or(length);
        let inner = element.map(|atom| Box::new(atom.kind));
        push(hints, structure.with(inner));
    } else if let Some(atom) = atom(&lower) {
        atom.describe(hints);
        push(hints, atom.kind);
    } else if is_class_name(text) {
        push(hints, Kind::Other(text.to_owned()));
    }
    if non_negative {
        hints.range = Some(at_least(0.0));
    }
}

fn push(hints: &mut ParamHints, kind: Kind) {
    if !hints.kinds.contains(&kind) {
        hints.kinds.push(kind);
    }
}

pub(super) fn at_least(lower: f64) -> Range {
    Range {
        only_for: None,
        lower: Bound {
            at: Expression::Number(lower),
            closed: true,
        },
        upper: Bound {
            at: Expression::Infinity,
            closed: false,
        },
    }
}

/// A single thing, with its element type where the word names one.
pub(super) struct Atom {
    pub kind: Kind,
    pub dtype: Option<DtypeTerm>,
}

impl Atom {
    fn describe(&self, hints: &mut ParamHints) {
        if let Some(dtype) = &self.dtype
            && !hints.dtypes.contains(dtype)
        {
            hints.dtypes.push(dtype.clone());
        }
    }
}

/// The kind a lower-case word or short phrase names.
pub(super) fn atom(text: &str) -> Option<Atom> {
    let text = text
        .trim()
        .trim_start_matches("a ")
        .trim_start_matches("an ");
    let family = |kind, family| {
        Some(Atom {
            kind,
            dtype: Some(DtypeTerm::Family(family)),
        })
    };
    let plain = |kind| Some(Atom { kind, dtype: None });
    let exact = |dtype| {
        Some(Atom {
            kind: Kind::Tensor,
            dtype: Some(DtypeTerm::Exact(dtype)),
        })
    };
    match text.strip_prefix("torch.").unwrap_or(text) {
        "tensor" | "tensors" | "tf.tensor" | "variable" | "tensor(s)" => plain(Kind::Tensor),
        "longtensor" => exact(Dtype::Int64),
        "inttensor" => exact(Dtype::Int32),
        "bytetensor" => exact(Dtype::Uint8),
        "booltensor" => exact(Dtype::Bool),
        "floattensor" => exact(Dtype::Float32),
        "doubletensor" => exact(Dtype::Float64),
        "sparsetensor" => plain(Kind::SparseTensor),
        "ndarray"
        | "ndarrays"
        | "np.ndarray"
        | "numpy.ndarray"
        | "mxnet.ndarray.array"
        | "mx.nd.array"
        | "numpy array"
        | "array" => plain(Kind::NdArray),
        "int" | "ints" | "integer" | "integers" | "long" => family(Kind::Int, DtypeFamily::Int),
        "float" | "floats" | "<float>" | "double" | "real" => {
            family(Kind::Float, DtypeFamily::Float)
        }
        "number" | "numbers" | "scalar" | "numeric" => plain(Kind::Number),
        "complex" => family(Kind::Complex, DtypeFamily::Complex),
        "bool" | "boolean" | "bools" => family(Kind::Bool, DtypeFamily::Bool),
        "str" | "strs" | "string" | "strings" => family(Kind::Text, DtypeFamily::String),
        "dict" | "dictionary" => plain(Kind::Dict),
        "array_like" | "array-like" => plain(Kind::ArrayLike),
        "device" | "context" | "mx.context" => plain(Kind::Device),
        "dtype" | "dtypes" | "dtype type" | "numpy.dtype" | "np.dtype" | "dpython:type"
        | "tf.dtype" | "tf.dtypes.dtype" | "data-type" | "dtype object" => plain(Kind::Dtype),
        "layout" => plain(Kind::Layout),
        "memory_format" => plain(Kind::MemoryFormat),
        "generator" => plain(Kind::Generator),
        "function" | "callable" | "python function" | "func" => plain(Kind::Callable),
        "module" | "nn.module" | "modules" => plain(Kind::Module),
        _ => None,
    }
}

/// A container word, waiting for what it contains.
enum Container {
    List,
    Tuple,
    Sequence,
    Dict,
}

impl Container {
    fn with(self, element: Option<Box<Kind>>) -> Kind {
        match self {
            Container::List => Kind::List(element),
            Container::Tuple => Kind::Tuple(element),
            Container::Sequence => Kind::Sequence(element),
            Container::Dict => Kind::Dict,
        }
    }

    fn named(word: &str) -> Option<Container> {
        Some(match word {
            "list" | "lists" => Container::List,
            "tuple" | "tuples" => Container::Tuple,
            "list/tuple" | "tuple/list" | "sequence" | "iterable" | "iterator" => {
                Container::Sequence
            }
            "dict" | "dictionary" => Container::Dict,
            _ => return None,
        })
    }
}

/// `tuple of ints`, `list[Tensor]`, `Tuple[int, int]`, `2-tuple of ints`, `int...`, `Shape(tuple)`.
fn structure(text: &str) -> Option<(Container, Option<Atom>, Option<usize>)> {
    let text = text
        .trim()
        .trim_start_matches("a ")
        .trim_start_matches("an ");
    if let "shape" | "shape(tuple)" | "torch.size" | "size" = text {
        return Some((Container::Tuple, atom("int"), None));
    }
    // `tuple or ints`: several of them.
    if let "ints" | "integers" | "floats" | "strings" | "tensors" = text {
        return Some((Container::Sequence, atom(text), None));
    }
    if let Some(element) = text.strip_suffix("...") {
        return atom(element).map(|element| (Container::Sequence, Some(element), None));
    }
    let (length, text) = match text.split_once('-') {
        Some((count, rest)) if count.parse::<usize>().is_ok() => (count.parse().ok(), rest),
        _ => (None, text),
    };
    if let Some(container) = Container::named(text) {
        return Some((container, None, length));
    }
    for (open, close) in [('[', ']'), ('(', ')'), ('<', '>')] {
        if let Some((word, inner)) = text.split_once(open)
            && let (Some(container), Some(inner)) =
                (Container::named(word), inner.strip_suffix(close))
        {
            let mut elements = inner.split(',').map(str::trim);
            let count = elements.clone().count();
            let element = elements.next().and_then(atom);
            // `Tuple[int, int]` has two entries, `List[int]` any number.
            let length = if count > 1 { Some(count) } else { length };
            return Some((container, element, length));
        }
    }
    let (word, element) = text.split_once(" of ")?;
    let container = Container::named(word)?;
    let (count, element) = match element.split_once(' ') {
        Some((count, rest)) if count_word(count).is_some() => (count_word(count), rest),
        _ => (None, element),
    };
    Some((container, atom(element), length.or(count)))
}

fn count_word(word: &str) -> Option<usize> {
    Some(match word {
        "two" => 2,
        "three" => 3,
        "four" => 4,
        digits => digits.parse().ok()?,
    })
}

fn unquote(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inner.is_empty() && !inner.contains('\'')).then_some(inner)
}

/// One word in camel case, such as `ProcessGroup`.
fn is_class_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
        && text.chars().any(|c| c.is_ascii_lowercase())
}

fn brackets_unbalanced(text: &str) -> bool {
    let count = |wanted| text.matches(wanted).count();
    count('(') != count(')') || count('[') != count(']') || count('{') != count('}')
}

/// Splits at commas, ` or `, `|` and sentence-like separators that are not inside brackets.
fn alternatives(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' | '|' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            ' ' if depth == 0 && text[at..].starts_with(" or ") => {
                parts.push(&text[start..at]);
                start = at + " or ".len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
        .into_iter()
        .map(|part| part.trim().trim_start_matches("or "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(text: &str) -> ParamHints {
        let mut hints = ParamHints::default();
        read(text, &mut hints);
        hints
    }

    fn boxed(kind: Kind) -> Option<Box<Kind>> {
        Some(Box::new(kind))
    }

    #[test]
    fn type_phrases_of_the_libraries_are_understood() {
        for (text, kinds) in [
            ("Tensor, optional", vec![Kind::Tensor]),
            (
                "int or tuple of python:ints",
                vec![Kind::Int, Kind::Tuple(boxed(Kind::Int))],
            ),
            ("list[Tensor]", vec![Kind::List(boxed(Kind::Tensor))]),
            ("`torch.device`, optional", vec![Kind::Device]),
            (
                "torch.device or int, optional",
                vec![Kind::Device, Kind::Int],
            ),
            ("int...", vec![Kind::Sequence(boxed(Kind::Int))]),
            (
                "tuple or ints",
                vec![Kind::Tuple(None), Kind::Sequence(boxed(Kind::Int))],
            ),
            ("a list or tuple", vec![Kind::List(None), Kind::Tuple(None)]),
            ("bool, default False", vec![Kind::Bool]),
            ("Tensor or Number", vec![Kind::Tensor, Kind::Number]),
            ("nn.Module", vec![Kind::Module]),
            (
                "ProcessGroup, optional",
                vec![Kind::Other("ProcessGroup".into())],
            ),
            (
                "tuple of <float>, optional, default=[1]",
                vec![Kind::Tuple(boxed(Kind::Float))],
            ),
            ("Tensor, Tensor), optional", vec![]),
            ("ortho_iparams,", vec![]),
        ] {
            assert_eq!(hints(text).kinds, kinds, "{text}");
        }
    }

    #[test]
    fn lengths_and_element_types_are_kept() {
        assert_eq!(hints("int or Tuple[int, int], optional").length, Some(2));
        assert_eq!(hints("tuple/list of 3 int").length, Some(3));
        assert_eq!(hints("List[int]").length, None);
        assert_eq!(hints("LongTensor").dtypes, [DtypeTerm::Exact(Dtype::Int64)]);
        assert_eq!(
            hints("int (non-negative), required").range,
            Some(at_least(0.0))
        );
    }

    #[test]
    fn quoted_alternatives_become_choices() {
        let found = hints("{None, 'csr', 'default'},optional, default='None'");
        assert_eq!(
            found.choices,
            [Value::Text("csr".into()), Value::Text("default".into())]
        );
        assert!(found.none_allowed);
        let found = hints("int, float, inf, -inf, 'fro', 'nuc', optional");
        assert_eq!(found.choices.len(), 2);
        assert_eq!(found.kinds, [Kind::Int, Kind::Float]);
    }
}
