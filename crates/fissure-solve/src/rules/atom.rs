//! Comparisons between calculated numbers, and how they narrow the variables in them.

use fissure_rules::Operator;

use crate::rules::interval::Interval;

/// A calculation in the order of evaluation: operands stand before the node that uses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Constant(f64),
    Variable(u16),
    Binary(Calculation, u16, u16),
    Negate(u16),
    Absolute(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calculation {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Least,
    Greatest,
}

/// `difference relation 0`.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub nodes: Vec<Node>,
    pub relation: Relation,
    /// Every value in it is whole, so `< 0` is `<= -1`.
    pub whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Zero,
    NotZero,
    Negative,
    NotPositive,
}

/// What is known about a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    True,
    False,
    Open,
}

/// Room for the values of one calculation; kept between calls.
#[derive(Default)]
pub(crate) struct Scratch {
    values: Vec<Interval>,
    wanted: Vec<Interval>,
}

impl Calculation {
    fn apply(self, left: Interval, right: Interval) -> Interval {
        match self {
            Calculation::Add => left.add(right),
            Calculation::Subtract => left.subtract(right),
            Calculation::Multiply => left.multiply(right),
            Calculation::Divide => left.divide(right),
            Calculation::FloorDivide => left.floor_divide(right),
            Calculation::Modulo => left.modulo(right),
            Calculation::Least => left.least(right),
            Calculation::Greatest => left.greatest(right),
        }
    }
}

impl Relation {
    /// `left operator right` as a relation of `left - right`; the sides are exchanged for `>`, `>=`.
    pub(super) fn of(operator: Operator) -> (Relation, bool) {
        match operator {
            Operator::NotEqual => (Relation::NotZero, false),
            Operator::Less => (Relation::Negative, false),
            Operator::LessOrEqual => (Relation::NotPositive, false),
            Operator::Greater => (Relation::Negative, true),
            Operator::GreaterOrEqual => (Relation::NotPositive, true),
            _ => (Relation::Zero, false),
        }
    }
}

impl Comparison {
    fn forward(&self, domains: &[Interval], values: &mut Vec<Interval>) -> Interval {
        values.clear();
        for node in &self.nodes {
            let value = match *node {
                Node::Constant(value) => Interval::constant(value),
                Node::Variable(variable) => domains[usize::from(variable)],
                Node::Binary(how, left, right) => {
                    how.apply(values[usize::from(left)], values[usize::from(right)])
                }
                Node::Negate(inner) => values[usize::from(inner)].negate(),
                Node::Absolute(inner) => values[usize::from(inner)].absolute(),
            };
            values.push(value);
        }
        values[values.len() - 1]
    }

    fn judge(&self, value: Interval) -> Known {
        let (always, never) = match self.relation {
            Relation::Zero => (
                value.is_fixed() && value.low == 0.0,
                value.low > 0.0 || value.high < 0.0 || !value.contains(0.0),
            ),
            Relation::NotZero => (
                value.low > 0.0 || value.high < 0.0 || !value.contains(0.0),
                value.is_fixed() && value.low == 0.0,
            ),
            Relation::Negative => (value.high < 0.0, value.low >= 0.0),
            Relation::NotPositive => (value.high <= 0.0, value.low > 0.0),
        };
        if always {
            Known::True
        } else if never {
            Known::False
        } else {
            Known::Open
        }
    }

    /// The two sides, where neither is calculated: most comparisons are such.
    fn plain_sides(&self) -> Option<(Node, Node)> {
        match self.nodes[..] {
            [
                left @ (Node::Variable(_) | Node::Constant(_)),
                right @ (Node::Variable(_) | Node::Constant(_)),
                Node::Binary(Calculation::Subtract, 0, 1),
            ] => Some((left, right)),
            _ => None,
        }
    }

    pub(super) fn known(&self, domains: &[Interval], scratch: &mut Scratch) -> Known {
        let value = match self.plain_sides() {
            Some((left, right)) => value_of(left, domains).subtract(value_of(right, domains)),
            None => self.forward(domains, &mut scratch.values),
        };
        self.judge(value)
    }

    /// Narrows the domains to what the comparison allows; `false` when nothing is left. Variables
    /// that changed are pushed to `changed`.
    pub(super) fn narrow(
        &self,
        domains: &mut [Interval],
        scratch: &mut Scratch,
        changed: &mut Vec<u16>,
    ) -> bool {
        if let Some((left, right)) = self.plain_sides() {
            return self.narrow_sides(left, right, domains, changed);
        }
        let value = self.forward(domains, &mut scratch.values);
        match self.judge(value) {
            Known::True => return true,
            Known::False => return false,
            Known::Open => {}
        }
        let Some(wanted) = self.wanted() else {
            return true;
        };
        let last = self.nodes.len() - 1;
        scratch.wanted.clear();
        scratch
            .wanted
            .resize(self.nodes.len(), Interval::EVERYTHING);
        scratch.wanted[last] = wanted;
        for at in (0..self.nodes.len()).rev() {
            let wanted = scratch.wanted[at];
            match self.nodes[at] {
                Node::Constant(_) => {}
                Node::Variable(_) => {
                    if !keep(self.nodes[at], wanted, domains, changed) {
                        return false;
                    }
                }
                Node::Negate(inner) => scratch.wanted[usize::from(inner)] = wanted.negate(),
                Node::Absolute(inner) => {
                    scratch.wanted[usize::from(inner)] = Interval::real(-wanted.high, wanted.high);
                }
                Node::Binary(how, left, right) => {
                    let (left, right) = (usize::from(left), usize::from(right));
                    let sides = (scratch.values[left], scratch.values[right]);
                    let (for_left, for_right) = backward(how, wanted, sides.0, sides.1);
                    scratch.wanted[left] = for_left;
                    scratch.wanted[right] = for_right;
                }
            }
        }
        true
    }

