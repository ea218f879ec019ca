//! Comparisons and membership, which exist at every type.

use crate::check::{Checker, dtype_of, dtypes_of};
use crate::error::RuleError;
use crate::formula::{DtypeSet, DtypeTerm, Formula, Term};
use crate::function::Function;
use crate::syntax::{Collection, Expression, Kind, Operator, Quantifier};
use crate::types::Type;

/// Groups of types whose values can be equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Number,
    Bool,
    Text,
    Dtype,
    Sequence,
}

impl Sort {
    fn of(of: &Type) -> Option<Sort> {
        Some(match of {
            Type::Int | Type::Float => Sort::Number,
            Type::Bool => Sort::Bool,
            Type::Str => Sort::Text,
            Type::Dtype => Sort::Dtype,
            Type::List(_) | Type::Tuple(_) => Sort::Sequence,
            Type::Tensor | Type::None | Type::Union(_) => return None,
        })
    }
}

fn sorts(of: &Type) -> Vec<Sort> {
    let mut sorts: Vec<Sort> = Vec::new();
    for sort in of.alternatives().iter().filter_map(Sort::of) {
        if !sorts.contains(&sort) {
            sorts.push(sort);
        }
    }
    sorts
}

impl Checker<'_> {
    pub(super) fn comparison(
        &mut self,
        left: &Expression,
        operator: Operator,
        right: &Expression,
    ) -> Result<Formula, RuleError> {
        let types = (self.infer(left)?, self.infer(right)?);
        let common: Vec<Sort> = sorts(&types.0)
            .into_iter()
            .filter(|sort| sorts(&types.1).contains(sort))
            .collect();
        if operator.is_order() {
            if types.0 == Type::Dtype || types.1 == Type::Dtype {
                let span = left.span.start..right.span.end;
                return Err(RuleError::new("dtypes have no order", span)
                    .with_help("name them: dtype(x) in {float32, float64}"));
            }
            return Ok(Formula::Compare(
                operator,
                self.term(left)?,
                self.term(right)?,
            ));
        }
        let equal = operator == Operator::Equal;
        Ok(match common.as_slice() {
            [] => return Err(incomparable(left, &types.0, right, &types.1)),
            [Sort::Number] => Formula::Compare(operator, self.term(left)?, self.term(right)?),
            [Sort::Bool] => self.alike(left, equal, right)?,
            [Sort::Text] => self.texts(left, equal, right)?,
            [Sort::Dtype] => {
                Formula::DtypeSame(equal, self.dtype_term(left)?, self.dtype_term(right)?)
            }
            [Sort::Sequence] => {
                Formula::SequenceSame(equal, self.sequence(left)?, self.sequence(right)?)
            }
            _ => Formula::ValueSame(equal, self.subject(left)?, self.subject(right)?),
        })
    }

    fn alike(
        &mut self,
        left: &Expression,
        equal: bool,
        right: &Expression,
    ) -> Result<Formula, RuleError> {
        for (one, other) in [(left, right), (right, left)] {
            if let Kind::Boolean(value) = other.kind
                && matches!(one.kind, Kind::Name(_) | Kind::Item(..))
            {
                return Ok(Formula::Truth(self.subject(one)?, value == equal));
            }
        }
        let both = Formula::Alike(Box::new((self.formula(left)?, self.formula(right)?)));
        Ok(if equal {
            both
        } else {
            Formula::Not(Box::new(both))
        })
    }

    fn texts(
        &mut self,
        left: &Expression,
        equal: bool,
        right: &Expression,
    ) -> Result<Formula, RuleError> {
        let (subject, text) = match (&left.kind, &right.kind) {
            (Kind::Text(a), Kind::Text(b)) => return Ok(Formula::Constant((a == b) == equal)),
            (_, Kind::Text(text)) => (left, text),
            (Kind::Text(text), _) => (right, text),
            _ => {
                let sides = (self.subject(left)?, self.subject(right)?);
                return Ok(Formula::ValueSame(equal, sides.0, sides.1));
            }
        };
        let subject = self.subject(subject)?;
        Ok(Formula::TextIn(equal, subject, vec![text.clone()]))
    }

    fn dtype_term(&mut self, at: &Expression) -> Result<DtypeTerm, RuleError> {
        match &at.kind {
            Kind::Call(Function::Dtype, arguments) => {
                let of = &arguments[0];
                if !self.has(of, |of| *of == Type::Tensor)? {
                    let message = format!("{} has no dtype", self.infer(of)?);
                    return Err(RuleError::new(message, of.span.clone()));
                }
                Ok(DtypeTerm::Of(self.subject(of)?))
            }
            Kind::Name(name) if self.resolve(name).is_none() => match dtype_of(name) {
                Some(dtype) => Ok(DtypeTerm::Constant(dtype)),
                None => Err(self.unknown(name, at)),
            },
            _ => Ok(DtypeTerm::Of(self.subject(at)?)),
        }
    }

    pub(super) fn membership(
        &mut self,
        item: &Expression,
        over: &Collection,
    ) -> Result<Formula, RuleError> {
        match over {
            Collection::Interval(low, high) => Ok(Formula::All(vec![
                Formula::Compare(Operator::LessOrEqual, self.term(low)?, self.term(item)?),
                Formula::Compare(Operator::LessOrEqual, self.term(item)?, self.term(high)?),
            ])),
            Collection::Set(members) => self.in_set(item, members),
            Collection::Elements(of) => {
                // The name of the variable is no name anyone can write.
                let variable = "an item of it";
                let equal = Expression::binary(
                    item.clone(),
                    Operator::Equal,
                    Expression::new(Kind::Name(variable.to_owned()), of.span.clone()),
                );
                let exists = Kind::Quantified {
                    quantifier: Quantifier::Exists,
                    variable: variable.to_owned(),
                    over: Box::new(Collection::Elements(of.clone())),
                    body: Box::new(equal),
                };
                self.formula(&Expression::new(exists, item.span.start..of.span.end))
            }
        }
    }

    /// Constants of one type become one look-up; what is left is compared one by one.
    fn in_set(&mut self, item: &Expression, members: &[Expression]) -> Result<Formula, RuleError> {
        let mut parts = Vec::new();
        let mut numbers = Vec::new();
        let mut texts = Vec::new();
        let mut dtypes = DtypeSet::default();
        let of = self.infer(item)?;
        for member in members {
            let dtype = match &member.kind {
                Kind::Name(name) if self.resolve(name).is_none() => dtypes_of(name),
                _ => None,
            };
            let (found, sort) = match (&member.kind, dtype) {
                (_, Some(set)) => {
                    dtypes.0 |= set.0;
                    (Type::Dtype, Sort::Dtype)
                }
                (Kind::Integer(_) | Kind::Float(_), _) => {
                    if let Term::Constant(number) = self.term(member)? {
                        numbers.push(number);
                    }
                    (self.infer(member)?, Sort::Number)
                }
                (Kind::Text(text), _) => {
                    texts.push(text.clone());
                    (Type::Str, Sort::Text)
                }
                _ => {
                    parts.push(self.comparison(item, Operator::Equal, member)?);
                    continue;
                }
            };
            if !sorts(&of).contains(&sort) {
                return Err(incomparable(item, &of, member, &found));
            }
        }
        if !numbers.is_empty() {
            parts.push(Formula::NumberIn(self.term(item)?, numbers));
        }
        if !texts.is_empty() {
            parts.push(Formula::TextIn(true, self.subject(item)?, texts));
        }
        if dtypes != DtypeSet::default() {
            parts.push(Formula::DtypeIn(self.dtype_term(item)?, dtypes));
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Formula::Any(parts)
        })
    }
}

fn incomparable(
    left: &Expression,
    left_type: &Type,
    right: &Expression,
    right_type: &Type,
) -> RuleError {
    let span = left.span.start.min(right.span.start)..left.span.end.max(right.span.end);
    let message = format!("{left_type} is never equal to {right_type}");
    let error = RuleError::new(message, span);
    let is_none = |at: &Expression| matches!(&at.kind, Kind::Text(text) if text == "none");
    let types = [left_type, right_type];
    if is_none(left) || is_none(right) {
        error.with_help("to ask for None, write `not given(x)`")
    } else if types.contains(&&Type::Dtype) {
        error.with_help("dtypes have names: dtype(x) = float32, dtype(x) in {int, bool}")
    } else if types == [&Type::Tensor, &Type::Tensor] {
        error.with_help(
            "compare what rules know of tensors: shape(x) = shape(y), dtype(x) = dtype(y)",
        )
    } else {
        error
    }
}
