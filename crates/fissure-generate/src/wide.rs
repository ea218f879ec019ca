//! Numbers from the whole of a type: magnitudes of every order, and the edges where functions over-
//! and underflow.

use std::ops::RangeInclusive;

use fissure_model::Dtype;
use fissure_solve::Random;

/// Where common functions leave the range of a type: `exp` of single precision at 88.7, of half at
/// 11.1, half itself at 65,504, squares of single precision at 1e19, subnormals below 1e-38, whole
/// numbers that single precision cannot tell apart from 2²⁴ on.
const EDGES: [f64; 22] = [
    11.1,
    88.0,
    88.722_84,
    89.0,
    90.0,
    103.9,
    128.0,
    709.782,
    710.0,
    65_504.0,
    65_519.0,
    65_520.0,
    16_777_216.0,
    16_777_217.0,
    1.8e19,
    1e19,
    3.4e38,
    1e-19,
    1.18e-38,
    1e-38,
    1e-45,
    1e-7,
];

/// A floating-point number of any magnitude that the type has.
pub(crate) fn float(dtype: Dtype, random: &mut Random) -> f64 {
    let most = dtype.float_max().unwrap_or(f64::MAX);
    let number = match random.below(4) {
        0 => *random.pick(&EDGES),
        1 => power(random, 62) as f64,
        _ => {
            let highest = most.log2();
            // As far below 1 as above it, and into the subnormals.
            let exponent = (random.unit() * 2.06 - 1.06) * highest;
            exponent.exp2() * (1.0 + random.unit())
        }
    };
    let number = number.min(most);
    if random.chance(0.4) { -number } else { number }
}

/// A number of any magnitude that the type has, whole where the type is.
pub(crate) fn number(dtype: Dtype, random: &mut Random) -> f64 {
    match dtype.integer_limits() {
        Some(_) => integer(random) as f64,
        None => float(dtype, random),
    }
}

/// A number with all its digits, between a thousandth and a thousand: large beside small, and nothing overflows.
pub(crate) fn everyday(random: &mut Random) -> f64 {
    let number = (random.unit() * 20.0 - 10.0).exp2();
    if random.chance(0.4) { -number } else { number }
}

/// A whole number of any magnitude that 64 bits have.
pub(crate) fn integer(random: &mut Random) -> i128 {
    let number = match random.below(3) {
        0 => power(random, 63),
        _ => i128::from(random.bits() >> random.below(64)),
    };
    if random.chance(0.4) { -number } else { number }
}

/// A whole number for a parameter. Taken for a size, one from [`COSTLY`] makes the library fill
/// gigabytes for seconds before it fails; larger ones fail at once, so most are made larger.
pub(crate) fn parameter(random: &mut Random) -> i128 {
    let number = integer(random);
    if COSTLY.contains(&number) && !random.chance(0.1) {
        number << 12
    } else {
        number
    }
}

const COSTLY: RangeInclusive<i128> = 1 << 23..=1 << 34;

/// A power of two, or its neighbour.
fn power(random: &mut Random, highest: i128) -> i128 {
    (1_i128 << random.between(0, highest)) + random.between(-1, 1)
}

/// A size with nothing behind it, for a shape that another dimension empties. Products of powers of two wrap
/// around to 0, those of other numbers to something: both go wrong in their own way.
pub(crate) fn size_of_nothing(random: &mut Random) -> u64 {
    let power = 1 << *random.pick(&[16, 31, 32, 33, 40, 48, 60, 62]);
    match random.chance(0.5) {
        true => power,
        false => power | (random.bits() & (power - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_magnitude_occurs() {
        let mut random = Random::new([3; 32], 0);
        let numbers: Vec<f64> = (0..2000)
            .map(|_| float(Dtype::Float32, &mut random).abs())
            .collect();
        for (low, high) in [
            (0.0, 1e-30),
            (1e-30, 1e-10),
            (1e-3, 1e3),
            (1e10, 1e20),
            (1e30, 4e38),
        ] {
            let count = numbers
                .iter()
                .filter(|it| **it > low && **it < high)
                .count();
            assert!(count > 20, "{count} between {low} and {high}");
        }
        assert!(numbers.iter().all(|number| number.is_finite()));
    }
}
