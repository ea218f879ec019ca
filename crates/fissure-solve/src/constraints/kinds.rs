//! What sorts of value a parameter may get, and which is the likeliest.

use fissure_model::{
    Comparison, DtypeTerm, Element, Expression, NdimTerm, Param, Role, Spec, Structure, TensorKind,
    Value,
};
use fissure_spec::{Kind, objects};

use crate::constraints::compiled::CompiledParam;
use crate::constraints::expressions::{Facts, Scope};
use crate::constraints::meaning::{Leaf, accepts_leaf, containers_listed};
use crate::constraints::priors::{NameSays, name_says};

/// One sort of value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum KindPlan {
    Enumeration,
    Tensor(TensorKind),
    NdArray,
    Leaf(Leaf),
    Sequence { tuple: bool, entry: Entry },
    NamedTuple { names: usize, entry: Entry },
    Dict { key: Leaf, entry: Entry },
    Objects(Vec<Value>),
}

/// What a list contains.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    Leaf(Leaf),
    Tensor,
    NdArray,
    /// A list of sizes.
    Shape,
    Sequence {
        tuple: bool,
        entry: Box<Entry>,
    },
}

const LEAVES: [Leaf; 5] = [
    Leaf::Int,
    Leaf::Float,
    Leaf::Bool,
    Leaf::Text,
    Leaf::Complex,
];

/// What is left of the weight of a kind that an exact source does not say.
const UNSAID: f32 = 0.04;

