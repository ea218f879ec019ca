//! The rule language: what an API accepts, as text that people read and machines evaluate.
//!
//! `{input: tensor, dim: int} |= -ndim(input) <= dim and dim < ndim(input)`
//!
//! [`parse_rule`] reads, [`check`] finds the types and gives a [`CheckedRule`], which answers
//! whether an input satisfies it; `Display` prints the canonical form. The language is described
//! in `docs/rules.md`, and its meaning is pinned down by the Markdown files under
//! `tests/specification`.

pub mod centaur;
mod check;
mod datum;
mod error;
mod evaluate;
mod explain;
mod facts;
mod file;
mod formula;
mod function;
mod lexer;
mod library;
mod load;
mod number;
mod parser;
mod printer;
mod syntax;
mod types;

pub use check::{MAXIMUM_VARIABLES, check, parameters_of};
pub use datum::{Datum, FactSet, TensorFacts};
pub use error::RuleError;
pub use evaluate::Answer;
pub use explain::explain;
pub use facts::facts_of_fill;
pub use file::{Evidence, FileParam, NamedRule, Place, RuleFile, literal, read_file};
pub use formula::{
    CheckedRule, DtypeSet, DtypeTerm, ElementFact, Formula, Sequence, Subject, Term,
};
pub use function::Function;
pub use library::{
    LibraryError, RULES_FOLDER, RuleLibrary, RuleSheet, SHIPPED, api_named, bare_spec,
};
pub use load::{Format, Loaded, load_text};
pub use number::Number;
pub use parser::{MAXIMUM_DEPTH, Precedence, parse_expression, parse_rule, parse_type};
pub use syntax::{Collection, Declaration, Expression, Kind, Operator, Quantifier, Rule, Span};
pub use types::Type;
