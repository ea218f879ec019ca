//! Our rules in their symbols.

use fissure_model::Dtype;

use crate::centaur::number_of_dtype;
use crate::centaur::rules::CentaurRule;
use crate::function::Function;
use crate::syntax::{Collection, Expression, Kind, Operator, Quantifier, Rule};
use crate::types::Type;

/// Something their language cannot say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Centaur's language has no {what}: {part}")]
pub struct Unwritable {
    pub what: &'static str,
    /// The part of the rule, in our language.
    pub part: String,
}

/// The file with these rules. `and` and `or` stand in brackets wherever their precedence matters,
/// so that both readings of the file are the same.
pub fn write_rules(rules: &[CentaurRule]) -> Result<String, Unwritable> {
    let mut out = String::new();
    for rule in rules {
        let text = write_rule(&rule.rule)?;
        out.push_str(&format!(
            ">>\nRule {} ({})\n{text}\n",
            rule.number, rule.about
        ));
    }
    Ok(out)
}

fn write_rule(rule: &Rule) -> Result<String, Unwritable> {
    let params: Vec<String> = rule
        .params
        .iter()
        .map(|param| format!("{} : {}", param.name, type_text(&param.of)))
        .collect();
    let writer = Writer { rule };
    Ok(format!(
        "{{{}}} |= {}",
        params.join(", "),
        writer.expression(&rule.body)?
    ))
}

/// None is no type there: a parameter that is "none" is of its other type.
fn type_text(of: &Type) -> String {
    match of {
        Type::List(of) => format!("list({})", type_text(of)),
        Type::Tuple(of) => format!("tuple({})", type_text(of)),
        Type::Union(parts) => {
            let given = parts.iter().filter(|part| **part != Type::None);
            given.map(type_text).collect::<Vec<_>>().join(" ⊎ ")
        }
        plain => plain.to_string(),
    }
}

struct Writer<'a> {
    rule: &'a Rule,
}