/// Kinds that the constraint allows, each with its weight.
pub(crate) fn kinds_of(
    spec: &Spec,
    param: &Param,
    compiled: &CompiledParam,
    tensors_possible: bool,
    symbols: usize,
) -> Vec<(KindPlan, f32)> {
    let constraint = &param.constraint;
    if !constraint.enums.is_empty() {
        return vec![(KindPlan::Enumeration, 1.0)];
    }
    let hints = &compiled.hints;
    let says = |wanted: fn(&Kind) -> bool| hints.kinds.iter().any(wanted);
    // Files give rank 0 to plain numbers; what is meant to be a tensor is listed as one.
    let plain = constraint.tensors.is_empty()
        && !constraint.ndims.is_empty()
        && constraint
            .ndims
            .iter()
            .all(|term| *term == NdimTerm::Is(Comparison::Equal, Expression::Number(0.0)));
    // A name counts where neither constraint nor documentation states anything.
    let named = if hints.kinds.is_empty() && !plain {
        name_says(&param.name, spec.api.layer)
    } else {
        NameSays::Nothing
    };
    let says_tensor =
        says(|kind| matches!(kind, Kind::Tensor | Kind::SparseTensor)) || named == NameSays::Tensor;
    let says_list = says(|kind| {
        matches!(
            kind,
            Kind::List(_) | Kind::Tuple(_) | Kind::Sequence(_) | Kind::ArrayLike
        )
    });
    let leaves = leaf_weights(param, compiled, named);
    let says_leaf = says(|kind| {
        matches!(
            kind,
            Kind::Int
                | Kind::Float
                | Kind::Bool
                | Kind::Number
                | Kind::Text
                | Kind::Complex
                | Kind::File
        )
    });
    let says_leaf = says_leaf
        || plain && hints.kinds.is_empty()
        || matches!(named, NameSays::Int | NameSays::Float | NameSays::Text);
    let silent = hints.kinds.is_empty() && named == NameSays::Nothing;
    let listed = containers_listed(constraint);
    // With every symbol free and nothing known, what some call could allow is allowed.
    let free = vec![None; symbols];
    let facts = vec![Facts::default(); spec.params.len() + spec.layer_params.len()];
    let scope = Scope {
        symbols: &free,
        facts: &facts,
    };
    let mut kinds: Vec<(KindPlan, f32)> = Vec::new();

    if !compiled.objects.is_empty() {
        kinds.push((KindPlan::Objects(compiled.objects.clone()), 10.0));
    }
    if constraint.dtypes.contains(&DtypeTerm::Callable) {
        let values = objects(&Kind::Callable, spec.api.tensor_library());
        if !values.is_empty() {
            kinds.push((KindPlan::Objects(values), 4.0));
        }
    }
    let dtype_listed = constraint.dtypes.contains(&DtypeTerm::DtypeObject);
    if dtype_listed || constraint.is_empty() && says(|kind| *kind == Kind::Dtype) {
        let weight = if says(|kind| *kind == Kind::Dtype) {
            8.0
        } else {
            1.0
        };
        kinds.push((KindPlan::Leaf(Leaf::Dtype), weight));
    }

    // A plain value.
    if !listed || compiled.allows_plain(scope) {
        let weight = match (says_leaf, says_tensor || says_list, listed) {
            (true, _, _) => 8.0,
            (false, true, _) => 0.4,
            (false, false, true) => 4.0,
            (false, false, false) if constraint.is_empty() && silent => 2.0,
            (false, false, false) => 5.0,
        };
        if compiled.allows_rank(0.0, scope) {
            let total: f32 = leaves.iter().map(|(_, weight)| weight).sum();
            for (leaf, share) in &leaves {
                kinds.push((KindPlan::Leaf(*leaf), weight * share / total));
            }
        }
    }
    // A tensor. Nothing but text can stand for a tensor of strings.
    let text_allowed = leaves.iter().any(|(leaf, _)| *leaf == Leaf::Text);
    let tensor_weight = match (says_tensor, listed) {
        (true, _) => 8.0,
        (false, true) if silent => 4.0,
        (false, true) => 0.6,
        (false, false) if constraint.dtypes.is_empty() && silent => 4.0,
        (false, false) => 0.5,
    };
    if tensors_possible {
        let mut tensors = constraint.tensors.clone();
        if !listed {
            tensors.push(TensorKind::Dense);
        }
        tensors.dedup();
        for tensor in tensors {
            kinds.push((KindPlan::Tensor(tensor), tensor_weight));
        }
    } else if !constraint.tensors.is_empty() && text_allowed {
        kinds.push((KindPlan::Leaf(Leaf::Text), 2.0));
        kinds.push((
            KindPlan::Sequence {
                tuple: false,
                entry: Entry::Leaf(Leaf::Text),
            },
            2.0,
        ));
    }
    // Lists and other structures.
    let list_weight = if says_list {
        8.0
    } else if listed {
        2.0
    } else {
        0.3
    };
    if listed {
        for structure in &constraint.structures {
            add_structure(
                structure,
                list_weight,
                compiled,
                &leaves,
                tensors_possible,
                &mut kinds,
            );
        }
    } else if compiled.allows_rank(1.0, scope) {
        let tuple = says(|kind| matches!(kind, Kind::Tuple(_)));
        let structure = if tuple {
            Structure::Tuple(None)
        } else {
            Structure::List(None)
        };
        add_structure(
            &structure,
            list_weight,
            compiled,
            &leaves,
            tensors_possible,
            &mut kinds,
        );
    }
    if hints.exact && constraint.dtypes.is_empty() && constraint.structures.is_empty() {
        for (kind, weight) in &mut kinds {
            if !hints.kinds.iter().any(|said| is_said(said, kind)) {
                *weight *= UNSAID;
            }
        }
    }
    if param.role == Role::VarPositional && kinds.len() > 1 {
        // Each argument is one item, so a list inside is unusual.
        for (kind, weight) in &mut kinds {
            if matches!(kind, KindPlan::Sequence { .. }) {
                *weight *= 0.1;
            }
        }
    }
    kinds
}

