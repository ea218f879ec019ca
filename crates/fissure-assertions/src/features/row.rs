//! An element and its row: extremes, sums, products and lengths with and without the element.

use super::{Feature, Logarithm, MOST_FEATURES, Scale, finite, log_length};

pub const FEATURES: &[Feature] = &[
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
];

/// The two outermost values on one side: what remains when the first is taken away.
#[derive(Clone, Copy)]
pub struct Outermost {
    first: f64,
    second: f64,
    at: usize,
}

impl Outermost {
    /// By a key that is largest for the outermost.
    pub fn of(values: impl Iterator<Item = f64>) -> Outermost {
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

    pub fn value(self) -> f64 {
        self.first
    }

    /// The outermost of the others; of a single element itself.
    pub fn without(self, position: usize, count: usize) -> f64 {
        if position == self.at && count > 1 {
            self.second
        } else {
            self.first
        }
    }
}

pub struct Row<'a> {
    values: &'a [f64],
    logarithm: Logarithm,
    logs: Vec<f64>,
    largest: Outermost,
    /// Of the negated values.
    smallest: Outermost,
    largest_log: Outermost,
    sum: f64,
    log_product: f64,
    log_length: f64,
    /// From each position to the end: the highest and lowest running sum, the highest running sum
    /// of logarithms.
    running: Vec<[f64; 3]>,
}

impl<'a> Row<'a> {
    pub fn new(values: &'a [f64], logarithm: Logarithm) -> Row<'a> {
        let logs: Vec<f64> = values.iter().map(|value| logarithm.at(*value)).collect();
        let mut running = Vec::with_capacity(values.len());
        let (mut sum, mut log_product) = (0.0, 0.0);
        for (value, log) in values.iter().zip(&logs) {
            sum = finite(sum + value);
            log_product += log;
            running.push([sum, sum, log_product]);
        }
        for position in (1..running.len()).rev() {
            let later = running[position];
            let earlier = &mut running[position - 1];
            earlier[0] = earlier[0].max(later[0]);
            earlier[1] = earlier[1].min(later[1]);
            earlier[2] = earlier[2].max(later[2]);
        }
        Row {
            largest: Outermost::of(values.iter().copied()),
            smallest: Outermost::of(values.iter().map(|value| -value)),
            largest_log: Outermost::of(logs.iter().copied()),
            log_length: log_length(values.iter().copied(), logarithm),
            values,
            logarithm,
            logs,
            sum,
            log_product,
            running,
        }
    }

    pub fn describe(&self, position: usize, into: &mut [f64; MOST_FEATURES]) {
        let count = self.values.len();
        let (value, log) = (self.values[position], self.logs[position]);
        let largest_other = self.largest.without(position, count);
        let smallest_other = -self.smallest.without(position, count);
        let (largest, smallest) = (self.largest.value(), -self.smallest.value());
        let others = finite(self.sum - value);
        let mean = others / (count.max(2) - 1) as f64;
        let log_count = (count as f64).log2();
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
        into[12] = self.logarithm.at(finite(largest - smallest));
        into[13] = finite(value - mean);
        into[14] = self.logarithm.at(into[13]);
        into[15] = self.log_product - log;
        into[16] = self.log_product;
        into[17] = finite(self.running[position][0] - value);
        into[18] = finite(self.running[position][1] - value);
        into[19] = self.running[position][2] - log;
        into[20] = log_count;
        into[21] = self.logarithm.at(finite(largest_other - smallest_other));
        into[22] = self.sum;
        into[23] = self.log_length - 0.5 * log_count;
        into[24] = self.largest_log.value();
    }
}
