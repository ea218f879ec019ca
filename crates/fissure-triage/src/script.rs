//! A finding as an ordinary Python program.
//!
//! The program imports the library and nothing of Fissure, holds every value of the input as
//! source text that gives back the same bits, says what was recorded and what would be right, and
//! then makes the call. It is valid from Python 3.7 on. What differs between libraries is one
//! [`Dialect`] each.

mod dialect;
mod elements;
mod layout;
mod literal;
mod numpy;
mod torch;
mod writer;

use fissure_model::{Api, ConcreteInput, Finding};

use layout::Layout;
use writer::Writer;

/// The line before the call.
pub const CALLING: &str = "===== the call =====";
/// The last line of a script that saw the failure itself (an exception, a NaN).
pub const REPRODUCED: &str = "RESULT: reproduced";
/// The last line of a script that did not see the failure.
pub const NOT_REPRODUCED: &str = "RESULT: not reproduced";

/// The program that shows a finding.
pub fn script(finding: &Finding) -> String {
    let mut writer = Writer::new(&finding.api);
    let call = writer.call_function(&finding.api, &finding.input);
    Layout { writer, call }.finding(finding)
}

/// The call alone, for inputs that are kept without being a finding: it prints the result or ends
/// with the exception.
pub fn script_for_input(api: &Api, input: &ConcreteInput) -> String {
    let mut writer = Writer::new(api);
    let call = writer.call_function(api, input);
    Layout { writer, call }.input(api, input)
}
