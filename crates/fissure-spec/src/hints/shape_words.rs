//! Shapes and ranks in prose: "of shape (N, C, L)", "1-D tensor", "the same size as input".

use std::sync::LazyLock;

use fissure_model::{Comparison, Dim, DtypeTerm, Expression, NdimTerm, Param, ShapeTerm, Spec};
use regex::Regex;

use super::ParamHints;
use crate::grammar::parse_expression;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is fixed and tested")
}

static GROUP: LazyLock<Regex> = LazyLock::new(|| regex(r"\(([^()]*)\)"));
/// TensorFlow writes shapes in square brackets.
static SQUARE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:shape|sized|size)\s*\[([^\[\]]+)\]"));
static TIMES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"of (?:shape|size) ((?:[A-Za-z]\w* times )+[A-Za-z]\w*)"));
static SIZE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:tensor|vector) of size ([a-z]|nbatch)\b"));
static BY: LazyLock<Regex> = LazyLock::new(|| regex(r"\b([a-z]) by ([a-z]) matrix\b"));
static SAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:same (?:shape|size|dimensions) as|size matching|shape matching) (?:that of )?(?:the )?(\w+)",
    )
});
static SAME_DTYPE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"same (?:type|dtype|data type) as (?:the )?(\w+)"));
static RANK: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:^|[\s(])(at least )?([0-9])(?:-?d\b|[- ]dimensional)( (?:int|integer|float|input|tensors?|vector|matrix|torch))?",
    )
});
static RANKS: LazyLock<Regex> = LazyLock::new(|| regex(r"\{([0-9](?:, [0-9])+)\}-dimensional"));
static RANK_SYMBOL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"n-dimensional [\w.]+,? where n >= ([0-9])"));
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:(?:the|a|an|input|first|second|third|dense|sparse|square|single|embedding)\s+)*(matrix|vector|batch of matrices)\b",
    )
});

/// `text` has single blanks and no backticks.
pub(super) fn read(text: &str, spec: &Spec, param: &Param, hints: &mut ParamHints) {
    let lower = text.to_lowercase();
    read_same(&lower, spec, param, hints);
    if hints.shapes.is_empty() {
        read_groups(text, spec, hints);
    }
    if hints.shapes.is_empty() {
        for found in SQUARE.captures_iter(text) {
            hints.shapes.extend(dims(&found[1], spec));
        }
        hints.shapes.dedup();
    }
    if hints.shapes.is_empty()
        && let Some(found) = TIMES.captures(text)
    {
        hints
            .shapes
            .extend(dims(&found[1].replace(" times ", ","), spec));
    }
    if hints.shapes.is_empty()
        && let Some(found) = SIZE.captures(&lower)
    {
        hints.shapes.extend(dims(&found[1], spec));
    }
    if hints.shapes.is_empty()
        && let Some(found) = BY.captures(&lower)
    {
        hints
            .shapes
            .extend(dims(&format!("{},{}", &found[1], &found[2]), spec));
    }
    if hints.shapes.is_empty() {
        hints.shapes.extend(product(&lower, spec));
    }
    if hints.shapes.is_empty() {
        read_ranks(&lower, hints);
    }
    if hints.shapes.is_empty() && hints.ndims.is_empty() {
        hints.shapes.extend(elementwise(spec, param));
    }
}

/// How the factors and the summand of a matrix product are described. Their sizes follow.
const PRODUCTS: [(&str, &str); 14] = [
    ("first matrix to be multiplied", "rows,inner"),
    ("first sparse matrix to be multiplied", "rows,inner"),
    ("a sparse matrix to be multiplied", "rows,inner"),
    ("second matrix to be multiplied", "inner,columns"),
    ("second dense matrix to be multiplied", "inner,columns"),
    ("a dense matrix be multiplied", "inner,columns"),
    ("first tensor to be multiplied", "rows,inner"),
    ("second tensor to be multiplied", "inner,columns"),
    (
        "first batch of matrices to be multiplied",
        "batch,rows,inner",
    ),
    (
        "second batch of matrices to be multiplied",
        "batch,inner,columns",
    ),
    ("first vector of the outer product", "rows"),
    ("second vector of the outer product", "columns"),
    ("vector to be multiplied", "inner"),
    ("vector to be added", "rows"),
];

fn product(lower: &str, spec: &Spec) -> Option<ShapeTerm> {
    let listed = PRODUCTS.iter().find(|(words, _)| lower.contains(words));
    if let Some((_, sizes)) = listed {
        return dims(sizes, spec);
    }
    match lower {
        "the tensor to be added" if spec.params.iter().any(|param| param.name == "batch1") => {
            dims("batch,rows,columns", spec)
        }
        "matrix to be multiplied" => dims("rows,inner", spec),
        "matrix to be added" | "a dense matrix to be added" => dims("rows,columns", spec),
        _ => None,
    }
}

/// Where nothing is said, a second operand is one of an elementwise operation: operands of the same
/// shape always fit.
fn elementwise(spec: &Spec, param: &Param) -> Option<ShapeTerm> {
    let operand = matches!(param.name.as_str(), "other" | "tensor1" | "tensor2" | "end");
    let first = spec.params.iter().find(|other| other.name == "input");
    let first = first.filter(|first| super::description::is_tensor(first))?;
    (operand && spec.api.package == "torch").then(|| ShapeTerm::SameAs(first.name.clone()))
}

