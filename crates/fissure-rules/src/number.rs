//! Numbers of the language: whole ones exactly, others as 64-bit floats.

use std::cmp::Ordering;
use std::fmt;

use crate::syntax::Operator;

/// A whole number beyond 64 bits becomes the float nearest to it.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// The whole number, if it is one.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Number::Int(value) => Some(value),
            Number::Float(value) => {
                let whole = value.trunc() == value && value.abs() < 9_007_199_254_740_992.0;
                whole.then_some(value as i64)
            }
        }
    }

    /// `None` when one of them is NaN.
    pub fn order(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Int(a), Number::Float(b)) => order_mixed(a, b),
            (Number::Float(a), Number::Int(b)) => order_mixed(b, a).map(Ordering::reverse),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        }
    }

    /// Does the comparison hold? Nothing but `!=` holds for NaN.
    pub fn compare(self, operator: Operator, other: Number) -> bool {
        let order = self.order(other);
        match operator {
            Operator::Equal => order == Some(Ordering::Equal),
            Operator::NotEqual => order != Some(Ordering::Equal),
            Operator::Less => order == Some(Ordering::Less),
            Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Operator::Greater => order == Some(Ordering::Greater),
            Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            _ => false,
        }
    }

    /// `None` for a division by zero.
    pub fn calculate(self, operator: Operator, other: Number) -> Option<Number> {
        if let (Number::Int(a), Number::Int(b)) = (self, other) {
            let exact = match operator {
                Operator::Add => a.checked_add(b),
                Operator::Subtract => a.checked_sub(b),
                Operator::Multiply => a.checked_mul(b),
                Operator::Divide => {
                    return match (b, a.checked_rem(b)) {
                        (0, _) => None,
                        (_, Some(0)) => a.checked_div(b).map(Number::Int),
                        _ => Some(Number::Float(a as f64 / b as f64)),
                    };
                }
                Operator::FloorDivide if b != 0 => a
                    .checked_div(b)
                    .map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))),
                Operator::Modulo if b != 0 => a.checked_rem(b).map(|rest| {
                    if rest != 0 && (rest < 0) != (b < 0) {
                        rest + b
                    } else {
                        rest
                    }
                }),
                _ => return None,
            };
            if let Some(value) = exact {
                return Some(Number::Int(value));
            }
        }
        let (a, b) = (self.as_f64(), other.as_f64());
        Some(Number::Float(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            _ if b == 0.0 => return None,
            Operator::Divide => a / b,
            Operator::FloorDivide => (a / b).floor(),
            Operator::Modulo => a - (a / b).floor() * b,
            _ => return None,
        }))
    }

    pub fn negated(self) -> Number {
        match self {
            Number::Int(value) => value
                .checked_neg()
                .map_or(Number::Float(-(value as f64)), Number::Int),
            Number::Float(value) => Number::Float(-value),
        }
    }

    pub fn absolute(self) -> Number {
        match self {
            Number::Int(value) if value < 0 => self.negated(),
            Number::Float(value) => Number::Float(value.abs()),
            positive => positive,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.order(*other) == Some(Ordering::Equal)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number::Int(value)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Number::Float(value as f64), Number::Int)
    }
}

impl From<i128> for Number {
    fn from(value: i128) -> Self {
        i64::try_from(value).map_or(Number::Float(value as f64), Number::Int)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number::Float(value)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
        }
    }
}

/// Exact also where the conversion of the whole number to a float would round.
fn order_mixed(a: i64, b: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    if b >= LIMIT {
        return Some(Ordering::Less);
    }
    if b < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = b.trunc();
    let order = a.cmp(&(whole as i64));
    Some(order.then(0.0.partial_cmp(&(b - whole)).unwrap_or(Ordering::Equal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(operator: Operator, a: i64, b: i64) -> Option<Number> {
        Number::Int(a).calculate(operator, Number::Int(b))
    }

    #[test]
    fn division_rounds_down_and_the_rest_has_the_sign_of_the_divisor() {
        assert_eq!(int(Operator::FloorDivide, -7, 2), Some(Number::Int(-4)));
        assert_eq!(int(Operator::FloorDivide, 7, -2), Some(Number::Int(-4)));
        assert_eq!(int(Operator::Modulo, -7, 3), Some(Number::Int(2)));
        assert_eq!(int(Operator::Modulo, 7, -3), Some(Number::Int(-2)));
        assert_eq!(int(Operator::Divide, 7, 2), Some(Number::Float(3.5)));
        for operator in [Operator::Divide, Operator::FloorDivide, Operator::Modulo] {
            assert_eq!(int(operator, 1, 0), None);
        }
    }

    #[test]
    fn what_does_not_fit_64_bits_goes_on_as_a_float() {
        let product = int(Operator::Multiply, i64::MAX, 2).unwrap();
        assert_eq!(product.as_f64(), 18_446_744_073_709_551_614.0);
        assert_eq!(
            int(Operator::FloorDivide, i64::MIN, -1).map(Number::as_f64),
            Some(9_223_372_036_854_775_808.0)
        );
    }

    #[test]
    fn whole_numbers_and_floats_compare_exactly() {
        let large = Number::Int(9_007_199_254_740_993);
        assert!(large.compare(Operator::Greater, Number::Float(9_007_199_254_740_992.0)));
        assert!(Number::Int(-2).compare(Operator::Greater, Number::Float(-2.5)));
        assert!(Number::Int(i64::MAX).compare(Operator::Less, Number::Float(f64::INFINITY)));
        assert!(Number::Int(0).compare(Operator::NotEqual, Number::Float(f64::NAN)));
        assert!(!Number::Int(0).compare(Operator::LessOrEqual, Number::Float(f64::NAN)));
    }
}
