//! Behaviour → rules: what an API accepts, learned from accepted and rejected inputs.
//!
//! [`Seeds`] are calls that the library is known to accept. [`learn`] asks the library about
//! neighbours of them, finds the rules that allow every accepted input and explain the rejected
//! ones, draws inputs from the rules and inputs that break one rule each, and learns again from
//! the answers. [`Invariants`] is the file of what was learned.

mod bits;
mod core_clock;
mod cover;
mod diversity;
mod error;
mod evaluate;
mod invariants;
mod learner;
mod llm;
mod many;
mod mutate;
mod params;
mod refine;
mod runner;
mod seeds;
mod simplify;
mod spec;
mod templates;
mod tighten;
mod typed;
mod vocabulary;

pub use diversity::{Diversity, DiversityReport};
pub use error::LearnError;
pub use evaluate::Evaluation;
pub use invariants::Invariants;
pub use learner::{LearnOptions, Learned, learn};
pub use llm::{LanguageModel, ModelError, Proposals, Situation, read_proposals};
pub use many::{KnownCalls, LearnEvent, Many, Observer};
pub use params::{Call, Observed, Parameter, Parameters};
pub use seeds::{Seeds, read_calls};
pub use spec::CallSampler;
