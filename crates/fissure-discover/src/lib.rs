//! A [`Spec`](fissure_model::Spec) for any callable, from what the installed library itself says.
//!
//! The worker answers with a [`Description`]: every overload that schemas, registries, signatures,
//! stubs and documentation tell of. [`spec_of`] turns it into a spec. What a description says is a
//! guess unless a machine-readable source states it: guesses become hints, which steer the
//! generator and are never checked, so that a wrong one costs some rejected inputs and nothing more.

mod description;
mod example;
mod param;
mod public;
mod pytree;
mod signature;
mod spec;
mod suggest;

pub use description::{
    Description, Evidence, FormDescription, ParamDescription, Relation, TypeDescription,
};
pub use example::with_examples;
pub use public::{Answer, PublicName, Question};
pub use signature::from_signature;
pub use spec::{signature_of, spec_of, without_tensors};
pub use suggest::suggest;
