//! Descriptions in prose: which kind of argument they tell of, and where to look for more.

use std::sync::LazyLock;

use fissure_model::{Dtype, DtypeFamily, DtypeTerm, Param, Role, Spec, Value};
use regex::Regex;

use super::phrase::atom;
use super::{Kind, ParamHints, shape_words, value_words};
use crate::literal::Expected;
use crate::terms::parse_library_dtype;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is fixed and tested")
}

static TENSOR: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:(?:a|an|the|optional|input|first|second|third|quantized|non-quantized|bias|source|float|output|n-dimensional|[0-9]-?d|[0-9]-dimensional|\{[0-9, ]+\}-dimensional)\s+)*(?:torch\.)?tensors?\b",
    )
});
static TENSORS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^any number of (?:[0-9] dimensional )?tensors\b"));
static COUNT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:the )?(?:size|number|amount) of (?:the |each )?\w+"));
static PLAIN_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^the (?:number|value|scalar) to\b|^the fraction of\b"));
static SHAPED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^[\w\s-]{0,40}\bof shape\b|^\((?:[a-z]|[a-z*]\w*(?:, [a-z*.]\w*)+)\)")
});
static NUMBER_OR_TUPLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"single (?:number|integer|int|[a-z])\b.*\btuple|\btuple\b.*\bsingle (?:number|integer|[a-z])\b",
    )
});
static TUPLE_NAMES: LazyLock<Regex> = LazyLock::new(|| regex(r"tuple \((\w+(?:, ?\w+)*),?\)"));
static COUNTED_TUPLE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b([0-9]|double-integer |triple-integer |one-element )-?\s?tuple"));
static DTYPE_OF_TENSOR: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(int|integer|float|boolean|bool)\s+(?:[0-9]-?d\s+)?tensor|(?:must be|should be|of type) (?:a )?(\w+tensor|torch\.\w+)",
    )
});
static FUNCTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:a |the )?(?:python )?(?:function|callable)\b"));
static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:if (?:set to )?(?:true|false)|when (?:true|false)|whether|controls whether|flag that|a boolean)\b",
    )
});
static AXIS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:the |a )?(?:first |second |starting |last )?(?:dim|dimension|dimensions|axis|axes)\b",
    )
});

/// Names that stand for tensors wherever PyTorch leaves a parameter of a function undescribed.
const TENSOR_NAMES: [&str; 22] = [
    "input", "other", "target", "targets", "weight", "bias", "tensor", "mat", "mat1", "mat2",
    "vec", "vec1", "vec2", "x", "x1", "x2", "input1", "input2", "tensor1", "tensor2", "batch1",
    "batch2",
];
const NUMBER_NAMES: [&str; 6] = [
    "value",
    "val",
    "min_value",
    "max_value",
    "threshold",
    "norm_type",
];
const AXIS_NAMES: [&str; 10] = [
    "dim",
    "dims",
    "axis",
    "axes",
    "dim0",
    "dim1",
    "dim2",
    "start_dim",
    "end_dim",
    "dimension",
];

/// Fills what the stated type leaves open.
pub(super) fn read(spec: &Spec, param: &Param, hints: &mut ParamHints) {
    let text = plain(param.description.as_deref().unwrap_or(""));
    let lower = text.to_lowercase();
    // What a description of `**kwargs` says is about its entries, which have no names here.
    if param.role == Role::VarKeyword {
        return;
    }
    if hints.kinds.is_empty() {
        hints.kinds = kinds(&lower, spec, param);
    }
    let constraint = &param.constraint;
    let is_tensor = hints.kinds.iter().any(Kind::is_tensor)
        || hints.kinds.is_empty() && !constraint.tensors.is_empty();
    if is_tensor && !hints.output {
        shape_words::read(&text, spec, param, hints);
        read_dtype(&lower, param, hints);
    } else {
        read_length(&lower, hints);
        read_axis(&lower, spec, param, hints);
    }
    value_words::read(&text, hints);
    value_words::range_of_name(param, hints);
}

