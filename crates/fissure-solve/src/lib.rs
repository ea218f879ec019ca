//! [`Spec`](fissure_model::Spec) → [`AbstractInput`](fissure_model::AbstractInput).
//!
//! Two engines: `constraints` compiles a spec once into a plan of small choices, and each input is
//! then one walk over that plan; [`rules`] draws from rules instead of constraint files.
//! [`conforms`] is the other direction: which constraints does a finished call break?

mod constraints;
mod element;
mod random;
pub mod rules;

pub use constraints::checker::{Broken, Checker, conforms};
pub use constraints::plan::{PlanError, PlanOptions};
pub use constraints::priors::arrays_serve;
pub use constraints::solver::Solver;
pub use element::{as_number, write_element};
pub use random::Random;
