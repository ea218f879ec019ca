//! An element, its row and the row of the other operand: scalar product, distance, lengths.

use super::row::{Outermost, log_distance, mean};
use super::{Feature, Logarithm, MOST_FEATURES, Scale, finite, log_length};

pub(super) const FEATURES: &[Feature] = &[
    ("value", Scale::Number),
    ("partner", Scale::Number),
    ("log_value", Scale::Even),
    ("log_partner", Scale::Even),
    ("log_product", Scale::Even),
    ("log_quotient", Scale::Even),
    ("difference", Scale::Number),
    ("log_difference", Scale::Even),
    ("product_of_others", Scale::Number),
    ("product_of_rows", Scale::Number),
    ("log_length", Scale::Even),
    ("log_length_of_other", Scale::Even),
    ("log_distance", Scale::Even),
    ("log_lengths", Scale::Even),
    ("below_largest", Scale::Number),
    ("above_smallest", Scale::Number),
    ("largest", Scale::Number),
    ("smallest", Scale::Number),
    ("log_product_of_others", Scale::Even),
    ("log_spread", Scale::Even),
    ("log_spread_of_other", Scale::Even),
    ("log_count", Scale::Even),
    ("log_largest_product", Scale::Even),
    ("log_share", Scale::Even),
    ("signed_product_of_others", Scale::Number),
    ("log_shorter_length", Scale::Even),
    ("operand", Scale::Even),
    ("log_cosine", Scale::Even),
    ("log_partner_share", Scale::Even),
    ("log_length_of_others", Scale::Even),
    ("log_cosine_of_others", Scale::Even),
    ("log_distance_from_mean", Scale::Even),
    ("log_distance_from_mean_of_other", Scale::Even),
    ("from_mean_of_others", Scale::Number),
    ("log_from_mean_of_others", Scale::Even),
];

pub struct Rows<'a> {
    own: &'a [f64],
    other: &'a [f64],
    moving: usize,
    logarithm: Logarithm,
    product: f64,
    log_length: f64,
    log_other_length: f64,
    log_distance: f64,
    largest: f64,
    smallest: f64,
    log_spread: f64,
    log_other_spread: f64,
    log_largest_product: f64,
    /// The rows with their largest elements as ones: cosines do not overflow.
    scales: [f64; 2],
    scaled_product: f64,
    scaled_square: f64,
    log_cosine: f64,
    log_scaled_other: f64,
    log_scale: f64,
    log_from_mean: f64,
    log_other_from_mean: f64,
    mean: f64,
}

fn spread(values: &[f64]) -> (f64, f64) {
    let largest = Outermost::of(values.iter().copied()).value();
    let smallest = -Outermost::of(values.iter().map(|value| -value)).value();
    (largest, smallest)
}

/// What makes the largest magnitude one; a row of zeros, or of numbers whose reciprocals overflow, stays
/// smaller.
fn scale(values: &[f64]) -> f64 {
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    1.0 / largest.max(f64::MIN_POSITIVE)
}

/// The square of a cosine that is zero for every precision.
const TINY: f64 = 1e-60;

fn log_scaled(value: f64) -> f64 {
    value.abs().max(TINY).log2()
}

