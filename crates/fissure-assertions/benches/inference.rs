//! How long a soft assertion takes to answer.
//!
//! `cargo bench -p fissure-assertions --bench inference` asks every shipped model about 10⁶ elements on all
//! cores and about 10⁴ (best of three each), and prints per context the median and the slowest model,
//! and the training time that the shipped files record.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use fissure_assertions::{Context, SoftAssertion, load_shipped, shipped};

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

fn best_of_three(mut work: impl FnMut()) -> f64 {
    (0..3)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Elements of one context that models are asked about: a short row, a long one, small matrices.
fn widths(context: Context) -> &'static [usize] {
    match context {
        Context::Element | Context::Pair => &[1],
        Context::Row | Context::Rows => &[10, 1000],
        Context::Matrix => &[16, 64],
    }
}

/// Nanoseconds per element.
fn asked(model: &SoftAssertion, width: usize, count: usize) -> f64 {
    let data = values(count / width * width);
    let operands = vec![data.as_slice(); model.header().context.operands()];
    let precision = model.precisions().last().expect("a file has a model");
    let seconds = best_of_three(|| {
        let labels = model.labels(precision, &operands, 0, width);
        assert_eq!(labels.expect("the model answers").len(), data.len());
    });
    seconds * 1e9 / data.len() as f64
}

fn main() {
    let mut models = Vec::new();
    for (library, function) in shipped() {
        let model = load_shipped(&library, &function).expect("it was listed");
        models.push((
            format!("{library} {function}"),
            model.expect("what ships loads"),
        ));
    }
    println!(
        "| context | models | 10⁶ elements: median, slowest, per element | 10⁴: slowest | slowest |"
    );
    println!("|---|---|---|---|---|");
    for context in [
        Context::Element,
        Context::Pair,
        Context::Row,
        Context::Rows,
        Context::Matrix,
    ] {
        for width in widths(context) {
            let here = models.iter().filter(|it| it.1.header().context == context);
            let mut times: Vec<(f64, f64, &str)> = here
                .map(|(name, model)| {
                    let (many, few) = (
                        asked(model, *width, 1_000_000),
                        asked(model, *width, 10_000),
                    );
                    (many, few, name.as_str())
                })
                .collect();
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (Some(slowest), Some(median)) = (times.last(), times.get(times.len() / 2)) else {
                continue;
            };
            let few = times.iter().map(|time| time.1).fold(0.0, f64::max);
            println!(
                "| {context} of {width} | {} | {:.0} ns, {:.0} ns | {few:.0} ns | {} |",
                times.len(),
                median.0,
                slowest.0,
                slowest.2
            );
        }
    }
    let seconds = models.iter().map(|(name, model)| {
        let all = model.header().models.values();
        (all.map(|model| model.training_seconds).sum(), name)
    });
    let seconds: Vec<(f64, &String)> = seconds.collect();
    let mean = seconds.iter().map(|it| it.0).sum::<f64>() / seconds.len() as f64;
    let slowest = seconds.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (most, name) = slowest.expect("models ship");
    println!(
        "\ntraining as the files record it, all types of a function: mean {mean:.1} s, slowest {most:.1} s ({name})"
    );
}
