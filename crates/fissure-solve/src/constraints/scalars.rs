//! Plain values: numbers, text, dtype objects.

use fissure_model::{Category, Dtype, DtypeTerm, Value};

use crate::constraints::compiled::Interval;
use crate::constraints::expressions::Unbound;
use crate::constraints::meaning::{Leaf, accepts_dtype, accepts_leaf};
use crate::constraints::priors::{FLOAT_SCHEMES, FloatScheme, INT_SCHEMES, IntScheme};
use crate::constraints::sample::{Call, Unsatisfied};

/// Integers at which code breaks.
const BOUNDARIES: [i128; 20] = [
    -1,
    0,
    127,
    128,
    -128,
    255,
    256,
    32_767,
    32_768,
    65_535,
    65_536,
    2_147_483_647,
    2_147_483_648,
    -2_147_483_648,
    4_294_967_295,
    4_294_967_296,
    9_223_372_036_854_775_807,
    -9_223_372_036_854_775_808,
    9_223_372_036_854_775_806,
    -9_223_372_036_854_775_807,
];

const SIMPLE: [f64; 12] = [
    0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 0.1, 3.0, 10.0, -2.0, 0.25, 1.5,
];

/// Whole numbers of an interval, within 64 bits; `None` when there are none.
pub(crate) fn whole(interval: Interval) -> Option<(i128, i128)> {
    let limit = 9_223_372_036_854_775_807_i128;
    let lower = if interval.lower == f64::NEG_INFINITY {
        -limit - 1
    } else {
        let up = interval.lower.ceil();
        let open = up == interval.lower && !interval.lower_closed;
        (up as i128).saturating_add(i128::from(open))
    };
    let upper = if interval.upper == f64::INFINITY {
        limit
    } else {
        let down = interval.upper.floor();
        let open = down == interval.upper && !interval.upper_closed;
        (down as i128).saturating_sub(i128::from(open))
    };
    (lower <= upper).then_some((lower, upper))
}

/// An interval with both ends closed, moved inwards where they are open, far enough to survive
/// rounding to half precision; `None` when nothing is left.
pub(crate) fn closed(interval: Interval) -> Option<(Option<f64>, Option<f64>)> {
    let (mut lower, mut upper) = (interval.lower, interval.upper);
    let width = upper - lower;
    let step = |at: f64| {
        let wanted = (at.abs() * 0.02).max(0.02);
        if width.is_finite() {
            wanted.min(width / 4.0)
        } else {
            wanted
        }
    };
    if lower.is_finite() && !interval.lower_closed {
        lower += step(lower);
    }
    if upper.is_finite() && !interval.upper_closed {
        upper -= step(upper);
    }
    if lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        return None;
    }
    if lower == upper && !(interval.contains(lower)) {
        return None;
    }
    Some((
        lower.is_finite().then_some(lower),
        upper.is_finite().then_some(upper),
    ))
}

/// What a range is asked for.
#[derive(Clone, Copy)]
pub(crate) enum For {
    Leaf(Leaf),
    Tensor(Dtype),
}

