//! Arithmetic over the parameters of one call, as constraint files write it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A bound or a dimension: `n+2`, `out/&groups`, `ndim:&input`, `max_value:&lengths`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    Number(f64),
    Infinity,
    /// A name shared by all parameters of one call.
    Symbol(String),
    /// `&p`: the value of a parameter.
    ValueOf(String),
    /// `len:&p`.
    LengthOf(String),
    /// `ndim:&p`.
    NdimOf(String),
    /// `max_value:&p`: the largest element of a parameter.
    MaximumOf(String),
    Negate(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Expression {
    /// Calls `visit` with the name of every parameter this expression reads.
    pub fn for_each_param<'a>(&'a self, visit: &mut impl FnMut(&'a str)) {
        match self {
            Expression::ValueOf(name)
            | Expression::LengthOf(name)
            | Expression::NdimOf(name)
            | Expression::MaximumOf(name) => visit(name),
            Expression::Negate(inner) => inner.for_each_param(visit),
            Expression::Binary(left, _, right) => {
                left.for_each_param(visit);
                right.for_each_param(visit);
            }
            Expression::Number(_) | Expression::Infinity | Expression::Symbol(_) => {}
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Number(number) => write!(f, "{number}"),
            Expression::Infinity => f.write_str("inf"),
            Expression::Symbol(name) => f.write_str(name),
            Expression::ValueOf(name) => write!(f, "&{name}"),
            Expression::LengthOf(name) => write!(f, "len:&{name}"),
            Expression::NdimOf(name) => write!(f, "ndim:&{name}"),
            Expression::MaximumOf(name) => write!(f, "max_value:&{name}"),
            Expression::Negate(inner) if matches!(**inner, Expression::Binary(..)) => {
                write!(f, "-({inner})")
            }
            Expression::Negate(inner) => write!(f, "-{inner}"),
            Expression::Binary(left, operator, right) => {
                if matches!(**right, Expression::Binary(..)) {
                    write!(f, "{left}{operator}({right})")
                } else {
                    write!(f, "{left}{operator}{right}")
                }
            }
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
        })
    }
}