impl<'a> Rows<'a> {
    pub fn new(own: &'a [f64], other: &'a [f64], moving: usize, logarithm: Logarithm) -> Rows<'a> {
        let (largest, smallest) = spread(own);
        let (other_largest, other_smallest) = spread(other);
        let pairs = || own.iter().zip(other);
        let scales = [scale(own), scale(other)];
        let square = |values: &[f64], scale: f64| -> f64 {
            values
                .iter()
                .map(|value| (value * scale) * (value * scale))
                .sum()
        };
        let scaled_product: f64 = pairs()
            .map(|(a, b)| (a * scales[0]) * (b * scales[1]))
            .sum();
        let scaled_square = square(own, scales[0]);
        let log_scaled_other = 0.5 * log_scaled(square(other, scales[1]));
        Rows {
            log_cosine: log_scaled(scaled_product)
                - 0.5 * log_scaled(scaled_square)
                - log_scaled_other,
            scaled_product,
            scaled_square,
            log_scaled_other,
            log_scale: scales[0].log2(),
            scales,
            log_from_mean: log_distance(own, logarithm),
            log_other_from_mean: log_distance(other, logarithm),
            mean: mean(own),
            product: pairs().fold(0.0, |sum, (a, b)| finite(sum + finite(a * b))),
            log_length: log_length(own.iter().copied(), logarithm),
            log_other_length: log_length(other.iter().copied(), logarithm),
            log_distance: log_length(pairs().map(|(a, b)| finite(a - b)), logarithm),
            largest,
            smallest,
            log_spread: logarithm.at(finite(largest - smallest)),
            log_other_spread: logarithm.at(finite(other_largest - other_smallest)),
            log_largest_product: pairs()
                .map(|(a, b)| logarithm.at(*a) + logarithm.at(*b))
                .fold(f64::MIN, f64::max),
            own,
            other,
            moving,
            logarithm,
        }
    }

    pub fn describe(&self, position: usize, into: &mut [f64; MOST_FEATURES]) {
        let (value, partner) = (self.own[position], self.other[position]);
        let (log, log_partner) = (self.logarithm.at(value), self.logarithm.at(partner));
        let others = finite(self.product - finite(value * partner));
        into[0] = value;
        into[1] = partner;
        into[2] = log;
        into[3] = log_partner;
        into[4] = log + log_partner;
        into[5] = log - log_partner;
        into[6] = finite(value - partner);
        into[7] = self.logarithm.at(into[6]);
        into[8] = others;
        into[9] = self.product;
        into[10] = self.log_length;
        into[11] = self.log_other_length;
        into[12] = self.log_distance;
        into[13] = self.log_length + self.log_other_length;
        into[14] = finite(self.largest - value);
        into[15] = finite(value - self.smallest);
        into[16] = self.largest;
        into[17] = self.smallest;
        into[18] = self.logarithm.at(others);
        into[19] = self.log_spread;
        into[20] = self.log_other_spread;
        into[21] = (self.own.len() as f64).log2();
        into[22] = self.log_largest_product;
        into[23] = log - self.log_length;
        into[24] = if partner < 0.0 { -others } else { others };
        into[25] = self.log_length.min(self.log_other_length);
        into[26] = self.moving as f64;
        let (scaled, scaled_partner) = (value * self.scales[0], partner * self.scales[1]);
        let part = scaled * scaled_partner;
        let log_others = 0.5 * log_scaled((self.scaled_square - scaled * scaled).max(0.0));
        let others = log_scaled(self.scaled_product - part);
        into[27] = self.log_cosine;
        into[28] = log_scaled(scaled_partner) - self.log_scaled_other;
        into[29] = log_others - self.log_scale;
        into[30] = others - log_others - self.log_scaled_other;
        into[31] = self.log_from_mean;
        into[32] = self.log_other_from_mean;
        // The mean of the others is as far from the mean, on the other side.
        let count = self.own.len() as f64;
        into[33] = finite((value - self.mean) * (count / (count - 1.0).max(1.0)));
        into[34] = self.logarithm.at(into[33]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Precision;

    #[test]
    fn cosines_are_those_of_the_rows_with_and_without_the_element_at_any_scale() {
        let other = [4.0, 3.0, 0.0];
        for scale in [1.0, 1e300, 1e-300] {
            let own = [3.0 * scale, 4.0 * scale, 12.0 * scale];
            let rows = Rows::new(&own, &other, 0, Logarithm::of(Precision::Float64));
            let mut features = [0.0; MOST_FEATURES];
            rows.describe(2, &mut features);
            let near = |feature: usize, wanted: f64| {
                let found = features[feature];
                assert!((found - wanted).abs() < 1e-9, "{scale}: {found} {wanted}");
            };
            near(27, (24.0 / 65.0f64).log2());
            near(29, (5.0 * scale).log2());
            near(30, (24.0 / 25.0f64).log2());
        }
    }
}
