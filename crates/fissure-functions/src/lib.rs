//! What functions of libraries are: the table `data/functions`, read and checked.
//!
//! Everything that Fissure knows about a function by its name is in that table, and is asked for by a
//! [`Property`]: `functions().has("torch.sort", Property::Indices)`. Names are matched exactly or by the
//! forms that follow from a name (`names.rs`), never by a part of their text.

mod function;
mod names;
mod object;
mod operation;
mod property;
mod table;
mod twin;
mod unstable;

pub use function::{Function, Range};
pub use names::{spatial_word, words};
pub use object::{Given, Object};
pub use operation::{Dialect, Operation, Operations, Role, Source};
pub use property::Property;
pub use table::{Table, TableError, functions, worker_json};
pub use twin::Twin;
pub use unstable::{Family, Objective, Oracle, Precision, Region, Steered, Unstable};
