//! The sampler on rules of real APIs and on small ones whose inputs can be counted.

use std::collections::HashSet;

use fissure_rules::{Answer, Datum, Declaration, Precedence, check, read_file};

use crate::rules::{BoundRule, Drawn, Limits, RuleSampler, contradiction};

const FILES: [&str; 5] = [
    include_str!("../../benches/rules/le.rules"),
    include_str!("../../benches/rules/conv2d.rules"),
    include_str!("../../benches/rules/scatter.rules"),
    include_str!("../../benches/rules/normalize.rules"),
    include_str!("../../benches/rules/group_norm.rules"),
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

fn sampler(text: &str, seed: u64) -> RuleSampler {
    let (params, rules) = load(text);
    RuleSampler::new(&params, rules, Limits::default(), seed)
}

fn draw(sampler: &mut RuleSampler, count: usize) -> Vec<Vec<Datum>> {
    std::iter::from_fn(|| sampler.sample())
        .take(count)
        .collect()
}

fn broken(rule: &BoundRule, input: &[Datum]) -> bool {
    rule.rule.answer(input, &rule.binding) == Answer::Broken
}

#[test]
fn every_input_satisfies_every_rule_and_none_comes_twice() {
    for text in FILES {
        let (_, rules) = load(text);
        let inputs = draw(&mut sampler(text, 3), 3000);
        assert_eq!(inputs.len(), 3000, "{text}");
        let mut seen = HashSet::new();
        for input in &inputs {
            assert!(seen.insert(format!("{input:?}")), "{input:?} came twice");
            for (number, rule) in rules.iter().enumerate() {
                assert!(
                    !broken(rule, input),
                    "rule {number} of {text} is broken by {input:?}"
                );
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_inputs_and_another_one_others() {
    for text in FILES {
        let first = draw(&mut sampler(text, 1), 200);
        assert_eq!(first, draw(&mut sampler(text, 1), 200));
        assert_ne!(first, draw(&mut sampler(text, 2), 200));
    }
}

#[test]
fn a_sampler_that_is_stopped_goes_on_where_it_was() {
    for text in FILES {
        let whole = draw(&mut sampler(text, 1), 100);
        let mut stopped = 0;
        let mut sampler = sampler(text, 1);
        let mut inputs = Vec::new();
        while inputs.len() < 100 {
            match sampler.sample_within(sampler.work() + 1) {
                Drawn::Input(input) => inputs.push(input),
                Drawn::Unfinished => stopped += 1,
                Drawn::Exhausted => panic!("{text} has more inputs"),
            }
        }
        assert_eq!(inputs, whole, "{text}");
        assert!(stopped > 0, "{text}");
    }
}

#[test]
fn a_small_set_of_inputs_is_given_completely_and_then_ends() {
    let text = "param a: bool\nparam n: int\nparam m: int\n\
                rule n: n in {1, 2, 7}\nrule m: m = n * 2 or m = 0\n";
    let inputs = draw(&mut sampler(text, 1), 100);
    assert_eq!(inputs.len(), 12, "{inputs:?}");
}

#[test]
fn both_sides_of_a_choice_occur() {
    let text = "param x: tensor\nparam n: int | tuple(int)\n\
                rule x: if ndim(x) = 2 then shape(x, 0) = 3 else size(x) = 1\n\
                rule one: {n: int} |= n in [5, 9]\n\
                rule two: {n: tuple(int)} |= n.len = 2 and n[0] < n[1] and n[1] <= 4 and n[0] >= 0\n";
    let inputs = draw(&mut sampler(text, 1), 500);
    let rank = |input: &[Datum]| match &input[0] {
        Datum::Tensor(tensor) => tensor.shape.len(),
        other => panic!("{other:?} is no tensor"),
    };
    assert!(inputs.iter().any(|input| rank(input) == 2));
    assert!(inputs.iter().any(|input| rank(input) == 0));
    assert!(inputs.iter().any(|input| matches!(input[1], Datum::Int(_))));
    assert!(
        inputs
            .iter()
            .any(|input| matches!(input[1], Datum::Tuple(_)))
    );
}

#[test]
fn texts_lists_facts_and_optional_parameters_are_drawn() {
    let text = "param how: str\nparam tensors: list(tensor)\nparam x: tensor\nparam y: tensor?\n\
                param free: str\n\
                rule how: how in {\"mean\", \"sum\"}\n\
                rule tensors: tensors.len > 1 and (forall t in tensors: shape(t) = shape(tensors[0]))\n\
                rule x: positive_definite(x) and size(x) > 0\n\
                rule y: given(y) => dtype(y) = dtype(x)\n\
                rule free: characters(free, \"ij,\") and free.len in [1, 4]\n";
    let (_, rules) = load(text);
    let inputs = draw(&mut sampler(text, 1), 300);
    assert_eq!(inputs.len(), 300);
    for input in &inputs {
        assert!(rules.iter().all(|rule| !broken(rule, input)), "{input:?}");
    }
    let texts: HashSet<String> = inputs
        .iter()
        .map(|input| format!("{:?}", input[4]))
        .collect();
    assert!(texts.len() > 3, "{texts:?}");
    assert!(inputs.iter().any(|input| input[3] == Datum::None));
    assert!(inputs.iter().any(|input| input[3] != Datum::None));
}

#[test]
fn only_square_matrices_are_said_to_be_symmetric() {
    for text in [
        "param x: tensor\nrule x: not symmetric(x) and ndim(x) = 2\n",
        "param x: tensor\nrule x: positive_definite(x) or ndim(x) > 1\n",
    ] {
        let (_, rules) = load(text);
        let inputs = draw(&mut sampler(text, 1), 300);
        assert_eq!(inputs.len(), 300, "{text}");
        for input in &inputs {
            assert!(!broken(&rules[0], input), "{text}: {input:?}");
        }
    }
}

#[test]
fn an_input_can_break_exactly_one_rule() {
    for text in FILES {
        let (params, rules) = load(text);
        for number in 0..rules.len() {
            let limits = Limits::default();
            let mut sampler = RuleSampler::breaking(&params, rules.clone(), number, limits, 1)
                .expect("the rule speaks of the API's parameters");
            for input in draw(&mut sampler, 20) {
                for (other, rule) in rules.iter().enumerate() {
                    assert_eq!(broken(rule, &input), other == number, "{number}: {input:?}");
                }
            }
        }
    }
}

#[test]
fn contradicting_rules_are_named_and_the_innocent_are_not() {
    let text = "param n: int\nparam x: tensor\n\
                rule small: n < 3\nrule rank: ndim(x) = 2\nrule large: n > shape(x, 0) + 4\n\
                rule filled: shape(x, 0) > 0\n";
    let (params, rules) = load(text);
    let limits = Limits::default();
    assert_eq!(contradiction(&params, &rules, &limits), [0, 2]);
    assert!(sampler(text, 1).sample().is_none());
    assert!(contradiction(&params, &rules[1..], &limits).is_empty());
}

#[test]
fn divisibility_is_met_without_trial_and_error() {
    let text = "param channels: int\nparam groups: int\nparam size: int\n\
                rule groups: groups in [1, 97]\nrule channels: channels in [1, 1000] and channels % groups = 0\n\
                rule size: size % 6 = 4 and size % 4 = 2 and size in [0, 500]\n";
    let inputs = draw(&mut sampler(text, 1), 5000);
    assert_eq!(inputs.len(), 5000);
    let Some(Datum::Int(largest)) =
        inputs
            .iter()
            .map(|input| input[1].clone())
            .max_by_key(|datum| match datum {
                Datum::Int(value) => *value,
                _ => 0,
            })
    else {
        panic!("groups are whole numbers");
    };
    assert!(largest > 8, "large divisors occur too, not only {largest}");
}

/// Statements that `fissure learn` makes rules of: each alone, and broken.
#[test]
fn what_learned_rules_say_is_kept_and_broken_as_asked() {
    let parameters = "param a: tensor\nparam b: tensor\nparam c: int\nparam d: int\n\
        param l: list(int)\nparam s: int | list(int)\n";
    for statement in [
        "shape(a, c) % 2 = 0",
        "d != 0 and shape(a, c) % d = 0",
        "forall i in [0, c - 1]: shape(a, i - c) = shape(b, i)",
        "ndim(b) = ndim(a) - 1 and forall i in [0, ndim(b) - 1]: shape(b, i) = (if i < c or c < 0 and i < c + ndim(a) then shape(a, i) else shape(a, i + 1))",
        "sum(l) = shape(a, c)",
        "product(l) = shape(a, c) or product(l) < 0 and shape(a, c) % product(l) = 0",
        "forall e in l: shape(a, e) > c",
        "product(shape(a), 0, ndim(b) - 1) = product(shape(a), ndim(b), ndim(a) - 1)",
        "ndim(a) >= 3 and forall i in [1, 2]: shape(a, -i) + 2 * (if ndim(s) = 0 then s else s[-min(i, s.len)]) > c",
        "(if ndim(s) = 0 then s else min(s)) > 0",
        "ndim(s) = 0 or s.len = 1 or s.len = 2",
        "size(a) = 0 or max(a) <= shape(b, -2)",
        "c != -1 or shape(a, d) > 1",
        "{a: tensor, c: int, d: int} |= d = 0 => shape(a, c) = 0",
        "{a: tensor, c: int, d: int} |= d > 0 or shape(a, c) % 2 = 0 and ndim(a) > 2",
        "{a: tensor, b: tensor, c: int} |= ndim(b) = 1 => shape(b, 0) = shape(a, c)",
    ] {
        let text = format!("{parameters}rule r: {statement}\n");
        let (params, rules) = load(&text);
        let inputs = draw(&mut sampler(&text, 5), 300);
        assert!(inputs.len() > 100, "{statement}: {} inputs", inputs.len());
        assert!(
            inputs.iter().all(|input| !broken(&rules[0], input)),
            "{statement}"
        );
        let mut breaking =
            RuleSampler::breaking(&params, rules.clone(), 0, Limits::default(), 5).unwrap();
        let inputs = draw(&mut breaking, 300);
        assert!(
            inputs.len() > 100,
            "{statement} broken: {} inputs",
            inputs.len()
        );
        assert!(
            inputs.iter().all(|input| broken(&rules[0], input)),
            "{statement}"
        );
    }
}

#[test]
fn constraints_that_narrow_each_other_by_tiny_steps_are_kept_all_the_same() {
    // With an offset nothing breaks the last rule alone, which shows step by step only.
    let text = "param x: tensor\nparam size: list(int)\nparam stride: list(int)\n\
                param offset: int? = None\n\
                rule lengths: size.len = stride.len\n\
                rule sizes: forall e in size: e >= 0\n\
                rule strides: forall e in stride: e >= 0\n\
                rule offset: {offset: int} |= offset >= 0\n\
                rule all: {x: tensor, size: list(int), stride: list(int), offset: int} |= \
                size.len != 2 or product(size) = 0 or \
                offset + (size[0] - 1) * stride[0] + (size[1] - 1) * stride[1] < size(x)\n\
                rule some: size.len != 2 or product(size) = 0 or \
                (size[0] - 1) * stride[0] + (size[1] - 1) * stride[1] < size(x)\n";
    let (params, rules) = load(text);
    let last = rules.len() - 1;
    let mut sampler =
        RuleSampler::breaking(&params, rules.clone(), last, Limits::usual(), 0).unwrap();
    let mut inputs = 0;
    while let Drawn::Input(input) = sampler.sample_within(4_000_000) {
        for (number, rule) in rules.iter().enumerate() {
            assert_eq!(broken(rule, &input), number == last, "{number} {input:?}");
        }
        inputs += 1;
    }
    assert!(inputs > 20, "only {inputs} inputs");
}
