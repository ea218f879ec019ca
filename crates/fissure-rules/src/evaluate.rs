//! Does a rule hold on an input? Nanoseconds, no allocation, no solver.
//!
//! A term that has no value (a read outside the rank, a division by zero, the largest element of
//! nothing) makes the comparison around it false. `if`, `and`, `or` look only at what they need,
//! so a condition guards what stands behind it.

mod items;

use fissure_model::Dtype;

use self::items::{Found, Items, position, same};
use crate::check::MAXIMUM_VARIABLES;
use crate::datum::Datum;
use crate::facts::sequence_has;
use crate::formula::{CheckedRule, DtypeTerm, ElementFact, Formula, Sequence, Subject, Term};
use crate::number::Number;
use crate::syntax::{Operator, Quantifier};

/// A quantifier over more values than this does not hold, rather than run for minutes.
const MAXIMUM_VALUES: i64 = 1 << 16;

/// What a rule says of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Holds,
    Broken,
    /// An argument is not of the declared type, so the rule says nothing.
    Silent,
}

impl CheckedRule {
    /// Asks the rule about an input whose argument number `binding[i]` is the rule's parameter `i`.
    ///
    /// A binding shorter than the rule's parameters, or one that points outside the input, leaves
    /// the parameter not given.
    pub fn answer(&self, input: &[Datum], binding: &[usize]) -> Answer {
        let evaluation = Evaluation { input, binding };
        let typed = self
            .params
            .iter()
            .enumerate()
            .all(|(position, param)| evaluation.param(position).is(&param.of));
        if !typed {
            return Answer::Silent;
        }
        let mut bound = [Found::Nothing; MAXIMUM_VARIABLES];
        if evaluation.formula(&self.formula, &mut bound) {
            Answer::Holds
        } else {
            Answer::Broken
        }
    }

    /// Asks the rule about arguments in the order of its own parameters.
    pub fn holds(&self, arguments: &[Datum]) -> bool {
        const IN_ORDER: [usize; 64] = {
            let mut order = [0; 64];
            let mut at = 0;
            while at < 64 {
                order[at] = at;
                at += 1;
            }
            order
        };
        let count = arguments.len().min(IN_ORDER.len());
        self.answer(arguments, &IN_ORDER[..count]) != Answer::Broken
    }
}

type Bound<'a> = [Found<'a>; MAXIMUM_VARIABLES];

struct Evaluation<'a> {
    input: &'a [Datum],
    binding: &'a [usize],
}

static NOT_GIVEN: Datum = Datum::None;

