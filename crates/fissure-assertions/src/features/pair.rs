//! Two numbers: products, quotients, powers and differences as the functions of two operands form them.

use super::{Feature, Logarithm, MOST_FEATURES, Scale, finite};

pub(super) const FEATURES: &[Feature] = &[
    ("value", Scale::Number),
    ("partner", Scale::Number),
    ("log_value", Scale::Even),
    ("log_partner", Scale::Even),
    ("log_product", Scale::Even),
    ("log_quotient", Scale::Even),
    ("sum", Scale::Number),
    ("difference", Scale::Number),
    ("log_difference", Scale::Even),
    ("log_power", Scale::Number),
    ("log_power_swapped", Scale::Number),
    ("log_scaled", Scale::Number),
    ("log_times_logarithm", Scale::Even),
    ("log_square_over_partner", Scale::Even),
    ("log_value_over_square", Scale::Even),
    ("product", Scale::Number),
    ("operand", Scale::Even),
    ("log_scaled_swapped", Scale::Number),
    ("log_scaled_by_whole", Scale::Number),
    ("log_scaled_by_whole_swapped", Scale::Number),
];

pub(super) fn describe(
    own: f64,
    other: f64,
    moving: usize,
    logarithm: Logarithm,
    into: &mut [f64; MOST_FEATURES],
) {
    let (log_own, log_other) = (logarithm.at(own), logarithm.at(other));
    into[0] = own;
    into[1] = other;
    into[2] = log_own;
    into[3] = log_other;
    into[4] = log_own + log_other;
    into[5] = log_own - log_other;
    into[6] = finite(own + other);
    into[7] = finite(own - other);
    into[8] = logarithm.at(into[7]);
    into[9] = finite(log_own * other);
    into[10] = finite(log_other * own);
    into[11] = finite(log_own + other);
    into[12] = log_own + log_other.abs().max(1e-30).log2();
    into[13] = 2.0 * log_own - log_other;
    into[14] = log_own - 2.0 * log_other;
    into[15] = finite(own * other);
    into[16] = moving as f64;
    into[17] = finite(log_other + own);
    into[18] = finite(log_own + other.floor());
    into[19] = finite(log_other + own.floor());
}
