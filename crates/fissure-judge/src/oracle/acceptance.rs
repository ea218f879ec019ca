//! The documentation rules an argument out, and the call takes it.
//!
//! # What it does
//!
//! Reports a call that returned although its input was made to break one constraint of the
//! specification: a dtype, a number of dimensions, a range, an enumeration, or a rule.
//!
//! # Why it matters
//!
//! Either the documentation is wrong, or the library works with arguments that it was not made
//! for, and what it then returns is nobody's promise.
//!
//! # When it stays silent
//!
//! - The specification is not trusted for this API: constraints taken from prose by a program are
//!   wrong too often to accuse anybody. A value outside a range or a list of choices that a
//!   constraint file states is still a note, one for each parameter.
//! - The input carries boundary cases besides: what was accepted may not be what was broken.
//!
//! # Example
//!
//! ```text
//! torch.foo(x, p=1.5)   # documented: 0 ≤ p ≤ 1; returned a result
//! ```

use fissure_model::{
    Category, ConcreteInput, Confidence, Execution, Intent, Oracle, Outcome, OutcomeKind, Spec,
    Verdict,
};

pub(crate) fn judge(input: &ConcreteInput, execution: &Execution) -> Option<Verdict> {
    if !matches!(execution.outcome, Outcome::Accepted { .. }) || !input.mutations.is_empty() {
        return None;
    }
    let broken = match &input.intent {
        Intent::Violate { param, category } => format!("{} of {param}", name(*category)),
        Intent::BreakRule { rule } => format!("rule {rule}"),
        Intent::Conform | Intent::Ignore => return None,
    };
    Some(Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: Oracle::Acceptance,
        confidence: Confidence::Documentation,
        detail: format!("{broken} broken, and accepted"),
        note: false,
    })
}

/// A value outside the range or the choices that a constraint file states was taken: worth a note.
pub(crate) fn stated(spec: &Spec, input: &ConcreteInput, execution: &Execution) -> Option<Verdict> {
    let Intent::Violate { param, category } = &input.intent else {
        return None;
    };
    let mut params = spec.params.iter().chain(&spec.layer_params);
    let constraint = &params.find(|known| known.name == *param)?.constraint;
    let states = match category {
        Category::Range => !constraint.ranges.is_empty(),
        Category::Enum => !constraint.enums.is_empty(),
        _ => false,
    };
    let verdict = judge(input, execution).filter(|_| states)?;
    Some(Verdict {
        note: true,
        ..verdict
    })
}

fn name(category: Category) -> &'static str {
    match category {
        Category::Dtype => "dtype",
        Category::Structure => "structure",
        Category::Ndim => "number of dimensions",
        Category::Shape => "shape",
        Category::Range => "range",
        Category::Enum => "enumeration",
    }
}