/// Is this kind of value what an exact source says?
fn is_said(said: &Kind, kind: &KindPlan) -> bool {
    match (said, kind) {
        (Kind::Tensor, KindPlan::Tensor(TensorKind::Dense))
        | (Kind::SparseTensor, KindPlan::Tensor(TensorKind::Sparse))
        | (Kind::NdArray | Kind::ArrayLike, KindPlan::NdArray | KindPlan::Tensor(_))
        | (Kind::ArrayLike, KindPlan::Leaf(Leaf::Int | Leaf::Float) | KindPlan::Sequence { .. })
        | (Kind::Dtype, KindPlan::Leaf(Leaf::Dtype))
        | (Kind::Dict, KindPlan::Dict { .. })
        | (_, KindPlan::Objects(_) | KindPlan::Enumeration) => true,
        (said, KindPlan::Leaf(leaf)) => {
            !matches!(said, Kind::List(_) | Kind::Tuple(_) | Kind::Sequence(_))
                && says_leaf(said, *leaf)
        }
        (
            Kind::List(inner) | Kind::Tuple(inner) | Kind::Sequence(inner),
            KindPlan::Sequence { entry, .. } | KindPlan::NamedTuple { entry, .. },
        ) => match (inner.as_deref(), entry) {
            (None, _) => true,
            (Some(inner), Entry::Leaf(leaf)) => says_leaf(inner, *leaf),
            (Some(inner), Entry::Tensor | Entry::NdArray) => inner.is_tensor(),
            (Some(inner), Entry::Shape | Entry::Sequence { .. }) => {
                matches!(inner, Kind::List(_) | Kind::Tuple(_) | Kind::Sequence(_))
            }
        },
        _ => false,
    }
}

/// Which plain types the dtype constraint allows, likeliest by documentation and default.
fn leaf_weights(param: &Param, compiled: &CompiledParam, named: NameSays) -> Vec<(Leaf, f32)> {
    let constraint = &param.constraint;
    let hints = &compiled.hints;
    let mut weights = Vec::new();
    for leaf in LEAVES {
        let listed = constraint
            .dtypes
            .iter()
            .any(|term| accepts_leaf(term, leaf, None));
        if !constraint.dtypes.is_empty() && !listed {
            continue;
        }
        let said = hints.kinds.iter().any(|kind| says_leaf(kind, leaf))
            || hints
                .dtypes
                .iter()
                .any(|term| accepts_leaf(term, leaf, None));
        let default = param.default.as_ref().and_then(Leaf::of) == Some(leaf);
        let base = match leaf {
            Leaf::Int => 2.0,
            Leaf::Float => 1.2,
            Leaf::Bool => 0.5,
            Leaf::Text => 0.3,
            _ => 0.1,
        };
        let mut weight = if listed { 1.0 } else { base };
        let named = matches!(
            (named, leaf),
            (NameSays::Int, Leaf::Int)
                | (NameSays::Float, Leaf::Float)
                | (NameSays::Text, Leaf::Text)
        );
        if said || named {
            weight *= 12.0;
        }
        if default {
            weight *= 6.0;
        }
        weights.push((leaf, weight));
    }
    weights
}

fn says_leaf(kind: &Kind, leaf: Leaf) -> bool {
    match kind {
        Kind::Int => leaf == Leaf::Int,
        Kind::Float => leaf == Leaf::Float,
        Kind::Number => matches!(leaf, Leaf::Int | Leaf::Float),
        Kind::Bool => leaf == Leaf::Bool,
        Kind::Complex => leaf == Leaf::Complex,
        Kind::Text | Kind::File => leaf == Leaf::Text,
        Kind::List(Some(inner)) | Kind::Tuple(Some(inner)) | Kind::Sequence(Some(inner)) => {
            says_leaf(inner, leaf)
        }
        _ => false,
    }
}

