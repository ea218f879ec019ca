//! [`Spec`](fissure_model::Spec) → [`AbstractInput`](fissure_model::AbstractInput).
//!
//! A spec is compiled once into a plan of small choices; each input is then one walk over that
//! plan. [`conforms`] is the other direction: which constraints does a finished call break?
//! [`rules`] draws from rules instead of constraint files.

mod check;
mod compiled;
mod distort;
mod element;
mod facts;
mod fit;
mod kind;
mod knowledge;
mod leaf;
mod meaning;
mod passing;
mod plan;
mod preference;
mod random;
pub mod rules;
mod sample;
mod sequence;
mod shape;
mod solver;
mod tensor;
mod term;
mod violate;

pub use check::{Broken, Checker, conforms};
pub use element::{as_number, write_element};
pub use knowledge::arrays_serve;
pub use plan::{PlanError, PlanOptions};
pub use random::Random;
pub use solver::Solver;
