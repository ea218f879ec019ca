//! Other sorts of values, and other element types, that a rejection asks for.

use std::sync::LazyLock;

use fissure_functions::functions;
use fissure_model::Dtype;
use regex::Regex;

use super::super::words::{dtypes_in, has_dtype_words};
use super::{Sort, Want, Wish, add};

pattern!(
    CONFLICT,
    r"(?i)requested d?type|mismatch|\bvs\b|different|not match|!=|incompatible|\bsame\b"
);
pattern!(MISSED, r"object has no attribute '(\w+)'");
pattern!(
    NOT_FOR,
    r"not (?:implemented|supported|defined|available) (?:yet )?(?:for|on) (?:type |dtype |the following types? |tensors? of type |input type |the type )?'?(\w+)"
);

/// Tensors in another form than the dense one, and objects, by what is missed in what was given.
pub(super) fn forms(lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    let mut told = [false; 2];
    for object in functions().objects() {
        if !object.said.iter().any(|said| lower.contains(said)) {
            continue;
        }
        let through = object.given.is_some();
        // The first of each sort: the table has the more exact words first.
        if !std::mem::replace(&mut told[usize::from(through)], true) {
            let path = object.name().to_owned();
            let want = match through {
                true => Want::Through(path),
                false => Want::Made(path),
            };
            add(found, about, want);
        }
    }
}

pub(super) fn sorts(message: &str, lower: &str, about: Option<&str>, found: &mut Vec<Wish>) {
    const SAID: [(&str, Sort); 61] = [
        ("with an unsupported type", Sort::Tensor),
        ("unsupported type (<class", Sort::Tensor),
        (
            "list indices must be integers or slices, not tuple",
            Sort::Tensor,
        ),
        ("truth value of an array", Sort::Bool),
        ("on sparse tensors", Sort::Sparse),
        ("to be dictionaries", Sort::Dict),
        ("to be a dict", Sort::Dict),
        ("expected a dict", Sort::Dict),
        ("should be tuple or list", Sort::List),
        ("on a list of", Sort::List),
        ("expected datatype for argument", Sort::Dtype),
        ("to a tensorflow dtype", Sort::Dtype),
        ("must be tuple", Sort::Tuple),
        ("from the 'cpu' backend", Sort::Sparse),
        ("called on a list", Sort::List),
        ("must be a list", Sort::List),
        ("should be a list", Sort::List),
        ("expected list", Sort::List),
        ("must be a sequence", Sort::List),
        ("expected np.ndarray", Sort::Array),
        ("numpy array", Sort::Array),
        ("np.array", Sort::Array),
        ("numpy.ndarray'> expected", Sort::Array),
        ("expected sparse", Sort::Sparse),
        ("must be sparse", Sort::Sparse),
        ("must be a sparse", Sort::Sparse),
        ("sparsetensor", Sort::Sparse),
        ("expected a sparse", Sort::Sparse),
        ("to eagertensor of dtype string", Sort::Text),
        ("to tensor of dtype string", Sort::Text),
        ("must be bytes", Sort::Text),
        ("bytes-like", Sort::Text),
        ("expected str", Sort::Text),
        ("must be a dict", Sort::Dict),
        ("argument after ** must be a mapping", Sort::Dict),
        ("must be callable", Sort::Callable),
        ("must be int", Sort::Int),
        ("expected int", Sort::Int),
        ("must be an int", Sort::Int),
        ("an integer", Sort::Int),
        ("cannot be interpreted as an integer", Sort::Int),
        ("must be float", Sort::Float),
        ("expected float", Sort::Float),
        ("must be number", Sort::Float),
        ("must be real number", Sort::Float),
        ("must be bool", Sort::Bool),
        ("expected bool", Sort::Bool),
        ("must be str", Sort::Text),
        ("expected string", Sort::Text),
        ("must be a string", Sort::Text),
        ("must be tensor", Sort::Tensor),
        ("expected a tensor", Sort::Tensor),
        ("expected tensor", Sort::Tensor),
        ("of type 'tensor'", Sort::Tensor),
        ("must be tuple of", Sort::Tuple),
        ("must be a tuple", Sort::Tuple),
        ("must be list", Sort::List),
        ("expected list", Sort::List),
        ("object is not iterable", Sort::List),
        ("expected datatype", Sort::Dtype),
        ("object is not callable", Sort::Callable),
    ];
    if let Some(sort) = MISSED.captures(message).and_then(|it| having(&it[1])) {
        add(found, about, Want::Sort(sort));
    } else if let Some((_, sort)) = SAID.iter().find(|(said, _)| lower.contains(said)) {
        add(found, about, Want::Sort(*sort));
    } else if message.contains("must be Tensor") || lower.contains("'descriptor'") {
        add(found, about, Want::Sort(Sort::Tensor));
    }
}

