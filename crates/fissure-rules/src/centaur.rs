//! The files of Centaur, an earlier tool with the same idea: rules, invariants, signatures and
//! abstract inputs. All are read into our terms and written back in theirs.

mod corpus;
mod invariants;
mod rules;
mod signatures;
mod translate;
mod write;

use fissure_model::Dtype;

pub use corpus::{
    CorpusError, CorpusInput, CorpusValue, read_corpus, read_timestamps, write_corpus,
    write_timestamps,
};
pub use invariants::{Instance, InvariantError, instantiate, read_invariants, write_invariants};
pub use rules::{CentaurRule, looks_like_rules, read_rules};
pub use signatures::{
    CallSignature, CentaurSignature, CentaurType, Params, read_signatures, write_signatures,
};
pub use write::{Unwritable, write_rules};

/// Their numbers for dtypes. 12, which stands for a dtype object, is no element type.
const DTYPES: [Dtype; 12] = [
    Dtype::Bool,
    Dtype::Int8,
    Dtype::Int16,
    Dtype::Int32,
    Dtype::Int64,
    Dtype::Uint8,
    Dtype::Float16,
    Dtype::Float32,
    Dtype::Float64,
    Dtype::Complex64,
    Dtype::Complex128,
    Dtype::String,
];

/// The element type with this number.
pub fn dtype_of_number(number: i64) -> Option<Dtype> {
    DTYPES.get(usize::try_from(number).ok()?).copied()
}

/// The number of an element type; most newer ones have none.
pub fn number_of_dtype(dtype: Dtype) -> Option<i64> {
    let position = DTYPES.iter().position(|known| *known == dtype)?;
    i64::try_from(position).ok()
}
