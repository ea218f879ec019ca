//! What a rule reads: values, and rows of values, borrowed from the input.

use crate::datum::{Datum, TensorFacts};
use crate::number::Number;
use crate::syntax::Operator;

/// What a subject turns out to be.
#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    Nothing,
    Number(Number),
    Datum(&'a Datum),
}

/// Several numbers or values in a row, borrowed from the input.
#[derive(Clone, Copy)]
pub(super) enum Items<'a> {
    Dimensions(&'a [u64]),
    /// The shape of a list: its length.
    One(u64),
    Data(&'a [Datum]),
    Tensor(&'a TensorFacts),
}

/// Python's indices: negative ones count from the end. `None` outside.
pub(super) fn position(index: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let from_start = if index < 0 { index + count } else { index };
    (0..count)
        .contains(&from_start)
        .then_some(from_start as usize)
}

pub(super) fn same(left: Found, right: Found) -> bool {
    match (left.number(), right.number()) {
        (Some(left), Some(right)) => left == right,
        _ => match (left, right) {
            (Found::Datum(left), Found::Datum(right)) => left == right,
            _ => false,
        },
    }
}

impl<'a> Found<'a> {
    pub(super) fn number(self) -> Option<Number> {
        match self {
            Found::Number(value) => Some(value),
            Found::Datum(datum) => datum.number(),
            Found::Nothing => None,
        }
    }

    /// Of a list its length, of a number nothing at all.
    pub(super) fn shape(self) -> Option<Items<'a>> {
        match self {
            Found::Datum(Datum::Tensor(tensor)) => Some(Items::Dimensions(&tensor.shape)),
            Found::Datum(Datum::List(items) | Datum::Tuple(items)) => {
                Some(Items::One(items.len() as u64))
            }
            Found::Datum(Datum::Bool(_) | Datum::Int(_) | Datum::Float(_)) | Found::Number(_) => {
                Some(Items::Dimensions(&[]))
            }
            Found::Datum(_) | Found::Nothing => None,
        }
    }
}

impl<'a> Items<'a> {
    /// Of a tensor whose elements are not known one by one, its two bounds stand for them.
    pub(super) fn count(self) -> usize {
        match self {
            Items::Dimensions(shape) => shape.len(),
            Items::One(_) => 1,
            Items::Data(items) => items.len(),
            Items::Tensor(tensor) => match (&tensor.elements, tensor.bounds) {
                (Some(elements), _) => elements.len(),
                (None, Some(_)) if tensor.size() != Number::Int(0) => 2,
                _ => 0,
            },
        }
    }

    pub(super) fn at(self, position: usize) -> Found<'a> {
        match self {
            Items::Dimensions(shape) => Found::Number(Number::from(shape[position])),
            Items::One(length) => Found::Number(Number::from(length)),
            Items::Data(items) => Found::Datum(&items[position]),
            Items::Tensor(tensor) => match (&tensor.elements, tensor.bounds) {
                (Some(elements), _) => Found::Number(Number::Float(elements[position])),
                (None, Some((low, _))) if position == 0 => Found::Number(low),
                (None, Some((_, high))) => Found::Number(high),
                (None, None) => Found::Nothing,
            },
        }
    }

    pub(super) fn fold(self, start: Number, operator: Operator) -> Option<Number> {
        (0..self.count()).try_fold(start, |result, position| {
            result.calculate(operator, self.at(position).number()?)
        })
    }

    pub(super) fn extreme(self, operator: Operator) -> Option<Number> {
        if let Items::Tensor(tensor) = self {
            if tensor.size() == Number::Int(0) {
                return None;
            }
            let (low, high) = tensor.bounds?;
            return Some(if operator == Operator::Less {
                low
            } else {
                high
            });
        }
        let mut best: Option<Number> = None;
        for position in 0..self.count() {
            let value = self.at(position).number()?;
            if best.is_none_or(|best| value.compare(operator, best)) {
                best = Some(value);
            }
        }
        best
    }

    pub(super) fn same(self, other: Items) -> bool {
        if let (Items::Tensor(left), Items::Tensor(right)) = (self, other) {
            return left == right;
        }
        self.count() == other.count()
            && (0..self.count()).all(|position| same(self.at(position), other.at(position)))
    }

    /// The dimension `back` places from the end.
    fn backwards(self, back: usize) -> Option<Number> {
        let position = self.count().checked_sub(back + 1)?;
        self.at(position).number()
    }

    pub(super) fn broadcasts_with(self, other: Items) -> bool {
        let one = Number::Int(1);
        (0..self.count().min(other.count())).all(|back| {
            match (self.backwards(back), other.backwards(back)) {
                (Some(left), Some(right)) => left == right || left == one || right == one,
                _ => false,
            }
        })
    }

    pub(super) fn broadcasts_to(self, target: Items) -> bool {
        self.count() <= target.count()
            && (0..self.count()).all(
                |back| match (self.backwards(back), target.backwards(back)) {
                    (Some(from), Some(to)) => from == to || from == Number::Int(1),
                    _ => false,
                },
            )
    }
}