impl Call<'_> {
    /// The interval for values of parameter `index`; a soft one where no constraint applies.
    pub(super) fn interval(&mut self, index: usize, holder: For) -> Interval {
        let plan = self.plan;
        let compiled = &plan.params[index].compiled;
        let applies = |term: &Option<DtypeTerm>| match (term, holder) {
            (None, _) => true,
            (Some(term), For::Leaf(leaf)) => accepts_leaf(term, leaf, None),
            (Some(term), For::Tensor(dtype)) => accepts_dtype(term, dtype, None),
        };
        let count = compiled
            .ranges
            .iter()
            .filter(|range| applies(&range.only_for))
            .count();
        let range = if count > 0 {
            let chosen = if count > 1 {
                self.random.index(count)
            } else {
                0
            };
            compiled
                .ranges
                .iter()
                .filter(|range| applies(&range.only_for))
                .nth(chosen)
        } else {
            let soft = compiled
                .soft
                .range
                .as_ref()
                .filter(|range| applies(&range.only_for));
            if soft.is_some() && self.random.chance(0.1) {
                None
            } else {
                soft
            }
        };
        let Some(range) = range else {
            return Interval {
                lower: f64::NEG_INFINITY,
                lower_closed: false,
                upper: f64::INFINITY,
                upper_closed: false,
            };
        };
        for term in [&range.lower.0, &range.upper.0] {
            for _ in 0..8 {
                match term.unbound(self.scope()) {
                    Unbound::One(symbol) | Unbound::Many(symbol) => self.bind_small(symbol),
                    Unbound::None | Unbound::Unknowable => break,
                }
            }
        }
        range.interval(self.scope())
    }

    pub(super) fn leaf(&mut self, index: usize, leaf: Leaf) -> Result<Value, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let failed = || Unsatisfied {
            param: index,
            category: Category::Range,
        };
        let leaf = self.followed(index, leaf)?;
        Ok(match leaf {
            Leaf::Bool => {
                let drawn = self.choose(param.boolean) == 1;
                let interval = self.interval(index, For::Leaf(leaf));
                let fits = |value: bool| interval.contains(f64::from(u8::from(value)));
                match [drawn, !drawn].into_iter().find(|value| fits(*value)) {
                    Some(value) => Value::Bool(value),
                    None => return Err(failed()),
                }
            }
            Leaf::Int => Value::Int(self.int(index)?),
            Leaf::Float => Value::Float(self.float(index)?),
            Leaf::Complex => {
                let mut part = || *self.random.pick(&SIMPLE);
                Value::Complex {
                    re: part(),
                    im: part(),
                }
            }
            Leaf::Text => {
                let option = self.choose(param.text);
                match param.texts.get(option) {
                    Some(text) => Value::Text(text.clone()),
                    None => {
                        let length = 1 + self.random.index(8);
                        let random = &mut *self.random;
                        let letter = |_| char::from(b'a' + random.below(26) as u8);
                        Value::Text((0..length).map(letter).collect())
                    }
                }
            }
            Leaf::Dtype => {
                let option = self.choose(param.dtype_object);
                Value::Dtype(
                    plan.dtype_objects
                        .get(option)
                        .map_or(Dtype::Float32, |(dtype, _)| *dtype),
                )
            }
            Leaf::Object => Value::None,
        })
    }

    /// The type of a plain value whose dtype follows another parameter's.
    fn followed(&self, index: usize, leaf: Leaf) -> Result<Leaf, Unsatisfied> {
        let compiled = &self.plan.params[index].compiled;
        if compiled.dtype_sources.iter().all(Option::is_none) {
            return Ok(leaf);
        }
        let terms = &compiled.constraint.dtypes;
        let fits = |leaf: &Leaf| {
            terms
                .iter()
                .enumerate()
                .any(|(at, term)| accepts_leaf(term, *leaf, compiled.dtype_facts(at, &self.facts)))
        };
        [
            leaf,
            Leaf::Int,
            Leaf::Float,
            Leaf::Bool,
            Leaf::Text,
            Leaf::Complex,
        ]
        .into_iter()
        .find(fits)
        .ok_or(Unsatisfied {
            param: index,
            category: Category::Dtype,
        })
    }

    fn int(&mut self, index: usize) -> Result<i128, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let scheme = INT_SCHEMES[self.choose(param.int)];
        let interval = self.interval(index, For::Leaf(Leaf::Int));
        let (lower, upper) = whole(interval).ok_or(Unsatisfied {
            param: index,
            category: Category::Range,
        })?;
        let value = match scheme {
            IntScheme::Default => match &param.default {
                Some(Value::Int(value)) => *value,
                Some(Value::Float(value)) => *value as i128,
                _ => 1,
            },
            IntScheme::Zero => 0,
            IntScheme::One => 1,
            IntScheme::Two => 2,
            IntScheme::Three => 3,
            IntScheme::Small => self.random.between(1, 8),
            IntScheme::Size => self.size.into(),
            IntScheme::Axis => {
                let rank = self.axis_rank(index);
                self.random.between(-rank, (rank - 1).max(-rank))
            }
            IntScheme::Negative => self.random.between(-8, -1),
            IntScheme::Medium => self.random.between(9, 64),
            IntScheme::Any => self.random.between(-8, 16),
            IntScheme::Boundary => *self.random.pick(&BOUNDARIES),
            IntScheme::Huge => {
                let shift = 33 + self.random.below(30);
                let value = 1_i128 << shift;
                value + self.random.between(-1, 1)
            }
        };
        if (lower..=upper).contains(&value) {
            return Ok(value);
        }
        // Out of range: stay near the end that the value overshot, as a tester would.
        let span = (upper - lower).min(8);
        let offset = self.random.between(0, span);
        Ok(if value < lower {
            lower + offset
        } else {
            upper - offset
        })
    }

    fn float(&mut self, index: usize) -> Result<f64, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let scheme = FLOAT_SCHEMES[self.choose(param.float)];
        let interval = self.interval(index, For::Leaf(Leaf::Float));
        let (lower, upper) = closed(interval).ok_or(Unsatisfied {
            param: index,
            category: Category::Range,
        })?;
        let value = match scheme {
            FloatScheme::Default => match &param.default {
                Some(Value::Float(value)) => *value,
                Some(Value::Int(value)) => *value as f64,
                _ => 1.0,
            },
            FloatScheme::Unit => self.random.unit(),
            FloatScheme::Simple => *self.random.pick(&SIMPLE),
            FloatScheme::Wide => ((self.random.unit() * 20.0 - 10.0) * 64.0).round() / 64.0,
            FloatScheme::Tiny => 10f64.powi(-(1 + self.random.below(12) as i32)),
            FloatScheme::Zero => 0.0,
            FloatScheme::Boundary => *self.random.pick(&[
                f64::from(f32::MAX),
                f64::from(f32::MIN),
                65504.0,
                1e30,
                -1e30,
                1e-30,
                f64::EPSILON,
                16_777_217.0,
            ]),
        };
        if interval.contains(value) {
            return Ok(value);
        }
        let share = self.random.unit();
        Ok(match (lower, upper) {
            (Some(lower), Some(upper)) => (lower + (upper - lower) * share).clamp(lower, upper),
            (Some(lower), None) => lower + share * 8.0,
            (None, Some(upper)) => upper - share * 8.0,
            (None, None) => value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(lower: f64, lower_closed: bool, upper: f64, upper_closed: bool) -> Interval {
        Interval {
            lower,
            lower_closed,
            upper,
            upper_closed,
        }
    }

    #[test]
    fn open_ends_leave_out_whole_numbers() {
        assert_eq!(whole(interval(0.0, true, 3.0, false)), Some((0, 2)));
        assert_eq!(whole(interval(0.0, false, 3.0, true)), Some((1, 3)));
        assert_eq!(whole(interval(0.5, false, 2.5, false)), Some((1, 2)));
        assert_eq!(whole(interval(0.0, false, 1.0, false)), None);
        assert_eq!(whole(interval(3.0, true, 1.0, true)), None);
        let (lower, upper) = whole(interval(0.0, true, f64::INFINITY, false)).unwrap();
        assert_eq!((lower, upper), (0, i128::from(i64::MAX)));
    }

    #[test]
    fn open_ends_move_inwards() {
        let (lower, upper) = closed(interval(0.0, false, 1.0, false)).unwrap();
        let (lower, upper) = (lower.unwrap(), upper.unwrap());
        assert!(lower > 0.0 && lower < upper && upper < 1.0);
        assert_eq!(
            closed(interval(0.0, true, 1.0, true)),
            Some((Some(0.0), Some(1.0)))
        );
        assert_eq!(
            closed(interval(0.0, true, f64::INFINITY, false)),
            Some((Some(0.0), None))
        );
        assert_eq!(closed(interval(2.0, true, 1.0, true)), None);
        assert_eq!(closed(interval(1.0, false, 1.0, false)), None);
    }
}
