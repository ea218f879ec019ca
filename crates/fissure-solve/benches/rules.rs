//! Distinct abstract inputs per second from rules: `cargo bench -p fissure-solve --bench rules`.
//!
//! A plain loop: sampling is deterministic, so the best of several rounds is the one without
//! noise. Every input is distinct, because the sampler gives none twice; every input is checked
//! against the rules, outside the timed part.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::{Duration, Instant};

use fissure_rules::{Answer, Datum, Precedence, check, read_file};
use fissure_solve::rules::{BoundRule, Limits, RuleSampler};

const INPUTS: usize = 50_000;
const ROUNDS: u64 = 5;

const FILES: [(&str, &str); 5] = [
    ("torch.le", include_str!("rules/le.rules")),
    ("conv2d", include_str!("rules/conv2d.rules")),
    ("scatter", include_str!("rules/scatter.rules")),
    ("normalize", include_str!("rules/normalize.rules")),
    ("GroupNorm", include_str!("rules/group_norm.rules")),
];

fn main() {
    for (name, text) in FILES {
        let (file, errors) = read_file(text, Precedence::Usual);
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let params = file.declarations();
        let rules: Vec<BoundRule> = file
            .rules
            .iter()
            .map(|rule| {
                let checked = check(&rule.rule).expect("read rules type-check");
                BoundRule::by_name(checked, &params).expect("the file declares its parameters")
            })
            .collect();
        let mut best = Duration::MAX;
        let mut first = Duration::MAX;
        for seed in 0..ROUNDS {
            let start = Instant::now();
            let mut sampler = RuleSampler::new(&params, rules.clone(), Limits::default(), seed);
            let mut inputs: Vec<Vec<Datum>> = Vec::with_capacity(INPUTS);
            inputs.extend(sampler.sample());
            first = first.min(start.elapsed());
            let start = Instant::now();
            while inputs.len() < INPUTS {
                inputs.push(sampler.sample().expect("there are more inputs than that"));
            }
            best = best.min(start.elapsed());
            for rule in &rules {
                let holds =
                    |input: &Vec<Datum>| rule.rule.answer(input, &rule.binding) != Answer::Broken;
                assert!(inputs.iter().all(holds), "{name}: an input breaks a rule");
            }
        }
        println!(
            "{name:<12} {:>9.0} distinct inputs/s   first after {:>6.1} ms",
            INPUTS as f64 / best.as_secs_f64(),
            first.as_secs_f64() * 1e3
        );
    }
}
