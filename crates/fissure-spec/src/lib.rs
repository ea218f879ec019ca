//! What an API accepts: constraint files and documentation become a [`fissure_model::Spec`].
//!
//! Invariant: nothing that a file says is dropped silently. A value is either part of the spec or
//! the subject of a [`Warning`] with file and line.

mod changes;
mod compare;
mod document;
mod dtype_config;
mod error;
mod extracted;
mod grammar;
mod hints;
mod literal;
mod load;
mod order;
mod param;
mod reader;
mod references;
mod repair;
mod settings;
mod snippet;
mod suspicion;
mod terms;
pub mod text;
mod yaml;

pub use changes::{Change, changes};
pub use compare::{Confirmation, compare};
pub use dtype_config::{DtypeConfig, DtypeRow};
pub use error::{Problem, SpecError, Warning};
pub use extracted::{CONSTRAINT_KEYS, ExtractedFile, ExtractedParam};
pub use fissure_model::{Kind, ParamHints};
pub use grammar::{GrammarError, parse_expression, parse_ndim, parse_range, parse_shape};
pub use hints::{hints, objects};
pub use literal::parse_default;
pub use load::{Collection, Counts, Loaded, Skipped, load_file, load_paths, load_text};
pub use order::{Cycle, generation_order, layer_generation_order, relaxed_order};
pub use repair::{Repair, repair};
pub use settings::{YamlError, yaml_value};
pub use snippet::render;
pub use terms::{parse_dtype, parse_library_dtype, parse_structure, parse_tensor};
