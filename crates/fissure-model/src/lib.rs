//! The nouns of Fissure as plain data.
//!
//! Every other crate speaks in these types; this one does no I/O and knows no library, no solver
//! and no process. The pipeline reads, left to right:
//!
//! [`Spec`] → [`AbstractInput`] → [`ConcreteInput`] → [`Execution`] → [`Verdict`] → [`Finding`]

mod abstract_input;
mod api;
mod dtype;
mod execution;
mod expression;
mod finding;
mod hints;
mod input;
mod interest;
mod oracle;
mod pattern;
mod scalar;
mod scan;
mod spec;
mod summary;
mod value;

pub use abstract_input::{AbstractArgument, AbstractInput, AbstractValue, Fill, FillScheme};
pub use api::{Api, Signature, SignatureParam, Way, abbreviated, with_version};
pub use dtype::{Dtype, DtypeFamily};
pub use execution::{
    Exception, Execution, FAULT_SIGNALS, Obstacle, OracleCost, Outcome, OutcomeKind, Report,
};
pub use expression::{Comparison, Expression, Operator};
pub use finding::{ArgumentRole, Confidence, Finding, Reproduction, Verdict};
pub use hints::{Kind, ParamHints};
pub use input::{Argument, Category, ConcreteInput, Intent, Mode, Mutation, Mutator, Passing};
pub use interest::Interest;
pub use oracle::Oracle;
pub use pattern::{pattern_matches, title_matches};
pub use scalar::Scalar;
pub use scan::{
    ChangedInput, CheckedFix, ScanFinding, ScanOracle, ScanProblem, ScanResults, ScanSite,
    Severity, TargetStatus, TriggerLevel,
};
pub use spec::{
    Bound, Constraint, Dim, DtypeTerm, Element, Example, Form, NdimTerm, Param, Range, Role,
    RuleText, ShapeTerm, Spec, Structure, TensorKind,
};
pub use value::{TensorData, TensorValue, Value};
