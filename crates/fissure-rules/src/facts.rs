//! From the arguments of an input to what rules can ask about them.

use std::sync::Arc;

use fissure_model::{AbstractValue, Dtype, Fill, FillScheme, Scalar, TensorValue, Value};

use crate::datum::{Datum, FactSet, TensorFacts};
use crate::formula::ElementFact;
use crate::number::Number;
use crate::syntax::Operator;

/// Tensors with more elements are known by their bounds alone.
const MAXIMUM_ELEMENTS: usize = 4096;

impl From<&Value> for Datum {
    fn from(value: &Value) -> Self {
        Datum::knowing(value, FactSet::of(ElementFact::ALL))
    }
}

impl Datum {
    /// The value, with only these facts of its tensors' elements looked at: some take long.
    pub fn knowing(value: &Value, facts: FactSet) -> Self {
        let all = |items: &[Value]| {
            items
                .iter()
                .map(|item| Datum::knowing(item, facts))
                .collect()
        };
        match value {
            Value::None => Datum::None,
            Value::Bool(value) => Datum::Bool(*value),
            Value::Int(value) => match Number::from(*value) {
                Number::Int(value) => Datum::Int(value),
                Number::Float(value) => Datum::Float(value),
            },
            Value::Float(value) => Datum::Float(*value),
            Value::Text(text) => Datum::Text(text.clone()),
            Value::Dtype(dtype) => Datum::Dtype(*dtype),
            Value::List(items) => Datum::List(all(items)),
            Value::Tuple(items) => Datum::Tuple(all(items)),
            Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
                Datum::Tensor(tensor_facts(tensor, facts))
            }
            Value::Complex { .. }
            | Value::Bytes(_)
            | Value::Dict(_)
            | Value::Object(_)
            | Value::Call { .. } => Datum::Other,
        }
    }
}

impl From<&AbstractValue> for Datum {
    fn from(value: &AbstractValue) -> Self {
        match value {
            AbstractValue::Literal(value) => Datum::from(value),
            AbstractValue::Tensor {
                dtype, shape, fill, ..
            }
            | AbstractValue::NdArray { dtype, shape, fill } => {
                let mut tensor = TensorFacts::new(*dtype, shape.clone());
                tensor.bounds = bounds_of_fill(*dtype, fill);
                tensor.facts = facts_of_fill(fill.scheme);
                Datum::Tensor(tensor)
            }
            AbstractValue::List(items) => Datum::List(items.iter().map(Datum::from).collect()),
            AbstractValue::Tuple(items) => Datum::Tuple(items.iter().map(Datum::from).collect()),
            AbstractValue::Dict(_) => Datum::Other,
        }
    }
}

/// What elements filled in this way are known to have to do with each other.
pub fn facts_of_fill(scheme: FillScheme) -> FactSet {
    use ElementFact::{Distinct, OneHot, Permutation, PositiveDefinite, Sorted, Symmetric};
    match scheme {
        FillScheme::Identity => FactSet::of([Symmetric, PositiveDefinite, OneHot]),
        FillScheme::Permutation => FactSet::of([Permutation, Distinct]),
        FillScheme::Distinct => FactSet::of([Distinct]),
        FillScheme::OneHot => FactSet::of([OneHot]),
        FillScheme::Rising | FillScheme::Zeros | FillScheme::Ones => FactSet::of([Sorted]),
        FillScheme::Mixed
        | FillScheme::Unit
        | FillScheme::Positive
        | FillScheme::Index(_)
        | FillScheme::Peak => FactSet::default(),
    }
}

