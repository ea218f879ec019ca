//! Execution → verdict.
//!
//! [`kind`] counts an execution, [`judge`] decides whether a person should hear of it. Each oracle
//! is one file under `oracle/`; the comment at its top is its user page, and [`oracles`] hands
//! those pages out.
//!
//! Both functions are called for every input of a run. For a plain accepted or rejected input they
//! allocate nothing and read the exception's message once.

mod input_facts;
mod oracle;
mod reports;
mod select;
mod signal;

use fissure_model::{
    Api, ConcreteInput, Execution, Oracle, Outcome, OutcomeKind, Report, Spec, Verdict,
};

pub use oracle::fatal_signal::handled_fault;
pub use oracle::internal_error::internal_error_phrase;
pub use oracle::{OracleInfo, Tier, oracle, oracles};
pub use reports::reports;
pub use select::{PROFILES, Profile, SelectError, profile, select};
pub use signal::{is_fault, signal_name};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgeOptions {
    /// A NaN in the result is a verdict by itself: for an input that the oracle `nan` has judged.
    pub check_nan: bool,
}

/// How this execution is counted.
pub fn kind(execution: &Execution) -> OutcomeKind {
    match &execution.outcome {
        Outcome::Accepted { nan: false } => OutcomeKind::Accepted,
        Outcome::Accepted { nan: true } => OutcomeKind::Nan,
        Outcome::Rejected(exception) => match internal_error_phrase(exception) {
            Some(_) => OutcomeKind::InternalError,
            None => OutcomeKind::Rejected,
        },
        Outcome::Fatal(_) => OutcomeKind::Fatal,
        Outcome::Crash { signal } if is_fault(*signal) => OutcomeKind::Crash,
        Outcome::Crash { .. } => OutcomeKind::Exit,
        Outcome::Exit { .. } => match execution.log.as_deref().and_then(handled_fault) {
            Some(_) => OutcomeKind::Crash,
            None => OutcomeKind::Exit,
        },
        Outcome::Timeout => OutcomeKind::Timeout,
        Outcome::OutOfMemory => OutcomeKind::OutOfMemory,
        Outcome::Corruption => OutcomeKind::Corruption,
        Outcome::NotBuilt(_) => OutcomeKind::NotBuilt,
    }
}

/// What the oracles say about this execution; `None` when there is nothing to report.
pub fn judge(
    api: &Api,
    input: &ConcreteInput,
    execution: &Execution,
    options: &JudgeOptions,
) -> Option<Verdict> {
    if reports::is_variant(execution) {
        return reports::ended(input, execution);
    }
    match kind(execution) {
        OutcomeKind::Accepted | OutcomeKind::Rejected | OutcomeKind::NotBuilt => None,
        // Never the kind of an outcome alone: see `reports`.
        OutcomeKind::WrongResult => None,
        OutcomeKind::Crash => oracle::fatal_signal::judge(execution),
        OutcomeKind::Exit => oracle::unexpected_exit::judge(execution),
        OutcomeKind::Fatal => oracle::fatal_exception::judge(execution),
        OutcomeKind::InternalError => oracle::internal_error::judge(execution),
        OutcomeKind::Nan if options.check_nan => oracle::nan::judge(api, input),
        OutcomeKind::Nan => None,
        OutcomeKind::Timeout => Some(oracle::hang::judge(api, input)),
        OutcomeKind::OutOfMemory => Some(oracle::memory::judge(input)),
        OutcomeKind::Corruption => Some(oracle::corruption::judge()),
    }
}

/// The comparing oracle that an execution of this kind asks for, whatever else is judged: a NaN
/// that nothing in the input explains at first sight is worth a closer look.
pub fn asks_for(api: &Api, input: &ConcreteInput, kind: OutcomeKind) -> Option<Oracle> {
    (kind == OutcomeKind::Nan && oracle::nan::is_suspicious(api, input)).then_some(Oracle::Nan)
}

/// What the oracles of documentation say: about the quality of a rejection, and, where the
/// specification is `trusted` for this API, about inputs that were wrongly accepted or rejected.
/// The report belongs into [`Execution::reports`] of the finding, whose script is made from it.
pub fn documentation(
    input: &ConcreteInput,
    execution: &Execution,
    trusted: bool,
) -> Option<(Verdict, Report)> {
    if !matches!(
        kind(execution),
        OutcomeKind::Accepted | OutcomeKind::Nan | OutcomeKind::Rejected
    ) {
        return None;
    }
    let against_spec = || {
        oracle::acceptance::judge(input, execution)
            .or_else(|| oracle::rejection::judge(input, execution))
    };
    let verdict = oracle::message::judge(input, execution, trusted)
        .or_else(|| trusted.then(against_spec).flatten())?;
    let report = reports::documentation_report(&verdict, input, execution);
    Some((verdict, report))
}

/// What a specification states outright and the library does not keep to, where it is not trusted
/// as a whole: always a note.
pub fn stated(
    spec: &Spec,
    input: &ConcreteInput,
    execution: &Execution,
) -> Option<(Verdict, Report)> {
    if !matches!(
        kind(execution),
        OutcomeKind::Accepted | OutcomeKind::Nan | OutcomeKind::Rejected
    ) {
        return None;
    }
    let verdict = oracle::acceptance::stated(spec, input, execution)
        .or_else(|| oracle::rejection::stated(spec, input, execution))?;
    let report = reports::documentation_report(&verdict, input, execution);
    Some((verdict, report))
}
