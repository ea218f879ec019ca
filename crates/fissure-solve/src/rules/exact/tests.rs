//! Questions to the solver, where there is one; what needs none is tested without.

use fissure_rules::{Answer, Declaration, Precedence, check, read_file};

use super::{ExactSolver, Exactly, contradiction, parse_value};
use crate::rules::BoundRule;
use crate::rules::outline::Limits;

const FILES: [&str; 5] = [
    include_str!("../../../benches/rules/le.rules"),
    include_str!("../../../benches/rules/conv2d.rules"),
    include_str!("../../../benches/rules/scatter.rules"),
    include_str!("../../../benches/rules/normalize.rules"),
    include_str!("../../../benches/rules/group_norm.rules"),
];

fn load(text: &str) -> (Vec<Declaration>, Vec<BoundRule>) {
    let (file, errors) = read_file(text, Precedence::Usual);
    assert_eq!(errors, [], "{text}");
    let params = file.declarations();
    let rules = file.rules.iter().map(|rule| {
        let checked = check(&rule.rule).expect("read rules type-check");
        BoundRule::by_name(checked, &params).expect("the file declares its parameters")
    });
    let rules = rules.collect();
    (params, rules)
}

/// The solver before the rules; `None`, with a message, where there is none.
fn solver(text: &str) -> Option<(ExactSolver, Vec<BoundRule>)> {
    let program = fissure_testing::z3()?;
    let (params, rules) = load(text);
    let solver = ExactSolver::new(&program, &params, &rules, &Limits::default(), 5000)
        .expect("the solver starts and the rules translate");
    Some((solver, rules))
}

#[test]
fn values_are_read_in_every_form() {
    for (text, value) in [
        ("5", 5.0),
        ("(- 5)", -5.0),
        ("2.5", 2.5),
        ("(/ 1.0 4.0)", 0.25),
        ("(- (/ 1.0 4.0))", -0.25),
        ("(/ (- 1.0) 4.0)", -0.25),
        ("true", 1.0),
    ] {
        assert_eq!(parse_value(text), Some(value), "{text}");
    }
    assert_eq!(parse_value("(root-obj x 1)"), None);
}

#[test]
fn an_input_from_the_solver_breaks_exactly_the_rule_that_was_asked_for() {
    for text in FILES {
        let Some((mut solver, rules)) = solver(text) else {
            return;
        };
        for broken in 0..rules.len() {
            let Exactly::Yes(input) = solver.breaking(broken).expect("it answers") else {
                continue;
            };
            for (at, rule) in rules.iter().enumerate() {
                let answer = rule.rule.answer(&input, &rule.binding);
                assert_eq!(
                    answer == Answer::Broken,
                    at == broken,
                    "rule {at} of {text}: {input:?}"
                );
            }
        }
    }
}

#[test]
fn a_rule_that_follows_from_others_is_implied_and_no_other() {
    let text = "param x: tensor\nparam n: int | tuple(int)\n\
                rule rank: ndim(x) in {2, 3}\n\
                rule follows: shape(x, 1) >= 0\n\
                rule new: shape(x, 2) > 0\n\
                rule odd: {n: int} |= n % 2 = 1 and n > 2\n\
                rule large: {n: int} |= n >= 3\n";
    let Some((mut solver, _)) = solver(text) else {
        return;
    };
    let implied: Vec<Exactly<()>> = (0..5)
        .map(|rule| solver.implied(rule).expect("it answers"))
        .collect();
    let yes = Exactly::Yes(());
    assert_eq!(
        implied,
        [Exactly::No, yes.clone(), Exactly::No, Exactly::No, yes]
    );
}

#[test]
fn contradicting_rules_are_the_core() {
    let text = "param x: tensor\nparam y: tensor\n\
                rule same: shape(x) = shape(y)\n\
                rule innocent: dtype(x) = float32\n\
                rule first: ndim(x) >= 2 and shape(x, 0) = 4\n\
                rule second: forall i in [0, ndim(y) - 1]: shape(y, i) < 4\n";
    let Some((mut solver, _)) = solver(text) else {
        return;
    };
    assert_eq!(
        solver.contradiction().expect("it answers"),
        Exactly::Yes(vec![0, 2, 3])
    );
}

#[test]
fn a_contradiction_is_named_with_no_innocent_rule() {
    let Some(program) = fissure_testing::z3() else {
        return;
    };
    let text = "param n: int\nparam x: tensor\n\
                rule small: n < 3\nrule rank: ndim(x) = 2\nrule large: n > shape(x, 0) + 4\n\
                rule filled: shape(x, 0) > 0\nrule odd: n % 2 = 1\n";
    let (params, rules) = load(text);
    let limits = Limits::default();
    let against = contradiction(&program, &params, &rules, &limits, 5000).unwrap();
    assert_eq!(against, Exactly::Yes(vec![0, 2]));
    let against = contradiction(&program, &params, &rules[1..], &limits, 5000).unwrap();
    assert_eq!(against, Exactly::No);
}