fn read_same(lower: &str, spec: &Spec, param: &Param, hints: &mut ParamHints) {
    for found in SAME.captures_iter(lower) {
        if let Some(other) = referred(&found[1], spec, param) {
            hints.shapes.push(ShapeTerm::SameAs(other));
            break;
        }
    }
    for found in SAME_DTYPE.captures_iter(lower) {
        if let Some(other) = referred(&found[1], spec, param) {
            hints.dtypes.push(DtypeTerm::SameAs(other));
            break;
        }
    }
}

/// The parameter that a word means: by name, or as the only one whose description has the word
/// ("the dividend").
fn referred(word: &str, spec: &Spec, param: &Param) -> Option<String> {
    let others = || {
        spec.params
            .iter()
            .chain(&spec.layer_params)
            .filter(|other| other.name != param.name)
    };
    if let Some(other) = others().find(|other| other.name.to_lowercase() == word) {
        return Some(other.name.clone());
    }
    let mentions = |other: &&Param| {
        super::description::is_tensor(other)
            && other.description.as_ref().is_some_and(|text| {
                text.to_lowercase()
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|found| found == word)
            })
    };
    let mut found = others().filter(mentions);
    match (found.next(), found.next()) {
        (Some(other), None) => Some(other.name.clone()),
        _ => None,
    }
}

/// Bracketed lists that stand where a shape stands: after "of shape", at the very start, or after
/// an "or" that follows another shape.
fn read_groups(text: &str, spec: &Spec, hints: &mut ParamHints) {
    for found in GROUP.captures_iter(text) {
        let group = found.get(0).expect("the whole match always exists");
        let before = text[..group.start()].trim_end();
        let lower = before.to_lowercase();
        let several = found[1].contains([',', '*']) || found[1].contains(" times ");
        // "(N) where …" is a shape, "(optional) …" is not.
        let introduced = (before.is_empty() && (several || found[1].len() == 1))
            || (several && lower.ends_with("tensor"))
            || ["of shape", "of size", "with shape"]
                .iter()
                .any(|end| lower.ends_with(end));
        let continued = !hints.shapes.is_empty() && lower.ends_with("or");
        if !(introduced || continued) {
            continue;
        }
        let inner = found[1].replace(" times ", ",");
        if let Some(shape) = dims(&inner, spec)
            && !hints.shapes.contains(&shape)
        {
            hints.shapes.push(shape);
        }
    }
}

/// A comma-separated list of sizes; `None` if one of its items is none.
fn dims(text: &str, spec: &Spec) -> Option<ShapeTerm> {
    let mut dims = Vec::new();
    for item in text.split(',') {
        // The files break names at underscores: `in _channels`.
        let item = item.trim().replace(" _", "_");
        match item.as_str() {
            "*" | "..." => dims.push(Dim::Ellipsis),
            _ if item.contains(' ') => return None,
            _ => {
                let size = parse_expression(&item.to_lowercase()).ok()?;
                dims.push(Dim::Is(Comparison::Equal, with_params(size, spec)));
            }
        }
    }
    collapse_enumeration(&mut dims);
    let ellipses = dims.iter().filter(|dim| **dim == Dim::Ellipsis).count();
    (!dims.is_empty() && ellipses <= 1).then_some(ShapeTerm::Dims(dims))
}

/// A size named like a parameter is its value (`in_channels/groups`). Single letters are not: `n`
/// in a shape and a parameter `n` rarely mean the same.
fn with_params(size: Expression, spec: &Spec) -> Expression {
    match size {
        Expression::Symbol(name)
            if name.len() > 2 && spec.params.iter().any(|param| param.name == name) =>
        {
            Expression::ValueOf(name)
        }
        Expression::Binary(left, operator, right) => Expression::Binary(
            Box::new(with_params(*left, spec)),
            operator,
            Box::new(with_params(*right, spec)),
        ),
        other => other,
    }
}

/// `d_1, d_2, ..., d_K` means any number of dimensions, none of them named.
fn collapse_enumeration(dims: &mut Vec<Dim>) {
    if !dims.contains(&Dim::Ellipsis) {
        return;
    }
    dims.retain(|dim| match dim {
        Dim::Is(_, Expression::Symbol(name)) => !name
            .split_once('_')
            .is_some_and(|(stem, rest)| stem == "d" && rest.len() == 1),
        _ => true,
    });
}

fn read_ranks(lower: &str, hints: &mut ParamHints) {
    let mut push = |comparison, rank: &str| {
        if let Ok(rank) = rank.parse() {
            hints
                .ndims
                .push(NdimTerm::Is(comparison, Expression::Number(rank)));
        }
    };
    if let Some(found) = RANKS.captures(lower) {
        found[1]
            .split(", ")
            .for_each(|rank| push(Comparison::Equal, rank));
    } else if let Some(found) = RANK_SYMBOL.captures(lower) {
        push(Comparison::GreaterOrEqual, &found[1]);
    } else if let Some(found) = RANK.captures(lower) {
        // "2D" alone may be about something else ("for 2D or 3D"); a noun or a bound settles it.
        if found.get(1).is_some() {
            push(Comparison::GreaterOrEqual, &found[2]);
        } else if found.get(3).is_some() {
            push(Comparison::Equal, &found[2]);
        }
    } else if let Some(found) = HEAD.captures(lower) {
        let rank = match &found[1] {
            "vector" => "1",
            "matrix" => "2",
            _ => "3",
        };
        push(Comparison::Equal, rank);
    }
}
