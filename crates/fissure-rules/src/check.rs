//! The type checker: a rule as written becomes a formula, or an error that says where and why.

mod compare;
mod function;
mod infer;

use fissure_model::{Dtype, DtypeFamily};

use crate::error::{RuleError, nearest};
use crate::formula::{CheckedRule, DtypeSet, Formula, Sequence, Subject, Term};
use crate::function::Function;
use crate::number::Number;
use crate::syntax::{Collection, Declaration, Expression, Kind, Operator, Rule};
use crate::types::Type;

/// Quantifiers inside each other; their variables live in an array of this length.
pub const MAXIMUM_VARIABLES: usize = 8;

/// Checks a rule against its own declarations.
pub fn check(rule: &Rule) -> Result<CheckedRule, RuleError> {
    let mut checker = Checker {
        params: &rule.params,
        variables: Vec::new(),
    };
    let formula = checker.formula(&rule.body)?;
    Ok(CheckedRule {
        params: rule.params.clone(),
        formula,
    })
}

/// The parameters a body speaks of, in the order of `known`.
pub fn parameters_of(body: &Expression, known: &[Declaration]) -> Vec<Declaration> {
    let mut used = Vec::new();
    collect_names(body, &mut Vec::new(), &mut used);
    known
        .iter()
        .filter(|param| used.contains(&param.name.as_str()))
        .cloned()
        .collect()
}

fn collect_names<'a>(at: &'a Expression, bound: &mut Vec<&'a str>, used: &mut Vec<&'a str>) {
    match &at.kind {
        Kind::Name(name) if !bound.contains(&name.as_str()) => used.push(name),
        Kind::Quantified {
            variable,
            over,
            body,
            ..
        } => {
            match over.as_ref() {
                Collection::Interval(low, high) => {
                    collect_names(low, bound, used);
                    collect_names(high, bound, used);
                }
                Collection::Set(items) => {
                    items
                        .iter()
                        .for_each(|item| collect_names(item, bound, used));
                }
                Collection::Elements(of) => collect_names(of, bound, used),
            }
            bound.push(variable);
            collect_names(body, bound, used);
            bound.pop();
        }
        _ => at.for_each_child(&mut |child| collect_names(child, bound, used)),
    }
}

struct Variable {
    name: String,
    of: Type,
}

struct Checker<'a> {
    params: &'a [Declaration],
    /// The variables of the quantifiers around this place; the position is the slot.
    variables: Vec<Variable>,
}