impl Writer<'_> {
    fn expression(&self, at: &Expression) -> Result<String, Unwritable> {
        let unwritable = |what| {
            Err(Unwritable {
                what,
                part: at.to_string(),
            })
        };
        Ok(match &at.kind {
            Kind::Integer(value) => value.to_string(),
            Kind::Float(value) if value.is_infinite() => return unwritable("infinity"),
            Kind::Float(_) | Kind::Text(_) | Kind::Boolean(_) => at.to_string(),
            Kind::Name(name) => match self.dtype(name) {
                Some(dtype) => number(dtype, at)?,
                None => name.clone(),
            },
            Kind::Not(inner) => match &inner.kind {
                Kind::Call(Function::Given, arguments) => {
                    format!("{} = \"none\"", self.operand(&arguments[0])?)
                }
                _ => return unwritable("negation"),
            },
            Kind::Negate(inner) => format!("0 - {}", self.operand(inner)?),
            Kind::Binary(left, operator, right) => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let symbol = match operator {
                    Operator::Implies => return Ok(format!("if {left} then {right}")),
                    Operator::Or => "∨",
                    Operator::And => "∧",
                    Operator::NotEqual => "≠",
                    Operator::LessOrEqual => "≤",
                    Operator::GreaterOrEqual => "≥",
                    Operator::FloorDivide => return unwritable("division that rounds down"),
                    other => other.symbol(),
                };
                format!("{left} {symbol} {right}")
            }
            Kind::In(item, over) => self.membership(item, over)?,
            Kind::If(condition, then, other) => {
                let first = format!(
                    "if {} then {}",
                    self.operand(condition)?,
                    self.operand(then)?
                );
                match other {
                    Some(other) => format!("{first} else {}", self.operand(other)?),
                    None => first,
                }
            }
            Kind::Quantified {
                quantifier,
                variable,
                over,
                body,
            } => {
                let symbol = match quantifier {
                    Quantifier::Forall => '∀',
                    Quantifier::Exists => '∃',
                };
                match over.as_ref() {
                    Collection::Interval(low, high) => format!(
                        "{symbol}{variable} ∈ [{}, {}] : {}",
                        self.expression(low)?,
                        self.expression(high)?,
                        self.expression(body)?
                    ),
                    Collection::Elements(of) => {
                        let last = if self.is_tensor(of) {
                            format!("shape({}, 0)", self.expression(of)?)
                        } else {
                            format!("{}.len", self.operand(of)?)
                        };
                        let body = by_index(body, variable, of);
                        let body = self.expression(&body)?;
                        format!("{symbol}{variable} ∈ [0, {last} - 1] : {body}")
                    }
                    Collection::Set(_) => return unwritable("quantifier over a set"),
                }
            }
            Kind::Call(function, arguments) => self.call(at, *function, arguments)?,
            Kind::Item(of, index) => {
                format!("{}[{}]", self.operand(of)?, self.expression(index)?)
            }
            Kind::Length(of) => format!("{}.len", self.operand(of)?),
        })
    }

    /// In brackets unless nothing can be read two ways.
    fn operand(&self, at: &Expression) -> Result<String, Unwritable> {
        let text = self.expression(at)?;
        let simple = match &at.kind {
            Kind::Integer(value) => *value >= 0,
            Kind::Float(value) => *value >= 0.0,
            Kind::Text(_) | Kind::Boolean(_) | Kind::Name(_) | Kind::Item(..) | Kind::Length(_) => {
                true
            }
            Kind::Call(function, _) => *function != Function::Given,
            _ => false,
        };
        Ok(if simple { text } else { format!("({text})") })
    }

    fn membership(&self, item: &Expression, over: &Collection) -> Result<String, Unwritable> {
        let left = self.operand(item)?;
        match over {
            Collection::Interval(low, high) => Ok(format!(
                "({} ≤ {left}) ∧ ({left} ≤ {})",
                self.operand(low)?,
                self.operand(high)?
            )),
            Collection::Set(members) => {
                let parts: Result<Vec<String>, Unwritable> = members
                    .iter()
                    .map(|member| Ok(format!("({left} = {})", self.operand(member)?)))
                    .collect();
                Ok(parts?.join(" ∨ "))
            }
            Collection::Elements(of) => Err(Unwritable {
                what: "membership in a list",
                part: format!("{item} in {of}"),
            }),
        }
    }

    fn call(
        &self,
        at: &Expression,
        function: Function,
        arguments: &[Expression],
    ) -> Result<String, Unwritable> {
        let name = match (function, arguments.len()) {
            (Function::Given, _) => {
                return Ok(format!("{} ≠ \"none\"", self.operand(&arguments[0])?));
            }
            (Function::Dtype, _) => "dtype_",
            (Function::Ndim | Function::Size | Function::Min | Function::Max, 1)
            | (Function::Shape, 2) => function.name(),
            _ => {
                return Err(Unwritable {
                    what: "such function",
                    part: at.to_string(),
                });
            }
        };
        let arguments: Result<Vec<String>, Unwritable> =
            arguments.iter().map(|at| self.expression(at)).collect();
        Ok(format!("{name}({})", arguments?.join(", ")))
    }

    fn dtype(&self, name: &str) -> Option<Dtype> {
        let declared = self.rule.params.iter().any(|param| param.name == name);
        if declared { None } else { name.parse().ok() }
    }

    fn is_tensor(&self, at: &Expression) -> bool {
        matches!(&at.kind, Kind::Name(name) if self.rule.params.iter().any(|param| {
            param.name == *name && param.of.alternatives().contains(&Type::Tensor)
        }))
    }
}

/// The body with the element written as `of[variable]`.
fn by_index(body: &Expression, variable: &str, of: &Expression) -> Expression {
    body.clone().rewritten(&mut |at| {
        if at.kind == Kind::Name(variable.to_owned()) {
            Expression::made(Kind::Item(Box::new(of.clone()), Box::new(at)))
        } else {
            at
        }
    })
}

fn number(dtype: Dtype, at: &Expression) -> Result<String, Unwritable> {
    match number_of_dtype(dtype) {
        Some(number) => Ok(number.to_string()),
        None => Err(Unwritable {
            what: "number for the dtype",
            part: at.to_string(),
        }),
    }
}
