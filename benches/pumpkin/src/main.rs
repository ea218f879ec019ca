//! Distinct inputs per second of processor time: Pumpkin with a random brancher against Fissure's
//! sampler, on the shapes of `torch.le` and of `conv2d`, in one run.
//!
//! Pumpkin gets one structure, four dimensions each, because it has no variables that exist only
//! for some ranks; the sampler gets the rule files of `fissure-solve`'s bench as they are, ranks,
//! dtypes and the optional bias included. Divisibility is said by a further variable, because
//! Pumpkin has no remainder.

use std::collections::HashSet;
use std::time::Duration;

use fissure_rules::{Declaration, Precedence, check, read_file};
use fissure_solve::rules::{BoundRule, Limits, RuleSampler};
use pumpkin_conflict_resolvers::resolvers::ResolutionResolver;
use pumpkin_core::Solver;
use pumpkin_core::branching::branchers::independent_variable_value_brancher::IndependentVariableValueBrancher;
use pumpkin_core::branching::value_selection::InDomainRandom;
use pumpkin_core::branching::variable_selection::RandomSelector;
use pumpkin_core::predicate;
use pumpkin_core::results::ProblemSolution;
use pumpkin_core::results::SatisfactionResult;
use pumpkin_core::results::solution_iterator::IteratedSolution;
use pumpkin_core::termination::Indefinite;
use pumpkin_core::variables::{DomainId, TransformableVariable};

const LARGEST: i32 = 64;
/// Enumerated with a blocking clause each, which grow dearer.
const ENUMERATED: usize = 5_000;
const SAMPLED: usize = 50_000;
const RULES: [(&str, &str); 2] = [
    (
        "torch.le",
        include_str!("../../../crates/fissure-solve/benches/rules/le.rules"),
    ),
    (
        "conv2d",
        include_str!("../../../crates/fissure-solve/benches/rules/conv2d.rules"),
    ),
];

fn main() {
    for (name, text) in RULES {
        let ours = sampler(text);
        let model: fn(&mut Solver) -> Vec<DomainId> = match name {
            "torch.le" => broadcasting,
            _ => convolution,
        };
        let (blocking, blocked) = enumerated(model);
        let (restarting, distinct) = restarted(model);
        println!(
            "{name}: sampler {ours:.0} inputs/s; Pumpkin {blocking:.0} with blocking clauses ({blocked} inputs), {restarting:.0} by searching again ({distinct} distinct of {ENUMERATED})"
        );
    }
}

/// Two shapes of four dimensions that broadcast.
fn broadcasting(solver: &mut Solver) -> Vec<DomainId> {
    let mut all = Vec::new();
    for _ in 0..4 {
        let [a, b] = [0, 1].map(|_| solver.new_bounded_integer(0, LARGEST));
        let same = solver.new_literal();
        let tag = solver.new_constraint_tag();
        let equal = pumpkin_constraints::equals(vec![a.scaled(1), b.scaled(-1)], 0, tag);
        solver.add_constraint(equal).reify(same);
        let tag = solver.new_constraint_tag();
        let either = [
            same.get_true_predicate(),
            predicate!(a == 1),
            predicate!(b == 1),
        ];
        solver.add_clause(either, tag);
        all.extend([a, b]);
    }
    all
}

/// Sizes of an input, a weight and a window that fit.
fn convolution(solver: &mut Solver) -> Vec<DomainId> {
    let mut size = |low, high| solver.new_bounded_integer(low, high);
    let batch = size(0, LARGEST);
    let [channels, groups, inner, outer, share] = [0; 5].map(|_| size(1, LARGEST));
    let [stride, dilation] = [0; 2].map(|_| size(1, 16));
    let padding = size(0, 16);
    let sides = [0; 2].map(|_| (size(1, LARGEST), size(1, LARGEST), size(0, 16 * LARGEST)));
    let mut all = vec![
        batch, channels, groups, inner, outer, share, stride, dilation, padding,
    ];
    let tag = solver.new_constraint_tag();
    // Channels are the weight's by groups; groups divide the output's.
    for (a, product) in [(inner, channels), (share, outer)] {
        let times = pumpkin_constraints::times(a, groups, product, tag);
        solver.add_constraint(times).post();
    }
    for (length, kernel, reach) in sides {
        let times = pumpkin_constraints::times(dilation, kernel.offset(-1), reach, tag);
        solver.add_constraint(times).post();
        // reach + 1 <= length + 2 * padding
        let terms = vec![reach.scaled(1), length.scaled(-1), padding.scaled(-2)];
        let fits = pumpkin_constraints::less_than_or_equals(terms, -1, tag);
        solver.add_constraint(fits).post();
        all.extend([length, kernel, reach]);
    }
    all
}

type Random = IndependentVariableValueBrancher<DomainId, RandomSelector, InDomainRandom>;

fn random(variables: &[DomainId]) -> Random {
    IndependentVariableValueBrancher::new(RandomSelector::new(variables.to_vec()), InDomainRandom)
}

/// Inputs per second when each one found is excluded, and how many there were.
fn enumerated(model: fn(&mut Solver) -> Vec<DomainId>) -> (f64, usize) {
    let mut solver = Solver::default();
    let variables = model(&mut solver);
    let (mut brancher, mut termination) = (random(&variables), Indefinite);
    let mut resolver = ResolutionResolver::default();
    let start = processor_time();
    let mut solutions =
        solver.get_solution_iterator(&mut brancher, &mut termination, &mut resolver);
    let mut found = 0;
    while found < ENUMERATED {
        match solutions.next_solution() {
            IteratedSolution::Solution(..) => found += 1,
            _ => break,
        }
    }
    (
        found as f64 / (processor_time() - start).as_secs_f64(),
        found,
    )
}

/// Distinct inputs per second when the search begins again each time, and how many were distinct.
fn restarted(model: fn(&mut Solver) -> Vec<DomainId>) -> (f64, usize) {
    let mut solver = Solver::default();
    let variables = model(&mut solver);
    let mut resolver = ResolutionResolver::default();
    let mut seen: HashSet<Vec<i32>> = HashSet::new();
    let start = processor_time();
    for _ in 0..ENUMERATED {
        let mut brancher = random(&variables);
        let result = solver.satisfy(&mut brancher, &mut Indefinite, &mut resolver);
        let SatisfactionResult::Satisfiable(found) = result else {
            break;
        };
        let solution = found.solution();
        let values = variables.iter().map(|it| solution.get_integer_value(*it));
        seen.insert(values.collect());
    }
    let taken = (processor_time() - start).as_secs_f64();
    (seen.len() as f64 / taken, seen.len())
}

fn sampler(text: &str) -> f64 {
    let (file, errors) = read_file(text, Precedence::Usual);
    assert!(errors.is_empty(), "{errors:?}");
    let params: Vec<Declaration> = file.declarations();
    let rules: Vec<BoundRule> = file
        .rules
        .iter()
        .map(|rule| {
            let checked = check(&rule.rule).expect("read rules type-check");
            BoundRule::by_name(checked, &params).expect("the file declares its parameters")
        })
        .collect();
    let mut sampler = RuleSampler::new(&params, rules, Limits::default(), 0);
    let start = processor_time();
    for _ in 0..SAMPLED {
        sampler.sample().expect("there are more inputs than that");
    }
    SAMPLED as f64 / (processor_time() - start).as_secs_f64()
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
