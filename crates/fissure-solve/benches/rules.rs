//! Distinct abstract inputs per second from rules: `cargo bench -p fissure-solve --bench rules`.
//!
//! A plain loop: sampling is deterministic, so its processor time is the figure, and the best of
//! several rounds is the one without noise. Every input is distinct, because the sampler gives none
//! twice, and every one is checked against the rules outside the timed part. Where there is a Z3 it
//! enumerates inputs of the same rules in the same run, each excluded from the next question; its
//! figure is processor time too, of the solver and of what talks to it.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::HashSet;
use std::time::Duration;

use fissure_rules::{Answer, Datum, Declaration, Precedence, check, read_file};
use fissure_solve::rules::exact::ExactSolver;
use fissure_solve::rules::{BoundRule, Limits, RuleSampler};

const INPUTS: usize = 50_000;
const ROUNDS: u64 = 3;
/// Inputs whose variety is compared.
const COMPARED: usize = 300;
const SOLVER_TIME: Duration = Duration::from_secs(15);

const FILES: [(&str, &str); 5] = [
    ("torch.le", include_str!("rules/le.rules")),
    ("conv2d", include_str!("rules/conv2d.rules")),
    ("scatter", include_str!("rules/scatter.rules")),
    ("normalize", include_str!("rules/normalize.rules")),
    ("GroupNorm", include_str!("rules/group_norm.rules")),
];

fn main() {
    let mut ratios = Vec::new();
    for (name, text) in FILES {
        let (params, rules) = load(text);
        let Sampled {
            rate,
            first,
            inputs,
        } = sampled(name, &params, &rules);
        println!(
            "{name:<10} {rate:>9.0} distinct inputs/s, the first after {:.1} ms; of {COMPARED} inputs {:.0} values differ per parameter, {:.1} % of the parameters of two inputs",
            first.as_secs_f64() * 1e3,
            variety(&inputs),
            100.0 * distance(&inputs),
        );
        if let Some((solver_rate, solved)) = solved(&params, &rules) {
            let count = solved.len().min(COMPARED);
            println!(
                "{:<10} {solver_rate:>9.0} by Z3 with blocking clauses ({:.0} times fewer); of {count} inputs {:.0}, {:.1} %",
                "",
                rate / solver_rate,
                variety(&solved),
                100.0 * distance(&solved),
            );
            ratios.push(rate / solver_rate);
        }
    }
    if ratios.is_empty() {
        println!("no Z3: the sampler alone was measured");
    } else {
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let mean = (logarithms / ratios.len() as f64).exp();
        println!("geometric mean: {mean:.0} times Z3");
    }
}

fn load(text: &str) -> (Vec<Declaration>, Vec<BoundRule>) {
    let (file, errors) = read_file(text, Precedence::Usual);
    assert!(errors.is_empty(), "{errors:?}");
    let params = file.declarations();
    let rules = file.rules.iter().map(|rule| {
        let checked = check(&rule.rule).expect("read rules type-check");
        BoundRule::by_name(checked, &params).expect("the file declares its parameters")
    });
    let rules = rules.collect();
    (params, rules)
}

/// The best of all rounds, and the inputs of the last.
struct Sampled {
    rate: f64,
    /// Processor time to the first input.
    first: Duration,
    inputs: Vec<Vec<Datum>>,
}

fn sampled(name: &str, params: &[Declaration], rules: &[BoundRule]) -> Sampled {
    let (mut best, mut first) = (Duration::MAX, Duration::MAX);
    let mut inputs: Vec<Vec<Datum>> = Vec::with_capacity(INPUTS);
    for seed in 0..ROUNDS {
        inputs.clear();
        let start = processor_time();
        let mut sampler = RuleSampler::new(params, rules.to_vec(), Limits::default(), seed);
        inputs.extend(sampler.sample());
        first = first.min(processor_time() - start);
        let start = processor_time();
        while inputs.len() < INPUTS {
            inputs.push(sampler.sample().expect("there are more inputs than that"));
        }
        best = best.min(processor_time() - start);
        for rule in rules {
            let holds =
                |input: &Vec<Datum>| rule.rule.answer(input, &rule.binding) != Answer::Broken;
            assert!(inputs.iter().all(holds), "{name}: an input breaks a rule");
        }
    }
    Sampled {
        rate: INPUTS as f64 / best.as_secs_f64(),
        first,
        inputs,
    }
}

/// What this thread has had of a processor so far.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a live timespec, which the call fills.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "every Linux has this clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn solved(params: &[Declaration], rules: &[BoundRule]) -> Option<(f64, Vec<Vec<Datum>>)> {
    let program = fissure_testing::z3()?;
    let mut solver = ExactSolver::new(&program, params, rules, &Limits::default(), 10_000)
        .expect("the solver starts and the rules translate");
    let start = processor_time() + children_time();
    let inputs = solver
        .inputs(INPUTS, SOLVER_TIME)
        .expect("the solver answers");
    let taken = processor_time() + children_time() - start;
    Some((inputs.len() as f64 / taken.as_secs_f64(), inputs))
}

/// What the processes that this one has started, and that still run, have had of a processor.
fn children_time() -> Duration {
    let own = std::process::id();
    let children = std::fs::read_to_string(format!("/proc/self/task/{own}/children"))
        .expect("Linux lists the children of a thread");
    let nanoseconds = children.split_whitespace().map(|child| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/schedstat"));
        let stat = stat.expect("the solver runs");
        let taken: Option<u64> = stat
            .split_whitespace()
            .next()
            .and_then(|it| it.parse().ok());
        taken.expect("the first number is the time on a processor")
    });
    Duration::from_nanos(nanoseconds.sum())
}

/// Distinct values of a parameter among the first inputs, in the mean over parameters.
fn variety(inputs: &[Vec<Datum>]) -> f64 {
    let Some(params) = inputs.first().map(Vec::len) else {
        return 0.0;
    };
    let distinct = |param: usize| {
        let values = inputs.iter().take(COMPARED);
        let values: HashSet<String> = values.map(|input| format!("{:?}", input[param])).collect();
        values.len()
    };
    (0..params).map(distinct).sum::<usize>() as f64 / params as f64
}

/// The share of parameters in which two of the first inputs differ, in the mean.
fn distance(inputs: &[Vec<Datum>]) -> f64 {
    let compared = &inputs[..inputs.len().min(COMPARED)];
    let (mut different, mut all) = (0usize, 0usize);
    for (at, one) in compared.iter().enumerate() {
        for other in &compared[..at] {
            all += one.len();
            different += one.iter().zip(other).filter(|(a, b)| a != b).count();
        }
    }
    different as f64 / all.max(1) as f64
}
