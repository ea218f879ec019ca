//! What type an expression has.

use crate::check::{Checker, dtype_of};
use crate::error::RuleError;
use crate::function::Function;
use crate::syntax::{Expression, Kind, Operator};
use crate::types::Type;

impl Checker<'_> {
    /// The type of the expression, looked at from outside: its parts are checked where they are
    /// made into formulas and terms.
    pub(super) fn infer(&mut self, at: &Expression) -> Result<Type, RuleError> {
        Ok(match &at.kind {
            Kind::Integer(_) => Type::Int,
            Kind::Float(_) => Type::Float,
            Kind::Text(_) => Type::Str,
            Kind::Boolean(_) | Kind::Not(_) | Kind::In(..) | Kind::Quantified { .. } => Type::Bool,
            Kind::Negate(inner) => self.infer(inner)?,
            Kind::Binary(left, operator, right) => match operator {
                Operator::Divide => Type::Float,
                _ if operator.is_arithmetic() => {
                    let sides = [self.infer(left)?, self.infer(right)?];
                    if sides.contains(&Type::Float) {
                        Type::Float
                    } else {
                        Type::any_of(sides)
                    }
                }
                _ => Type::Bool,
            },
            Kind::If(_, then, other) => match other {
                Some(other) => Type::any_of([self.infer(then)?, self.infer(other)?]),
                None => self.infer(then)?,
            },
            Kind::Length(_) => Type::Int,
            Kind::Item(of, _) => self.item_type(of)?,
            Kind::Name(name) => match self.resolve(name) {
                Some((_, of)) => of.clone(),
                None if dtype_of(name).is_some() => Type::Dtype,
                None => return Err(self.unknown(name, at)),
            },
            Kind::Call(function, arguments) => match function {
                Function::Ndim | Function::Size => Type::Int,
                Function::Shape if arguments.len() == 1 => Type::list(Type::Int),
                Function::Shape => Type::Int,
                Function::Dtype => Type::Dtype,
                Function::Min
                | Function::Max
                | Function::Abs
                | Function::Product
                | Function::Sum => Type::any_of([Type::Int, Type::Float]),
                Function::Given
                | Function::Broadcastable
                | Function::BroadcastableTo
                | Function::Sorted
                | Function::Distinct
                | Function::Permutation
                | Function::OneHot
                | Function::Symmetric
                | Function::PositiveDefinite
                | Function::Characters => Type::Bool,
            },
        })
    }

    /// Can the expression be of such a type?
    pub(super) fn has(
        &mut self,
        at: &Expression,
        fits: impl Fn(&Type) -> bool,
    ) -> Result<bool, RuleError> {
        Ok(self.infer(at)?.alternatives().iter().any(fits))
    }

    /// What the items of the expression can be.
    pub(super) fn item_type(&mut self, of: &Expression) -> Result<Type, RuleError> {
        let whole = self.infer(of)?;
        let mut items = Vec::new();
        for part in whole.alternatives() {
            match part {
                Type::Tensor => items.extend([Type::Int, Type::Float]),
                part => items.extend(part.item().cloned()),
            }
        }
        if items.is_empty() {
            let message = format!("{whole} has no items");
            return Err(RuleError::new(message, of.span.clone()));
        }
        Ok(Type::any_of(items))
    }
}