/// The sort of value that has an attribute; what Python's own types have, and what arrays have.
fn having(attribute: &str) -> Option<Sort> {
    const HAVE: [(Sort, &[&str]); 7] = [
        (
            Sort::Tensor,
            &[
                "dim",
                "dtype",
                "size",
                "ndim",
                "shape",
                "device",
                "numel",
                "view",
                "reshape",
                "is_cuda",
                "is_sparse",
                "requires_grad",
                "layout",
                "stride",
                "element_size",
                "new",
                "clone",
                "detach",
                "unsqueeze",
                "squeeze",
                "get_shape",
                "astype",
                "numpy",
                "to",
                "T",
                "data_ptr",
                "is_floating_point",
                "contiguous",
                "sum",
                "mean",
                "flatten",
            ],
        ),
        (
            Sort::Sparse,
            &["dense_shape", "indices", "coalesce", "row_splits"],
        ),
        (
            Sort::Text,
            &[
                "lower",
                "upper",
                "startswith",
                "endswith",
                "split",
                "strip",
                "rstrip",
                "lstrip",
                "encode",
                "format",
                "replace",
                "isdigit",
                "partition",
                "rpartition",
                "splitlines",
                "join",
                "title",
                "find",
                "isidentifier",
            ],
        ),
        (
            Sort::Dict,
            &["items", "keys", "get", "values", "update", "setdefault"],
        ),
        (
            Sort::List,
            &[
                "append", "extend", "insert", "sort", "reverse", "pop", "__len__",
            ],
        ),
        (
            Sort::Callable,
            &[
                "__name__",
                "__code__",
                "__qualname__",
                "__wrapped__",
                "__annotations__",
            ],
        ),
        (Sort::Int, &["bit_length"]),
    ];
    let mut all = HAVE.iter();
    all.find(|(_, names)| names.contains(&attribute))
        .map(|(sort, _)| *sort)
}

pub(super) fn element_types(
    message: &str,
    wanted: &str,
    got: &str,
    about: Option<&str>,
    found: &mut Vec<Wish>,
) {
    const FLOATING: [Dtype; 2] = [Dtype::Float32, Dtype::Float64];
    if let Some(refused) = NOT_FOR.captures(message) {
        let from = dtypes_in(&refused[1]).first().copied();
        if from.is_some() {
            let to = match from {
                Some(dtype) if dtype.is_float() => vec![Dtype::Float32, Dtype::Int64],
                _ => FLOATING.to_vec(),
            };
            return add(found, about, Want::Dtype { from, to });
        }
    }
    // "Value for attr 'T' of int32 is not in the list of allowed values: float, double".
    if let Some((refused, allowed)) = message.split_once("list of allowed values:") {
        let to = dtypes_in(allowed);
        if !to.is_empty() {
            let from = dtypes_in(refused).first().copied();
            return add(found, None, Want::Dtype { from, to });
        }
    }
    if !has_dtype_words(message) {
        return;
    }
    let mut to = dtypes_in(wanted);
    let mut from = dtypes_in(got);
    // "requested dtype float32 for Tensor with dtype int64": either may give way, the last one named first.
    if let ([one, other], true) = (to.as_slice(), from.is_empty() && CONFLICT.is_match(message)) {
        for (from, to) in [(*other, *one), (*one, *other)] {
            let (from, to) = (Some(from), vec![to]);
            add(found, about, Want::Dtype { from, to });
        }
        return;
    }
    if to.is_empty() && !from.is_empty() {
        // "got Int, expected Float": the halves are the other way round.
        std::mem::swap(&mut to, &mut from);
        from.clear();
    }
    to.retain(|dtype| !from.contains(dtype));
    if !to.is_empty() {
        let from = from.first().copied();
        add(found, about, Want::Dtype { from, to });
    }
}