fn add_structure(
    structure: &Structure,
    weight: f32,
    compiled: &CompiledParam,
    leaves: &[(Leaf, f32)],
    tensors_possible: bool,
    kinds: &mut Vec<(KindPlan, f32)>,
) {
    if let Structure::NdArray(_) = structure {
        if tensors_possible {
            kinds.push((KindPlan::NdArray, weight));
        }
        return;
    }
    if let Structure::Dict(Some(key), _) = structure
        && !matches!(key, Element::Dtype(_))
    {
        // Only plain values are keys.
        return;
    }
    let mut entries = entries_of(structure, compiled, leaves, tensors_possible);
    if let Structure::NamedTuple(..) = structure {
        // Its entries are sizes with names.
        entries.retain(|(entry, _)| *entry == Entry::Leaf(Leaf::Int));
    }
    let total: f32 = entries.iter().map(|(_, weight)| weight).sum();
    for (entry, share) in entries {
        let weight = weight * share / total;
        match structure {
            Structure::List(_) => kinds.push((
                KindPlan::Sequence {
                    tuple: false,
                    entry,
                },
                weight,
            )),
            Structure::Tuple(_) => kinds.push((KindPlan::Sequence { tuple: true, entry }, weight)),
            Structure::Sequence(_) => {
                let list = KindPlan::Sequence {
                    tuple: false,
                    entry: entry.clone(),
                };
                kinds.push((list, weight / 2.0));
                kinds.push((KindPlan::Sequence { tuple: true, entry }, weight / 2.0));
            }
            Structure::NamedTuple(names, _) => {
                kinds.push((
                    KindPlan::NamedTuple {
                        names: names.len(),
                        entry,
                    },
                    weight,
                ));
            }
            Structure::Dict(key, _) => {
                let key = match key {
                    Some(Element::Dtype(term)) if !accepts_leaf(term, Leaf::Text, None) => {
                        Leaf::Int
                    }
                    _ => Leaf::Text,
                };
                kinds.push((KindPlan::Dict { key, entry }, weight));
            }
            Structure::NdArray(_) => {}
        }
    }
}

fn entries_of(
    structure: &Structure,
    compiled: &CompiledParam,
    leaves: &[(Leaf, f32)],
    tensors_possible: bool,
) -> Vec<(Entry, f32)> {
    let constraint = &compiled.constraint;
    match crate::constraints::plan::element_of(structure) {
        Some(Element::Dtype(term)) => LEAVES
            .into_iter()
            .filter(|leaf| accepts_leaf(term, *leaf, None))
            .map(|leaf| (Entry::Leaf(leaf), 1.0))
            .collect(),
        // What a structure says about its entries goes before the list of dtypes.
        Some(Element::Tensor(_)) => vec![(Entry::Tensor, 1.0)],
        // With a shape or rank of its own the list is an array, not a list of shapes.
        Some(Element::Shape) if !compiled.shapes.is_empty() || !compiled.ndims.is_empty() => {
            vec![(Entry::Leaf(Leaf::Int), 1.0)]
        }
        Some(Element::Shape) => vec![(Entry::Shape, 1.0)],
        Some(Element::Structure(inner)) if matches!(**inner, Structure::NdArray(_)) => {
            vec![(Entry::NdArray, 1.0)]
        }
        // A dictionary inside a structure is not generated.
        Some(Element::Structure(inner)) if matches!(**inner, Structure::Dict(..)) => Vec::new(),
        Some(Element::Structure(inner)) => {
            let tuple = matches!(**inner, Structure::Tuple(_));
            entries_of(inner, compiled, leaves, tensors_possible)
                .into_iter()
                .map(|(entry, weight)| {
                    (
                        Entry::Sequence {
                            tuple,
                            entry: Box::new(entry),
                        },
                        weight,
                    )
                })
                .collect()
        }
        None => {
            let inner_tensor = |kind: &Kind| match kind {
                Kind::List(inner) | Kind::Tuple(inner) | Kind::Sequence(inner) => {
                    inner.as_ref().is_some_and(|inner| inner.is_tensor())
                }
                _ => false,
            };
            let says_tensors = compiled.hints.kinds.iter().any(inner_tensor);
            let mut entries: Vec<(Entry, f32)> = Vec::new();
            let total: f32 = leaves.iter().map(|(_, weight)| weight).sum();
            let leaf_share = if says_tensors { 0.5 } else { 4.0 };
            for (leaf, weight) in leaves {
                entries.push((Entry::Leaf(*leaf), leaf_share * weight / total));
            }
            let tensors_meant = !constraint.tensors.is_empty() || says_tensors;
            if tensors_possible && (tensors_meant || constraint.dtypes.is_empty()) {
                let share = match (says_tensors, constraint.dtypes.is_empty()) {
                    (true, _) => 8.0,
                    (false, true) if tensors_meant => 6.0,
                    _ => 1.5,
                };
                entries.push((Entry::Tensor, share));
            }
            entries
        }
    }
}
