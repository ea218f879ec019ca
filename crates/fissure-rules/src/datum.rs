//! An argument as rules see it: everything they can ask, nothing else.

use std::sync::Arc;

use fissure_model::Dtype;

use crate::formula::ElementFact;
use crate::number::Number;
use crate::types::Type;

/// One argument of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Left out without a known default, or None.
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Dtype(Dtype),
    Tensor(TensorFacts),
    List(Vec<Datum>),
    Tuple(Vec<Datum>),
    /// Something no rule can speak about: a device, a function, a dictionary.
    Other,
}

/// What is known of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFacts {
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    /// Smallest and largest element, or the bounds they will be drawn from. `None` where elements
    /// have no order or the tensor has none.
    pub bounds: Option<(Number, Number)>,
    /// The elements themselves, where they are known and few enough to be asked one by one.
    pub elements: Option<Arc<[f64]>>,
    pub facts: FactSet,
}

/// Which facts hold of a tensor's elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FactSet(u8);

impl FactSet {
    pub fn of(facts: impl IntoIterator<Item = ElementFact>) -> Self {
        let mut set = FactSet::default();
        facts.into_iter().for_each(|fact| set.insert(fact));
        set
    }

    pub fn insert(&mut self, fact: ElementFact) {
        self.0 |= 1 << fact as u8;
    }

    pub fn contains(self, fact: ElementFact) -> bool {
        self.0 >> fact as u8 & 1 == 1
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = ElementFact> {
        ElementFact::ALL
            .into_iter()
            .filter(move |fact| self.contains(*fact))
    }
}

impl TensorFacts {
    pub fn new(dtype: Dtype, shape: Vec<u64>) -> Self {
        TensorFacts {
            dtype,
            shape,
            bounds: None,
            elements: None,
            facts: FactSet::default(),
        }
    }

    /// Number of elements; too many to count are infinitely many.
    pub fn size(&self) -> Number {
        let product = self
            .shape
            .iter()
            .try_fold(1u64, |product, dim| product.checked_mul(*dim));
        match product {
            Some(product) => Number::from(product),
            // A dimension of 0 after a huge one.
            None if self.shape.contains(&0) => Number::Int(0),
            None => Number::Float(f64::INFINITY),
        }
    }
}

impl Datum {
    pub fn number(&self) -> Option<Number> {
        match self {
            Datum::Int(value) => Some(Number::Int(*value)),
            Datum::Float(value) => Some(Number::Float(*value)),
            _ => None,
        }
    }

    pub fn items(&self) -> Option<&[Datum]> {
        match self {
            Datum::List(items) | Datum::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Is this a value of the type?
    pub fn is(&self, of: &Type) -> bool {
        match (of, self) {
            (Type::Tensor, Datum::Tensor(_))
            | (Type::Int, Datum::Int(_))
            // Python passes whole numbers where floats are declared.
            | (Type::Float, Datum::Float(_) | Datum::Int(_))
            | (Type::Bool, Datum::Bool(_))
            | (Type::Dtype, Datum::Dtype(_))
            | (Type::Str, Datum::Text(_))
            | (Type::None, Datum::None) => true,
            (Type::List(of), Datum::List(items)) | (Type::Tuple(of), Datum::Tuple(items)) => {
                items.iter().all(|item| item.is(of))
            }
            (Type::Union(parts), _) => parts.iter().any(|part| self.is(part)),
            _ => false,
        }
    }
}
