//! An element and its row: extremes, sums, products and lengths with and without the element.

use super::{Feature, Logarithm, MOST_FEATURES, Scale, finite, log_length};

pub(super) const FEATURES: &[Feature] = &[
    ("value", Scale::Number),
    ("largest", Scale::Number),
    ("smallest", Scale::Number),
    ("largest_other", Scale::Number),
    ("smallest_other", Scale::Number),
    ("sum_of_others", Scale::Number),
    ("log_value", Scale::Even),
    ("log_largest_other", Scale::Even),
    ("log_share", Scale::Even),
    ("log_length", Scale::Even),
    ("below_largest", Scale::Number),
    ("above_smallest", Scale::Number),
    ("log_spread", Scale::Even),
    ("from_mean_of_others", Scale::Number),
    ("log_from_mean_of_others", Scale::Even),
    ("log_product_of_others", Scale::Even),
    ("log_product", Scale::Even),
    ("highest_running_sum", Scale::Number),
    ("lowest_running_sum", Scale::Number),
    ("highest_running_log_product", Scale::Even),
    ("log_count", Scale::Even),
    ("log_spread_of_others", Scale::Even),
    ("sum", Scale::Number),
    ("log_length_by_root_of_count", Scale::Even),
    ("log_largest", Scale::Even),
    ("log_smallest_other", Scale::Even),
    ("highest_log_product", Scale::Even),
    ("highest_sum", Scale::Number),
    ("lowest_sum", Scale::Number),
    ("elements_before_zero", Scale::Even),
    ("log_deviation", Scale::Even),
    ("log_distance_from_mean", Scale::Even),
    ("sum_of_positive", Scale::Number),
    ("sum_of_negative", Scale::Number),
    ("below_log_sum_exp", Scale::Number),
    ("lowest_below_log_sum_exp", Scale::Number),
    ("log_part_of_sum", Scale::Even),
    ("log_deviation_by_count", Scale::Even),
];

/// The two outermost values on one side: what remains when the first is taken away.
#[derive(Clone, Copy)]
pub(super) struct Outermost {
    first: f64,
    second: f64,
    at: usize,
}

impl Outermost {
    /// By a key that is largest for the outermost.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Outermost {
        let mut found = Outermost {
            first: f64::MIN,
            second: f64::MIN,
            at: 0,
        };
        for (position, value) in values.enumerate() {
            if position == 0 || value > found.first {
                if position > 0 {
                    found.second = found.first;
                }
                found.first = value;
                found.at = position;
            } else if position == 1 || value > found.second {
                found.second = value;
            }
        }
        found
    }

    pub(super) fn value(self) -> f64 {
        self.first
    }

    /// The outermost of the others; of a single element itself.
    pub(super) fn without(self, position: usize, count: usize) -> f64 {
        if position == self.at && count > 1 {
            self.second
        } else {
            self.first
        }
    }
}

/// Sums are kept this much smaller, so that those of float64 do not leave its range.
const SMALLER: f64 = 1.0 / 4096.0;
/// The logarithm of nothing in a product: no other factor makes up for it.
pub(super) const NOTHING: f64 = -1e6;

/// What a row adds up to on the way to each element and from it, without the element.
#[derive(Clone, Copy, Default)]
struct Running {
    sum_before: f64,
    log_product_before: f64,
    /// The highest and lowest sum, and the highest product, of what follows up to some element.
    highest_after: f64,
    lowest_after: f64,
    log_product_after: f64,
}

pub struct Row<'a> {
    values: &'a [f64],
    logarithm: Logarithm,
    logs: Vec<f64>,
    largest: Outermost,
    /// Of the negated values.
    smallest: Outermost,
    largest_log: Outermost,
    /// Of the negated logarithms.
    smallest_log: Outermost,
    sum: f64,
    log_product: f64,
    log_length: f64,
    /// Of the whole row from its mean.
    log_distance: f64,
    /// By the count less one.
    log_deviation: f64,
    log_count: f64,
    log_spread: f64,
    log_sum: f64,
    sum_of_positive: f64,
    sum_of_negative: f64,
    log_sum_exp: f64,
    running: Vec<Running>,
    /// Extremes of the running sums, and of the running products.
    highest: f64,
    lowest: f64,
    highest_log_product: f64,
    before_zero: f64,
}

