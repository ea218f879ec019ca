//! Constraints that contradict the type their own documentation states.
//!
//! The lists of a released file were extracted from sentences: "the number of rows of the
//! embedding matrix" made a documented `Tensor` a 0-D integer, "the desired device of returned
//! tensor" made a device a tensor. Where the documentation states the type outright, it is right
//! and the list is noise. The repair mostly narrows a list to the alternatives that the stated type
//! allows; it replaces a list only when none is left.

use fissure_model::{
    Comparison, Constraint, Dim, Dtype, DtypeFamily, DtypeTerm, Element, Expression, NdimTerm,
    Param, Role, ShapeTerm, Spec, Structure, TensorKind, Value,
};

use crate::hints::{hints, objects};
use crate::text;
use fissure_model::{Kind, ParamHints};

/// One change that [`repair`] made.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Repair {
    pub param: String,
    /// What was changed and why, for a line of a report.
    pub message: String,
}

/// The spec with every constraint agreeing with the documented type, and what had to be changed.
pub fn repair(spec: &Spec) -> (Spec, Vec<Repair>) {
    let mut repaired = spec.clone();
    let mut repairs = Vec::new();
    let hints = hints(spec);
    let params = repaired.params.iter_mut().chain(&mut repaired.layer_params);
    for (param, hints) in params.zip(&hints) {
        let before = param.constraint.clone();
        settle_rank(param);
        repair_param(param, hints, &spec.api.package);
        if param.constraint != before {
            let stated = param.doc_dtype.as_deref().unwrap_or("its description");
            repairs.push(Repair {
                param: param.name.clone(),
                message: format!(
                    "{} does not fit the documented type ({stated}); read as {}",
                    summary(&before),
                    summary(&param.constraint)
                ),
            });
        }
    }
    if spec.api.package == "mxnet" {
        require_documented(&mut repaired, &mut repairs);
    }
    drop_undescribed_stars(&mut repaired, &mut repairs);
    (repaired, repairs)
}

/// "A 5-D `Tensor` of … and shape `[batch, height, width, channels]`", copied from the function for 4-D ones: the rank
/// that the description begins with counts, and shapes of another one are not meant.
fn settle_rank(param: &mut Param) {
    let Some(stated) = param.description.as_deref().and_then(rank_stated) else {
        return;
    };
    let constraint = &mut param.constraint;
    let contradicts = |term: &ShapeTerm| match term {
        ShapeTerm::Dims(dims) => dims.len() != stated && !dims.contains(&Dim::Ellipsis),
        _ => false,
    };
    if constraint.shapes.is_empty() || !constraint.shapes.iter().all(contradicts) {
        return;
    }
    constraint.shapes.clear();
    constraint.ndims = vec![rank(stated as f64)];
}

/// The rank of the tensor that a description begins with.
fn rank_stated(description: &str) -> Option<usize> {
    let plain = description.replace('`', "");
    let mut words = plain.split_whitespace();
    let first = words.next()?;
    let said = match first {
        "A" | "An" | "The" => words.next()?,
        word => word,
    };
    let digits = said
        .strip_suffix("-D")
        .or_else(|| said.strip_suffix("-d"))?;
    let tensor = |word: &str| word.to_lowercase().starts_with("tensor");
    // One adjective may stand between: "a 4-D float Tensor". "4-D or 5-D" says nothing.
    let next = words.next()?;
    let is_one = tensor(next) || next != "or" && next != "and" && tensor(words.next()?);
    is_one.then(|| digits.parse().ok())?
}

/// MXNet generates the signatures of its operations with `None` as every default; which arguments
/// are needed stands in the documented type.
fn require_documented(spec: &mut Spec, repairs: &mut Vec<Repair>) {
    for param in &mut spec.params {
        let Some(text) = &param.doc_dtype else {
            continue;
        };
        let optional = text.contains("optional") || text.contains("default");
        let needed = text.contains("required") || (text.starts_with("NDArray") && !optional);
        if param.role == Role::Optional && needed {
            param.role = Role::Required;
            repairs.push(Repair {
                param: param.name.clone(),
                message: format!("is documented as `{text}`: always given"),
            });
        }
    }
}

/// `*args` beside required parameters, with nothing said about it, is an artefact of a wrapper's
/// signature: a value passed there collides with the named ones. Where nothing is required, `*args`
/// may be the only way to pass what the file forgot.
fn drop_undescribed_stars(spec: &mut Spec, repairs: &mut Vec<Repair>) {
    let is_star = |param: &Param| matches!(param.role, Role::VarPositional | Role::VarKeyword);
    if !spec.api.layer && !spec.params.iter().any(|param| param.role == Role::Required) {
        return;
    }
    spec.params.retain(|param| {
        let described = param
            .description
            .as_ref()
            .is_some_and(|text| !text.trim().is_empty());
        let undescribed = param.constraint.is_empty() && param.doc_dtype.is_none() && !described;
        let dropped = is_star(param) && undescribed;
        if dropped {
            repairs.push(Repair {
                param: param.name.clone(),
                message: "takes arguments that nothing describes; left away".into(),
            });
        }
        !dropped
    });
}

