//! [`AbstractInput`](fissure_model::AbstractInput) → [`ConcreteInput`](fissure_model::ConcreteInput):
//! elements of tensors, boundary cases, and [`Generator`], which the campaign drives.

mod alternative;
mod arranged;
mod by_keyword;
mod call_form;
mod ceilings;
mod construct;
mod coverage;
mod elements;
mod forms;
mod generator;
mod havoc;
mod mutate;
mod options;
mod ordinary;
mod proposers;
mod repair;
mod rules;
mod source;
mod stream;
mod unguided;
mod unspoken;
mod unusual;
mod wide;

pub use ceilings::too_large;
pub use construct::concrete_input;
pub use coverage::MutatorCoverage;
pub use generator::{GenerateError, GenerateReason, Generator};
pub use options::{GenerateOptions, TensorsAs};
pub use repair::{Want, Wish, wishes};
pub use rules::RulesError;
