//! One parameter of a constraint file.

use fissure_model::{
    Comparison, Constraint, Dim, Expression, NdimTerm, Param, Range, Role, ShapeTerm, Structure,
    TensorKind, Value,
};

use crate::grammar::{parse_ndim, parse_range, parse_shape};
use crate::literal::{self, Expected};
use crate::reader::Reader;
use crate::references;
use crate::suspicion;
use crate::terms::{parse_dtype, parse_structure, parse_tensor};
use crate::yaml::{Node, NodeKind};

/// `evidence` is ours: where an extracted constraint comes from, for people and for the next extraction.
const KEYS: [&str; 11] = [
    "descp",
    "doc_dtype",
    "default",
    "dtype",
    "structure",
    "tensor_t",
    "ndim",
    "shape",
    "range",
    "enum",
    "evidence",
];

/// How a file lists a parameter.
pub(crate) struct Listed {
    /// Without stars.
    pub name: String,
    pub role: Role,
    pub deprecated: bool,
    /// Where its constraints start, or where it is listed if it has none.
    pub line: u32,
}

pub(crate) fn read(reader: &mut Reader<'_>, listed: &Listed, node: Option<&Node>) -> Param {
    let mut param = Param {
        name: listed.name.clone(),
        role: listed.role,
        deprecated: listed.deprecated,
        default: None,
        default_text: None,
        doc_dtype: None,
        description: None,
        constraint: Constraint::default(),
        line: Some(listed.line),
        hints: None,
    };
    let Some(node) = node.filter(|node| !node.is_null()) else {
        return param;
    };
    let Some(entries) = node.map() else {
        let found = node.kind_name();
        let message = format!("expected a map of constraints, found {found}; ignored");
        reader.warn(node.line, Some(&listed.name), "constraints", message);
        return param;
    };
    reader.check_keys(entries, Some(&listed.name), &KEYS);
    param.description = text_of(node.get("descp"));
    param.doc_dtype = text_of(node.get("doc_dtype"));
    param.constraint = constraint(reader, &mut param, node);
    read_default(reader, &mut param, node);
    read_enum(reader, &mut param, node);
    references::check(reader, &mut param, node);
    param
}

/// Text, or the texts of a list joined: the older files split a phrase at its commas.
fn text_of(node: Option<&Node>) -> Option<String> {
    let node = node.filter(|node| !node.is_null())?;
    match &node.kind {
        NodeKind::Text { text, .. } => Some(text.clone()),
        NodeKind::List(items) => {
            // Where the whole phrase is in the list beside its parts, it alone says everything.
            let texts: Vec<&str> = items.iter().filter_map(Node::text).collect();
            let longest = texts.iter().max_by_key(|text| text.len())?;
            let whole = texts
                .iter()
                .all(|text| longest.contains(text.trim_end_matches(',')));
            Some(if whole {
                (*longest).to_owned()
            } else {
                texts.join(", ")
            })
        }
        NodeKind::Map(_) => None,
    }
}

fn constraint(reader: &mut Reader<'_>, param: &mut Param, node: &Node) -> Constraint {
    let name = param.name.clone();
    let mut constraint = Constraint::default();
    for (text, line) in list(reader, &name, node, "dtype") {
        match parse_dtype(&text) {
            Some(term) => constraint.dtypes.push(term),
            None if text == "deprecated" => {
                param.deprecated = true;
                let message = "`deprecated` is no dtype; the parameter is taken for deprecated";
                reader.warn(line, Some(&name), "dtype", message);
            }
            None => dropped(
                reader,
                line,
                &name,
                "dtype",
                &format!("`{text}` is no known dtype"),
            ),
        }
    }
    for (text, line) in list(reader, &name, node, "structure") {
        match parse_structure(&text) {
            Some(structure) => constraint.structures.push(structure),
            // MXNet's sparse arrays are its sparse tensors.
            None if parse_tensor(&text) == Some(TensorKind::Sparse) => {
                constraint.tensors.push(TensorKind::Sparse);
            }
            // `tuple(int):(&size)`: the entries have no usable names, but the rest is known.
            None if let Some(structure) = unnamed(&text) => {
                constraint.structures.push(structure);
                let message = format!("the entry names of `{text}` are not understood; ignored");
                reader.warn(line, Some(&name), "structure", message);
            }
            None => {
                let reason = format!("`{text}` is no known structure");
                dropped(reader, line, &name, "structure", &reason);
            }
        }
    }
    for (text, line) in list(reader, &name, node, "tensor_t") {
        match parse_tensor(&text) {
            Some(kind) => constraint.tensors.push(kind),
            None => {
                let reason = format!("`{text}` is no known kind of tensor");
                dropped(reader, line, &name, "tensor_t", &reason);
            }
        }
    }
    for (text, line) in list(reader, &name, node, "shape") {
        match parse_shape(&text) {
            Err(error) => dropped(reader, line, &name, "shape", &error.to_string()),
            Ok(term) => match suspicion::shape(&term) {
                Some(reason) => {
                    dropped(reader, line, &name, "shape", &format!("`{text}`: {reason}"));
                }
                None => constraint.shapes.push(term),
            },
        }
    }
    for (text, line) in list(reader, &name, node, "ndim") {
        match parse_ndim(&text) {
            Err(error) => dropped(reader, line, &name, "ndim", &error.to_string()),
            Ok(term) => match suspicion::ndim(&term, &reader.symbols) {
                Some(reason) => {
                    dropped(reader, line, &name, "ndim", &format!("`{text}`: {reason}"));
                }
                None => constraint.ndims.push(term),
            },
        }
    }
    for (text, line) in list(reader, &name, node, "range") {
        match parse_range(&text) {
            Err(error) => dropped(reader, line, &name, "range", &error.to_string()),
            Ok(range) if is_empty(&range) => {
                let reason = format!("no value lies in `{text}`");
                dropped(reader, line, &name, "range", &reason);
            }
            Ok(range) => constraint.ranges.push(range),
        }
    }
    settle_shapes(reader, &name, node, &mut constraint);
    if constraint.tensors.contains(&TensorKind::Ragged)
        && constraint.shapes.is_empty()
        && constraint.ndims.is_empty()
    {
        // Rows of different lengths need two dimensions.
        let least = Expression::Number(2.0);
        constraint
            .ndims
            .push(NdimTerm::Is(Comparison::GreaterOrEqual, least));
    }
    constraint
}

