//! A finding as an ordinary Python program.
//!
//! The program imports the library and nothing of Fissure, holds every value of the input as
//! source text that gives back the same bits, says what was recorded and what would be right, and
//! then makes the call. It is valid from Python 3.7 on. What differs between libraries is one
//! [`Dialect`] each.

mod dialect;
mod elements;
mod ending;
mod flat;
mod jax;
mod layout;
mod literal;
mod mxnet;
mod numpy;
mod tensorflow;
mod torch;
mod writer;

use fissure_model::{Api, ConcreteInput, Finding};

use crate::failure::report_of;
pub(crate) use flat::trials;
use layout::Layout;
use writer::Writer;

/// The line before the call.
pub(crate) const CALLING: &str = "===== the call =====";
/// The last line of a script that saw the failure itself (an exception, a NaN).
pub(crate) const REPRODUCED: &str = "RESULT: reproduced";
/// The last line of a script that did not see the failure.
pub(crate) const NOT_REPRODUCED: &str = "RESULT: not reproduced";

/// Before the memory that a call took, when it came back after all.
pub(crate) const PEAK_MEMORY: &str = "peak memory: ";

/// The program that shows a finding.
///
/// A failure that shows by itself is one call. A failure that an oracle showed by comparing several
/// calls has `build()`, `call()` and the oracle's own `check()`.
pub fn script(finding: &Finding) -> String {
    layout(finding).finding(finding)
}

/// The shortest program that shows the failure to somebody who knows what to look for: what goes
/// into a bug report.
pub(crate) fn snippet(finding: &Finding) -> String {
    let report = report_of(&finding.verdict, &finding.execution);
    let short = match report {
        None => flat::plain_call(finding),
        Some(report) => report.flat.clone().or_else(|| flat::raising_call(finding)),
    };
    short.unwrap_or_else(|| layout(finding).snippet(finding))
}

fn layout(finding: &Finding) -> Layout {
    let mut writer = Writer::new(&finding.api);
    let call = match report_of(&finding.verdict, &finding.execution) {
        None => writer.call_function(&finding.api, &finding.input),
        Some(report) => format!(
            "{}\n\n{}\n",
            writer.build_functions(&finding.api, &finding.input),
            report.check.trim()
        ),
    };
    Layout { writer, call }
}

/// The call alone, for inputs that are kept without being a finding: it prints the result or ends
/// with the exception.
pub fn script_for_input(api: &Api, input: &ConcreteInput) -> String {
    let mut writer = Writer::new(api);
    let call = writer.call_function(api, input);
    Layout { writer, call }.input(api, input)
}

/// The imports, `build()`, which makes the arguments, and `call(…)`, which takes them: for programs that do
/// something of their own with the call.
pub fn script_parts(api: &Api, input: &ConcreteInput) -> String {
    let mut writer = Writer::new(api);
    let call = writer.build_functions(api, input);
    Layout { writer, call }.parts()
}
