//! [`AbstractInput`](fissure_model::AbstractInput) → [`ConcreteInput`](fissure_model::ConcreteInput):
//! elements of tensors, boundary cases, and [`Generator`], which the campaign drives.

mod construct;
mod coverage;
mod elements;
mod generator;
mod mutate;
mod options;

pub use construct::concrete_input;
pub use coverage::MutatorCoverage;
pub use generator::{GenerateError, Generator};
pub use options::{GenerateOptions, TensorsAs};
