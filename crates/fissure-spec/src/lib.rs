//! What an API accepts: constraint files and documentation become a [`fissure_model::Spec`].

mod hints;

pub use hints::{Kind, ParamHints, hints};
