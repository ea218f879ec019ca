//! Failures that are told by a text: of an exception, or of the documentation.

use crate::common;

use common::{api, exception, execution, input, keyword};
use fissure_model::{Category, ConcreteInput, Execution, Intent, Outcome, Value};
use fissure_triage::{Documented, Failure, ShrinkBudget, Shrunk, shrink};

/// What the planted library does with an input.
type Library = fn(i128, bool) -> Outcome;

fn given<'a>(input: &'a ConcreteInput, name: &str) -> Option<&'a Value> {
    let argument = input.arguments.iter().find(|it| it.name == name)?;
    Some(&argument.value)
}

/// `x` is required and `flag` is not.
fn run(library: Library, input: &ConcreteInput) -> Execution {
    let outcome = match given(input, "x") {
        Some(Value::Int(x)) => library(*x, given(input, "flag").is_some()),
        _ => Outcome::Rejected(exception("TypeError", "missing x")),
    };
    execution(outcome, None)
}

/// Documented: `x` from 0 to 100.
fn documented(input: &ConcreteInput) -> Intent {
    match given(input, "x") {
        Some(Value::Int(0..=100)) => Intent::Conform,
        Some(Value::Int(_)) => Intent::Violate {
            param: "x".into(),
            category: Category::Range,
        },
        _ => Intent::Ignore,
    }
}

fn bad(x: i128) -> ConcreteInput {
    input(vec![
        keyword("x", Value::Int(x)),
        keyword("flag", Value::Bool(true)),
    ])
}

/// The failure of this input, which is judged as the documentation has it.
fn failure(library: Library, bad: &ConcreteInput) -> (Failure, Execution) {
    let mut first = run(library, bad);
    let read = ConcreteInput {
        intent: documented(bad),
        ..bad.clone()
    };
    let (verdict, report) = fissure_judge::documentation(&read, &first, true).unwrap();
    first.reports = vec![report];
    (
        Failure::new(&api("planted.function"), &verdict, &first),
        first,
    )
}

fn shrunk(failure: &Failure, library: Library, bad: &ConcreteInput, first: &Execution) -> Shrunk {
    let mut run = |inputs: &[ConcreteInput]| inputs.iter().map(|it| run(library, it)).collect();
    let budget = ShrinkBudget::default();
    shrink(failure, bad, first, &mut run, budget, &mut |_, _| ())
}

#[test]
fn a_mistake_in_the_librarys_own_code_shrinks_and_its_report_follows() {
    let library: Library = |x, _| match x {
        5.. => Outcome::Rejected(exception("UnboundLocalError", &format!("output {x}"))),
        _ => Outcome::Rejected(exception("ValueError", "x is too small")),
    };
    let bad = bad(77);
    let (failure, first) = failure(library, &bad);
    assert_eq!(failure.verdict().oracle, fissure_model::Oracle::Message);
    assert!(failure.can_be_shown() && failure.oracle().is_none());
    let found = shrunk(&failure, library, &bad, &first);
    assert_eq!(found.input.arguments, [keyword("x", Value::Int(5))]);
    let told = failure.complete(&found.input, found.execution);
    assert_eq!(told.reports.len(), 1);
    assert_eq!(told.reports[0].observed, "UnboundLocalError: output 5");
}

#[test]
fn a_wrong_acceptance_shrinks_as_long_as_the_same_constraint_is_broken() {
    // Taken from 5 on, documented up to 100.
    let library: Library = |x, _| match x {
        5.. => Outcome::Accepted { nan: false },
        _ => Outcome::Rejected(exception("ValueError", "no")),
    };
    let bad = bad(7_000);
    let (failure, first) = failure(library, &bad);
    assert_eq!(failure.verdict().oracle, fissure_model::Oracle::Acceptance);
    let failure = failure.documented(Documented::new(documented));
    let found = shrunk(&failure, library, &bad, &first);
    assert_eq!(found.input.arguments, [keyword("x", Value::Int(127))]);
    let told = failure.complete(&found.input, found.execution);
    assert_eq!(told.reports[0].detail, "range of x broken, and accepted");
}

#[test]
fn a_wrong_rejection_shrinks_as_long_as_the_input_is_documented_and_the_message_the_same() {
    let library: Library = |x, _| match x {
        0..40 => Outcome::Accepted { nan: false },
        40.. => Outcome::Rejected(exception("ValueError", &format!("x is {x}, which is odd"))),
        _ => Outcome::Rejected(exception("ValueError", "x is negative")),
    };
    let bad = bad(93);
    let (failure, first) = failure(library, &bad);
    assert_eq!(failure.verdict().oracle, fissure_model::Oracle::Rejection);
    let failure = failure.documented(Documented::new(documented));
    let found = shrunk(&failure, library, &bad, &first);
    assert_eq!(found.input.arguments.len(), 1, "{found:?}");
    let Value::Int(x) = found.input.arguments[0].value else {
        panic!("{found:?}");
    };
    assert!((40..=93).contains(&x), "{found:?}");
    assert!(failure.shown_by(&found.input, &found.execution));
}

#[test]
fn without_the_documentation_no_other_input_shows_a_failure_against_it() {
    let library: Library = |_, _| Outcome::Accepted { nan: false };
    let (failure, first) = failure(library, &bad(7_000));
    assert!(!failure.can_be_shown());
    assert!(!failure.shown_by(&bad(7_000), &first));
}
