//! Why another result is expected, in a sentence.

use fissure_model::{Finding, Oracle, OutcomeKind};

/// Empty where what is expected says it all.
pub(super) fn basis(finding: &Finding) -> &'static str {
    let detail = &finding.verdict.detail;
    match (&finding.verdict.oracle, finding.verdict.kind) {
        (_, OutcomeKind::Nan) => {
            "The arguments are ordinary finite numbers, and the same call in another precision gives \
             no NaN."
        }
        (_, kind) if kind != OutcomeKind::WrongResult => "",
        (Oracle::Forms, _) if detail.starts_with("changes ") => {
            "What is printed is the argument, before and after the call: a function that does not \
             work in place leaves its arguments as they are."
        }
        (Oracle::Forms, _) => "The forms of one function compute the same.",
        (Oracle::Reference64 | Oracle::Placement | Oracle::CoveredUp, _) => {
            "Expected is what the same call gives with its arguments in float64."
        }
        (Oracle::Sweep, _) if detail.starts_with("vector and strided") => {
            "Expected is what the same numbers give in a tensor that is not contiguous."
        }
        (Oracle::Sweep, _) => "Expected is what the same number gives in a wider type.",
        (Oracle::Layout, _) => "The values do not depend on how they lie in memory.",
        (Oracle::KernelPath, _) => "An element's result does not depend on the elements beside it.",
        (Oracle::Determinism, _) => "Equal calls give equal results.",
        (Oracle::Gradient, _) => "Expected is what differences of the function's values give.",
        (Oracle::Meta, _) => "The meta kernel says what the result will be without computing it.",
        _ => "",
    }
}