impl<'a> Row<'a> {
    pub fn new(values: &'a [f64], logarithm: Logarithm) -> Row<'a> {
        let logs: Vec<f64> = values.iter().map(|value| logarithm.at(*value)).collect();
        let mut running = vec![Running::default(); values.len()];
        let (mut sum, mut log_product) = (0.0, 0.0);
        let (mut highest, mut lowest, mut highest_log_product) = (f64::MIN, f64::MAX, NOTHING);
        for (position, value) in values.iter().enumerate() {
            running[position].sum_before = sum;
            running[position].log_product_before = log_product;
            sum = finite(sum + value * SMALLER);
            log_product = logarithm.product(log_product, factor(*value, logs[position]));
            highest = highest.max(sum);
            lowest = lowest.min(sum);
            highest_log_product = highest_log_product.max(log_product);
        }
        for position in (1..values.len()).rev() {
            let later = running[position];
            let (value, log) = (values[position], factor(values[position], logs[position]));
            let earlier = &mut running[position - 1];
            earlier.highest_after = finite(value * SMALLER + later.highest_after).max(0.0);
            earlier.lowest_after = finite(value * SMALLER + later.lowest_after).min(0.0);
            earlier.log_product_after = (log + later.log_product_after).max(0.0);
        }
        let zero = values.iter().position(|value| *value == 0.0);
        let largest = Outermost::of(values.iter().copied());
        let smallest = Outermost::of(values.iter().map(|value| -value));
        let log_distance = log_distance(values, logarithm);
        let count = values.len() as f64;
        Row {
            log_deviation: log_distance - 0.5 * (count - 1.0).max(1.0).log2(),
            log_count: count.log2(),
            log_spread: logarithm.at(finite(largest.value() + smallest.value())),
            log_sum: logarithm.at(sum),
            largest,
            smallest,
            largest_log: Outermost::of(logs.iter().copied()),
            smallest_log: Outermost::of(logs.iter().map(|log| -log)),
            log_length: log_length(values.iter().copied(), logarithm),
            log_distance,
            sum_of_positive: total(values.iter().map(|value| value.max(0.0))),
            sum_of_negative: total(values.iter().map(|value| value.min(0.0))),
            log_sum_exp: log_sum_exp(values, largest.value()),
            log_product: values
                .iter()
                .zip(&logs)
                .map(|(v, log)| factor(*v, *log))
                .sum(),
            values,
            logarithm,
            logs,
            sum,
            running,
            highest,
            lowest,
            highest_log_product,
            before_zero: zero.map_or(3.0, |zero| zero.min(2) as f64),
        }
    }

    pub fn describe(&self, position: usize, into: &mut [f64; MOST_FEATURES]) {
        let count = self.values.len();
        let (value, log) = (self.values[position], self.logs[position]);
        let largest_other = self.largest.without(position, count);
        let smallest_other = -self.smallest.without(position, count);
        let (largest, smallest) = (self.largest.value(), -self.smallest.value());
        let others = finite(self.sum - value * SMALLER);
        let mean = finite(others / (count.max(2) - 1) as f64 / SMALLER);
        let running = self.running[position];
        into[0] = value;
        into[1] = largest;
        into[2] = smallest;
        into[3] = largest_other;
        into[4] = smallest_other;
        into[5] = others;
        into[6] = log;
        into[7] = self.largest_log.without(position, count);
        into[8] = log - into[7];
        into[9] = self.log_length;
        into[10] = finite(largest - value);
        into[11] = finite(value - smallest);
        into[12] = self.log_spread;
        into[13] = finite(value - mean);
        into[14] = self.logarithm.at(into[13]);
        into[15] = self.log_product - factor(value, log);
        into[16] = self.log_product;
        into[17] = finite(running.sum_before + running.highest_after);
        into[18] = finite(running.sum_before + running.lowest_after);
        into[19] = running.log_product_before + running.log_product_after;
        into[20] = self.log_count;
        into[21] = if largest_other == largest && smallest_other == smallest {
            self.log_spread
        } else {
            self.logarithm.at(finite(largest_other - smallest_other))
        };
        into[22] = self.sum;
        into[23] = self.log_length - 0.5 * self.log_count;
        into[24] = self.largest_log.value();
        into[25] = -self.smallest_log.without(position, count);
        into[26] = self.highest_log_product;
        into[27] = self.highest;
        into[28] = self.lowest;
        into[29] = self.before_zero;
        into[30] = self.log_deviation;
        into[31] = self.log_distance;
        into[32] = self.sum_of_positive;
        into[33] = self.sum_of_negative;
        into[34] = finite(self.log_sum_exp - value);
        into[35] = finite(self.log_sum_exp - smallest);
        into[36] = log - self.log_sum;
        into[37] = self.log_distance - 0.5 * self.log_count;
    }
}

/// The logarithm of a factor.
fn factor(value: f64, log: f64) -> f64 {
    if value == 0.0 { NOTHING } else { log }
}

fn log_sum_exp(values: &[f64], largest: f64) -> f64 {
    // Below this the exponential is zero in every precision.
    let parts = values.iter().map(|value| value - largest);
    let sum: f64 = parts.filter(|part| *part > -750.0).map(f64::exp).sum();
    largest + sum.ln()
}

fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| finite(sum + value * SMALLER))
}

/// `log2` of the root of the sum of squared distances from the mean.
pub(super) fn log_distance(values: &[f64], logarithm: Logarithm) -> f64 {
    let mean = mean(values);
    log_length(values.iter().map(|value| finite(value - mean)), logarithm)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    values.iter().map(|value| value / count).sum()
}
