//! What a rule asks for, as constraints over variables.

use fissure_rules::{
    Datum, DtypeTerm, ElementFact, Formula, Operator, Quantifier, Sequence, Subject, Term,
};

use crate::rules::flat::{Atom, Expr, Flat};
use crate::rules::outline::{Outline, TensorOutline};
use crate::rules::specialise::term::bits;
use crate::rules::specialise::{
    Case, Found, MAXIMUM_CASES, Specialised, Specialiser, Unsupported, joined,
};

impl Specialiser<'_> {
    pub(super) fn formula(&mut self, formula: &Formula) -> Specialised<Flat> {
        Ok(match formula {
            Formula::Constant(value) => Flat::Constant(*value),
            Formula::Not(inner) => self.formula(inner)?.negated(),
            Formula::All(parts) => {
                let mut kept = Vec::new();
                for part in parts {
                    match self.formula(part)? {
                        Flat::Constant(false) => return Ok(Flat::Constant(false)),
                        other => kept.push(other),
                    }
                }
                Flat::all(kept)
            }
            Formula::Any(parts) => {
                let mut kept = Vec::new();
                for part in parts {
                    match self.formula(part)? {
                        Flat::Constant(true) => return Ok(Flat::Constant(true)),
                        other => kept.push(other),
                    }
                }
                Flat::any(kept)
            }
            Formula::If(parts) => {
                let (condition, then, other) = parts.as_ref();
                match self.formula(condition)? {
                    Flat::Constant(true) => self.formula(then)?,
                    Flat::Constant(false) => self.formula(other)?,
                    open => {
                        let then = self.formula(then)?;
                        let other = self.formula(other)?;
                        chosen(open, then, other)
                    }
                }
            }
            Formula::Alike(sides) => {
                let (left, right) = (self.formula(&sides.0)?, self.formula(&sides.1)?);
                let neither = right.clone().negated();
                chosen(left, right, neither)
            }
            Formula::Truth(subject, wanted) => self.certainly(subject, |this, found| {
                Ok(match found {
                    Found::Outline(Outline::Bool(variable)) => {
                        let bit = if *wanted { 0b10 } else { 0b01 };
                        Flat::member(*variable, bit, this.mask(*variable))
                    }
                    Found::Outline(Outline::Fixed(Datum::Bool(value))) => {
                        Flat::Constant(value == wanted)
                    }
                    _ => Flat::Constant(false),
                })
            })?,
            Formula::Compare(operator, left, right) => self.compared(*operator, left, right)?,
            Formula::NumberIn(term, numbers) => {
                let cases = self.term(term)?;
                let domains = self.domains();
                Flat::any(cases.into_iter().map(|case| {
                    let Some(value) = case.value else {
                        return Flat::Constant(false);
                    };
                    let equal = numbers.iter().map(|number| {
                        Flat::equal(value.clone(), Expr::Constant(number.as_f64()), domains)
                    });
                    let is_one = Flat::any(equal);
                    Flat::all(case.when.into_iter().chain([is_one]))
                }))
            }
            Formula::DtypeIn(term, set) => match self.dtype(term)? {
                None => Flat::Constant(false),
                Some(Ok(dtype)) => Flat::Constant(set.contains(dtype)),
                Some(Err(variable)) => Flat::member(variable, set.0.into(), self.mask(variable)),
            },
            Formula::DtypeSame(equal, left, right) => {
                let same = match (self.dtype(left)?, self.dtype(right)?) {
                    (Some(Ok(a)), Some(Ok(b))) => Flat::Constant(a == b),
                    (Some(Ok(dtype)), Some(Err(variable)))
                    | (Some(Err(variable)), Some(Ok(dtype))) => {
                        Flat::member(variable, 1 << dtype as u32, self.mask(variable))
                    }
                    (Some(Err(a)), Some(Err(b))) if a == b => Flat::Constant(true),
                    (Some(Err(a)), Some(Err(b))) => Flat::Atom(Atom::Same(a, b)),
                    _ => return Ok(Flat::Constant(false)),
                };
                if *equal { same } else { same.negated() }
            }
            Formula::TextIn(member, subject, wanted) => {
                let holds = |text: &String| wanted.contains(text) == *member;
                self.text(subject, &holds)?
            }
            Formula::Characters(subject, allowed) => {
                let holds = |text: &String| text.chars().all(|c| allowed.contains(c));
                self.text(subject, &holds)?
            }
            Formula::ValueSame(equal, left, right) => {
                let (left, right) = (self.one(left)?, self.one(right)?);
                match (left, right) {
                    (Found::Number(a), Found::Number(b)) => {
                        let same = Flat::equal(a, b, self.domains());
                        if *equal { same } else { same.negated() }
                    }
                    (a, b) if !a.is_given() || !b.is_given() => Flat::Constant(false),
                    _ => return Err(Unsupported),
                }
            }
            Formula::SequenceSame(equal, left, right) => {
                let (Some(left), Some(right)) = (self.numbers(left)?, self.numbers(right)?) else {
                    return Ok(Flat::Constant(false));
                };
                let same = if left.len() == right.len() {
                    let domains = self.domains();
                    let pairs = left.into_iter().zip(right);
                    Flat::all(pairs.map(|(a, b)| Flat::equal(a, b, domains)))
                } else {
                    Flat::Constant(false)
                };
                if *equal { same } else { same.negated() }
            }
            Formula::Given(subject) => Flat::Constant(self.one(subject)?.is_given()),
            Formula::Broadcastable(shapes) => self.broadcast(shapes)?,
            Formula::BroadcastableTo(from, to) => {
                let (Some(from), Some(to)) = (self.shape(from)?, self.shape(to)?) else {
                    return Ok(Flat::Constant(false));
                };
                if from.len() > to.len() {
                    return Ok(Flat::Constant(false));
                }
                let domains = self.domains();
                let pairs = from.into_iter().rev().zip(to.into_iter().rev());
                Flat::all(pairs.map(|(a, b)| {
                    let one = Flat::equal(a.clone(), Expr::Constant(1.0), domains);
                    Flat::any([Flat::equal(a, b, domains), one])
                }))
            }
            Formula::Fact(fact, subject) => match self.one(subject)? {
                Found::Outline(Outline::Tensor(tensor)) => self.tensor_fact(*fact, &tensor),
                _ => match self.numbers(&Sequence::Of(subject.clone()))? {
                    Some(items) => self.list_fact(*fact, &items),
                    None => Flat::Constant(false),
                },
            },
            Formula::Range {
                quantifier,
                slot,
                low,
                high,
                body,
            } => {
                let (Some(low), Some(high)) = (self.constant(low)?, self.constant(high)?) else {
                    return Ok(Flat::Constant(false));
                };
                if high - low >= MAXIMUM_CASES as f64 {
                    return Err(Unsupported);
                }
                let mut values = Vec::new();
                let mut value = low;
                while value <= high {
                    values.push(Found::Number(Expr::Constant(value)));
                    value += 1.0;
                }
                self.unrolled(*quantifier, *slot, values, body)?
            }
            Formula::Items {
                quantifier,
                slot,
                of,
                body,
            } => match self.items(of)? {
                Some(items) => self.unrolled(*quantifier, *slot, items, body)?,
                None => Flat::Constant(false),
            },
        })
    }

    fn compared(&mut self, operator: Operator, left: &Term, right: &Term) -> Specialised<Flat> {
        let (left, right) = (self.term(left)?, self.term(right)?);
        if left.len() * right.len() > MAXIMUM_CASES {
            return Err(Unsupported);
        }
        let mut parts = Vec::new();
        for a in &left {
            for b in &right {
                if let (Some(x), Some(y)) = (&a.value, &b.value) {
                    let holds = Flat::compare(operator, x.clone(), y.clone(), self.domains());
                    parts.push(Flat::all(
                        joined(&a.when, &b.when).into_iter().chain([holds]),
                    ));
                }
            }
        }
        Ok(Flat::any(parts))
    }

    fn unrolled(
        &mut self,
        quantifier: Quantifier,
        slot: usize,
        values: Vec<Found>,
        body: &Formula,
    ) -> Specialised<Flat> {
        let mut parts = Vec::new();
        for value in values {
            self.bound.truncate(slot);
            self.bound.resize(slot, Found::Nothing);
            self.bound.push(value);
            parts.push(self.formula(body)?);
        }
        Ok(match quantifier {
            Quantifier::Forall => Flat::all(parts),
            Quantifier::Exists => Flat::any(parts),
        })
    }

    /// What a quantifier goes over; of a tensor the bounds of its elements.
    fn items(&mut self, of: &Sequence) -> Specialised<Option<Vec<Found>>> {
        if let Sequence::Of(subject) = of {
            return Ok(match self.one(subject)? {
                Found::Outline(Outline::Items { items, .. }) => {
                    Some(items.iter().map(Found::from).collect())
                }
                Found::Outline(Outline::Tensor(tensor)) => Some(match tensor.bounds {
                    Some((low, high)) => [low, high]
                        .map(|bound| Found::Number(Expr::Variable(bound)))
                        .to_vec(),
                    None => Vec::new(),
                }),
                _ => None,
            });
        }
        let numbers = self.numbers(of)?;
        Ok(numbers.map(|numbers| numbers.into_iter().map(Found::Number).collect()))
    }

    /// The value of a subject that is the same in every case.
    fn one(&mut self, subject: &Subject) -> Specialised<Found> {
        let mut cases = self.subject(subject)?;
        match cases.pop() {
            Some(Case { when, value }) if cases.is_empty() && when.is_empty() => Ok(value),
            _ => Err(Unsupported),
        }
    }

    fn certainly(
        &mut self,
        subject: &Subject,
        formula: impl Fn(&Self, &Found) -> Specialised<Flat>,
    ) -> Specialised<Flat> {
        let mut parts = Vec::new();
        for case in self.subject(subject)? {
            let holds = formula(self, &case.value)?;
            parts.push(Flat::all(case.when.into_iter().chain([holds])));
        }
        Ok(Flat::any(parts))
    }

    fn dtype(
        &mut self,
        term: &DtypeTerm,
    ) -> Specialised<Option<Result<fissure_model::Dtype, u16>>> {
        Ok(match term {
            DtypeTerm::Constant(dtype) => Some(Ok(*dtype)),
            DtypeTerm::Of(subject) => match self.one(subject)? {
                Found::Outline(Outline::Tensor(tensor)) => Some(Err(tensor.dtype)),
                Found::Outline(Outline::Dtype(variable)) => Some(Err(variable)),
                Found::Outline(Outline::Fixed(Datum::Dtype(dtype))) => Some(Ok(dtype)),
                _ => None,
            },
        })
    }

    fn text(&mut self, subject: &Subject, holds: &dyn Fn(&String) -> bool) -> Specialised<Flat> {
        Ok(match self.one(subject)? {
            Found::Outline(Outline::Text(variable)) => {
                let bits = bits(self.texts_of(subject)?, holds);
                Flat::member(variable, bits, self.mask(variable))
            }
            Found::Outline(Outline::Fixed(Datum::Text(text))) => Flat::Constant(holds(&text)),
            _ => Flat::Constant(false),
        })
    }

    /// The texts a parameter, or the items of one, are chosen from.
    pub(super) fn texts_of(&self, subject: &Subject) -> Specialised<&[String]> {
        match subject {
            Subject::Param(position) => Ok(self.texts[*position]),
            Subject::Item(parts) => self.texts_of(&parts.0),
            Subject::Bound(_) => Err(Unsupported),
        }
    }

    fn shape(&mut self, of: &Sequence) -> Specialised<Option<Vec<Expr>>> {
        match of {
            Sequence::Shape(_) => self.numbers(of),
            Sequence::Of(subject) => match self.one(subject)? {
                Found::Outline(Outline::Items { .. }) => self.numbers(of),
                other => Ok(other.shape()),
            },
        }
    }

    fn broadcast(&mut self, shapes: &[Sequence]) -> Specialised<Flat> {
        let mut known = Vec::new();
        for shape in shapes {
            match self.shape(shape)? {
                Some(dims) => known.push(dims),
                None => return Ok(Flat::Constant(false)),
            }
        }
        let domains = self.domains();
        let is_one = |dim: &Expr| Flat::equal(dim.clone(), Expr::Constant(1.0), domains);
        let mut parts = Vec::new();
        for (position, left) in known.iter().enumerate() {
            for right in &known[position + 1..] {
                for (a, b) in left.iter().rev().zip(right.iter().rev()) {
                    let same = Flat::equal(a.clone(), b.clone(), domains);
                    parts.push(Flat::any([same, is_one(a), is_one(b)]));
                }
            }
        }
        Ok(Flat::all(parts))
    }

    fn tensor_fact(&self, fact: ElementFact, tensor: &TensorOutline) -> Flat {
        let Some((_, variable)) = tensor.facts.iter().find(|(known, _)| *known == fact) else {
            return Flat::Constant(false);
        };
        let holds = Flat::member(*variable, 0b10, self.mask(*variable));
        let domains = self.domains();
        match fact {
            ElementFact::Symmetric | ElementFact::PositiveDefinite => match tensor.dims[..] {
                [.., height, width] => Flat::all([
                    holds,
                    Flat::equal(Expr::Variable(height), Expr::Variable(width), domains),
                ]),
                _ => Flat::Constant(false),
            },
            ElementFact::Sorted
            | ElementFact::Distinct
            | ElementFact::Permutation
            | ElementFact::OneHot => holds,
        }
    }

    fn list_fact(&self, fact: ElementFact, items: &[Expr]) -> Flat {
        let domains = self.domains();
        let compare =
            |operator, a: &Expr, b: &Expr| Flat::compare(operator, a.clone(), b.clone(), domains);
        let mut parts = Vec::new();
        if fact == ElementFact::Sorted {
            for pair in items.windows(2) {
                parts.push(compare(Operator::LessOrEqual, &pair[0], &pair[1]));
            }
            return Flat::all(parts);
        }
        if !fact.fits_lists() {
            return Flat::Constant(false);
        }
        for (position, a) in items.iter().enumerate() {
            for b in &items[position + 1..] {
                parts.push(compare(Operator::NotEqual, a, b));
            }
            if fact == ElementFact::Permutation {
                let count = Expr::Constant(items.len() as f64);
                parts.push(compare(Operator::LessOrEqual, &Expr::Constant(0.0), a));
                parts.push(compare(Operator::Less, a, &count));
                if let Expr::Variable(variable) = a
                    && self.is_real(*variable)
                {
                    return Flat::Constant(false);
                }
            }
        }
        Flat::all(parts)
    }
}

/// `if condition then … else …` where the condition is open.
fn chosen(condition: Flat, then: Flat, other: Flat) -> Flat {
    let negated = condition.clone().negated();
    match (&then, &other) {
        // An implication needs no case of its own for the condition.
        (_, Flat::Constant(true)) => Flat::any([negated, then]),
        (Flat::Constant(true), _) => Flat::any([condition, other]),
        _ => Flat::any([Flat::all([condition, then]), Flat::all([negated, other])]),
    }
}
