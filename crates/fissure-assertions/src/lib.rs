//! Soft assertions: models that say how to change the values at an unstable function so that it
//! fails.
//!
//! `labeller` runs the real function with its oracles in the target's interpreter, `dataset` and
//! `features` turn its samples into columns, `ensemble` and `training` make a model, `file` keeps
//! it, and `assertion` answers with it.

mod assertion;
mod catalogue;
mod dataset;
mod ensemble;
mod features;
mod file;
mod installed;
mod label;
mod labeller;
mod metrics;
mod project;
mod session;
mod steps;
mod training;
mod tree;
mod walker;

pub use assertion::{AnswerError, SoftAssertion};
pub use catalogue::{ORACLES, PLAIN_ORACLES, Range, Trainable, catalogue};
pub use dataset::{Dataset, DatasetError};
pub use ensemble::{Ensemble, Kind};
pub use features::Extractor;
pub use file::{AssertionFile, FORMAT, FileError, Header, LeftOut, ModelHeader};
pub use installed::{load_shipped, shipped};
pub use label::{Context, Label, Precision};
pub use labeller::{Event, LabelError, Labelled, Labeller, Request, Split};
pub use metrics::Confusion;
pub use project::{OwnAssertion, ProjectError, load_project, plug};
pub use session::{Progress, TrainError, train_functions};
pub use steps::Steps;
pub use training::{Trained, evaluate, train, train_kind};