fn repair_param(param: &mut Param, hints: &ParamHints, package: &str) {
    if !param.constraint.enums.is_empty() || param.constraint.is_empty() {
        return;
    }
    // A shape in the description is as outright as a type.
    let certain = hints.stated || !hints.shapes.is_empty();
    let boolean = is_boolean(param, hints);
    if !certain && !boolean {
        return;
    }
    let kinds = &hints.kinds;
    let all = |wanted: fn(&Kind) -> bool| !kinds.is_empty() && kinds.iter().all(wanted);
    let constraint = &mut param.constraint;
    if boolean {
        // Written as an enumeration, because a rank-0 tensor of booleans is not a bool.
        *constraint = Constraint {
            enums: vec![Value::Bool(true), Value::Bool(false)],
            dtypes: vec![DtypeTerm::Family(DtypeFamily::Bool)],
            ..Constraint::default()
        };
    } else if all(Kind::is_object) {
        if kinds.iter().any(|kind| !objects(kind, package).is_empty()) {
            *constraint = Constraint::default();
        }
    } else if all(|kind| *kind == Kind::Dtype) {
        *constraint = Constraint {
            dtypes: vec![DtypeTerm::DtypeObject],
            ..Constraint::default()
        };
    } else if all(is_plain) {
        repair_plain(constraint, kinds);
    } else if all(Kind::is_tensor)
        // `*tensors` documented as `Tensors...`: each argument is one of them.
        || (param.role == Role::VarPositional && all(|kind| is_sequence_of(kind, &Kind::Tensor)))
    {
        repair_tensor(constraint, hints);
    } else if all(|kind| kind.is_tensor() || is_sequence_of(kind, &Kind::Tensor)) {
        repair_tensors(constraint, kinds);
    } else if param.role == Role::VarPositional && all(|kind| is_sequence_of(kind, &Kind::Int)) {
        repair_plain(constraint, &[Kind::Int]);
    } else if kinds
        .iter()
        .any(|kind| *kind == Kind::Int || is_sequence_of(kind, &Kind::Int))
        && all(|kind| *kind == Kind::Int || is_sequence(kind))
    {
        repair_integers(constraint, kinds);
    }
}

/// Documented as a bool, or with a bool as default and no other type in sight.
fn is_boolean(param: &Param, hints: &ParamHints) -> bool {
    let only_bool = hints.kinds == [Kind::Bool];
    let by_default = matches!(param.default, Some(Value::Bool(_)));
    let listed = param.constraint.dtypes.iter().any(is_bool);
    only_bool && (hints.stated || (by_default && listed))
}

fn is_bool(term: &DtypeTerm) -> bool {
    matches!(
        term,
        DtypeTerm::Exact(Dtype::Bool) | DtypeTerm::Family(DtypeFamily::Bool)
    )
}

fn is_plain(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Int | Kind::Float | Kind::Number | Kind::Complex | Kind::Text
    )
}

fn is_sequence(kind: &Kind) -> bool {
    matches!(kind, Kind::List(_) | Kind::Tuple(_) | Kind::Sequence(_))
}

fn is_sequence_of(kind: &Kind, wanted: &Kind) -> bool {
    match kind {
        Kind::List(inner) | Kind::Tuple(inner) | Kind::Sequence(inner) => {
            inner.as_deref() == Some(wanted)
        }
        _ => false,
    }
}

fn rank(rank: f64) -> NdimTerm {
    NdimTerm::Is(Comparison::Equal, Expression::Number(rank))
}

/// A number or a text: no container, and only dtypes that such a value has.
fn repair_plain(constraint: &mut Constraint, kinds: &[Kind]) {
    let families: Vec<DtypeFamily> = kinds
        .iter()
        .flat_map(|kind| match kind {
            Kind::Int => vec![DtypeFamily::Int],
            // Python takes an integer wherever it takes a float.
            Kind::Float | Kind::Number => vec![DtypeFamily::Float, DtypeFamily::Int],
            Kind::Complex => vec![DtypeFamily::Complex],
            _ => vec![DtypeFamily::String],
        })
        .collect();
    let fits = |term: &DtypeTerm| match term {
        DtypeTerm::Exact(dtype) => families.iter().any(|family| family.contains(*dtype)),
        DtypeTerm::Family(DtypeFamily::Numeric) => families.contains(&DtypeFamily::Float),
        DtypeTerm::Family(family) => families.contains(family),
        DtypeTerm::Scalar | DtypeTerm::SameAs(_) => true,
        DtypeTerm::DtypeObject | DtypeTerm::Callable => false,
    };
    constraint.dtypes.retain(fits);
    if constraint.dtypes.is_empty() {
        constraint.dtypes.extend(kinds.iter().map(|kind| {
            DtypeTerm::Family(match kind {
                Kind::Int => DtypeFamily::Int,
                Kind::Float => DtypeFamily::Float,
                Kind::Number => DtypeFamily::Numeric,
                Kind::Complex => DtypeFamily::Complex,
                _ => DtypeFamily::String,
            })
        }));
    }
    constraint.structures.clear();
    constraint.tensors.clear();
    constraint.shapes.clear();
    constraint.ndims = vec![rank(0.0)];
}

