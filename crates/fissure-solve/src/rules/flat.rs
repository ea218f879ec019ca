//! Rules with every structural question answered: comparisons between variables, and choices
//! between them.

use fissure_rules::Operator;

use crate::rules::atom::{Calculation, Comparison, Node, Relation};
use crate::rules::interval::Interval;

/// A calculation before it is laid out in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Constant(f64),
    Variable(u16),
    Binary(Calculation, Box<(Expr, Expr)>),
    Negate(Box<Expr>),
    Absolute(Box<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) enum Atom {
    Compare(Comparison),
    /// A choice variable is one of these.
    In(u16, u64),
    Same(u16, u16),
    Different(u16, u16),
}

#[derive(Clone, Debug)]
pub(crate) enum Flat {
    Constant(bool),
    All(Vec<Flat>),
    Any(Vec<Flat>),
    Atom(Atom),
}

impl Expr {
    pub(super) fn binary(how: Calculation, left: Expr, right: Expr) -> Expr {
        if let (Expr::Constant(a), Expr::Constant(b)) = (&left, &right) {
            let value = match how {
                Calculation::Add => a + b,
                Calculation::Subtract => a - b,
                Calculation::Multiply => a * b,
                Calculation::Divide => a / b,
                Calculation::FloorDivide => (a / b).floor(),
                Calculation::Modulo => a - (a / b).floor() * b,
                Calculation::Least => a.min(*b),
                Calculation::Greatest => a.max(*b),
            };
            return Expr::Constant(value);
        }
        let one = Expr::Constant(1.0);
        match how {
            Calculation::Multiply if left == one => right,
            Calculation::Multiply if right == one => left,
            _ => Expr::Binary(how, Box::new((left, right))),
        }
    }

    pub(super) fn negate(self) -> Expr {
        match self {
            Expr::Constant(value) => Expr::Constant(-value),
            other => Expr::Negate(Box::new(other)),
        }
    }

    pub(super) fn absolute(self) -> Expr {
        match self {
            Expr::Constant(value) => Expr::Constant(value.abs()),
            other => Expr::Absolute(Box::new(other)),
        }
    }

    pub(super) fn constant(&self) -> Option<f64> {
        match self {
            Expr::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// Lays the calculation out; returns the position of its value.
    fn lay_out(&self, nodes: &mut Vec<Node>) -> u16 {
        let node = match self {
            Expr::Constant(value) => Node::Constant(*value),
            Expr::Variable(variable) => Node::Variable(*variable),
            Expr::Binary(how, sides) => {
                let left = sides.0.lay_out(nodes);
                let right = sides.1.lay_out(nodes);
                Node::Binary(*how, left, right)
            }
            Expr::Negate(inner) => Node::Negate(inner.lay_out(nodes)),
            Expr::Absolute(inner) => Node::Absolute(inner.lay_out(nodes)),
        };
        nodes.push(node);
        (nodes.len() - 1) as u16
    }

    /// Whole for every whole value of its whole variables.
    fn is_whole(&self, domains: &[Interval]) -> bool {
        match self {
            Expr::Constant(value) => value.fract() == 0.0,
            Expr::Variable(variable) => domains[usize::from(*variable)].step > 0.0,
            Expr::Binary(Calculation::Divide, _) => false,
            Expr::Binary(Calculation::FloorDivide, _) => true,
            Expr::Binary(_, sides) => sides.0.is_whole(domains) && sides.1.is_whole(domains),
            Expr::Negate(inner) | Expr::Absolute(inner) => inner.is_whole(domains),
        }
    }
}

impl Flat {
    pub(super) fn all(parts: impl IntoIterator<Item = Flat>) -> Flat {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Flat::Constant(true) => {}
                Flat::Constant(false) => return Flat::Constant(false),
                Flat::All(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Flat::Constant(true),
            1 => kept.remove(0),
            _ => Flat::All(kept),
        }
    }

    pub(super) fn any(parts: impl IntoIterator<Item = Flat>) -> Flat {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Flat::Constant(false) => {}
                Flat::Constant(true) => return Flat::Constant(true),
                Flat::Any(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Flat::Constant(false),
            1 => kept.remove(0),
            _ => Flat::Any(kept),
        }
    }

    pub(super) fn compare(
        operator: Operator,
        left: Expr,
        right: Expr,
        domains: &[Interval],
    ) -> Flat {
        let (relation, exchanged) = Relation::of(operator);
        let (left, right) = if exchanged {
            (right, left)
        } else {
            (left, right)
        };
        if let (Some(a), Some(b)) = (left.constant(), right.constant()) {
            return Flat::Constant(match relation {
                Relation::Zero => a == b,
                Relation::NotZero => a != b,
                Relation::Negative => a < b,
                Relation::NotPositive => a <= b,
            });
        }
        if left == right {
            return Flat::Constant(matches!(relation, Relation::Zero | Relation::NotPositive));
        }
        let whole = left.is_whole(domains) && right.is_whole(domains);
        let difference = Expr::binary(Calculation::Subtract, left, right);
        let mut nodes = Vec::new();
        difference.lay_out(&mut nodes);
        Flat::Atom(Atom::Compare(Comparison {
            nodes,
            relation,
            whole,
        }))
    }

    pub(super) fn equal(left: Expr, right: Expr, domains: &[Interval]) -> Flat {
        Flat::compare(Operator::Equal, left, right, domains)
    }

    /// The choice variable is one of `bits`, of the `possible` ones.
    pub(super) fn member(variable: u16, bits: u64, possible: u64) -> Flat {
        match bits & possible {
            0 => Flat::Constant(false),
            every if every == possible => Flat::Constant(true),
            some => Flat::Atom(Atom::In(variable, some)),
        }
    }

    /// Holds exactly when this does not.
    pub(super) fn negated(self) -> Flat {
        match self {
            Flat::Constant(value) => Flat::Constant(!value),
            Flat::All(parts) => Flat::any(parts.into_iter().map(Flat::negated)),
            Flat::Any(parts) => Flat::all(parts.into_iter().map(Flat::negated)),
            Flat::Atom(atom) => Flat::Atom(match atom {
                Atom::Compare(comparison) => Atom::Compare(opposite(comparison)),
                Atom::In(variable, bits) => Atom::In(variable, !bits),
                Atom::Same(a, b) => Atom::Different(a, b),
                Atom::Different(a, b) => Atom::Same(a, b),
            }),
        }
    }
}

fn opposite(comparison: Comparison) -> Comparison {
    let Comparison {
        mut nodes,
        relation,
        whole,
    } = comparison;
    let relation = match relation {
        Relation::Zero => Relation::NotZero,
        Relation::NotZero => Relation::Zero,
        // Not below 0: the negative is at most 0.
        Relation::Negative | Relation::NotPositive => {
            let root = (nodes.len() - 1) as u16;
            nodes.push(Node::Negate(root));
            match relation {
                Relation::Negative => Relation::NotPositive,
                _ => Relation::Negative,
            }
        }
    };
    Comparison {
        nodes,
        relation,
        whole,
    }
}
