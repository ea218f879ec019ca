//! From what the sampler found to an argument that can be filled with elements.

use fissure_model::{AbstractValue, Fill, FillScheme, TensorKind, Value};
use fissure_rules::{Datum, ElementFact, TensorFacts, facts_of_fill};

/// No way of filling a tensor gives its elements this fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no tensor can be filled so that it is {fact:?}")]
pub struct Unfillable {
    pub fact: ElementFact,
}

/// The argument as an abstract value. A value that rules cannot speak about becomes None.
pub fn abstract_value(datum: &Datum) -> Result<AbstractValue, Unfillable> {
    let items = |items: &[Datum]| {
        items
            .iter()
            .map(abstract_value)
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(match datum {
        Datum::None | Datum::Other => AbstractValue::Literal(Value::None),
        Datum::Bool(value) => AbstractValue::Literal(Value::Bool(*value)),
        Datum::Int(value) => AbstractValue::Literal(Value::Int((*value).into())),
        Datum::Float(value) => AbstractValue::Literal(Value::Float(*value)),
        Datum::Text(text) => AbstractValue::Literal(Value::Text(text.clone())),
        Datum::Dtype(dtype) => AbstractValue::Literal(Value::Dtype(*dtype)),
        Datum::List(list) => AbstractValue::List(items(list)?),
        Datum::Tuple(tuple) => AbstractValue::Tuple(items(tuple)?),
        Datum::Tensor(tensor) => AbstractValue::Tensor {
            kind: TensorKind::Dense,
            dtype: tensor.dtype,
            shape: tensor.shape.clone(),
            fill: fill(tensor)?,
        },
    })
}

fn fill(tensor: &TensorFacts) -> Result<Fill, Unfillable> {
    use ElementFact::{Distinct, OneHot, Permutation, PositiveDefinite, Sorted, Symmetric};
    let has = |fact| tensor.facts.contains(fact);
    let scheme = if has(Symmetric) || has(PositiveDefinite) {
        FillScheme::Identity
    } else if has(OneHot) {
        FillScheme::OneHot
    } else if has(Permutation) {
        FillScheme::Permutation
    } else if has(Distinct) {
        FillScheme::Distinct
    } else if has(Sorted) {
        FillScheme::Rising
    } else {
        FillScheme::Mixed
    };
    let given = facts_of_fill(scheme);
    if let Some(fact) = tensor.facts.iter().find(|fact| !given.contains(*fact)) {
        return Err(Unfillable { fact });
    }
    Ok(Fill {
        lower: tensor.bounds.map(|(low, _)| low.as_f64()),
        upper: tensor.bounds.map(|(_, high)| high.as_f64()),
        scheme,
    })
}