fn list(reader: &mut Reader<'_>, name: &str, node: &Node, key: &str) -> Vec<(String, u32)> {
    match node.get(key) {
        Some(node) => reader.texts(node, Some(name), key),
        None => Vec::new(),
    }
}

pub(crate) fn dropped(reader: &mut Reader<'_>, line: u32, name: &str, key: &str, reason: &str) {
    reader.warn(
        line,
        Some(name),
        key,
        format!("{reason}; this alternative is left out"),
    );
}

fn read_default(reader: &mut Reader<'_>, param: &mut Param, node: &Node) {
    let Some(node) = node.get("default").filter(|node| !node.is_null()) else {
        return;
    };
    let Some(text) = node.text() else {
        let message = format!("expected a text, found {}; ignored", node.kind_name());
        reader.warn(node.line, Some(&param.name), "default", message);
        return;
    };
    let expected = Expected::of(&param.constraint.dtypes);
    param.default = literal::default_value(text, &reader.package, expected);
    param.default_text = Some(text.to_owned());
}

fn read_enum(reader: &mut Reader<'_>, param: &mut Param, node: &Node) {
    let name = param.name.clone();
    let expected = Expected::of(&param.constraint.dtypes);
    let entries = list(reader, &name, node, "enum");
    let values: Vec<Value> = entries
        .iter()
        .map(|(text, _)| literal::enum_value(text, expected))
        .collect();
    let context = suspicion::EnumContext {
        param: &name,
        names: &reader.names,
        default: param.default.as_ref(),
        text_allowed: expected.text || expected == Expected::default(),
        text_stated: expected.text,
        doc_dtype: param.doc_dtype.as_deref(),
    };
    let verdicts = suspicion::enums(&values, &context);
    let mut kept = Vec::new();
    for ((value, verdict), (text, line)) in values.into_iter().zip(&verdicts).zip(&entries) {
        match verdict {
            Some(reason) => {
                let reason = format!("`{text}` is suspicious: {reason}");
                dropped(reader, *line, &name, "enum", &reason);
            }
            None => kept.push((value, *line)),
        }
    }
    // "None or <something misread>" says only that None is allowed, not that nothing else is.
    if verdicts.iter().any(Option::is_some) && kept.iter().all(|(value, _)| *value == Value::None) {
        for (_, line) in &kept {
            let reason = "`None` is the only entry left of a suspicious list";
            dropped(reader, *line, &name, "enum", reason);
        }
        kept.clear();
    }
    let text_excluded = !expected.text && expected != Expected::default();
    let first_text = kept
        .iter()
        .find(|(value, _)| matches!(value, Value::Text(_)));
    if let Some((_, line)) = first_text.filter(|_| text_excluded) {
        let message = "the entries are texts, but the dtypes allow no text; the entries count";
        reader.warn(*line, Some(&name), "enum", message);
    }
    param.constraint.enums = kept.into_iter().map(|(value, _)| value).collect();
}

/// Both ends are numbers and in the wrong order.
fn is_empty(range: &Range) -> bool {
    match (&range.lower.at, &range.upper.at) {
        (Expression::Number(lower), Expression::Number(upper)) => {
            lower > upper || (lower == upper && !(range.lower.closed && range.upper.closed))
        }
        (Expression::Infinity, _) => true,
        _ => false,
    }
}

/// A shape whose rank no `ndim` alternative allows contradicts the file itself. Where other shapes
/// agree, the list of ranks is incomplete; where none does, the "shape" is something else.
fn settle_shapes(reader: &mut Reader<'_>, name: &str, node: &Node, constraint: &mut Constraint) {
    let ranks: Option<Vec<f64>> = constraint
        .ndims
        .iter()
        .map(|term| match term {
            NdimTerm::Is(Comparison::Equal, Expression::Number(rank)) => Some(*rank),
            _ => None,
        })
        .collect();
    let Some(ranks) = ranks.filter(|ranks| !ranks.is_empty()) else {
        return;
    };
    let contradicting_rank = |term: &ShapeTerm| match term {
        ShapeTerm::Dims(dims) if !dims.contains(&Dim::Ellipsis) => {
            Some(dims.len() as f64).filter(|rank| !ranks.contains(rank))
        }
        _ => None,
    };
    let line = node.get("shape").map_or(node.line, |shape| shape.line);
    let all = constraint
        .shapes
        .iter()
        .all(|term| contradicting_rank(term).is_some());
    for term in &constraint.shapes {
        let Some(rank) = contradicting_rank(term) else {
            continue;
        };
        let reason = format!(
            "`{}` contradicts the ranks of `ndim`",
            crate::text::shape(term)
        );
        if all {
            dropped(reader, line, name, "shape", &reason);
        } else {
            reader.warn(
                line,
                Some(name),
                "shape",
                format!("{reason}; rank {rank} is added there"),
            );
            constraint
                .ndims
                .push(NdimTerm::Is(Comparison::Equal, Expression::Number(rank)));
        }
    }
    if all {
        constraint.shapes.clear();
    }
}

fn unnamed(text: &str) -> Option<Structure> {
    parse_structure(text.split_once(":(")?.0)
}
