//! Words for types: element types, structures, kinds of tensors.

use fissure_model::{Dtype, DtypeFamily, DtypeTerm, Element, Structure, TensorKind};

/// Prefixes under which the libraries export their element types.
const LIBRARY_PREFIXES: [&str; 11] = [
    "tf.dtypes.",
    "tf.",
    "tensorflow.dtypes.",
    "tensorflow.",
    "torch.",
    "numpy.",
    "np.",
    "mxnet.",
    "mx.",
    "jnp.",
    "onp.",
];

/// An element type under a library's name (`torch.long`, `tf.half`, `numpy.double`, `float32`).
pub fn parse_library_dtype(text: &str) -> Option<Dtype> {
    let (qualified, word) = match LIBRARY_PREFIXES
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
    {
        Some(word) => (true, word),
        None => (false, text),
    };
    if let Ok(dtype) = word.parse() {
        return Some(dtype);
    }
    // Short names mean a width only with a library in front; alone they are families.
    if !qualified {
        return None;
    }
    Some(match (word, text.starts_with("torch.")) {
        ("half", _) => Dtype::Float16,
        ("float", true) => Dtype::Float32,
        ("float" | "double", _) => Dtype::Float64,
        ("short", _) => Dtype::Int16,
        ("int", true) => Dtype::Int32,
        ("int" | "long", _) => Dtype::Int64,
        ("cfloat", true) => Dtype::Complex64,
        ("cdouble", true) => Dtype::Complex128,
        ("bool_" | "boolean", _) => Dtype::Bool,
        ("str", _) => Dtype::String,
        _ => return None,
    })
}

/// A value of a `dtype` list.
pub fn parse_dtype(text: &str) -> Option<DtypeTerm> {
    let text = text.trim();
    if let Some(param) = text
        .strip_prefix("dtype:&")
        .or_else(|| text.strip_prefix('&'))
    {
        return is_name(param).then(|| DtypeTerm::SameAs(param.to_owned()));
    }
    let family = match text {
        "int" | "integer" => Some(DtypeFamily::Int),
        "uint" => Some(DtypeFamily::Uint),
        "float" => Some(DtypeFamily::Float),
        "complex" | "tf.complex" | "torch.complex" => Some(DtypeFamily::Complex),
        "numeric" | "number" => Some(DtypeFamily::Numeric),
        "boolean" | "bool" => Some(DtypeFamily::Bool),
        "string" | "str" => Some(DtypeFamily::String),
        _ => None,
    };
    if let Some(family) = family {
        return Some(DtypeTerm::Family(family));
    }
    match text {
        "scalar" => return Some(DtypeTerm::Scalar),
        "callable" | "function" => return Some(DtypeTerm::Callable),
        _ => {}
    }
    let is_dtype_object = text == "dtype"
        || LIBRARY_PREFIXES
            .iter()
            .any(|prefix| matches!(text.strip_prefix(prefix), Some("dtype" | "DType")));
    if is_dtype_object {
        return Some(DtypeTerm::DtypeObject);
    }
    parse_library_dtype(text).map(DtypeTerm::Exact)
}

/// A value of a `tensor_t` list.
pub fn parse_tensor(text: &str) -> Option<TensorKind> {
    match text.trim().to_ascii_lowercase().as_str() {
        "tensor" | "tf.tensor" | "torch.tensor" | "tensorflow.tensor" => Some(TensorKind::Dense),
        "sparsetensor" | "tf.sparsetensor" | "torch.sparse_coo_tensor" | "sparse_ndarray" => {
            Some(TensorKind::Sparse)
        }
        "raggedtensor" | "tf.raggedtensor" => Some(TensorKind::Ragged),
        _ => None,
    }
}

/// A value of a `structure` list: `list`, `tuple(float)`, `dict(tf.string:tf.tensor)`,
/// `tuple(int):(h,w)`, `tuple:(padh,padw)`.
pub fn parse_structure(text: &str) -> Option<Structure> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (shape, names) = match text.split_once(":(") {
        Some((shape, names)) => (shape, Some(names.strip_suffix(')')?)),
        None => (text.as_str(), None),
    };
    let (word, inner) = match shape.split_once('(') {
        Some((word, inner)) => (word, Some(inner.strip_suffix(')')?)),
        None => (shape, None),
    };
    if let Some(names) = names {
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        let known = word == "tuple" && names.iter().all(|name| is_name(name));
        return if known {
            Some(Structure::NamedTuple(names, element(inner)?))
        } else {
            None
        };
    }
    Some(match word {
        "list" => Structure::List(element(inner)?),
        "tuple" => Structure::Tuple(element(inner)?),
        "sequence" | "iterable" => Structure::Sequence(element(inner)?),
        "ndarray" => Structure::NdArray(element(inner)?),
        "dict" | "dictionary" => match inner {
            None => Structure::Dict(None, None),
            Some(inner) => {
                let (key, value) = inner.split_once(':')?;
                Structure::Dict(element(Some(key))?, element(Some(value))?)
            }
        },
        _ => return None,
    })
}

/// The outer `None` means "not understood", the inner one "says nothing".
fn element(text: Option<&str>) -> Option<Option<Element>> {
    let text = match text {
        None | Some("" | "?") => return Some(None),
        Some(text) => text,
    };
    if text == "shape" {
        return Some(Some(Element::Shape));
    }
    if let Some(kind) = parse_tensor(text) {
        return Some(Some(Element::Tensor(kind)));
    }
    if let Some(structure) = parse_structure(text) {
        return Some(Some(Element::Structure(Box::new(structure))));
    }
    parse_dtype(text).map(|dtype| Some(Element::Dtype(dtype)))
}

pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
