//! What a model sees of a value: numbers that do not depend on how many elements there are.
//!
//! The value itself, its logarithm and those of its neighbours, statistics of its row with and
//! without it, its relation to the other operand, the step that would make its matrix singular.
//! Each precision has trees of its own, so the type is no feature. Everything is computed in
//! float64 from numbers of the precision and stays finite.

mod matrix;
mod pair;
mod row;
mod rows;

use crate::label::{Context, Precision};

/// No context has more features.
pub(crate) const MOST_FEATURES: usize = 38;

/// How a threshold is put between two neighbouring values of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Numbers of the precision: in the middle of the floating-point numbers between them, a
    /// signed logarithm.
    Number,
    /// Logarithms and other even scales: the mean.
    Even,
}

impl Scale {
    /// A number `t` with `low <= t < high`.
    pub fn between(self, low: f64, high: f64) -> f64 {
        let middle = match self {
            Scale::Number => {
                let (low, high) = (place(low), place(high));
                from_place(low.midpoint(high))
            }
            Scale::Even => low.midpoint(high),
        };
        if middle >= low && middle < high {
            middle
        } else {
            low
        }
    }
}

/// The place of a number in the order of float64: neighbours have neighbouring places.
fn place(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

fn from_place(place: i64) -> f64 {
    let bits = if place < 0 { i64::MIN - place } else { place };
    f64::from_bits(bits as u64)
}

/// Name and scale of a feature.
pub(crate) type Feature = (&'static str, Scale);

/// Turns values in their context into features.
#[derive(Clone, Copy, Debug)]
pub struct Extractor {
    pub context: Context,
    pub precision: Precision,
    /// The function fails at whole numbers.
    pub whole_numbers: bool,
}

impl Extractor {
    pub fn features(self) -> &'static [Feature] {
        match self.context {
            Context::Element if self.whole_numbers => {
                &[("value", Scale::Number), ("from_whole", Scale::Number)]
            }
            Context::Element => &[("value", Scale::Number)],
            Context::Pair => pair::FEATURES,
            Context::Row => row::FEATURES,
            Context::Rows => rows::FEATURES,
            Context::Matrix => matrix::FEATURES,
        }
    }

    /// What is the same for all elements of one context. `operands` are its values; `moving` says
    /// for which of them labels are wanted.
    pub fn prepare<'a>(self, operands: &[&'a [f64]], moving: usize) -> Prepared<'a> {
        let own = operands[moving];
        let other = || operands[1 - moving];
        let logarithm = Logarithm::of(self.precision);
        match self.context {
            Context::Element => Prepared::Element(own, self.whole_numbers),
            Context::Pair => Prepared::Pair(own, other(), moving, logarithm),
            Context::Row => Prepared::Row(row::Row::new(own, logarithm)),
            Context::Rows => Prepared::Rows(rows::Rows::new(own, other(), moving, logarithm)),
            Context::Matrix => Prepared::Matrix(matrix::Matrix::new(own, logarithm)),
        }
    }
}

/// A context whose elements can be described.
pub enum Prepared<'a> {
    Element(&'a [f64], bool),
    Pair(&'a [f64], &'a [f64], usize, Logarithm),
    Row(row::Row<'a>),
    Rows(rows::Rows<'a>),
    Matrix(matrix::Matrix<'a>),
}

impl Prepared<'_> {
    /// Writes the features of one element.
    pub fn describe(&self, position: usize, into: &mut [f64; MOST_FEATURES]) {
        match self {
            Prepared::Element(values, whole_numbers) => {
                into[0] = values[position];
                if *whole_numbers {
                    into[1] = values[position] - values[position].round();
                }
            }
            Prepared::Pair(own, other, moving, logarithm) => {
                pair::describe(own[position], other[position], *moving, *logarithm, into);
            }
            Prepared::Row(row) => row.describe(position, into),
            Prepared::Rows(rows) => rows.describe(position, into),
            Prepared::Matrix(matrix) => matrix.describe(position, into),
        }
    }
}

/// Binary logarithms of magnitudes; that of zero lies a little below the smallest number's.
#[derive(Clone, Copy, Debug)]
pub struct Logarithm {
    zero: f64,
}

impl Logarithm {
    fn of(precision: Precision) -> Logarithm {
        Logarithm {
            zero: precision.lowest_exponent() - 2.0,
        }
    }

    pub fn at(self, value: f64) -> f64 {
        value.abs().log2().max(self.zero)
    }

    /// A product so far times a factor: what is below the smallest number is nothing, and stays.
    pub fn product(self, product: f64, factor: f64) -> f64 {
        if product + factor < self.zero {
            row::NOTHING
        } else {
            product + factor
        }
    }
}

/// Keeps a sum that left float64's range inside it.
fn finite(value: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(f64::MIN, f64::MAX)
    }
}

/// `log2` of the root of the sum of squares, without overflow.
fn log_length(values: impl Iterator<Item = f64> + Clone, logarithm: Logarithm) -> f64 {
    let largest = values
        .clone()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    if largest == 0.0 {
        return logarithm.at(0.0);
    }
    let squares: f64 = values
        .map(|value| (value / largest) * (value / largest))
        .sum();
    logarithm.at(largest) + 0.5 * squares.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_between_neighbours_is_the_lower_one() {
        let low = 88.722_83_f64;
        let high = low.next_up();
        assert_eq!(Scale::Number.between(low, high), low);
        assert_eq!(Scale::Even.between(low, high), low);
    }

    #[test]
    fn the_middle_of_numbers_is_a_signed_logarithm() {
        let middle = Scale::Number.between(1.0, 2f64.powi(100));
        assert!(
            (2f64.powi(49)..=2f64.powi(51)).contains(&middle),
            "{middle}"
        );
        assert_eq!(Scale::Number.between(-4.0, 4.0), 0.0);
        assert_eq!(Scale::Even.between(-4.0, 6.0), 1.0);
    }

    #[test]
    fn features_of_extreme_values_are_finite_in_every_context() {
        let extreme = [f64::MAX, f64::MIN, 0.0, 5e-324];
        let precision = Precision::Float64;
        for context in [
            Context::Element,
            Context::Pair,
            Context::Row,
            Context::Rows,
            Context::Matrix,
        ] {
            let extractor = Extractor {
                context,
                precision,
                whole_numbers: false,
            };
            let operands = vec![&extreme[..]; context.operands()];
            let prepared = extractor.prepare(&operands, 0);
            let mut features = [0.0; MOST_FEATURES];
            for position in 0..extreme.len() {
                prepared.describe(position, &mut features);
                assert!(
                    features.iter().all(|value| value.is_finite()),
                    "{context}: {features:?}"
                );
            }
            assert!(extractor.features().len() <= MOST_FEATURES);
        }
    }
}
