//! References from one parameter to another (`&p`).

use fissure_model::{Constraint, Dim, DtypeTerm, Expression, NdimTerm, Param, ShapeTerm};

use crate::param::dropped;
use crate::reader::Reader;
use crate::yaml::Node;

/// Calls `visit` with the name of every parameter that must be decided before this constraint can
/// be.
pub(crate) fn for_each<'a>(constraint: &'a Constraint, visit: &mut impl FnMut(&'a str)) {
    for term in &constraint.dtypes {
        if let DtypeTerm::SameAs(name) = term {
            visit(name);
        }
    }
    for term in &constraint.ndims {
        if let NdimTerm::Is(_, at) = term {
            at.for_each_param(visit);
        }
    }
    for term in &constraint.shapes {
        if let Some(name) = term.other() {
            visit(name);
        }
        if let ShapeTerm::Dims(dims) = term {
            for dim in dims {
                if let Dim::Is(_, at) = dim {
                    at.for_each_param(visit);
                }
            }
        }
    }
    for range in &constraint.ranges {
        range.lower.at.for_each_param(visit);
        range.upper.at.for_each_param(visit);
    }
}

/// Warns about references to parameters that do not exist or to the parameter itself, and removes
/// them: `&n` becomes the free symbol `n`, what cannot be read so is left out.
pub(crate) fn check(reader: &mut Reader<'_>, param: &mut Param, node: &Node) {
    let mut unknown = Vec::new();
    for_each(&param.constraint, &mut |name| {
        let usable = reader.names.contains(name) && name != param.name;
        if !usable && !unknown.iter().any(|known| known == name) {
            unknown.push(name.to_owned());
        }
    });
    for name in unknown {
        repair(reader, param, node, &name);
    }
}

fn repair(reader: &mut Reader<'_>, param: &mut Param, node: &Node, unknown: &str) {
    let line_of = |key: &str| {
        node.get(key)
            .map_or(node.line, |node| item_line(node, unknown))
    };
    let reason = if unknown == param.name {
        format!("`&{unknown}` refers to the parameter itself")
    } else {
        format!("`&{unknown}` refers to no parameter of this API")
    };
    let constraint = &mut param.constraint;
    let mut lost = Vec::new();
    let mut freed = Vec::new();
    let before = constraint.dtypes.len();
    constraint
        .dtypes
        .retain(|term| *term != DtypeTerm::SameAs(unknown.to_owned()));
    if constraint.dtypes.len() < before {
        lost.push("dtype");
    }
    constraint.ndims.retain_mut(|term| match term {
        NdimTerm::Is(_, at) => keep(at, unknown, "ndim", &mut freed, &mut lost),
        NdimTerm::Any => true,
    });
    constraint.shapes.retain_mut(|term| match term {
        ShapeTerm::SameAs(name) | ShapeTerm::BroadcastWith(name) | ShapeTerm::BroadcastTo(name) => {
            let known = name != unknown;
            if !known {
                lost.push("shape");
            }
            known
        }
        ShapeTerm::Dims(dims) => dims.iter_mut().all(|dim| match dim {
            Dim::Is(_, at) => keep(at, unknown, "shape", &mut freed, &mut lost),
            Dim::Ellipsis => true,
        }),
    });
    constraint.ranges.retain_mut(|range| {
        let lower = keep(&mut range.lower.at, unknown, "range", &mut freed, &mut lost);
        let upper = keep(&mut range.upper.at, unknown, "range", &mut freed, &mut lost);
        lower && upper
    });
    freed.dedup();
    for key in freed.into_iter().filter(|key| !lost.contains(key)) {
        let message = format!("{reason}; read as the free symbol `{unknown}`");
        reader.warn(line_of(key), Some(&param.name), key, message);
    }
    lost.dedup();
    for key in lost {
        dropped(reader, line_of(key), &param.name, key, &reason);
    }
}

/// Frees the symbol in `at`; `false` when what is asked about it (`len:`, `ndim:`) needs a
/// parameter.
fn keep(
    at: &mut Expression,
    unknown: &str,
    key: &'static str,
    freed: &mut Vec<&'static str>,
    lost: &mut Vec<&'static str>,
) -> bool {
    match at {
        Expression::ValueOf(name) if name == unknown => {
            *at = Expression::Symbol(unknown.to_owned());
            freed.push(key);
            true
        }
        Expression::LengthOf(name) | Expression::NdimOf(name) | Expression::MaximumOf(name)
            if name == unknown =>
        {
            lost.push(key);
            false
        }
        Expression::Negate(inner) => keep(inner, unknown, key, freed, lost),
        Expression::Binary(left, _, right) => {
            let left = keep(left, unknown, key, freed, lost);
            let right = keep(right, unknown, key, freed, lost);
            left && right
        }
        _ => true,
    }
}

/// The line of the list entry that mentions the name.
fn item_line(node: &Node, name: &str) -> u32 {
    let mention = format!("&{name}");
    match &node.kind {
        crate::yaml::NodeKind::List(items) => items
            .iter()
            .find(|item| item.text().is_some_and(|text| text.contains(&mention)))
            .map_or(node.line, |item| item.line),
        _ => node.line,
    }
}