impl<'a> Evaluation<'a> {
    fn param(&self, position: usize) -> &'a Datum {
        self.binding
            .get(position)
            .and_then(|argument| self.input.get(*argument))
            .unwrap_or(&NOT_GIVEN)
    }

    fn formula(&self, formula: &Formula, bound: &mut Bound<'a>) -> bool {
        match formula {
            Formula::Constant(value) => *value,
            Formula::Not(inner) => !self.formula(inner, bound),
            Formula::All(parts) => parts.iter().all(|part| self.formula(part, bound)),
            Formula::Any(parts) => parts.iter().any(|part| self.formula(part, bound)),
            Formula::If(parts) => {
                let (condition, then, other) = parts.as_ref();
                if self.formula(condition, bound) {
                    self.formula(then, bound)
                } else {
                    self.formula(other, bound)
                }
            }
            Formula::Alike(sides) => self.formula(&sides.0, bound) == self.formula(&sides.1, bound),
            Formula::Truth(subject, wanted) => {
                matches!(self.subject(subject, bound), Found::Datum(Datum::Bool(value)) if value == wanted)
            }
            Formula::Compare(operator, left, right) => {
                match (self.term(left, bound), self.term(right, bound)) {
                    (Some(left), Some(right)) => left.compare(*operator, right),
                    _ => false,
                }
            }
            Formula::NumberIn(term, numbers) => self
                .term(term, bound)
                .is_some_and(|value| numbers.contains(&value)),
            Formula::DtypeIn(term, set) => self
                .dtype(term, bound)
                .is_some_and(|dtype| set.contains(dtype)),
            Formula::DtypeSame(equal, left, right) => {
                match (self.dtype(left, bound), self.dtype(right, bound)) {
                    (Some(left), Some(right)) => (left == right) == *equal,
                    _ => false,
                }
            }
            Formula::TextIn(member, subject, texts) => match self.subject(subject, bound) {
                Found::Datum(Datum::Text(text)) => texts.contains(text) == *member,
                _ => false,
            },
            Formula::ValueSame(equal, left, right) => {
                match (self.subject(left, bound), self.subject(right, bound)) {
                    (Found::Datum(Datum::None), _) | (_, Found::Datum(Datum::None)) => false,
                    (Found::Nothing, _) | (_, Found::Nothing) => false,
                    (left, right) => same(left, right) == *equal,
                }
            }
            Formula::SequenceSame(equal, left, right) => {
                match (self.items(left, bound), self.items(right, bound)) {
                    (Some(left), Some(right)) => left.same(right) == *equal,
                    _ => false,
                }
            }
            Formula::Given(subject) => !matches!(
                self.subject(subject, bound),
                Found::Nothing | Found::Datum(Datum::None)
            ),
            Formula::Broadcastable(shapes) => self.broadcastable(shapes, bound),
            Formula::BroadcastableTo(from, to) => {
                match (self.shape(from, bound), self.shape(to, bound)) {
                    (Some(from), Some(to)) => from.broadcasts_to(to),
                    _ => false,
                }
            }
            Formula::Fact(fact, subject) => self.fact(*fact, subject, bound),
            Formula::Characters(subject, allowed) => match self.subject(subject, bound) {
                Found::Datum(Datum::Text(text)) => text.chars().all(|c| allowed.contains(c)),
                _ => false,
            },
            Formula::Range {
                quantifier,
                slot,
                low,
                high,
                body,
            } => {
                let low = self.term(low, bound).and_then(Number::as_i64);
                let high = self.term(high, bound).and_then(Number::as_i64);
                let (Some(low), Some(high)) = (low, high) else {
                    return false;
                };
                if high.saturating_sub(low) >= MAXIMUM_VALUES {
                    return false;
                }
                let wanted = *quantifier == Quantifier::Exists;
                for value in low..=high {
                    bound[*slot] = Found::Number(Number::Int(value));
                    if self.formula(body, bound) == wanted {
                        return wanted;
                    }
                }
                !wanted
            }
            Formula::Items {
                quantifier,
                slot,
                of,
                body,
            } => {
                let Some(items) = self.items(of, bound) else {
                    return false;
                };
                let wanted = *quantifier == Quantifier::Exists;
                for position in 0..items.count() {
                    bound[*slot] = items.at(position);
                    if self.formula(body, bound) == wanted {
                        return wanted;
                    }
                }
                !wanted
            }
        }
    }

    fn term(&self, term: &Term, bound: &mut Bound<'a>) -> Option<Number> {
        match term {
            Term::Constant(value) => Some(*value),
            Term::Value(subject) => self.subject(subject, bound).number(),
            Term::Ndim(subject) => {
                let shape = self.subject(subject, bound).shape()?;
                Some(Number::Int(shape.count() as i64))
            }
            Term::Dimension(parts) => {
                let (subject, at) = parts.as_ref();
                let shape = self.subject(subject, bound).shape()?;
                let at = self.term(at, bound)?.as_i64()?;
                shape.at(position(at, shape.count())?).number()
            }
            Term::Size(subject) => match self.subject(subject, bound) {
                Found::Datum(Datum::Tensor(tensor)) => Some(tensor.size()),
                other => other.shape()?.fold(Number::Int(1), Operator::Multiply),
            },
            Term::Length(subject) => match self.subject(subject, bound) {
                Found::Datum(Datum::Text(text)) => Some(Number::Int(text.chars().count() as i64)),
                Found::Datum(datum) => Some(Number::Int(datum.items()?.len() as i64)),
                _ => None,
            },
            Term::Minimum(of) => self.items(of, bound)?.extreme(Operator::Less),
            Term::Maximum(of) => self.items(of, bound)?.extreme(Operator::Greater),
            Term::Least(terms) => self.best(terms, Operator::Less, bound),
            Term::Greatest(terms) => self.best(terms, Operator::Greater, bound),
            Term::Product(of, None) => self
                .items(of, bound)?
                .fold(Number::Int(1), Operator::Multiply),
            Term::Product(of, Some(range)) => {
                let items = self.items(of, bound)?;
                let first = position(self.term(&range.0, bound)?.as_i64()?, items.count());
                let last = self.term(&range.1, bound)?.as_i64()?;
                if last == -1 && items.count() == 0 {
                    return Some(Number::Int(1));
                }
                let mut product = Number::Int(1);
                for at in first?..=position(last, items.count())? {
                    product = product.calculate(Operator::Multiply, items.at(at).number()?)?;
                }
                Some(product)
            }
            Term::Sum(of) => self.items(of, bound)?.fold(Number::Int(0), Operator::Add),
            Term::Calculate(operator, sides) => {
                let left = self.term(&sides.0, bound)?;
                left.calculate(*operator, self.term(&sides.1, bound)?)
            }
            Term::Negate(inner) => Some(self.term(inner, bound)?.negated()),
            Term::Absolute(inner) => Some(self.term(inner, bound)?.absolute()),
            Term::If(parts) => {
                let (condition, then, other) = parts.as_ref();
                let taken = if self.formula(condition, bound) {
                    then
                } else {
                    other
                };
                self.term(taken, bound)
            }
        }
    }

    fn best(&self, terms: &[Term], operator: Operator, bound: &mut Bound<'a>) -> Option<Number> {
        let mut best: Option<Number> = None;
        for term in terms {
            let value = self.term(term, bound)?;
            if best.is_none_or(|best| value.compare(operator, best)) {
                best = Some(value);
            }
        }
        best
    }

    fn subject(&self, subject: &Subject, bound: &mut Bound<'a>) -> Found<'a> {
        match subject {
            Subject::Param(position) => Found::Datum(self.param(*position)),
            Subject::Bound(slot) => bound[*slot],
            Subject::Item(parts) => {
                let (of, at) = parts.as_ref();
                let Found::Datum(datum) = self.subject(of, bound) else {
                    return Found::Nothing;
                };
                let index = self.term(at, bound).and_then(Number::as_i64);
                let items = match datum {
                    // Of a tensor of several dimensions an item is no number.
                    Datum::Tensor(tensor) if tensor.shape.len() != 1 => return Found::Nothing,
                    Datum::Tensor(tensor) if tensor.elements.is_none() => return Found::Nothing,
                    Datum::Tensor(tensor) => Items::Tensor(tensor),
                    Datum::List(items) | Datum::Tuple(items) => Items::Data(items),
                    _ => return Found::Nothing,
                };
                match index.and_then(|index| position(index, items.count())) {
                    Some(position) => items.at(position),
                    None => Found::Nothing,
                }
            }
        }
    }

    fn items(&self, sequence: &Sequence, bound: &mut Bound<'a>) -> Option<Items<'a>> {
        match sequence {
            Sequence::Shape(subject) => self.subject(subject, bound).shape(),
            Sequence::Of(subject) => match self.subject(subject, bound) {
                Found::Datum(Datum::Tensor(tensor)) => Some(Items::Tensor(tensor)),
                Found::Datum(Datum::List(items) | Datum::Tuple(items)) => Some(Items::Data(items)),
                _ => None,
            },
        }
    }

    /// The shape a sequence stands for: of a tensor its own, a list of numbers is one.
    fn shape(&self, sequence: &Sequence, bound: &mut Bound<'a>) -> Option<Items<'a>> {
        match sequence {
            Sequence::Shape(subject) => self.subject(subject, bound).shape(),
            Sequence::Of(subject) => match self.subject(subject, bound) {
                Found::Datum(Datum::List(items) | Datum::Tuple(items)) => Some(Items::Data(items)),
                other => other.shape(),
            },
        }
    }

    fn broadcastable(&self, shapes: &[Sequence], bound: &mut Bound<'a>) -> bool {
        for (position, left) in shapes.iter().enumerate() {
            let Some(left) = self.shape(left, bound) else {
                return false;
            };
            for right in &shapes[position + 1..] {
                match self.shape(right, bound) {
                    Some(right) if left.broadcasts_with(right) => {}
                    _ => return false,
                }
            }
        }
        true
    }

    fn dtype(&self, term: &DtypeTerm, bound: &mut Bound<'a>) -> Option<Dtype> {
        match term {
            DtypeTerm::Constant(dtype) => Some(*dtype),
            DtypeTerm::Of(subject) => match self.subject(subject, bound) {
                Found::Datum(Datum::Tensor(tensor)) => Some(tensor.dtype),
                Found::Datum(Datum::Dtype(dtype)) => Some(*dtype),
                _ => None,
            },
        }
    }

    fn fact(&self, fact: ElementFact, subject: &Subject, bound: &mut Bound<'a>) -> bool {
        match self.subject(subject, bound) {
            Found::Datum(Datum::Tensor(tensor)) => tensor.facts.contains(fact),
            Found::Datum(Datum::List(items) | Datum::Tuple(items)) => {
                sequence_has(fact, items.len(), &|at| items[at].number())
            }
            _ => false,
        }
    }
}
