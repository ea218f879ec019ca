//! One call, ready to be executed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Value;

/// Everything one call needs. Same seed, same spec, same number: the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConcreteInput {
    /// Position of this input in the sequence of its API, from 0.
    pub number: u64,
    pub arguments: Vec<Argument>,
    /// For a layer: the arguments of the call on the constructed object.
    pub layer_arguments: Option<Vec<Argument>>,
    pub intent: Intent,
    pub mutations: Vec<Mutation>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    pub name: String,
    pub passing: Passing,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    Positional,
    Keyword,
}

/// How the generator treats constraints, as the user asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Conform,
    Violate,
    Ignore,
    /// 60 % conforming, 40 % violating.
    Mixed,
}

/// What this one input was made to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    Conform,
    /// Exactly this category of exactly this parameter is broken.
    Violate {
        param: String,
        category: Category,
    },
    /// Exactly this rule is broken, and every other one holds.
    BreakRule {
        rule: String,
    },
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Dtype,
    Structure,
    Ndim,
    Shape,
    Range,
    Enum,
}

/// A boundary case put into a finished input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutation {
    pub param: String,
    pub mutator: Mutator,
    /// One element was changed rather than the whole parameter.
    pub element: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutator {
    ExtremeValue,
    None,
    Zero,
    ZeroDimension,
    EmptyList,
    EmptyString,
    /// NaN, ±Inf, −0.0, subnormals: only on request.
    SpecialValue,
}

impl Mutator {
    pub const ALL: [Mutator; 7] = [
        Mutator::ExtremeValue,
        Mutator::None,
        Mutator::Zero,
        Mutator::ZeroDimension,
        Mutator::EmptyList,
        Mutator::EmptyString,
        Mutator::SpecialValue,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Mutator::ExtremeValue => "extreme_value",
            Mutator::None => "none",
            Mutator::Zero => "zero",
            Mutator::ZeroDimension => "zero_dimension",
            Mutator::EmptyList => "empty_list",
            Mutator::EmptyString => "empty_string",
            Mutator::SpecialValue => "special_value",
        }
    }
}

impl fmt::Display for Mutator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Category {
    /// The word for it in constraint files.
    pub fn key(self) -> &'static str {
        match self {
            Category::Dtype => "dtype",
            Category::Structure => "structure",
            Category::Ndim => "ndim",
            Category::Shape => "shape",
            Category::Range => "range",
            Category::Enum => "enum",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Conform => "conform",
            Mode::Violate => "violate",
            Mode::Ignore => "ignore",
            Mode::Mixed => "mixed",
        })
    }
}
