//! What each argument has to do with a failure.

use fissure_model::{
    Argument, ArgumentRole, ConcreteInput, Dtype, Execution, Outcome, TensorValue, Value,
};

use crate::failure::Failure;
use crate::shrink::Run;
use crate::shrink::arguments::without_argument;
use crate::shrink::place::Place;
use crate::shrink::tensor::{converted, like, resized, tensor_of, uniform};

/// One change of one argument.
struct Change {
    /// In words: `left out`, `2`, `other values`.
    what: String,
    input: ConcreteInput,
}

/// Changes each argument alone, a few ways, and says which changes make the failure go away.
///
/// A change whose input could not be run at all says nothing and is not mentioned. Arguments of a
/// failure that hangs are not looked at: each change that changes nothing would cost the limit.
pub fn explain(failure: &Failure, input: &ConcreteInput, run: &mut Run<'_>) -> Vec<ArgumentRole> {
    let mut roles = Vec::new();
    let mut add = |layer: bool, arguments: &[Argument]| {
        for (at, argument) in arguments.iter().enumerate() {
            let changes = changes(input, layer, at, argument);
            let Some(executions) = run_all(&changes, run) else {
                return;
            };
            let (mut stays, mut goes) = (Vec::new(), Vec::new());
            for (change, execution) in changes.into_iter().zip(&executions) {
                if failure.shown_by(&change.input, execution) {
                    stays.push(change.what);
                } else if !matches!(execution.outcome, Outcome::NotBuilt(_)) {
                    goes.push(change.what);
                }
            }
            if stays.is_empty() && goes.is_empty() {
                continue;
            }
            roles.push(ArgumentRole {
                parameter: if layer {
                    format!("call.{}", argument.name)
                } else {
                    argument.name.clone()
                },
                matters: !goes.is_empty(),
                tried: in_words(&stays, &goes),
            });
        }
    };
    add(false, &input.arguments);
    add(true, input.layer_arguments.as_deref().unwrap_or(&[]));
    roles
}

/// Runs every change; `None` when nothing can be run any more.
fn run_all(changes: &[Change], run: &mut Run<'_>) -> Option<Vec<Execution>> {
    let inputs: Vec<ConcreteInput> = changes.iter().map(|change| change.input.clone()).collect();
    let mut executions = Vec::with_capacity(inputs.len());
    while executions.len() < inputs.len() {
        let more = run(&inputs[executions.len()..]);
        if more.is_empty() {
            return None;
        }
        executions.extend(more);
    }
    Some(executions)
}

fn in_words(stays: &[String], goes: &[String]) -> String {
    let list = |items: &[String]| items.join(", ");
    match (stays.is_empty(), goes.is_empty()) {
        (false, true) => format!("still fails when {}", list(stays)),
        (true, false) => format!("no longer fails when {}", list(goes)),
        _ => format!(
            "still fails when {}; no longer when {}",
            list(stays),
            list(goes)
        ),
    }
}

fn changes(input: &ConcreteInput, layer: bool, at: usize, argument: &Argument) -> Vec<Change> {
    let place = Place::argument(layer, at);
    let mut changes = vec![Change {
        what: "left out".into(),
        input: without_argument(input, layer, at),
    }];
    for (what, value) in others(&argument.value) {
        if value != argument.value {
            changes.push(Change {
                what,
                input: place.with(input, value),
            });
        }
    }
    changes
}

/// Other values of the same sort, each with its name.
fn others(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::None => vec![("0".into(), Value::Int(0)), ("1".into(), Value::Int(1))],
        Value::Bool(truth) => {
            let name = if *truth { "False" } else { "True" };
            vec![(name.into(), Value::Bool(!truth))]
        }
        Value::Int(number) => [
            1,
            2,
            3,
            -1,
            number.saturating_add(1),
            number.saturating_sub(1),
        ]
        .into_iter()
        .fold(Vec::new(), |mut kept: Vec<i128>, one| {
            if !kept.contains(&one) && one != *number {
                kept.push(one);
            }
            kept
        })
        .into_iter()
        .map(|other| (other.to_string(), Value::Int(other)))
        .collect(),
        Value::Float(_) => [0.0, 1.0, -1.5, 2.5]
            .into_iter()
            .map(|other: f64| (format!("{other:?}"), Value::Float(other)))
            .collect(),
        Value::Text(_) => vec![("another text".into(), Value::Text("other".into()))],
        Value::List(items) => sequence(items, Value::List),
        Value::Tuple(items) => sequence(items, Value::Tuple),
        value => match tensor_of(value) {
            Some(tensor) => tensors(value, tensor),
            None => vec![("None".into(), Value::None)],
        },
    }
}

fn sequence(items: &[Value], make: impl Fn(Vec<Value>) -> Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    if items.iter().all(|item| matches!(item, Value::Int(_))) && !items.is_empty() {
        for other in [1, 2, 3] {
            found.push((
                format!("all {other}"),
                make(vec![Value::Int(other); items.len()]),
            ));
        }
    }
    if let Some((_, rest)) = items.split_first() {
        found.push(("one element less".into(), make(rest.to_vec())));
    }
    found
}

fn tensors(value: &Value, tensor: &TensorValue) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut add = |what: &str, new: Option<TensorValue>| {
        found.extend(new.map(|new| (what.to_owned(), like(value, new))));
    };
    let elements = tensor.elements().unwrap_or(u64::MAX);
    if elements > 0 {
        add("all elements 1", uniform(tensor, 1.0));
        add("all elements 3", uniform(tensor, 3.0));
    }
    if tensor.shape.len() < 8 && elements <= 1 << 16 {
        let mut deeper = tensor.clone();
        deeper.shape.insert(0, 1);
        add("one more dimension", Some(deeper));
        let larger: Vec<(usize, u64)> = tensor
            .shape
            .iter()
            .enumerate()
            .map(|(axis, size)| (axis, size + 1))
            .collect();
        if !larger.is_empty() {
            add("larger dimensions", Some(resized(tensor, &larger)));
        }
    }
    let other = match tensor.dtype {
        Dtype::Float32 => Dtype::Float64,
        Dtype::Int64 => Dtype::Int32,
        _ => Dtype::Float32,
    };
    add(&format!("dtype {other}"), converted(tensor, other));
    found
}
