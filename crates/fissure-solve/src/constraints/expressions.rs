//! Expressions with names resolved to positions, and what is known about one call.

use fissure_model::{Comparison, Dtype, Expression, Operator};

/// An [`Expression`] whose names are indices into a [`Scope`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    Number(f64),
    Symbol(usize),
    Value(usize),
    Length(usize),
    Ndim(usize),
    Maximum(usize),
    Negate(Box<Term>),
    Binary(Box<Term>, Operator, Box<Term>),
    /// Refers to a parameter that does not exist; restricts nothing.
    Unknown,
}

/// The names of one spec.
pub(crate) struct Names<'a> {
    pub params: Vec<&'a str>,
    pub symbols: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn param(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|param| *param == name)
    }

    pub(super) fn symbol(&mut self, name: &'a str) -> usize {
        self.symbols
            .iter()
            .position(|symbol| *symbol == name)
            .unwrap_or_else(|| {
                self.symbols.push(name);
                self.symbols.len() - 1
            })
    }

    pub(super) fn term(&mut self, expression: &'a Expression) -> Term {
        let of = |names: &Names, name: &str, make: fn(usize) -> Term| {
            names.param(name).map_or(Term::Unknown, make)
        };
        match expression {
            Expression::Number(number) => Term::Number(*number),
            Expression::Infinity => Term::Number(f64::INFINITY),
            Expression::Symbol(name) => Term::Symbol(self.symbol(name)),
            Expression::ValueOf(name) => of(self, name, Term::Value),
            Expression::LengthOf(name) => of(self, name, Term::Length),
            Expression::NdimOf(name) => of(self, name, Term::Ndim),
            Expression::MaximumOf(name) => of(self, name, Term::Maximum),
            Expression::Negate(inner) => Term::Negate(Box::new(self.term(inner))),
            Expression::Binary(left, operator, right) => Term::Binary(
                Box::new(self.term(left)),
                *operator,
                Box::new(self.term(right)),
            ),
        }
    }
}

/// What other parameters can ask about a parameter's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    pub value: Option<f64>,
    pub length: Option<f64>,
    pub ndim: Option<f64>,
    pub maximum: Option<f64>,
    pub dtype: Option<Dtype>,
    /// The dtype stands for a Python number, which only has a family.
    pub plain: bool,
    pub shape: Option<Vec<u64>>,
}

/// Values of symbols and facts about parameters, of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub symbols: &'a [Option<f64>],
    pub facts: &'a [Facts],
}

/// Which symbols of a term have no value yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unbound {
    None,
    One(usize),
    Many(usize),
    /// Some part cannot be known (an omitted parameter): the term restricts nothing.
    Unknowable,
}

impl Term {
    pub(crate) fn evaluate(&self, scope: Scope) -> Option<f64> {
        let fact = |param: &usize| scope.facts.get(*param);
        match self {
            Term::Number(number) => Some(*number),
            Term::Symbol(symbol) => scope.symbols[*symbol],
            Term::Value(param) => fact(param)?.value,
            Term::Length(param) => fact(param)?.length,
            Term::Ndim(param) => fact(param)?.ndim,
            Term::Maximum(param) => fact(param)?.maximum,
            Term::Negate(inner) => inner.evaluate(scope).map(|value| -value),
            Term::Binary(left, operator, right) => {
                let (left, right) = (left.evaluate(scope)?, right.evaluate(scope)?);
                let value = match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide => left / right,
                };
                (!value.is_nan()).then_some(value)
            }
            Term::Unknown => None,
        }
    }

    pub(crate) fn unbound(&self, scope: Scope) -> Unbound {
        match self {
            Term::Symbol(symbol) if scope.symbols[*symbol].is_none() => Unbound::One(*symbol),
            Term::Negate(inner) => inner.unbound(scope),
            Term::Binary(left, _, right) => match (left.unbound(scope), right.unbound(scope)) {
                (Unbound::Unknowable, _) | (_, Unbound::Unknowable) => Unbound::Unknowable,
                (Unbound::None, other) | (other, Unbound::None) => other,
                (Unbound::One(symbol) | Unbound::Many(symbol), _) => Unbound::Many(symbol),
            },
            other => match other.evaluate(scope) {
                Some(_) => Unbound::None,
                None => Unbound::Unknowable,
            },
        }
    }

    /// The value of the one unbound symbol that makes the term equal to `target`.
    pub(crate) fn solve(&self, scope: Scope, target: f64) -> Option<f64> {
        let value = match self {
            Term::Symbol(_) => Some(target),
            Term::Negate(inner) => inner.solve(scope, -target),
            Term::Binary(left, operator, right) => match left.evaluate(scope) {
                Some(known) => right.solve(
                    scope,
                    match operator {
                        Operator::Add => target - known,
                        Operator::Subtract => known - target,
                        Operator::Multiply => target / known,
                        Operator::Divide => known / target,
                    },
                ),
                None => {
                    let known = right.evaluate(scope)?;
                    left.solve(
                        scope,
                        match operator {
                            Operator::Add => target - known,
                            Operator::Subtract => target + known,
                            Operator::Multiply => target / known,
                            Operator::Divide => target * known,
                        },
                    )
                }
            },
            _ => None,
        }?;
        (value.is_finite() && value.fract() == 0.0).then_some(value)
    }
}

pub(crate) fn compare(left: f64, comparison: Comparison, right: f64) -> bool {
    match comparison {
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(left: Expression, operator: Operator, right: Expression) -> Expression {
        Expression::Binary(Box::new(left), operator, Box::new(right))
    }

    #[test]
    fn a_symbol_is_solved_from_the_size_it_must_give() {
        let expression = binary(
            Expression::Symbol("out".into()),
            Operator::Divide,
            Expression::ValueOf("groups".into()),
        );
        let mut names = Names {
            params: vec!["groups"],
            symbols: vec![],
        };
        let term = names.term(&expression);
        let facts = [Facts {
            value: Some(3.0),
            ..Facts::default()
        }];
        let scope = Scope {
            symbols: &[None],
            facts: &facts,
        };
        assert_eq!(term.unbound(scope), Unbound::One(0));
        assert_eq!(term.solve(scope, 2.0), Some(6.0));
    }

    #[test]
    fn an_unknown_parameter_makes_a_term_unknowable() {
        let expression = binary(
            Expression::Number(1.0),
            Operator::Add,
            Expression::ValueOf("gone".into()),
        );
        let mut names = Names {
            params: vec![],
            symbols: vec![],
        };
        let term = names.term(&expression);
        let scope = Scope {
            symbols: &[],
            facts: &[],
        };
        assert_eq!(term.unbound(scope), Unbound::Unknowable);
        assert_eq!(term.evaluate(scope), None);
    }

    #[test]
    fn no_whole_number_solves_an_uneven_product() {
        let expression = binary(
            Expression::Number(2.0),
            Operator::Multiply,
            Expression::Symbol("n".into()),
        );
        let mut names = Names {
            params: vec![],
            symbols: vec![],
        };
        let term = names.term(&expression);
        let scope = Scope {
            symbols: &[None],
            facts: &[],
        };
        assert_eq!(term.solve(scope, 5.0), None);
        assert_eq!(term.solve(scope, 6.0), Some(3.0));
    }
}
