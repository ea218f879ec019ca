//! Does one value fit what is said of its parameter alone?

use fissure_model::{TensorKind, Value};

use crate::constraints::compiled::{CompiledParam, CompiledRange};
use crate::constraints::expressions::{Facts, Scope};
use crate::constraints::facts::{Holder, for_each_number, tensor_of};
use crate::constraints::meaning::{Leaf, accepts_dtype, accepts_leaf, structure_matches};

pub(super) fn container_fits(compiled: &CompiledParam, value: &Value, scope: Scope) -> bool {
    let constraint = &compiled.constraint;
    let listed = constraint
        .structures
        .iter()
        .any(|listed| structure_matches(listed, value));
    let text_tensor = !constraint.tensors.is_empty()
        && constraint
            .dtypes
            .iter()
            .any(|term| accepts_leaf(term, Leaf::Text, None));
    listed
        || match value {
            Value::Tensor(_) => constraint.tensors.contains(&TensorKind::Dense),
            Value::SparseTensor(_) => constraint.tensors.contains(&TensorKind::Sparse),
            value if value.ragged_from().is_some() => {
                constraint.tensors.contains(&TensorKind::Ragged)
            }
            // No library tensor can be built from text; plain text stands for it.
            Value::List(_) => text_tensor && is_text(value),
            value if Leaf::of(value).is_some() => {
                compiled.allows_plain(scope) || text_tensor && is_text(value)
            }
            _ => false,
        }
}

/// Text, or nested lists of it.
fn is_text(value: &Value) -> bool {
    match value {
        Value::Text(_) => true,
        Value::List(items) => items.iter().all(is_text),
        _ => false,
    }
}

pub(super) fn dtypes_fit(compiled: &CompiledParam, value: &Value, facts: &[Facts]) -> bool {
    let constraint = &compiled.constraint;
    let structures = &constraint.structures;
    if constraint.dtypes.is_empty()
        || structures.iter().any(|s| {
            crate::constraints::plan::element_of(s).is_some() && structure_matches(s, value)
        })
    {
        return true;
    }
    let mut fits = true;
    let mut visit = |value: &Value| {
        let terms = constraint.dtypes.iter().enumerate();
        let accepted = if let Some(tensor) = tensor_of(value) {
            terms.into_iter().any(|(at, term)| {
                accepts_dtype(term, tensor.dtype, compiled.dtype_facts(at, facts))
            })
        } else if let Some(leaf) = Leaf::of(value) {
            terms
                .into_iter()
                .any(|(at, term)| accepts_leaf(term, leaf, compiled.dtype_facts(at, facts)))
        } else {
            true
        };
        fits &= accepted;
    };
    match value {
        // Keys are names, not data.
        Value::Dict(pairs) => pairs.iter().for_each(|(_, entry)| entry.walk(&mut visit)),
        value => value.walk(&mut visit),
    }
    fits
}

pub(super) fn numbers_fit(compiled: &CompiledParam, value: &Value, scope: Scope) -> bool {
    if compiled.ranges.is_empty() {
        return true;
    }
    let applies = |range: &CompiledRange, holder: Holder| match (&range.only_for, holder) {
        (None, _) => true,
        (Some(term), Holder::Leaf(leaf)) => accepts_leaf(term, leaf, None),
        (Some(term), Holder::Tensor(tensor)) => accepts_dtype(term, tensor.dtype, None),
    };
    let mut fits = true;
    for_each_number(value, &mut |number, holder| {
        let mut any = false;
        let mut inside = false;
        for range in compiled
            .ranges
            .iter()
            .filter(|range| applies(range, holder))
        {
            any = true;
            inside |= range.interval(scope).contains(number);
        }
        fits &= inside || !any;
    });
    fits
}
