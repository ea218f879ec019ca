//! How long a soft assertion takes to answer.
//!
//! `cargo bench -p fissure-assertions --bench inference` prints, for shipped models of every context,
//! the time per element (best of five) of 10⁶ elements on all cores and of 10⁴ on one call, and the
//! training time that the shipped files record.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use fissure_assertions::{Precision, load_shipped, shipped};

/// Deterministic values over many magnitudes.
fn values(count: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mantissa = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            let exponent = i32::try_from(state % 60).expect("below 60") - 30;
            f64::from((mantissa * 2f64.powi(exponent)) as f32)
        })
        .collect()
}

fn best_of_five(mut work: impl FnMut()) -> f64 {
    (0..5)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("| function | context | 10⁶ elements | per element | 10⁴ elements, per element |");
    println!("|---|---|---|---|---|");
    for (function, width) in [
        ("exp", 1),
        ("sigmoid", 1),
        ("lgamma", 1),
        ("div", 1),
        ("softmax", 10),
        ("softmax", 1000),
        ("layer_norm", 100),
        ("matmul", 100),
        ("cosine_similarity", 100),
        ("inverse", 16),
    ] {
        let Some(model) = load_shipped("torch", function) else {
            println!("| {function} | does not ship | | | |");
            continue;
        };
        let model = model.expect("what ships loads");
        let context = model.header().context;
        let time = |count: usize| {
            let data = values(count / width * width);
            let operands = vec![data.as_slice(); context.operands()];
            best_of_five(|| {
                let labels = model.labels(Precision::Float32, &operands, 0, width);
                assert_eq!(labels.expect("the model answers").len(), data.len());
            })
        };
        let (many, few) = (time(1_000_000), time(10_000));
        println!(
            "| {function} | {context} of {width} | {many:.3} s | {:.0} ns | {:.0} ns |",
            many * 1e9 / 1e6,
            few * 1e9 / 1e4
        );
    }
    let mut slowest = (0.0, String::new());
    for (library, function) in shipped() {
        let model = load_shipped(&library, &function)
            .expect("it was listed")
            .expect("what ships loads");
        let seconds: f64 = model
            .header()
            .models
            .values()
            .map(|model| model.training_seconds)
            .sum();
        if seconds > slowest.0 {
            slowest = (seconds, format!("{library} {function}"));
        }
    }
    println!(
        "\nslowest training of the shipped files, all types: {:.1} s ({})",
        slowest.0, slowest.1
    );
}