fn plain(text: &str) -> String {
    text.replace('`', "")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn boxed(kind: Kind) -> Option<Box<Kind>> {
    Some(Box::new(kind))
}

fn kinds(lower: &str, spec: &Spec, param: &Param) -> Vec<Kind> {
    if FUNCTION.is_match(lower) {
        return vec![Kind::Callable];
    }
    if NUMBER_OR_TUPLE.is_match(lower) {
        return vec![Kind::Int, Kind::Tuple(boxed(Kind::Int))];
    }
    if lower.contains("(single integer)") {
        return vec![Kind::Int];
    }
    if lower.contains("file-like object") || lower.contains("file name") {
        return vec![Kind::File];
    }
    if TENSOR.is_match(lower) || SHAPED.is_match(lower) || TENSORS.is_match(lower) {
        return vec![Kind::Tensor];
    }
    let by_default = match &param.default {
        Some(Value::Bool(_)) => Some(Kind::Bool),
        Some(Value::Int(_)) => Some(Kind::Int),
        Some(Value::Float(_)) => Some(Kind::Float),
        Some(Value::Text(_)) => Some(Kind::Text),
        Some(Value::Tuple(items)) => Some(Kind::Tuple(items.first().and_then(number_kind))),
        Some(Value::List(items)) => Some(Kind::List(items.first().and_then(number_kind))),
        Some(Value::Dtype(_)) => Some(Kind::Dtype),
        _ => None,
    };
    if let Some(kind) = by_default {
        return vec![kind];
    }
    if CONDITION.is_match(lower) {
        return vec![Kind::Bool];
    }
    // From here on only where the constraints are silent too.
    if Expected::of(&param.constraint.dtypes) != Expected::default()
        || !param.constraint.structures.is_empty()
        || !param.constraint.tensors.is_empty()
    {
        return Vec::new();
    }
    if PLAIN_NUMBER.is_match(lower) || NUMBER_NAMES.contains(&param.name.as_str()) {
        return vec![Kind::Number];
    }
    let counted = param.name.starts_with("num_")
        || param.name.starts_with("n_")
        || param.name.ends_with("_features")
        || value_words::is_count(&param.name);
    if counted || COUNT.is_match(lower) {
        return vec![Kind::Int];
    }
    let is_function = !spec.api.layer && matches!(param.role, Role::Required | Role::Optional);
    if spec.api.package == "torch" && is_function && TENSOR_NAMES.contains(&param.name.as_str()) {
        return vec![Kind::Tensor];
    }
    Vec::new()
}

fn number_kind(value: &Value) -> Option<Box<Kind>> {
    match value {
        Value::Int(_) => boxed(Kind::Int),
        Value::Float(_) => boxed(Kind::Float),
        Value::Text(_) => boxed(Kind::Text),
        _ => None,
    }
}

fn read_dtype(lower: &str, param: &Param, hints: &mut ParamHints) {
    if !hints.dtypes.is_empty() || !param.constraint.dtypes.is_empty() {
        return;
    }
    if let Some(found) = DTYPE_OF_TENSOR.captures(lower) {
        if let Some(word) = found.get(1) {
            let family = match word.as_str() {
                "float" => DtypeFamily::Float,
                "int" | "integer" => DtypeFamily::Int,
                _ => DtypeFamily::Bool,
            };
            hints.dtypes.push(DtypeTerm::Family(family));
        } else if let Some(word) = found.get(2).map(|word| word.as_str()) {
            let named = parse_library_dtype(word).map(DtypeTerm::Exact);
            hints.dtypes.extend(named.or_else(|| atom(word)?.dtype));
        }
    } else if matches!(param.name.as_str(), "index" | "indices")
        || param.name.ends_with("lengths")
        || lower.contains("0 <= targets")
    {
        hints.dtypes.push(DtypeTerm::Exact(Dtype::Int64));
    }
}

fn read_length(lower: &str, hints: &mut ParamHints) {
    let is_sequence =
        |kind: &Kind| matches!(kind, Kind::Tuple(_) | Kind::List(_) | Kind::Sequence(_));
    if hints.length.is_some() || !hints.kinds.iter().any(is_sequence) {
        return;
    }
    hints.length = if let Some(found) = TUPLE_NAMES.captures(lower) {
        Some(found[1].split(',').count())
    } else {
        COUNTED_TUPLE
            .captures(lower)
            .and_then(|found| match found[1].trim_end() {
                "one-element" => Some(1),
                "double-integer" => Some(2),
                "triple-integer" => Some(3),
                digits => digits.parse().ok(),
            })
    };
}

/// An integer that names an axis belongs to the first tensor of the call.
fn read_axis(lower: &str, spec: &Spec, param: &Param, hints: &mut ParamHints) {
    let named = AXIS_NAMES.contains(&param.name.as_str());
    let whole = hints.kinds.is_empty()
        || hints.kinds.iter().any(|kind| match kind {
            Kind::Int => true,
            Kind::Tuple(inner) | Kind::List(inner) | Kind::Sequence(inner) => {
                inner.as_deref().is_none_or(|inner| *inner == Kind::Int)
            }
            _ => false,
        });
    if !whole || !(named || AXIS.is_match(lower)) {
        return;
    }
    let mut tensors = spec
        .params
        .iter()
        .filter(|other| other.name != param.name && is_tensor(other));
    hints.axis_of = tensors.next().map(|other| other.name.clone());
}

/// As far as one parameter alone tells.
pub(super) fn is_tensor(param: &Param) -> bool {
    let stated = param
        .doc_dtype
        .as_ref()
        .is_some_and(|text| text.to_lowercase().contains("tensor"));
    let named = TENSOR_NAMES.contains(&param.name.as_str());
    stated || (param.doc_dtype.is_none() && (named || !param.constraint.tensors.is_empty()))
}
