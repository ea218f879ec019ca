//! Planted failures shrink to exactly what they need.

use crate::common;

use std::time::Duration;

use common::{api, execution, floats, input, keyword, positional, tensor};
use fissure_model::{
    ConcreteInput, Dtype, Execution, Outcome, OutcomeKind, Report, Scalar, TensorValue, Value,
};
use fissure_triage::{Failure, ShrinkBudget, Shrunk, explain, shrink};

const SIGFPE: i32 = 8;

/// What the planted library does with an input.
type Library = fn(&ConcreteInput) -> Outcome;

fn rejected() -> Outcome {
    Outcome::Rejected(common::exception("ValueError", "no"))
}

fn crash() -> Outcome {
    Outcome::Crash { signal: SIGFPE }
}

fn argument<'a>(input: &'a ConcreteInput, name: &str) -> Option<&'a Value> {
    input
        .arguments
        .iter()
        .chain(input.layer_arguments.iter().flatten())
        .find(|argument| argument.name == name)
        .map(|argument| &argument.value)
}

fn integer(input: &ConcreteInput, name: &str) -> Option<i128> {
    match argument(input, name)? {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

fn given_tensor<'a>(input: &'a ConcreteInput, name: &str) -> Option<&'a TensorValue> {
    match argument(input, name)? {
        Value::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// Shrinks with a runner that stops at the first crash, as a pool does.
fn shrunk_within(library: Library, bad: &ConcreteInput, budget: ShrinkBudget) -> Shrunk {
    let api = api("planted.function");
    let outcome = library(bad);
    let first = common::finding(api.clone(), bad.clone(), execution(outcome, None));
    let failure = Failure::new(&api, &first.verdict, &first.execution);
    let mut run = |inputs: &[ConcreteInput]| {
        let mut executions = Vec::new();
        for input in inputs {
            let execution = execution(library(input), None);
            let ended = matches!(execution.outcome, Outcome::Crash { .. });
            executions.push(execution);
            if ended {
                break;
            }
        }
        executions
    };
    shrink(
        &failure,
        bad,
        &first.execution,
        &mut run,
        budget,
        &mut |_, _| (),
    )
}

fn shrunk(library: Library, bad: &ConcreteInput) -> Shrunk {
    let found = shrunk_within(library, bad, ShrinkBudget::default());
    assert!(found.finished, "{found:?}");
    found
}

#[test]
fn what_the_failure_does_not_need_is_dropped_and_the_order_of_the_rest_is_kept() {
    let library: Library = |input| match (integer(input, "b"), integer(input, "d")) {
        (Some(b), Some(d)) if b >= 5 && d < -100 => crash(),
        (Some(_), Some(_)) => Outcome::Accepted { nan: false },
        _ => rejected(),
    };
    let bad = input(vec![
        keyword("a", Value::Text("ignored".into())),
        keyword("b", Value::Int(12_345)),
        keyword("c", Value::List(vec![Value::Int(1); 9])),
        keyword("d", Value::Int(-987_654_321)),
        keyword("e", Value::None),
    ]);
    let found = shrunk(library, &bad);
    assert_eq!(
        found.input.arguments,
        [keyword("b", Value::Int(5)), keyword("d", Value::Int(-127)),]
    );
    assert!(found.steps > 0 && found.tried > found.steps);
}

#[test]
fn sizes_that_differ_and_keep_an_order_become_smaller_together() {
    // As in householder_product: a row more than columns, a column more than factors.
    let library: Library = |input| {
        let (Some(matrix), Some(factors)) = (given_tensor(input, "a"), given_tensor(input, "tau"))
        else {
            return rejected();
        };
        match (&matrix.shape[..], &factors.shape[..]) {
            ([rows, columns], [count]) if *rows == columns + 1 && *columns == count + 1 => crash(),
            _ => rejected(),
        }
    };
    let numbers: Vec<f32> = (0..420_u16).map(|number| f32::from(number) / 7.0).collect();
    let bad = input(vec![
        keyword("a", Value::Tensor(floats(&[21, 20], &numbers))),
        keyword("tau", Value::Tensor(floats(&[19], &numbers[..19]))),
    ]);
    let found = shrunk(library, &bad).input;
    assert_eq!(given_tensor(&found, "a").unwrap().shape, [3, 2]);
    assert_eq!(given_tensor(&found, "tau").unwrap().shape, [1]);
}

#[test]
fn a_large_number_ends_at_the_power_of_two_that_still_fails() {
    // As in pixel_shuffle: the square of the factor overflows to zero.
    let library: Library = |input| match integer(input, "factor") {
        Some(factor) if factor > 0 && (factor as u64).wrapping_mul(factor as u64) == 0 => crash(),
        _ => rejected(),
    };
    let bad = input(vec![keyword("factor", Value::Int(3 << 48))]);
    assert_eq!(
        shrunk(library, &bad).input.arguments[0].value,
        Value::Int(1 << 32)
    );
}

#[test]
fn sizes_that_must_agree_shrink_together() {
    let library: Library = |input| {
        let (Some(data), Some(weight)) =
            (given_tensor(input, "input"), given_tensor(input, "weight"))
        else {
            return rejected();
        };
        let ([_, channels, height, width], [_, given, kernel, _]) =
            (&data.shape[..], &weight.shape[..])
        else {
            return rejected();
        };
        let fits = channels == given && data.dtype == weight.dtype && height >= kernel;
        match integer(input, "stride") {
            Some(0) if fits && *width >= 2 => crash(),
            _ => rejected(),
        }
    };
    let values = [1.5, -2.0, 0.25];
    let mut data = floats(&[4, 6, 9, 7], &values);
    let mut weight = floats(&[5, 6, 3, 3], &values);
    for tensor in [&mut data, &mut weight] {
        tensor.dtype = Dtype::Float64;
        tensor.data.pattern = values
            .iter()
            .flat_map(|value| f64::from(*value).to_le_bytes())
            .collect();
    }
    let bad = input(vec![
        positional(Value::Int(3)),
        keyword("input", Value::Tensor(data)),
        keyword("weight", Value::Tensor(weight)),
        keyword("stride", Value::Int(0)),
        keyword("groups", Value::Int(6)),
    ]);
    let found = shrunk(library, &bad);
    let zeros = |shape: &[u64]| Value::Tensor(floats(shape, &[0.0]));
    assert_eq!(
        found.input.arguments,
        [
            keyword("input", zeros(&[1, 1, 1, 2])),
            keyword("weight", zeros(&[1, 1, 1, 1])),
            keyword("stride", Value::Int(0)),
        ]
    );
}

#[test]
fn an_element_that_matters_is_kept_and_the_others_become_plain() {
    let library: Library = |input| {
        let Some(data) = given_tensor(input, "x") else {
            return rejected();
        };
        let found = data
            .pattern_scalars()
            .any(|scalar| matches!(scalar, Scalar::Float(number) if number > 100.0));
        if found && data.shape.len() == 2 {
            crash()
        } else {
            rejected()
        }
    };
    let data = floats(&[2, 3], &[0.1, 7.25, -3.0, 12_345.678, 9.0, 1e-30]);
    let bad = input(vec![keyword("x", Value::Tensor(data))]);
    let found = shrunk(library, &bad);
    // The only element that fails is at [1, 0].
    let Value::Tensor(kept) = &found.input.arguments[0].value else {
        panic!("{found:?}")
    };
    assert_eq!(kept.shape, [1, 1]);
    assert_eq!(
        kept.pattern_scalars().collect::<Vec<_>>(),
        [Scalar::Float(1000.0)]
    );
}

#[test]
fn empty_tensors_are_kept_when_they_are_the_reason_and_never_introduced() {
    let empty: Library = |input| match given_tensor(input, "x") {
        Some(data) if data.elements() == Some(0) => crash(),
        _ => rejected(),
    };
    let bad = input(vec![keyword(
        "x",
        Value::Tensor(tensor(Dtype::Int16, &[3, 0, 5], vec![])),
    )]);
    let Value::Tensor(kept) = &shrunk(empty, &bad).input.arguments[0].value else {
        panic!("still a tensor")
    };
    assert_eq!((kept.dtype, &kept.shape[..]), (Dtype::Float32, &[0][..]));

    let any: Library = |input| match given_tensor(input, "x") {
        Some(data) if data.shape.len() == 1 => crash(),
        _ => rejected(),
    };
    for shape in [0, 17] {
        let pattern = if shape == 0 { vec![] } else { vec![1, 0] };
        let bad = input(vec![keyword(
            "x",
            Value::Tensor(tensor(Dtype::Int16, &[shape], pattern)),
        )]);
        assert_eq!(
            shrunk(any, &bad).input.arguments[0].value,
            Value::Tensor(floats(&[1], &[0.0]))
        );
    }
}

#[test]
fn another_failure_of_the_same_api_is_not_taken_for_this_one() {
    let library: Library = |input| match integer(input, "x") {
        Some(0..=2) => Outcome::Crash { signal: 11 },
        Some(3..) => crash(),
        _ => rejected(),
    };
    let bad = input(vec![keyword("x", Value::Int(1000))]);
    assert_eq!(
        shrunk(library, &bad).input.arguments[0].value,
        Value::Int(3)
    );
}

#[test]
fn native_frames_tell_two_crashes_apart_but_only_where_both_have_them() {
    let api = api("planted.function");
    let at = |function: &str| {
        let mut execution = execution(crash(), None);
        if !function.is_empty() {
            execution.native_frames = vec![format!("libplanted.so!{function}")];
        }
        execution
    };
    let bad = input(vec![keyword("x", Value::Int(90))]);
    let first = common::finding(api.clone(), bad.clone(), at("divide"));
    let failure = Failure::new(&api, &first.verdict, &first.execution);
    assert!(failure.shown_by(&bad, &at("divide")));
    assert!(failure.shown_by(&bad, &at("")));
    assert!(!failure.shown_by(&bad, &at("multiply")));
}

#[test]
fn the_budget_is_kept_and_what_was_found_until_then_counts() {
    let library: Library = |_| crash();
    let bad = input(vec![
        keyword("x", Value::Int(77)),
        positional(Value::Int(5)),
        positional(Value::Int(5)),
    ]);
    let budget = ShrinkBudget {
        candidates: 1,
        time: Duration::from_secs(60),
    };
    let found = shrunk_within(library, &bad, budget);
    assert!(!found.finished);
    assert_eq!((found.tried, found.steps), (1, 1));
    let none = ShrinkBudget {
        candidates: 0,
        ..budget
    };
    assert_eq!(shrunk_within(library, &bad, none).input, bad);
}

#[test]
fn a_wrong_result_is_followed_by_its_oracle_and_variant() {
    let api = api("planted.function");
    let judged = |x: i128| -> Execution {
        let mut execution = execution(Outcome::Accepted { nan: false }, None);
        let report = |detail: &str| Report {
            oracle: "layout".into(),
            detail: detail.into(),
            observed: "1".into(),
            expected: "2".into(),
            check: "def check():\n    return True, '1', '2'\n".into(),
            flat: None,
        };
        if x >= 4 {
            execution.reports.push(report("transposed: values"));
        } else {
            execution.reports.push(report("sliced: values"));
        }
        execution
    };
    let verdict = fissure_model::Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: "layout".into(),
        confidence: fissure_model::Confidence::Numeric,
        detail: "transposed: values".into(),
        note: false,
    };
    let bad = input(vec![keyword("x", Value::Int(50))]);
    let failure = Failure::new(&api, &verdict, &judged(50));
    assert_eq!(failure.oracle(), Some(&fissure_model::Oracle::Layout));
    let mut run = |inputs: &[ConcreteInput]| {
        inputs
            .iter()
            .map(|input| integer(input, "x").map_or_else(|| execution(rejected(), None), judged))
            .collect::<Vec<_>>()
    };
    let found = shrink(
        &failure,
        &bad,
        &judged(50),
        &mut run,
        ShrinkBudget::default(),
        &mut |_, _| (),
    );
    assert_eq!(found.input.arguments[0].value, Value::Int(4));
}

#[test]
fn each_argument_changed_alone_shows_what_it_has_to_do_with_the_failure() {
    let library: Library = |input| match (integer(input, "x"), given_tensor(input, "t")) {
        (Some(x), Some(t)) if x >= 2 && t.shape.len() == 1 => crash(),
        _ => rejected(),
    };
    let api = api("planted.function");
    let bad = input(vec![
        keyword("x", Value::Int(2)),
        keyword("t", Value::Tensor(floats(&[1], &[0.0]))),
        keyword("unused", Value::Bool(true)),
    ]);
    let first = common::finding(api.clone(), bad.clone(), execution(crash(), None));
    let failure = Failure::new(&api, &first.verdict, &first.execution);
    let mut run = |inputs: &[ConcreteInput]| {
        inputs
            .iter()
            .take(1)
            .map(|input| execution(library(input), None))
            .collect::<Vec<_>>()
    };
    let roles = explain(&failure, &bad, &mut run);
    let told: Vec<String> = roles
        .iter()
        .map(|role| format!("{} {}: {}", role.parameter, role.matters, role.tried))
        .collect();
    assert_eq!(
        told,
        [
            "x true: still fails when 3; no longer when left out, 1, -1",
            "t true: still fails when all elements 1, all elements 3, larger dimensions, \
             dtype float64; no longer when left out, one more dimension",
            "unused false: still fails when left out, False",
        ]
    );
}

#[test]
fn shrinking_ends_and_gives_the_same_result_every_time() {
    let library: Library = |input| match given_tensor(input, "x") {
        Some(data) if data.shape.iter().sum::<u64>() >= 11 => crash(),
        _ => rejected(),
    };
    let bytes: Vec<u8> = (0..200u16).flat_map(u16::to_le_bytes).collect();
    let bad = input(vec![
        keyword(
            "x",
            Value::Tensor(tensor(Dtype::Uint16, &[4, 5, 10], bytes)),
        ),
        keyword("y", Value::Float(1e300)),
    ]);
    let (one, two) = (shrunk(library, &bad), shrunk(library, &bad));
    assert_eq!(one.input, two.input);
    assert_eq!(
        one.input.arguments,
        [keyword("x", Value::Tensor(floats(&[3, 8], &[0.0])))]
    );
}