/// The bounds that elements will be drawn from; where the fill leaves one open, the dtype's own.
fn bounds_of_fill(dtype: Dtype, fill: &Fill) -> Option<(Number, Number)> {
    let (least, largest) = match dtype.integer_limits() {
        Some((least, largest)) => (Number::from(least), Number::from(largest)),
        None => {
            let largest = dtype.float_max()?;
            (Number::Float(-largest), Number::Float(largest))
        }
    };
    if dtype.is_complex() {
        return None;
    }
    let (least, largest) = match fill.scheme {
        FillScheme::Unit | FillScheme::Identity | FillScheme::OneHot => {
            (Number::Int(0), Number::Int(1))
        }
        FillScheme::Positive => (Number::Int(0), largest),
        FillScheme::Index(bound) => (Number::Int(0), Number::from(i128::from(bound) - 1)),
        FillScheme::Zeros => (Number::Int(0), Number::Int(0)),
        FillScheme::Ones => (Number::Int(1), Number::Int(1)),
        FillScheme::Permutation => (Number::Int(0), largest),
        FillScheme::Mixed | FillScheme::Peak | FillScheme::Distinct | FillScheme::Rising => {
            (least, largest)
        }
    };
    Some((
        fill.lower.map_or(least, Number::Float),
        fill.upper.map_or(largest, Number::Float),
    ))
}

impl From<&TensorValue> for TensorFacts {
    fn from(tensor: &TensorValue) -> Self {
        tensor_facts(tensor, FactSet::of(ElementFact::ALL))
    }
}

fn tensor_facts(tensor: &TensorValue, wanted: FactSet) -> TensorFacts {
    let mut facts = TensorFacts::new(tensor.dtype, tensor.shape.clone());
    let mut pattern = Vec::new();
    let mut bounds: Option<(Number, Number)> = None;
    for scalar in tensor.pattern_scalars() {
        let number = match scalar {
            Scalar::Bool(value) => Number::Int(value.into()),
            Scalar::Int(value) => Number::from(value),
            Scalar::Float(value) => Number::Float(value),
            // Complex numbers have no order.
            Scalar::Complex(..) => return facts,
        };
        pattern.push(number.as_f64());
        bounds = Some(match bounds {
            None => (number, number),
            Some((low, high)) => (
                extreme(Operator::Less, low, number),
                extreme(Operator::Greater, high, number),
            ),
        });
    }
    let Some(count) = tensor
        .elements()
        .and_then(|count| usize::try_from(count).ok())
    else {
        facts.bounds = bounds;
        return facts;
    };
    if count > 0 {
        facts.bounds = bounds;
    }
    if count > MAXIMUM_ELEMENTS || (pattern.is_empty() && count > 0) {
        return facts;
    }
    let elements: Arc<[f64]> = pattern.iter().copied().cycle().take(count).collect();
    facts.facts = FactSet::of(
        wanted
            .iter()
            .filter(|fact| tensor_has(*fact, &facts.shape, &elements)),
    );
    facts.elements = Some(elements);
    facts
}

/// The smaller or larger of two; NaN wins over every number, as in the libraries.
fn extreme(operator: Operator, best: Number, next: Number) -> Number {
    let is_nan = next.as_f64().is_nan();
    if is_nan || next.compare(operator, best) {
        next
    } else {
        best
    }
}

fn tensor_has(fact: ElementFact, shape: &[u64], elements: &[f64]) -> bool {
    let last = shape.last().map_or(1, |last| *last as usize);
    let rows = || elements.chunks_exact(last.max(1));
    let number = |at: usize| Some(Number::Float(elements[at]));
    match fact {
        ElementFact::Sorted => rows().all(|row| row.windows(2).all(|pair| pair[0] <= pair[1])),
        ElementFact::Distinct | ElementFact::Permutation => {
            sequence_has(fact, elements.len(), &number)
        }
        ElementFact::OneHot => rows().all(|row| {
            let ones = row.iter().filter(|value| **value == 1.0).count();
            ones == 1 && row.iter().all(|value| *value == 0.0 || *value == 1.0)
        }),
        ElementFact::Symmetric | ElementFact::PositiveDefinite => {
            let [.., height, width] = shape else {
                return false;
            };
            let side = *width as usize;
            height == width
                && (side == 0
                    || elements.chunks_exact(side * side).all(|matrix| {
                        is_symmetric(matrix, side)
                            && (fact == ElementFact::Symmetric
                                || is_positive_definite(matrix, side))
                    }))
        }
    }
}

