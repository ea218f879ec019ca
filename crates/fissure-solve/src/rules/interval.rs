//! Sets of numbers with two ends and a stride: what propagation knows about a value.
//!
//! A stride (values are `low`, `low + step`, …) is what makes divisibility exact: once `groups` is
//! 3, a size that must be its multiple has the stride 3, and no value is drawn in vain.

/// `step` 0 means every real number between the ends; otherwise both ends are on the stride.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub low: f64,
    pub high: f64,
    pub step: f64,
}

/// Quotients of whole numbers that should be whole miss it by rounding.
const SLACK: f64 = 1e-9;

impl Interval {
    pub(super) const EVERYTHING: Interval = Interval {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        step: 0.0,
    };

    pub(super) fn constant(value: f64) -> Self {
        let step = if floor(value) == value { 1.0 } else { 0.0 };
        Interval {
            low: value,
            high: value,
            step,
        }
    }

    pub(super) fn whole(low: f64, high: f64) -> Self {
        Interval {
            low: ceil(low - SLACK),
            high: floor(high + SLACK),
            step: 1.0,
        }
    }

    pub(super) fn real(low: f64, high: f64) -> Self {
        Interval {
            low,
            high,
            step: 0.0,
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.low > self.high || self.low.is_nan() || self.high.is_nan()
    }

    pub(super) fn is_fixed(self) -> bool {
        self.low == self.high
    }

    fn is_whole(self) -> bool {
        self.step >= 1.0
    }

    pub(super) fn contains(self, value: f64) -> bool {
        self.low <= value
            && value <= self.high
            && (self.step == 0.0 || !self.low.is_finite() || self.is_on_stride(value))
    }

    fn is_on_stride(self, value: f64) -> bool {
        let distance = value - self.low;
        if self.step == 1.0 {
            return floor(distance) == distance;
        }
        let steps = distance / self.step;
        floor(steps) == steps
    }

    /// The value on the stride nearest below (or at) the given one.
    pub(super) fn snap(self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        if self.step == 0.0 || !self.low.is_finite() {
            return value;
        }
        self.low + floor((value - self.low) / self.step) * self.step
    }

    /// Both ends back on the stride after `high` or the stride changed.
    fn aligned(mut self) -> Self {
        if self.step > 0.0 && self.low.is_finite() && self.high.is_finite() && self.low < self.high
        {
            self.high = self.low + floor((self.high - self.low) / self.step + SLACK) * self.step;
        }
        self
    }

    pub(super) fn add(self, other: Interval) -> Interval {
        Interval {
            low: self.low + other.low,
            high: self.high + other.high,
            step: combined_step(self, other),
        }
    }

    pub(super) fn negate(self) -> Interval {
        Interval {
            low: -self.high,
            high: -self.low,
            step: self.step,
        }
    }

    pub(super) fn subtract(self, other: Interval) -> Interval {
        self.add(other.negate())
    }

    pub(super) fn multiply(self, other: Interval) -> Interval {
        let products = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        let step = match (self.is_fixed(), other.is_fixed()) {
            (true, _) if self.is_whole() && other.is_whole() => {
                other.step * self.low.abs().max(1.0)
            }
            (_, true) if self.is_whole() && other.is_whole() => {
                self.step * other.low.abs().max(1.0)
            }
            _ if self.is_whole() && other.is_whole() => 1.0,
            _ => 0.0,
        };
        Interval {
            low: products.iter().copied().fold(f64::INFINITY, f64::min),
            high: products.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            step,
        }
    }

    /// The exact quotient; everything when the divisor can be 0.
    pub(super) fn divide(self, other: Interval) -> Interval {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Interval::EVERYTHING;
        }
        let quotients = [
            self.low / other.low,
            self.low / other.high,
            self.high / other.low,
            self.high / other.high,
        ]
        // Infinity by infinity can be any size.
        .map(|quotient| if quotient.is_nan() { 0.0 } else { quotient });
        Interval::real(
            quotients.iter().copied().fold(f64::INFINITY, f64::min),
            quotients.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    pub(super) fn floor_divide(self, other: Interval) -> Interval {
        let exact = self.divide(other);
        Interval {
            low: floor(exact.low),
            high: floor(exact.high),
            step: 1.0,
        }
    }

    pub(super) fn modulo(self, other: Interval) -> Interval {
        let step = if self.is_whole() && other.is_whole() {
            1.0
        } else {
            0.0
        };
        if self.is_fixed() && other.is_fixed() && other.low < 0.0 {
            // The rest has the sign of the divisor.
            return Interval::constant(-(-self.low).rem_euclid(-other.low));
        }
        if other.is_fixed() && other.low > 0.0 {
            let divisor = other.low;
            let on_stride = self.is_whole() && self.step % divisor == 0.0 && self.low.is_finite();
            if self.is_fixed() || on_stride {
                return Interval::constant(self.low.rem_euclid(divisor));
            }
            if self.low >= 0.0 && self.high < divisor {
                return self;
            }
        }
        let largest = |bound: f64| if step == 1.0 { bound - 1.0 } else { bound };
        Interval {
            low: if other.low < 0.0 {
                -largest(-other.low)
            } else {
                0.0
            }
            .min(0.0),
            high: if other.high > 0.0 {
                largest(other.high)
            } else {
                0.0
            }
            .max(0.0),
            step,
        }
    }

    pub(super) fn absolute(self) -> Interval {
        if self.low >= 0.0 {
            self
        } else if self.high <= 0.0 {
            self.negate()
        } else {
            Interval {
                low: 0.0,
                high: self.high.max(-self.low),
                step: self.step.min(1.0),
            }
        }
    }

    pub(super) fn least(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.min(other.high),
            step: self.step.min(other.step).min(1.0),
        }
    }

    pub(super) fn greatest(self, other: Interval) -> Interval {
        self.negate().least(other.negate()).negate()
    }

    /// The values in both. `self` is what a variable can be, so its stride decides whether it is
    /// whole.
    pub(super) fn intersect(self, other: Interval) -> Interval {
        let mut result = self;
        if self.step == 0.0 {
            result.low = self.low.max(other.low);
            result.high = self.high.min(other.high);
            return result;
        }
        if other.step > 1.0 && other.low.is_finite() && !other.is_fixed() {
            match common_stride(self, other) {
                Some((start, step)) => {
                    result.low = start;
                    result.step = step;
                }
                None => {
                    result.high = f64::NEG_INFINITY;
                    return result;
                }
            }
        }
        let low = ceil(other.low - SLACK);
        if low > result.low {
            let steps = ceil((low - result.low) / result.step);
            result.low += steps * result.step;
        }
        result.high = result.high.min(floor(other.high + SLACK));
        result.aligned()
    }
}

/// The largest whole number not above `value`. The standard function is a call on processors that
/// need not have an instruction for it, and propagation does little else.
fn floor(value: f64) -> f64 {
    /// Every number of this size is whole.
    const WHOLE: f64 = (1u64 << 52) as f64;
    if value.abs() < WHOLE {
        let towards_zero = value as i64 as f64;
        if towards_zero > value {
            towards_zero - 1.0
        } else {
            towards_zero
        }
    } else {
        value
    }
}

fn ceil(value: f64) -> f64 {
    -floor(-value)
}

/// 0 times anything is 0, also at infinity.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

fn combined_step(a: Interval, b: Interval) -> f64 {
    match (a.is_fixed(), b.is_fixed()) {
        _ if a.step == 0.0 || b.step == 0.0 => 0.0,
        (true, _) => b.step,
        (_, true) => a.step,
        _ => greatest_common_divisor(a.step, b.step),
    }
}

fn greatest_common_divisor(mut a: f64, mut b: f64) -> f64 {
    if a == 1.0 || b == 1.0 {
        return 1.0;
    }
    while b > 0.0 {
        (a, b) = (b, a % b);
    }
    a
}

/// First value on both strides that is not below `own.low`, and their common stride.
fn common_stride(own: Interval, other: Interval) -> Option<(f64, f64)> {
    let shared = greatest_common_divisor(own.step, other.step);
    let step = own.step / shared * other.step;
    let mut candidate = own.low;
    let tries = (other.step / shared).min(4096.0) as usize;
    for _ in 0..tries {
        if (candidate - other.low).rem_euclid(other.step) == 0.0 {
            return Some((candidate, step));
        }
        candidate += own.step;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_meet_where_both_divide() {
        let by_two = Interval {
            low: 4.0,
            high: 100.0,
            step: 2.0,
        };
        let by_three = Interval {
            low: 0.0,
            high: 99.0,
            step: 3.0,
        };
        let both = by_two.intersect(by_three);
        assert_eq!((both.low, both.high, both.step), (6.0, 96.0, 6.0));
        let odd = Interval {
            low: 1.0,
            high: 99.0,
            step: 2.0,
        };
        assert!(by_two.intersect(odd).is_empty());
    }

    #[test]
    fn a_multiple_has_the_stride_of_its_factor() {
        let product = Interval::whole(1.0, 8.0).multiply(Interval::constant(3.0));
        assert_eq!(
            Interval::whole(0.0, 20.0).intersect(product),
            Interval {
                low: 3.0,
                high: 18.0,
                step: 3.0
            }
        );
        assert_eq!(
            product.modulo(Interval::constant(3.0)),
            Interval::constant(0.0)
        );
    }

    #[test]
    fn rounding_is_that_of_the_standard_library() {
        let large = (1u64 << 53) as f64;
        for value in [0.0, 0.5, 1.0, 1.5, 2.999, large, 1e300, f64::INFINITY] {
            for value in [value, -value] {
                assert_eq!(floor(value), value.floor(), "{value}");
                assert_eq!(ceil(value), value.ceil(), "{value}");
            }
        }
        assert!(floor(f64::NAN).is_nan());
    }

    #[test]
    fn division_by_what_can_be_zero_says_nothing() {
        let quotient = Interval::whole(1.0, 8.0).divide(Interval::whole(0.0, 2.0));
        assert_eq!(quotient, Interval::EVERYTHING);
    }
}
