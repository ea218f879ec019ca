//! What a soft assertion answers, and the types it speaks about.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How to change a value so that the function fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Label {
    Decrease = 0,
    /// It fails already, or no move of this value and of its context makes it fail.
    NoChange = 1,
    Increase = 2,
}

impl Label {
    pub const ALL: [Label; 3] = [Label::Decrease, Label::NoChange, Label::Increase];

    pub fn from_index(index: usize) -> Option<Label> {
        Label::ALL.get(index).copied()
    }

    /// The sign of the move: -1, 0 or 1.
    pub fn sign(self) -> i8 {
        self as i8 - 1
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Label::Decrease => "decrease",
            Label::NoChange => "no change",
            Label::Increase => "increase",
        })
    }
}

/// A floating-point type with a model of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    Float16,
    Bfloat16,
    Float32,
    Float64,
}

impl Precision {
    pub const ALL: [Precision; 4] = [
        Precision::Float16,
        Precision::Bfloat16,
        Precision::Float32,
        Precision::Float64,
    ];

    /// The name that the libraries use.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Float16 => "float16",
            Precision::Bfloat16 => "bfloat16",
            Precision::Float32 => "float32",
            Precision::Float64 => "float64",
        }
    }

    pub fn from_name(name: &str) -> Option<Precision> {
        Precision::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The binary logarithm of the smallest number above zero.
    pub fn lowest_exponent(self) -> f64 {
        match self {
            Precision::Float16 => -24.0,
            Precision::Bfloat16 => -133.0,
            Precision::Float32 => -149.0,
            Precision::Float64 => -1074.0,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What one result of a function depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// One number.
    Element,
    /// One number of each of two operands.
    Pair,
    /// A row.
    Row,
    /// A row of each of two operands.
    Rows,
    /// A square matrix.
    Matrix,
}

impl Context {
    pub fn operands(self) -> usize {
        match self {
            Context::Pair | Context::Rows => 2,
            Context::Element | Context::Row | Context::Matrix => 1,
        }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Context::Element => "element",
            Context::Pair => "pair",
            Context::Row => "row",
            Context::Rows => "rows",
            Context::Matrix => "matrix",
        })
    }
}
