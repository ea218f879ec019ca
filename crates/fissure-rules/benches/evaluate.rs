//! Cost of asking a rule: `cargo bench -p fissure-rules`.
//!
//! A plain loop instead of a statistics library: evaluation is deterministic, so the best of
//! several rounds is the one without noise.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use fissure_model::Dtype;
use fissure_rules::{CheckedRule, Datum, Precedence, TensorFacts, check, parse_rule};

const CALLS: u32 = 200_000;
const ROUNDS: usize = 9;

fn main() {
    let input = tensor(&[8, 6, 32, 32]);
    let weight = tensor(&[4, 3, 3, 3]);
    let ints = [1, 0, 1, 2].map(Datum::Int);
    let [stride, padding, dilation, groups] = ints;
    let conv = [input, weight, stride, padding, dilation, groups];
    let pair = [tensor(&[4, 1, 6]), tensor(&[5, 6])];
    for (name, rule, arguments) in [
        ("rank", "{x: tensor} |= ndim(x) = 4", &conv[..1]),
        (
            "same dtype",
            "{x: tensor, y: tensor} |= dtype(x) = dtype(y)",
            &conv[..2],
        ),
        (
            "dtype set",
            "{x: tensor} |= dtype(x) in {float, complex, int8}",
            &conv[..1],
        ),
        (
            "broadcastable",
            "{x: tensor, y: tensor} |= broadcastable(x, y)",
            &pair[..],
        ),
        (
            "same shape, quantified",
            "{x: tensor} |= forall i in [0, ndim(x) - 1]: shape(x, i) > 0",
            &conv[..1],
        ),
        (
            "convolution's output",
            "{input: tensor, weight: tensor, stride: int, padding: int, dilation: int, groups: int} |= \
             shape(input, 1) = shape(weight, 1) * groups and shape(weight, 0) % groups = 0 and \
             (shape(input, 2) + 2 * padding - dilation * (shape(weight, 2) - 1) - 1) // stride + 1 > 0",
            &conv[..],
        ),
    ] {
        let rule = parse_rule(rule, Precedence::Usual).and_then(|rule| check(&rule));
        let rule = rule.expect("the bench's rules are well-formed");
        let time = best(&rule, arguments);
        println!(
            "{name:<24} {:6.1} ns",
            time.as_nanos() as f64 / f64::from(CALLS)
        );
    }
}

fn best(rule: &CheckedRule, arguments: &[Datum]) -> Duration {
    assert!(
        rule.holds(arguments),
        "the bench's inputs satisfy its rules"
    );
    let round = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(rule.holds(black_box(arguments)));
        }
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or(Duration::ZERO)
}

fn tensor(shape: &[u64]) -> Datum {
    Datum::Tensor(TensorFacts::new(Dtype::Float32, shape.to_vec()))
}
