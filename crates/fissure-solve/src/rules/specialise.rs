//! From a rule and a structure to what is left to decide: quantifiers unrolled, shapes as
//! variables, every undefined read false.

mod formula;
mod term;

use fissure_rules::{CheckedRule, Datum, Subject, Term};

use crate::rules::flat::{Expr, Flat};
use crate::rules::interval::Interval;
use crate::rules::outline::{Outline, Role, Variables};

/// Rules that this sampler cannot turn into constraints are tested on finished inputs instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsupported;

pub(crate) type Specialised<T> = Result<T, Unsupported>;

/// Unrolled quantifiers and products of cases stay below this.
const MAXIMUM_CASES: usize = 64;

/// A value under conditions; undefined where it is `None`.
#[derive(Clone)]
struct Case<T> {
    when: Vec<Flat>,
    value: T,
}

/// What a subject turns out to be.
#[derive(Clone)]
enum Found {
    Nothing,
    Number(Expr),
    Outline(Outline),
}

/// Rules over one structure of the input.
pub(crate) struct Specialiser<'a> {
    pub variables: &'a Variables,
    /// The structure of each parameter of the rule.
    pub params: Vec<&'a Outline>,
    /// The texts each parameter of the rule chooses from.
    pub texts: Vec<&'a [String]>,
    bound: Vec<Found>,
}

impl<'a> Specialiser<'a> {
    pub(super) fn new(
        variables: &'a Variables,
        params: Vec<&'a Outline>,
        texts: Vec<&'a [String]>,
    ) -> Self {
        Specialiser {
            variables,
            params,
            texts,
            bound: Vec::new(),
        }
    }

    /// What the rule asks for; nothing when it does not speak of this structure.
    pub(super) fn rule(&mut self, rule: &CheckedRule) -> Specialised<Flat> {
        let speaks = rule
            .params
            .iter()
            .zip(&self.params)
            .all(|(param, outline)| outline.is(&param.of, &self.variables.roles));
        if speaks {
            self.formula(&rule.formula)
        } else {
            Ok(Flat::Constant(true))
        }
    }

    fn domains(&self) -> &'a [Interval] {
        &self.variables.domains
    }

    fn mask(&self, variable: u16) -> u64 {
        self.variables.masks[usize::from(variable)]
    }

    fn is_real(&self, variable: u16) -> bool {
        self.variables.roles[usize::from(variable)] == Role::Real
    }

    fn subject(&mut self, subject: &Subject) -> Specialised<Vec<Case<Found>>> {
        Ok(match subject {
            Subject::Param(position) => vec![certain(Found::from(self.params[*position]))],
            Subject::Bound(slot) => {
                let found = self.bound.get(*slot).cloned().unwrap_or(Found::Nothing);
                vec![certain(found)]
            }
            Subject::Item(parts) => {
                let (of, at) = parts.as_ref();
                let mut cases = Vec::new();
                for case in self.subject(of)? {
                    let items: Vec<Found> = match &case.value {
                        Found::Outline(Outline::Items { items, .. }) => {
                            items.iter().map(Found::from).collect()
                        }
                        Found::Outline(Outline::Fixed(datum)) if datum.items().is_some() => {
                            return Err(Unsupported);
                        }
                        // One element of a tensor is not known before the tensor is filled.
                        Found::Outline(Outline::Tensor(_)) => return Err(Unsupported),
                        _ => Vec::new(),
                    };
                    for index in self.index(at, items.len())? {
                        let value = index
                            .value
                            .map_or(Found::Nothing, |position| items[position].clone());
                        cases.push(Case {
                            when: joined(&case.when, &index.when),
                            value,
                        });
                    }
                }
                cases
            }
        })
    }

    /// Every position an index can name among `count` items, and the case that it names none.
    fn index(&mut self, at: &Term, count: usize) -> Specialised<Vec<Case<Option<usize>>>> {
        let mut found = Vec::new();
        for case in self.term(at)? {
            match case.value {
                None => found.push(Case {
                    when: case.when,
                    value: None,
                }),
                Some(Expr::Constant(index)) => found.push(Case {
                    when: case.when,
                    value: position(index, count),
                }),
                Some(index) => {
                    let domains = self.domains();
                    let mut none = case.when.clone();
                    for position in 0..count {
                        let from_end = position as f64 - count as f64;
                        let named = [position as f64, from_end].map(|value| {
                            Flat::equal(index.clone(), Expr::Constant(value), domains)
                        });
                        let named = Flat::any(named);
                        none.push(named.clone().negated());
                        found.push(Case {
                            when: joined(&case.when, &[named]),
                            value: Some(position),
                        });
                    }
                    found.push(Case {
                        when: none,
                        value: None,
                    });
                }
            }
        }
        bounded(found)
    }
}

impl From<&Outline> for Found {
    fn from(outline: &Outline) -> Self {
        match outline {
            Outline::Number(variable) => Found::Number(Expr::Variable(*variable)),
            Outline::Fixed(datum) => match datum.number() {
                Some(number) => Found::Number(Expr::Constant(number.as_f64())),
                None => Found::Outline(outline.clone()),
            },
            other => Found::Outline(other.clone()),
        }
    }
}

impl Found {
    fn is_given(&self) -> bool {
        !matches!(
            self,
            Found::Nothing | Found::Outline(Outline::Fixed(Datum::None))
        )
    }

    /// The dimensions of what has a shape.
    fn shape(&self) -> Option<Vec<Expr>> {
        match self {
            Found::Number(_) | Found::Outline(Outline::Bool(_)) => Some(Vec::new()),
            Found::Outline(Outline::Tensor(tensor)) => {
                Some(tensor.dims.iter().map(|dim| Expr::Variable(*dim)).collect())
            }
            Found::Outline(Outline::Items { items, .. }) => {
                Some(vec![Expr::Constant(items.len() as f64)])
            }
            _ => None,
        }
    }
}

fn certain<T>(value: T) -> Case<T> {
    Case {
        when: Vec::new(),
        value,
    }
}

fn joined(first: &[Flat], second: &[Flat]) -> Vec<Flat> {
    first.iter().chain(second).cloned().collect()
}

fn bounded<T>(cases: Vec<T>) -> Specialised<Vec<T>> {
    if cases.len() > MAXIMUM_CASES {
        Err(Unsupported)
    } else {
        Ok(cases)
    }
}

/// Python's indices: negative ones count from the end.
fn position(index: f64, count: usize) -> Option<usize> {
    let count = count as f64;
    let from_start = if index < 0.0 { index + count } else { index };
    (index.fract() == 0.0 && (0.0..count).contains(&from_start)).then_some(from_start as usize)
}
