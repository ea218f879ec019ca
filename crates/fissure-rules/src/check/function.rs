//! Functions and predicates at the types of their arguments.

use crate::check::Checker;
use crate::error::RuleError;
use crate::formula::{ElementFact, Formula, Sequence, Subject, Term};
use crate::function::Function;
use crate::syntax::{Expression, Kind};
use crate::types::Type;

impl Checker<'_> {
    /// A function that gives a number; `None` for one that does not.
    pub(super) fn numeric(
        &mut self,
        function: Function,
        arguments: &[Expression],
    ) -> Result<Option<Term>, RuleError> {
        let Some(first) = arguments.first() else {
            return Ok(None);
        };
        Ok(Some(match (function, arguments) {
            (Function::Ndim, _) => Term::Ndim(self.shaped(first)?),
            (Function::Size, _) => Term::Size(self.shaped(first)?),
            (Function::Shape, [of, at]) => {
                Term::Dimension(Box::new((self.shaped(of)?, self.term(at)?)))
            }
            (Function::Min, [_]) => Term::Minimum(self.numbers(first)?),
            (Function::Max, [_]) => Term::Maximum(self.numbers(first)?),
            (Function::Min, several) => Term::Least(self.terms(several)?),
            (Function::Max, several) => Term::Greatest(self.terms(several)?),
            (Function::Abs, _) => Term::Absolute(Box::new(self.term(first)?)),
            (Function::Product, [of]) => Term::Product(self.numbers(of)?, None),
            (Function::Product, [of, low, high]) => {
                let range = (self.term(low)?, self.term(high)?);
                Term::Product(self.numbers(of)?, Some(Box::new(range)))
            }
            (Function::Sum, _) => Term::Sum(self.numbers(first)?),
            _ => return Ok(None),
        }))
    }

    fn terms(&mut self, several: &[Expression]) -> Result<Vec<Term>, RuleError> {
        several.iter().map(|at| self.term(at)).collect()
    }

    /// A sequence whose items are numbers.
    fn numbers(&mut self, at: &Expression) -> Result<Sequence, RuleError> {
        let sequence = self.sequence(at)?;
        let item = self.item_type(at)?;
        if item.alternatives().iter().any(Type::is_number) {
            return Ok(sequence);
        }
        let message = format!("expected numbers, found items of type {item}");
        Err(RuleError::new(message, at.span.clone()))
    }

    pub(super) fn length(&mut self, of: &Expression) -> Result<Term, RuleError> {
        if let Kind::Call(Function::Shape, arguments) = &of.kind
            && let [subject] = arguments.as_slice()
        {
            return Ok(Term::Ndim(self.shaped(subject)?));
        }
        if self.has(of, |of| of.is_sequence() || *of == Type::Str)? {
            return Ok(Term::Length(self.subject(of)?));
        }
        let whole = self.infer(of)?;
        let error = RuleError::new(format!("{whole} has no length"), of.span.clone());
        Err(if whole == Type::Tensor {
            error.with_help("write size(x), ndim(x) or shape(x, 0)")
        } else {
            error
        })
    }

    /// A function that holds or not; `None` for one that gives something else.
    pub(super) fn predicate(
        &mut self,
        function: Function,
        arguments: &[Expression],
    ) -> Result<Option<Formula>, RuleError> {
        let Some(first) = arguments.first() else {
            return Ok(None);
        };
        let fact = match function {
            Function::Given => {
                return Ok(Some(Formula::Given(self.optional(first)?)));
            }
            Function::Broadcastable => {
                let shapes: Result<_, _> = arguments.iter().map(|at| self.shape_like(at)).collect();
                return Ok(Some(Formula::Broadcastable(shapes?)));
            }
            Function::BroadcastableTo => {
                let shapes = (self.shape_like(first)?, self.shape_like(&arguments[1])?);
                return Ok(Some(Formula::BroadcastableTo(shapes.0, shapes.1)));
            }
            Function::Characters => {
                let Kind::Text(allowed) = &arguments[1].kind else {
                    let message = "the allowed characters are a text";
                    return Err(RuleError::new(message, arguments[1].span.clone())
                        .with_help(format!("it is written {}", function.usage())));
                };
                if !self.has(first, |of| *of == Type::Str)? {
                    let message = format!("expected str, found {}", self.infer(first)?);
                    return Err(RuleError::new(message, first.span.clone()));
                }
                let subject = self.subject(first)?;
                return Ok(Some(Formula::Characters(subject, allowed.clone())));
            }
            Function::Sorted => ElementFact::Sorted,
            Function::Distinct => ElementFact::Distinct,
            Function::Permutation => ElementFact::Permutation,
            Function::OneHot => ElementFact::OneHot,
            Function::Symmetric => ElementFact::Symmetric,
            Function::PositiveDefinite => ElementFact::PositiveDefinite,
            _ => return Ok(None),
        };
        let fits = |of: &Type| {
            let listed = fact.fits_lists() && of.item().is_some_and(Type::is_number);
            *of == Type::Tensor || listed
        };
        if !self.has(first, fits)? {
            let wanted = if fact.fits_lists() {
                "a tensor or a list of numbers"
            } else {
                "a tensor"
            };
            let found = self.infer(first)?;
            let message = format!("`{}` speaks of {wanted}, not of {found}", function.name());
            return Err(RuleError::new(message, first.span.clone()));
        }
        Ok(Some(Formula::Fact(fact, self.subject(first)?)))
    }

    /// Only what may be left out can be given.
    fn optional(&mut self, at: &Expression) -> Result<Subject, RuleError> {
        let subject = self.subject(at)?;
        let of = self.infer(at)?;
        if matches!(subject, Subject::Param(_)) && !of.allows_none() {
            let message = format!("a parameter of type {of} is always given");
            return Err(RuleError::new(message, at.span.clone()).with_help(format!(
                "declare it as one that may be None: {}",
                of.optional()
            )));
        }
        Ok(subject)
    }

    /// A tensor stands for its shape, a list of numbers is one, a number has the empty one.
    fn shape_like(&mut self, at: &Expression) -> Result<Sequence, RuleError> {
        if let Kind::Call(Function::Shape, _) = &at.kind {
            return self.sequence(at);
        }
        Ok(Sequence::Of(self.shaped(at)?))
    }
}
