//! Functions whose rejections say nothing but how far the call came, or what the failing check compared.

use fissure_generate::{GenerateOptions, Generator, wishes};
use fissure_model::{ConcreteInput, Exception, TensorValue, Value};

use crate::subscripts::spec;

fn tensor(input: &ConcreteInput, at: usize) -> Option<&TensorValue> {
    match &input.arguments.get(at)?.value {
        Value::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// The first check that fails, and what its two sides were.
fn check(input: &ConcreteInput) -> Result<(), (u32, String)> {
    let (Some(a), Some(b)) = (tensor(input, 0), tensor(input, 1)) else {
        return Err((2, String::new()));
    };
    if a.shape.len() != 3 {
        return Err((10, "#0:rank=3".into()));
    }
    if b.shape.len() != 2 {
        return Err((20, "#1:rank=2".into()));
    }
    if !a.shape[2].is_multiple_of(2) {
        return Err((30, format!("#0:axis=2,{}", a.shape[2] + 1)));
    }
    if b.shape[0] != a.shape[2] {
        let (rows, width) = (b.shape[0], a.shape[2]);
        return Err((40, format!("#1:axis=0,{width};#0:axis=2,{rows}")));
    }
    if b.shape[1] != a.shape[1] + 1 {
        let columns = a.shape[1] + 1;
        return Err((50, format!("#1:axis=-1,{columns}")));
    }
    if a.shape.contains(&0) {
        return Err((60, String::new()));
    }
    Ok(())
}

/// Inputs of 1,200 that are accepted, with what is told of those that are not.
fn accepted(seed: u64, told: fn(u32, String) -> String) -> (u32, Option<u64>) {
    let mut generator = Generator::new(&spec(), None, GenerateOptions::default(), seed).unwrap();
    let (mut count, mut first) = (0, None);
    for number in 0..1200 {
        let input = generator.generate(number);
        match check(&input) {
            Ok(()) => {
                count += 1;
                first = first.or(Some(number));
                generator.observe(number, true);
            }
            Err((at, clauses)) => {
                let exception = Exception {
                    involved: told(at, clauses),
                    ..Exception::default()
                };
                let asked = wishes(&exception, &input);
                generator.observe_reason(number, false, &asked);
            }
        }
    }
    (count, first)
}

#[test]
fn how_far_calls_came_leads_to_those_that_are_accepted() {
    let mut sums = [0, 0];
    for seed in 0..4 {
        let (far, _) = accepted(seed, |at, _| format!("0;7.{at}||"));
        let (silent, _) = accepted(seed, |_, _| String::new());
        sums[0] += far;
        sums[1] += silent;
    }
    assert!(sums[0] > 400 && sums[0] > 2 * sums[1], "{sums:?}");
}

#[test]
fn what_a_failing_check_compared_is_made_to_hold() {
    for seed in 0..4 {
        let (count, first) = accepted(seed, |at, clauses| format!("0;7.{at}||{clauses}"));
        let first = first.unwrap_or(u64::MAX);
        assert!(count > 400 && first < 200, "{seed}: {count}, {first}");
    }
}