/// A tensor. Rank 0 beside it shows that the lists are about some number in the description.
fn repair_tensor(constraint: &mut Constraint, hints: &ParamHints) {
    constraint.structures.clear();
    if constraint.tensors.is_empty() {
        let sparse = hints.kinds.contains(&Kind::SparseTensor);
        constraint.tensors.push(if sparse {
            TensorKind::Sparse
        } else {
            TensorKind::Dense
        });
    }
    constraint
        .dtypes
        .retain(|term| !matches!(term, DtypeTerm::DtypeObject | DtypeTerm::Callable));
    if constraint.ndims.contains(&rank(0.0)) {
        constraint.ndims.clear();
        constraint.ranges.clear();
        let family = |term: &DtypeTerm| matches!(term, DtypeTerm::Family(_)) || is_bool(term);
        constraint.dtypes.retain(|term| !family(term));
    }
    let exact: Vec<&DtypeTerm> = hints
        .dtypes
        .iter()
        .filter(|term| matches!(term, DtypeTerm::Exact(_)))
        .collect();
    if !exact.is_empty() {
        constraint.dtypes = exact.into_iter().cloned().collect();
    }
}

/// Tensors in a list or tuple, perhaps one tensor alone.
fn repair_tensors(constraint: &mut Constraint, kinds: &[Kind]) {
    let holds_tensors = |term: &Structure| {
        matches!(
            term,
            Structure::List(Some(Element::Tensor(_)))
                | Structure::Tuple(Some(Element::Tensor(_)))
                | Structure::Sequence(Some(Element::Tensor(_)))
        )
    };
    if !constraint.structures.is_empty() && constraint.structures.iter().all(holds_tensors) {
        return;
    }
    let element = || Some(Element::Tensor(TensorKind::Dense));
    constraint.structures = kinds
        .iter()
        .filter_map(|kind| match kind {
            Kind::List(_) => Some(Structure::List(element())),
            Kind::Tuple(_) => Some(Structure::Tuple(element())),
            Kind::Sequence(_) => Some(Structure::Sequence(element())),
            _ => None,
        })
        .collect();
    constraint.tensors.clear();
    if kinds.iter().any(Kind::is_tensor) {
        constraint.tensors.push(TensorKind::Dense);
    }
    constraint
        .dtypes
        .retain(|term| matches!(term, DtypeTerm::Exact(_)) && !is_bool(term));
    constraint.ndims.clear();
    constraint.ranges.clear();
}

/// An integer, or integers in a list or tuple.
fn repair_integers(constraint: &mut Constraint, kinds: &[Kind]) {
    let integers = || Some(Element::Dtype(DtypeTerm::Family(DtypeFamily::Int)));
    let other_element = |kind: &Kind| match kind {
        Kind::List(inner) | Kind::Tuple(inner) | Kind::Sequence(inner) => {
            inner.as_deref().is_some_and(|inner| *inner != Kind::Int)
        }
        _ => false,
    };
    if kinds.iter().any(other_element) {
        return;
    }
    let named = constraint
        .structures
        .iter()
        .any(|term| matches!(term, Structure::NamedTuple(..)));
    let structures: Vec<Structure> = kinds
        .iter()
        .filter_map(|kind| match kind {
            Kind::List(_) => Some(Structure::List(integers())),
            Kind::Tuple(_) => Some(Structure::Tuple(integers())),
            Kind::Sequence(_) => Some(Structure::Sequence(integers())),
            _ => None,
        })
        .collect();
    if structures.is_empty() {
        return;
    }
    if !named {
        constraint.structures = structures;
    }
    constraint.tensors.clear();
    constraint.dtypes = vec![DtypeTerm::Family(DtypeFamily::Int)];
    constraint.ndims = vec![rank(1.0)];
    if kinds.contains(&Kind::Int) {
        constraint.ndims.push(rank(0.0));
    }
}

fn summary(constraint: &Constraint) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(
        constraint
            .tensors
            .iter()
            .map(|kind| text::tensor(*kind).to_owned()),
    );
    parts.extend(constraint.structures.iter().map(text::structure));
    parts.extend(constraint.dtypes.iter().map(text::dtype));
    parts.extend(
        constraint
            .ndims
            .iter()
            .map(|term| format!("ndim {}", text::ndim(term))),
    );
    parts.extend(constraint.shapes.iter().map(text::shape));
    parts.extend(constraint.ranges.iter().map(text::range));
    parts.extend(constraint.enums.iter().map(text::value));
    if parts.is_empty() {
        "unconstrained".into()
    } else {
        format!("`{}`", parts.join(", "))
    }
}
