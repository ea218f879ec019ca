//! Numbers of a rule as calculations over variables.

use fissure_rules::{Number, Operator, Sequence, Term};

use crate::rules::atom::Calculation;
use crate::rules::flat::{Expr, Flat};
use crate::rules::outline::Outline;
use crate::rules::specialise::{
    Case, Found, Specialised, Specialiser, Unsupported, bounded, certain, joined, position,
};

type Value = Option<Expr>;

impl Specialiser<'_> {
    pub(super) fn term(&mut self, term: &Term) -> Specialised<Vec<Case<Value>>> {
        Ok(match term {
            Term::Constant(value) => vec![certain(Some(Expr::Constant(value.as_f64())))],
            Term::Value(subject) => self.each(subject, |_, found| match found {
                Found::Number(value) => Ok(Some(value.clone())),
                _ => Ok(None),
            })?,
            Term::Ndim(subject) => self.each(subject, |_, found| {
                let rank = found.shape().map(|shape| shape.len() as f64);
                Ok(rank.map(Expr::Constant))
            })?,
            Term::Size(subject) => self.each(subject, |_, found| {
                Ok(found.shape().map(|shape| product(&shape)))
            })?,
            Term::Length(subject) => self.lengths(subject)?,
            Term::Dimension(parts) => {
                let (subject, at) = parts.as_ref();
                let mut cases = Vec::new();
                for case in self.subject(subject)? {
                    let shape = case.value.shape();
                    let count = shape.as_ref().map_or(0, Vec::len);
                    for index in self.index(at, count)? {
                        let value = match (&shape, index.value) {
                            (Some(shape), Some(position)) => Some(shape[position].clone()),
                            _ => None,
                        };
                        cases.push(Case {
                            when: joined(&case.when, &index.when),
                            value,
                        });
                    }
                }
                cases
            }
            Term::Minimum(of) => self.extreme(of, Calculation::Least)?,
            Term::Maximum(of) => self.extreme(of, Calculation::Greatest)?,
            Term::Least(terms) => self.folded(terms, Calculation::Least)?,
            Term::Greatest(terms) => self.folded(terms, Calculation::Greatest)?,
            Term::Sum(of) => {
                let items = self.numbers(of)?;
                vec![certain(items.map(|items| sum(&items)))]
            }
            Term::Product(of, None) => {
                let items = self.numbers(of)?;
                vec![certain(items.map(|items| product(&items)))]
            }
            Term::Product(of, Some(range)) => {
                let items = self.numbers(of)?;
                let ends = [self.constant(&range.0)?, self.constant(&range.1)?];
                let value = match (items, ends) {
                    (Some(items), [Some(_), Some(-1.0)]) if items.is_empty() => {
                        Some(Expr::Constant(1.0))
                    }
                    (Some(items), [Some(first), Some(last)]) => {
                        match (position(first, items.len()), position(last, items.len())) {
                            (Some(first), Some(last)) => {
                                let taken = last.saturating_add(1).saturating_sub(first);
                                let taken: Vec<Expr> =
                                    items.into_iter().skip(first).take(taken).collect();
                                Some(product(&taken))
                            }
                            _ => None,
                        }
                    }
                    _ => None,
                };
                vec![certain(value)]
            }
            Term::Negate(inner) => self.mapped(inner, Expr::negate)?,
            Term::Absolute(inner) => self.mapped(inner, Expr::absolute)?,
            Term::Calculate(operator, sides) => {
                let (left, right) = (self.term(&sides.0)?, self.term(&sides.1)?);
                self.calculated(*operator, &left, &right)?
            }
            Term::If(parts) => {
                let (condition, then, other) = parts.as_ref();
                let condition = self.formula(condition)?;
                match condition {
                    Flat::Constant(true) => self.term(then)?,
                    Flat::Constant(false) => self.term(other)?,
                    open => {
                        let mut cases = Vec::new();
                        for (taken, when) in [(then, open.clone()), (other, open.negated())] {
                            for case in self.term(taken)? {
                                cases.push(Case {
                                    when: joined(std::slice::from_ref(&when), &case.when),
                                    value: case.value,
                                });
                            }
                        }
                        bounded(cases)?
                    }
                }
            }
        })
    }

    fn each(
        &mut self,
        subject: &fissure_rules::Subject,
        value: impl Fn(&Self, &Found) -> Specialised<Value>,
    ) -> Specialised<Vec<Case<Value>>> {
        self.subject(subject)?
            .into_iter()
            .map(|case| {
                Ok(Case {
                    value: value(self, &case.value)?,
                    when: case.when,
                })
            })
            .collect()
    }

    fn mapped(&mut self, term: &Term, change: fn(Expr) -> Expr) -> Specialised<Vec<Case<Value>>> {
        let cases = self.term(term)?.into_iter().map(|case| Case {
            when: case.when,
            value: case.value.map(change),
        });
        Ok(cases.collect())
    }

    fn calculated(
        &self,
        operator: Operator,
        left: &[Case<Value>],
        right: &[Case<Value>],
    ) -> Specialised<Vec<Case<Value>>> {
        let how = match operator {
            Operator::Add => Calculation::Add,
            Operator::Subtract => Calculation::Subtract,
            Operator::Multiply => Calculation::Multiply,
            Operator::Divide => Calculation::Divide,
            Operator::FloorDivide => Calculation::FloorDivide,
            _ => Calculation::Modulo,
        };
        let divides = matches!(
            how,
            Calculation::Divide | Calculation::FloorDivide | Calculation::Modulo
        );
        let mut cases = Vec::new();
        for a in left {
            for b in right {
                let when = joined(&a.when, &b.when);
                let (Some(x), Some(y)) = (&a.value, &b.value) else {
                    cases.push(Case { when, value: None });
                    continue;
                };
                let value = || Some(Expr::binary(how, x.clone(), y.clone()));
                if !divides {
                    cases.push(Case {
                        when,
                        value: value(),
                    });
                    continue;
                }
                // Defined only where the divisor is not 0.
                match Flat::equal(y.clone(), Expr::Constant(0.0), self.domains()) {
                    Flat::Constant(true) => cases.push(Case { when, value: None }),
                    Flat::Constant(false) => cases.push(Case {
                        when,
                        value: value(),
                    }),
                    zero => {
                        cases.push(Case {
                            when: joined(&when, &[zero.clone().negated()]),
                            value: value(),
                        });
                        cases.push(Case {
                            when: joined(&when, &[zero]),
                            value: None,
                        });
                    }
                }
            }
        }
        bounded(cases)
    }

    fn folded(&mut self, terms: &[Term], how: Calculation) -> Specialised<Vec<Case<Value>>> {
        let mut result: Option<Vec<Case<Value>>> = None;
        for term in terms {
            let next = self.term(term)?;
            let Some(before) = result else {
                result = Some(next);
                continue;
            };
            let mut cases = Vec::new();
            for a in &before {
                for b in &next {
                    let value = match (&a.value, &b.value) {
                        (Some(x), Some(y)) => Some(Expr::binary(how, x.clone(), y.clone())),
                        _ => None,
                    };
                    cases.push(Case {
                        when: joined(&a.when, &b.when),
                        value,
                    });
                }
            }
            result = Some(bounded(cases)?);
        }
        result.ok_or(Unsupported)
    }

    fn extreme(&mut self, of: &Sequence, how: Calculation) -> Specialised<Vec<Case<Value>>> {
        if let Sequence::Of(subject) = of {
            let mut cases = Vec::new();
            for case in self.subject(subject)? {
                let value = match &case.value {
                    Found::Outline(Outline::Tensor(tensor)) => tensor.bounds.map(|(low, high)| {
                        Expr::Variable(if how == Calculation::Least { low } else { high })
                    }),
                    _ => {
                        let items = self.items_of(&case.value, false)?;
                        items.and_then(|items| {
                            items.into_iter().reduce(|a, b| Expr::binary(how, a, b))
                        })
                    }
                };
                cases.push(Case {
                    when: case.when,
                    value,
                });
            }
            return Ok(cases);
        }
        let items = self.numbers(of)?;
        let best = items.and_then(|items| items.into_iter().reduce(|a, b| Expr::binary(how, a, b)));
        Ok(vec![certain(best)])
    }

    /// The numbers of a sequence whose structure is certain; `None` when it has none.
    pub(super) fn numbers(&mut self, of: &Sequence) -> Specialised<Option<Vec<Expr>>> {
        let (subject, is_shape) = match of {
            Sequence::Shape(subject) => (subject, true),
            Sequence::Of(subject) => (subject, false),
        };
        let cases = self.subject(subject)?;
        let [case] = cases.as_slice() else {
            return Err(Unsupported);
        };
        if !case.when.is_empty() {
            return Err(Unsupported);
        }
        self.items_of(&case.value, is_shape)
    }

    fn items_of(&self, found: &Found, is_shape: bool) -> Specialised<Option<Vec<Expr>>> {
        if is_shape {
            return Ok(found.shape());
        }
        match found {
            Found::Outline(Outline::Items { items, .. }) => {
                let mut numbers = Vec::new();
                for item in items {
                    match Found::from(item) {
                        Found::Number(value) => numbers.push(value),
                        _ => return Ok(None),
                    }
                }
                Ok(Some(numbers))
            }
            Found::Outline(Outline::Tensor(_)) => Err(Unsupported),
            Found::Outline(Outline::Fixed(datum)) => match datum.items() {
                Some(items) => Ok(items
                    .iter()
                    .map(|item| item.number().map(|n: Number| Expr::Constant(n.as_f64())))
                    .collect()),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn lengths(&mut self, subject: &fissure_rules::Subject) -> Specialised<Vec<Case<Value>>> {
        let mut cases = Vec::new();
        for case in self.subject(subject)? {
            match &case.value {
                Found::Outline(Outline::Items { items, .. }) => cases.push(Case {
                    when: case.when,
                    value: Some(Expr::Constant(items.len() as f64)),
                }),
                Found::Outline(Outline::Text(variable)) => {
                    let texts = self.texts_of(subject)?;
                    let length = |text: &String| text.chars().count();
                    let mut lengths: Vec<usize> = texts.iter().map(length).collect();
                    lengths.sort_unstable();
                    lengths.dedup();
                    for wanted in lengths {
                        let bits = bits(texts, |text| length(text) == wanted);
                        let has = Flat::member(*variable, bits, self.mask(*variable));
                        cases.push(Case {
                            when: joined(&case.when, &[has]),
                            value: Some(Expr::Constant(wanted as f64)),
                        });
                    }
                }
                _ => cases.push(Case {
                    when: case.when,
                    value: None,
                }),
            }
        }
        bounded(cases)
    }

    /// The one certain constant a term is, if it is one.
    pub(super) fn constant(&mut self, term: &Term) -> Specialised<Option<f64>> {
        match self.term(term)?.as_slice() {
            [case] if case.when.is_empty() => match &case.value {
                Some(Expr::Constant(value)) => Ok(Some(*value)),
                None => Ok(None),
                Some(_) => Err(Unsupported),
            },
            _ => Err(Unsupported),
        }
    }
}

/// One bit for each text that fits.
pub(super) fn bits(texts: &[String], fits: impl Fn(&String) -> bool) -> u64 {
    let fitting = texts.iter().enumerate().filter(|(_, text)| fits(text));
    fitting.fold(0, |bits, (position, _)| bits | 1 << position)
}

fn product(factors: &[Expr]) -> Expr {
    let factors = factors.iter().cloned();
    factors.fold(Expr::Constant(1.0), |a, b| {
        Expr::binary(Calculation::Multiply, a, b)
    })
}

fn sum(items: &[Expr]) -> Expr {
    let items = items.iter().cloned();
    items
        .reduce(|a, b| Expr::binary(Calculation::Add, a, b))
        .unwrap_or(Expr::Constant(0.0))
}
