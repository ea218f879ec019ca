//! A smaller input that shows the same change.
//!
//! The shrinker of findings does the work: each candidate runs in both versions, and what differs is put into its
//! execution as the report of an oracle, which is what that shrinker knows a failure by.

use std::time::Duration;

use fissure_model::{ConcreteInput, Confidence, Execution, Outcome, OutcomeKind, Report, Verdict};
use fissure_triage::{Failure, ShrinkBudget, shrink};

use crate::behaviour::{Behaviour, Kind};
use crate::difference::difference;
use crate::excuse::judged;
use crate::lane::{Apis, Sides, call_text};

/// The name under which a change is a report.
const ORACLE: &str = "compare";

/// Makes the input of a behaviour small, as far as the time allows.
pub(crate) fn make_small(sides: &Sides, apis: &Apis, behaviour: &mut Behaviour, time: Duration) {
    let Some(input) = behaviour.input.clone() else {
        return;
    };
    // Time and memory are those of this very input.
    if matches!(behaviour.kind, Kind::Speed | Kind::Memory) || time.is_zero() {
        return;
    }
    let run = |inputs: &[ConcreteInput]| -> Vec<Execution> {
        let ran = sides.closely(apis, inputs);
        ran.iter().map(|(a, b)| joined(a, b)).collect()
    };
    let first = run(std::slice::from_ref(&input));
    let Some(execution) = first.first() else {
        return;
    };
    let verdict = Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: ORACLE.into(),
        confidence: Confidence::Contract,
        detail: key(behaviour.kind, &behaviour.detail),
        note: false,
    };
    let failure = Failure::new(&apis.before, &verdict, execution);
    if failure.oracle().is_none() || !failure.shown_by(&input, execution) {
        return;
    }
    let budget = ShrinkBudget {
        time,
        candidates: 400,
    };
    let mut run = run;
    let shrunk = shrink(
        &failure,
        &input,
        execution,
        &mut run,
        budget,
        &mut |_, _| (),
    );
    if shrunk.steps == 0 {
        return;
    }
    if let Some(report) = shrunk.execution.reports.first() {
        behaviour.before.clone_from(&report.observed);
        behaviour.after.clone_from(&report.expected);
    }
    behaviour.call = call_text(&apis.before, &shrunk.input);
    behaviour.input = Some(Box::new(shrunk.input));
}

fn key(kind: Kind, detail: &str) -> String {
    format!("{kind}: {detail}")
}

/// One execution with the change as its report.
fn joined(before: &Execution, after: &Execution) -> Execution {
    let outcome = Outcome::Accepted { nan: false };
    let mut execution = Execution::new(before.number, outcome, before.duration);
    let change = difference(before, after).and_then(|change| judged(change, before, after));
    if let Some(change) = change {
        execution.reports.push(Report {
            oracle: ORACLE.into(),
            detail: key(change.kind, &change.detail),
            observed: change.before,
            expected: change.after,
            check: String::new(),
            flat: None,
        });
    }
    execution
}