fn is_symmetric(matrix: &[f64], side: usize) -> bool {
    (0..side).all(|row| (0..row).all(|col| matrix[row * side + col] == matrix[col * side + row]))
}

/// By the Cholesky decomposition, which exists exactly then.
fn is_positive_definite(matrix: &[f64], side: usize) -> bool {
    let mut lower = matrix.to_vec();
    for row in 0..side {
        for col in 0..=row {
            let products: f64 = (0..col)
                .map(|at| lower[row * side + at] * lower[col * side + at])
                .sum();
            let rest = matrix[row * side + col] - products;
            if row == col {
                if rest.is_nan() || rest <= 0.0 {
                    return false;
                }
                lower[row * side + col] = rest.sqrt();
            } else {
                lower[row * side + col] = rest / lower[col * side + col];
            }
        }
    }
    true
}

/// A fact of a row of numbers. Quadratic, because rules ask it of short lists and must not
/// allocate; false as soon as an item is no number.
pub(crate) fn sequence_has(
    fact: ElementFact,
    count: usize,
    number: &dyn Fn(usize) -> Option<Number>,
) -> bool {
    let all_numbers = || (0..count).all(|at| number(at).is_some());
    match fact {
        ElementFact::Sorted => {
            all_numbers()
                && (1..count).all(|at| match (number(at - 1), number(at)) {
                    (Some(before), Some(here)) => before.compare(Operator::LessOrEqual, here),
                    _ => false,
                })
        }
        ElementFact::Distinct => {
            all_numbers() && (1..count).all(|at| (0..at).all(|before| number(before) != number(at)))
        }
        ElementFact::Permutation => (0..count).all(|wanted| {
            let wanted = Some(Number::Int(wanted as i64));
            (0..count).any(|at| number(at) == wanted)
        }),
        ElementFact::OneHot | ElementFact::Symmetric | ElementFact::PositiveDefinite => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::TensorData;

    fn tensor(shape: &[u64], elements: &[f32]) -> TensorFacts {
        let pattern: Vec<u8> = elements.iter().flat_map(|e| e.to_le_bytes()).collect();
        TensorFacts::from(&TensorValue {
            dtype: Dtype::Float32,
            shape: shape.to_vec(),
            data: TensorData {
                pattern: pattern.into(),
            },
        })
    }

    #[track_caller]
    fn assert_facts(shape: &[u64], elements: &[f32], expected: &[ElementFact]) {
        let found: Vec<ElementFact> = tensor(shape, elements).facts.iter().collect();
        assert_eq!(found, expected, "{elements:?}");
    }

    #[test]
    fn facts_of_elements_are_seen() {
        use ElementFact::{Distinct, OneHot, Permutation, PositiveDefinite, Sorted, Symmetric};
        assert_facts(&[3], &[2.0, 0.0, 1.0], &[Distinct, Permutation]);
        assert_facts(
            &[2, 2],
            &[1.0, 0.0, 0.0, 1.0],
            &[OneHot, Symmetric, PositiveDefinite],
        );
        assert_facts(&[2, 2], &[2.0, 3.0, 3.0, 2.0], &[Symmetric]);
        assert_facts(&[2, 2], &[1.0, 5.0, 2.0, 3.0], &[Sorted, Distinct]);
        assert_facts(&[4], &[1.0, 1.0, 0.0, 3.0], &[]);
    }

    #[test]
    fn a_repeated_pattern_is_seen_as_all_its_elements() {
        let facts = tensor(&[2, 2], &[0.0, 1.0]);
        assert_eq!(facts.elements.as_deref(), Some(&[0.0, 1.0, 0.0, 1.0][..]));
        assert!(!facts.facts.contains(ElementFact::Distinct));
        assert_eq!(facts.bounds, Some((Number::Int(0), Number::Int(1))));
    }

    #[test]
    fn an_empty_tensor_has_no_bounds_and_every_fact_of_nothing() {
        let facts = tensor(&[0, 3], &[]);
        assert_eq!(facts.bounds, None);
        assert!(facts.facts.contains(ElementFact::Sorted));
        assert!(!facts.facts.contains(ElementFact::Symmetric), "not square");
    }
}
