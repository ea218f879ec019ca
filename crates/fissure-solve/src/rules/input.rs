//! From what the sampler found to an argument that can be filled with elements.

use fissure_model::{AbstractValue, Fill, FillScheme, TensorKind, Value};
use fissure_rules::{Datum, ElementFact, TensorFacts};

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
    let mut scheme = FillScheme::Mixed;
    for fact in tensor.facts.iter() {
        scheme = match fact {
            // The identity is symmetric and positive definite, and each row has one 1.
            ElementFact::Symmetric | ElementFact::PositiveDefinite => FillScheme::Identity,
            // Equal elements never fall.
            ElementFact::Sorted if scheme == FillScheme::Mixed => FillScheme::Zeros,
            fact => return Err(Unfillable { fact }),
        };
    }
    Ok(Fill {
        lower: tensor.bounds.map(|(low, _)| low.as_f64()),
        upper: tensor.bounds.map(|(_, high)| high.as_f64()),
        scheme,
    })
}