    /// What the difference has to be; `None` where that is no interval.
    fn wanted(&self) -> Option<Interval> {
        match self.relation {
            Relation::Zero => Some(Interval::constant(0.0)),
            Relation::Negative if self.whole => Some(Interval::whole(f64::NEG_INFINITY, -1.0)),
            Relation::Negative | Relation::NotPositive => {
                Some(Interval::real(f64::NEG_INFINITY, 0.0))
            }
            Relation::NotZero => None,
        }
    }

    /// As [`Self::narrow`], of two sides that are not calculated.
    fn narrow_sides(
        &self,
        left: Node,
        right: Node,
        domains: &mut [Interval],
        changed: &mut Vec<u16>,
    ) -> bool {
        let (one, other) = (value_of(left, domains), value_of(right, domains));
        match self.judge(one.subtract(other)) {
            Known::True => return true,
            Known::False => return false,
            Known::Open => {}
        }
        let Some(wanted) = self.wanted() else {
            return trim(left, right, domains, changed);
        };
        let (for_left, for_right) = backward(Calculation::Subtract, wanted, one, other);
        keep(right, for_right, domains, changed) && keep(left, for_left, domains, changed)
    }
}

/// What a side that is not calculated can be.
fn value_of(side: Node, domains: &[Interval]) -> Interval {
    match side {
        Node::Variable(variable) => domains[usize::from(variable)],
        Node::Constant(value) => Interval::constant(value),
        _ => Interval::EVERYTHING,
    }
}

/// Narrows the variable to what is wanted of it; `false` when nothing is left.
fn keep(side: Node, wanted: Interval, domains: &mut [Interval], changed: &mut Vec<u16>) -> bool {
    let Node::Variable(variable) = side else {
        return true;
    };
    let domain = &mut domains[usize::from(variable)];
    let narrowed = domain.intersect(wanted);
    if narrowed.is_empty() {
        return false;
    }
    if narrowed != *domain {
        *domain = narrowed;
        changed.push(variable);
    }
    true
}

/// `x != constant` cuts an end of x.
fn trim(left: Node, right: Node, domains: &mut [Interval], changed: &mut Vec<u16>) -> bool {
    let of = |node: Node| value_of(node, domains);
    let (variable, value) = match (left, right) {
        (Node::Variable(variable), other) if of(other).is_fixed() => (variable, of(other).low),
        (other, Node::Variable(variable)) if of(other).is_fixed() => (variable, of(other).low),
        _ => return true,
    };
    let domain = &mut domains[usize::from(variable)];
    if domain.step == 0.0 {
        return true;
    }
    if domain.low == value {
        domain.low += domain.step;
        changed.push(variable);
    } else if domain.high == value {
        domain.high -= domain.step;
        changed.push(variable);
    }
    !domain.is_empty()
}

/// What the two operands must be for the result to be `wanted`.
fn backward(
    how: Calculation,
    wanted: Interval,
    left: Interval,
    right: Interval,
) -> (Interval, Interval) {
    let everything = Interval::EVERYTHING;
    match how {
        Calculation::Add => (wanted.subtract(right), wanted.subtract(left)),
        Calculation::Subtract => (wanted.add(right), left.subtract(wanted)),
        Calculation::Multiply => (factor(wanted, right), factor(wanted, left)),
        Calculation::Divide => (wanted.multiply(right), divisor(wanted, left)),
        Calculation::FloorDivide if right.low > 0.0 => {
            let next = Interval::real(wanted.low, wanted.high + 1.0);
            (
                Interval {
                    step: 0.0,
                    ..next.multiply(right)
                },
                everything,
            )
        }
        Calculation::Modulo if right.is_fixed() && right.low > 0.0 && wanted.is_fixed() => {
            let divisor = right.low;
            let rest = wanted.low;
            if left.step >= 1.0 && left.low.is_finite() && rest.fract() == 0.0 {
                let start = left.low + (rest - left.low).rem_euclid(divisor);
                let congruent = Interval {
                    low: start,
                    high: start + ((left.high - start) / divisor).floor() * divisor,
                    step: divisor,
                };
                return (congruent, everything);
            }
            (everything, everything)
        }
        Calculation::FloorDivide | Calculation::Modulo => (everything, everything),
        Calculation::Least => {
            let high = |other: Interval| {
                if other.low > wanted.high {
                    wanted.high
                } else {
                    f64::INFINITY
                }
            };
            (
                Interval::real(wanted.low, high(right)),
                Interval::real(wanted.low, high(left)),
            )
        }
        Calculation::Greatest => {
            let low = |other: Interval| {
                if other.high < wanted.low {
                    wanted.low
                } else {
                    f64::NEG_INFINITY
                }
            };
            (
                Interval::real(low(right), wanted.high),
                Interval::real(low(left), wanted.high),
            )
        }
    }
}

fn factor(wanted: Interval, other: Interval) -> Interval {
    if other.low <= 0.0 && other.high >= 0.0 {
        Interval::EVERYTHING
    } else {
        wanted.divide(other)
    }
}

fn divisor(wanted: Interval, dividend: Interval) -> Interval {
    if wanted.low <= 0.0 && wanted.high >= 0.0 {
        Interval::EVERYTHING
    } else {
        dividend.divide(wanted)
    }
}
