//! Syntax to text, in one canonical form. What is printed parses back to the same tree.

use std::fmt::{self, Display, Formatter, Write};

use crate::lexer::{KEYWORDS, is_word_part, is_word_start};
use crate::syntax::{Collection, Declaration, Expression, Kind, Operator, Quantifier, Rule};

/// A name as it is written in a rule: in backticks where it would be read as something else.
pub(crate) fn name(name: &str) -> String {
    let plain = name.starts_with(is_word_start)
        && name.chars().all(is_word_part)
        && !KEYWORDS.contains(&name)
        && !matches!(name, "True" | "False");
    if plain {
        name.to_owned()
    } else {
        format!("`{name}`")
    }
}

/// A text as it is written in a rule.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (position, param) in self.params.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{param}")?;
        }
        write!(f, "}} |= {}", self.body)
    }
}

impl Display for Declaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", name(&self.name), self.of)
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Integer(value) => write!(f, "{value}"),
            Kind::Float(value) => write!(f, "{value:?}"),
            Kind::Text(value) => f.write_str(&text(value)),
            Kind::Boolean(value) => write!(f, "{value}"),
            Kind::Name(value) => f.write_str(&name(value)),
            Kind::Not(inner) => match &inner.kind {
                Kind::In(item, over) => {
                    operand(f, item, 6)?;
                    write!(f, " not in {over}")
                }
                _ => {
                    f.write_str("not ")?;
                    operand(f, inner, 8)
                }
            },
            Kind::Negate(inner) => {
                let text = inner.to_string();
                // `-2[0]` would be read as an item of -2.
                let literal =
                    text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("inf");
                if tightness(inner) >= 9 && !literal {
                    write!(f, "-{text}")
                } else {
                    write!(f, "-({text})")
                }
            }
            Kind::Binary(left, operator, right) => {
                let power = power(*operator);
                let (least_left, least_right) = match operator {
                    Operator::Implies => (power + 1, power),
                    _ if operator.is_comparison() => (power + 1, power + 1),
                    _ => (power, power + 1),
                };
                operand(f, left, least_left)?;
                write!(f, " {} ", operator.symbol())?;
                operand(f, right, least_right)
            }
            Kind::In(item, over) => {
                operand(f, item, 6)?;
                write!(f, " in {over}")
            }
            Kind::If(condition, then, other) => {
                f.write_str("if ")?;
                operand(f, condition, 1)?;
                f.write_str(" then ")?;
                // A conditional inside would take our `else` for its own.
                operand(f, then, 1)?;
                match other {
                    Some(other) => write!(f, " else {other}"),
                    None => Ok(()),
                }
            }
            Kind::Quantified {
                quantifier,
                variable,
                over,
                body,
            } => {
                let word = match quantifier {
                    Quantifier::Forall => "forall",
                    Quantifier::Exists => "exists",
                };
                write!(f, "{word} {} in {over}: {body}", name(variable))
            }
            Kind::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                listed(f, arguments)?;
                f.write_char(')')
            }
            Kind::Item(of, at) => {
                operand(f, of, 9)?;
                write!(f, "[{at}]")
            }
            Kind::Length(of) => {
                operand(f, of, 9)?;
                f.write_str(".len")
            }
        }
    }
}

impl Display for Collection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Collection::Interval(low, high) => write!(f, "[{low}, {high}]"),
            Collection::Set(items) => {
                f.write_char('{')?;
                listed(f, items)?;
                f.write_char('}')
            }
            Collection::Elements(of) => operand(f, of, 6),
        }
    }
}

fn listed(f: &mut Formatter<'_>, items: &[Expression]) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        let separator = if position == 0 { "" } else { ", " };
        write!(f, "{separator}{item}")?;
    }
    Ok(())
}

/// The expression, in brackets unless it binds at least as tightly as `least`.
fn operand(f: &mut Formatter<'_>, expression: &Expression, least: u8) -> fmt::Result {
    if tightness(expression) >= least {
        write!(f, "{expression}")
    } else {
        write!(f, "({expression})")
    }
}

fn tightness(expression: &Expression) -> u8 {
    match &expression.kind {
        // These reach as far to the right as they can, so they stand in brackets inside anything.
        Kind::If(..) | Kind::Quantified { .. } => 0,
        Kind::Binary(_, operator, _) => power(*operator),
        Kind::Not(inner) if matches!(inner.kind, Kind::In(..)) => 5,
        Kind::Not(_) => 4,
        Kind::In(..) => 5,
        Kind::Negate(_) => 8,
        _ => 9,
    }
}

fn power(operator: Operator) -> u8 {
    match operator {
        Operator::Implies => 1,
        Operator::Or => 2,
        Operator::And => 3,
        Operator::Add | Operator::Subtract => 6,
        Operator::Multiply | Operator::Divide | Operator::FloorDivide | Operator::Modulo => 7,
        _ => 5,
    }
}