impl Checker<'_> {
    /// An expression that holds or not.
    fn formula(&mut self, at: &Expression) -> Result<Formula, RuleError> {
        Ok(match &at.kind {
            Kind::Boolean(value) => Formula::Constant(*value),
            Kind::Not(inner) => Formula::Not(Box::new(self.formula(inner)?)),
            Kind::Binary(left, Operator::And, right) => {
                let mut parts = Vec::new();
                for side in [left, right] {
                    match self.formula(side)? {
                        Formula::All(inner) => parts.extend(inner),
                        other => parts.push(other),
                    }
                }
                Formula::All(parts)
            }
            Kind::Binary(left, Operator::Or, right) => {
                let mut parts = Vec::new();
                for side in [left, right] {
                    match self.formula(side)? {
                        Formula::Any(inner) => parts.extend(inner),
                        other => parts.push(other),
                    }
                }
                Formula::Any(parts)
            }
            Kind::Binary(left, Operator::Implies, right) => {
                let (condition, then) = (self.formula(left)?, self.formula(right)?);
                Formula::If(Box::new((condition, then, Formula::Constant(true))))
            }
            Kind::Binary(left, operator, right) if operator.is_comparison() => {
                self.comparison(left, *operator, right)?
            }
            Kind::In(item, over) => self.membership(item, over)?,
            Kind::If(condition, then, other) => {
                let condition = self.formula(condition)?;
                let then = self.formula(then)?;
                let other = match other {
                    Some(other) => self.formula(other)?,
                    None => Formula::Constant(true),
                };
                Formula::If(Box::new((condition, then, other)))
            }
            Kind::Quantified {
                quantifier,
                variable,
                over,
                body,
            } => match over.as_ref() {
                Collection::Interval(low, high) => {
                    let (low, high) = (self.term(low)?, self.term(high)?);
                    let (slot, body) = self.with_variable(at, variable, Type::Int, body)?;
                    Formula::Range {
                        quantifier: *quantifier,
                        slot,
                        low,
                        high,
                        body: Box::new(body),
                    }
                }
                Collection::Elements(of) => {
                    let item = self.item_type(of)?;
                    let of = self.sequence(of)?;
                    let (slot, body) = self.with_variable(at, variable, item, body)?;
                    Formula::Items {
                        quantifier: *quantifier,
                        slot,
                        of,
                        body: Box::new(body),
                    }
                }
                Collection::Set(_) => {
                    let message = "a quantifier goes over an interval or over items";
                    return Err(RuleError::new(message, at.span.clone())
                        .with_help("write forall i in [0, 3]: … or forall e in x: …"));
                }
            },
            Kind::Call(function, arguments) => match self.predicate(*function, arguments)? {
                Some(formula) => formula,
                None => return Err(self.not_boolean(at)),
            },
            Kind::Name(_) | Kind::Item(..) if self.has(at, |of| *of == Type::Bool)? => {
                Formula::Truth(self.subject(at)?, true)
            }
            _ => return Err(self.not_boolean(at)),
        })
    }

    fn not_boolean(&mut self, at: &Expression) -> RuleError {
        match self.infer(at) {
            Ok(of) => {
                let message = format!("expected something that holds or not, found {of}");
                RuleError::new(message, at.span.clone())
                    .with_help("compare it: =, !=, <, <=, >, >=, in")
            }
            Err(error) => error,
        }
    }

    /// The slot of the new variable, and the body checked with it in scope.
    fn with_variable(
        &mut self,
        at: &Expression,
        name: &str,
        of: Type,
        body: &Expression,
    ) -> Result<(usize, Formula), RuleError> {
        let slot = self.variables.len();
        if slot == MAXIMUM_VARIABLES {
            let message = format!("more than {MAXIMUM_VARIABLES} quantifiers inside each other");
            return Err(RuleError::new(message, at.span.clone()));
        }
        self.variables.push(Variable {
            name: name.to_owned(),
            of,
        });
        let body = self.formula(body);
        self.variables.pop();
        Ok((slot, body?))
    }

    /// An expression that is a number.
    fn term(&mut self, at: &Expression) -> Result<Term, RuleError> {
        Ok(match &at.kind {
            Kind::Integer(value) => Term::Constant(Number::Int(*value)),
            Kind::Float(value) => Term::Constant(Number::Float(*value)),
            Kind::Negate(inner) => Term::Negate(Box::new(self.term(inner)?)),
            Kind::Binary(left, operator, right) if operator.is_arithmetic() => {
                Term::Calculate(*operator, Box::new((self.term(left)?, self.term(right)?)))
            }
            Kind::If(condition, then, Some(other)) => {
                let condition = self.formula(condition)?;
                Term::If(Box::new((condition, self.term(then)?, self.term(other)?)))
            }
            Kind::If(_, _, None) => {
                let message = "a conditional number needs its `else`";
                return Err(RuleError::new(message, at.span.clone()));
            }
            Kind::Call(function, arguments) => match self.numeric(*function, arguments)? {
                Some(term) => term,
                None => return Err(self.not_a_number(at)),
            },
            Kind::Length(of) => self.length(of)?,
            // One dimension of a shape, written as an item of it.
            Kind::Item(of, index) if matches!(of.kind, Kind::Call(Function::Shape, _)) => {
                let Kind::Call(_, arguments) = &of.kind else {
                    return Err(self.not_a_number(at));
                };
                let [subject] = arguments.as_slice() else {
                    return Err(self.not_a_number(of));
                };
                Term::Dimension(Box::new((self.shaped(subject)?, self.term(index)?)))
            }
            Kind::Name(_) | Kind::Item(..) if self.has(at, Type::is_number)? => {
                Term::Value(self.subject(at)?)
            }
            _ => return Err(self.not_a_number(at)),
        })
    }

    fn not_a_number(&mut self, at: &Expression) -> RuleError {
        match self.infer(at) {
            Ok(of) => {
                let error =
                    RuleError::new(format!("expected a number, found {of}"), at.span.clone());
                match of {
                    Type::Tensor => error.with_help(
                        "its size, one dimension or an extreme: size(x), shape(x, 0), max(x)",
                    ),
                    Type::List(_) | Type::Tuple(_) => {
                        error.with_help("its length or an item: x.len, x[0]")
                    }
                    _ => error,
                }
            }
            Err(error) => error,
        }
    }

    /// An expression that names a value of the input.
    fn subject(&mut self, at: &Expression) -> Result<Subject, RuleError> {
        match &at.kind {
            Kind::Name(name) => match self.resolve(name) {
                Some((subject, _)) => Ok(subject),
                None => Err(self.unknown(name, at)),
            },
            Kind::Item(of, index) => {
                let holds_items = |of: &Type| of.is_sequence() || *of == Type::Tensor;
                if !self.has(of, holds_items)? {
                    let message = format!("{} has no items", self.infer(of)?);
                    return Err(RuleError::new(message, of.span.clone()));
                }
                let subject = self.subject(of)?;
                Ok(Subject::Item(Box::new((subject, self.term(index)?))))
            }
            _ => Err(
                RuleError::new("expected a parameter or an item of one", at.span.clone())
                    .with_help("write its name, or x[i]"),
            ),
        }
    }

    /// The items of a list, the elements of a tensor, the dimensions of a shape.
    fn sequence(&mut self, at: &Expression) -> Result<Sequence, RuleError> {
        if let Kind::Call(Function::Shape, arguments) = &at.kind
            && let [subject] = arguments.as_slice()
        {
            return Ok(Sequence::Shape(self.shaped(subject)?));
        }
        if !self.has(at, |of| of.is_sequence() || *of == Type::Tensor)? {
            let message = format!("expected a list or a tensor, found {}", self.infer(at)?);
            return Err(RuleError::new(message, at.span.clone()));
        }
        Ok(Sequence::Of(self.subject(at)?))
    }

    /// Something that has a shape: a tensor, a list of numbers, a number.
    fn shaped(&mut self, at: &Expression) -> Result<Subject, RuleError> {
        let has_shape = |of: &Type| {
            *of == Type::Tensor
                || *of == Type::Bool
                || of.is_number()
                || of
                    .item()
                    .is_some_and(|item| item.alternatives().iter().any(Type::is_number))
        };
        if self.has(at, has_shape)? {
            return self.subject(at);
        }
        let of = self.infer(at)?;
        let error = RuleError::new(format!("{of} has no shape"), at.span.clone());
        Err(match of.item() {
            Some(Type::Tensor) => error.with_help("ask one of its tensors: shape(x[0], 0)"),
            _ => error,
        })
    }

    /// The value a name stands for; variables hide parameters.
    fn resolve(&self, name: &str) -> Option<(Subject, &Type)> {
        if let Some(slot) = self.variables.iter().rposition(|var| var.name == name) {
            return Some((Subject::Bound(slot), &self.variables[slot].of));
        }
        let position = self.params.iter().position(|param| param.name == name)?;
        Some((Subject::Param(position), &self.params[position].of))
    }

    fn unknown(&self, name: &str, at: &Expression) -> RuleError {
        let error = RuleError::new(format!("`{name}` is not declared"), at.span.clone());
        if name == "none" || name == "None" {
            return error.with_help("write `given(x)`, or `not given(x)` for None");
        }
        if family(name).is_some() {
            return error.with_help("a family of dtypes stands in a set: dtype(x) in {float, int}");
        }
        let variables = self.variables.iter().map(|variable| variable.name.as_str());
        let params = self.params.iter().map(|param| param.name.as_str());
        let known = variables.chain(params).chain(Dtype::ALL.map(Dtype::name));
        match nearest(name, known) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => {
                let params: Vec<&str> = self.params.iter().map(|p| p.name.as_str()).collect();
                error.with_help(format!("the rule's parameters are: {}", params.join(", ")))
            }
        }
    }
}

fn dtype_of(name: &str) -> Option<Dtype> {
    name.parse().ok()
}

/// The dtypes that a word in a set stands for.
fn dtypes_of(name: &str) -> Option<DtypeSet> {
    if let Some(dtype) = dtype_of(name) {
        return Some(DtypeSet::of([dtype]));
    }
    let family = family(name)?;
    Some(DtypeSet::of(
        Dtype::ALL
            .into_iter()
            .filter(|dtype| family.contains(*dtype)),
    ))
}

fn family(name: &str) -> Option<DtypeFamily> {
    [
        DtypeFamily::Int,
        DtypeFamily::Uint,
        DtypeFamily::Float,
        DtypeFamily::Complex,
        DtypeFamily::Numeric,
    ]
    .into_iter()
    .find(|family| family.name() == name)
}
