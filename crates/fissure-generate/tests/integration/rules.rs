//! Inputs from rules: all of them hold, or exactly the named one is broken.

use std::path::Path;

use fissure_generate::{GenerateOptions, GenerateReason, Generator, RulesError};
use fissure_model::{
    ConcreteInput, Intent, Mode, Passing, RuleText, Signature, SignatureParam, Spec, Value,
};

const INDEX: &str = "\
param input: tensor
param dim: int = 0
param index: tensor
param how: str? = None
rule rank: ndim(input) in [1, 3]
rule dim: -ndim(input) <= dim and dim < ndim(input)
rule filled: size(input) > 0
rule index: dtype(index) = int64 and ndim(index) = 1
rule least: size(index) > 0 => min(index) >= 0
rule largest: size(index) > 0 => max(index) < shape(input, dim)
rule how: given(how) => how in {\"sum\", \"mean\"}
";

fn constraints(text: &str) -> Spec {
    fissure_spec::load_text(Path::new("test.yaml"), text)
        .unwrap()
        .spec
}

fn spec(rules: &str) -> Spec {
    let mut spec = constraints(
        "title: torch.pick\npackage: torch\ntarget: pick\nversion: '1'\n\
         link: https://example.org\ninputs: {required: [], optional: []}\nconstraints: {}\n",
    );
    spec.rules = Some(RuleText {
        text: rules.to_owned(),
        origin: "the test".to_owned(),
    });
    spec
}

fn options(mode: Mode) -> GenerateOptions {
    GenerateOptions {
        mode,
        mutate_ratio: 0.0,
        ..GenerateOptions::default()
    }
}

fn inputs(spec: &Spec, options: GenerateOptions, count: u64) -> Vec<ConcreteInput> {
    let mut generator = Generator::new(spec, None, options, 5).expect("the rules have inputs");
    (0..count)
        .map(|number| generator.generate(number))
        .collect()
}

/// Names of the rules that an input breaks, found out from its elements themselves.
fn broken(input: &ConcreteInput) -> Vec<&'static str> {
    let value = |name: &str| {
        let mut all = input.arguments.iter();
        all.find(|argument| argument.name == name)
            .map(|argument| argument.value.clone())
    };
    let Some(Value::Tensor(tensor)) = value("input") else {
        panic!("{input:?} has no input");
    };
    let Some(Value::Tensor(index)) = value("index") else {
        panic!("{input:?} has no index");
    };
    let dim = match value("dim") {
        Some(Value::Int(dim)) => dim,
        None => 0,
        other => panic!("{other:?} is no dim"),
    };
    let rank = tensor.shape.len() as i128;
    let size = tensor
        .shape
        .get((dim + if dim < 0 { rank } else { 0 }) as usize)
        .copied();
    let whole = index.dtype.name() == "int64" && index.shape.len() == 1;
    let elements: Vec<f64> = if index.elements() == Some(0) {
        Vec::new()
    } else {
        let scalars = index.pattern_scalars();
        scalars.filter_map(fissure_solve::as_number).collect()
    };
    let how = value("how");
    let checks = [
        ("rank", (1..=3).contains(&rank)),
        ("dim", -rank <= dim && dim < rank),
        ("filled", tensor.elements() != Some(0)),
        ("index", whole),
        ("least", elements.iter().all(|element| *element >= 0.0)),
        (
            "largest",
            elements.is_empty()
                || size.is_some_and(|size| elements.iter().all(|at| *at < size as f64)),
        ),
        (
            "how",
            match how {
                Some(Value::Text(text)) => text == "sum" || text == "mean",
                _ => true,
            },
        ),
    ];
    let broken = checks.into_iter().filter(|(_, holds)| !holds);
    broken.map(|(name, _)| name).collect()
}

#[test]
fn every_conforming_input_satisfies_every_rule_down_to_its_elements() {
    let inputs = inputs(&spec(INDEX), options(Mode::Conform), 500);
    for input in &inputs {
        assert_eq!(broken(input), [] as [&str; 0], "{input:?}");
        assert_eq!(input.intent, Intent::Conform);
    }
    let given = |input: &&ConcreteInput| input.arguments.iter().any(|it| it.name == "how");
    assert!(inputs.iter().any(|input| given(&input)));
    assert!(
        !inputs.iter().all(|input| given(&input)),
        "None is left out"
    );
}

#[test]
fn every_violating_input_breaks_exactly_the_rule_that_it_names() {
    let mut seen = std::collections::BTreeSet::new();
    for input in inputs(&spec(INDEX), options(Mode::Violate), 400) {
        let Intent::BreakRule { rule } = &input.intent else {
            panic!("{:?} breaks no rule", input.intent);
        };
        assert_eq!(broken(&input), [rule.as_str()], "{input:?}");
        seen.insert(rule.clone());
    }
    assert!(seen.len() >= 5, "most rules can be broken alone: {seen:?}");
}

#[test]
fn a_rule_that_follows_from_the_others_does_not_keep_them_from_being_broken() {
    let rules = format!("{INDEX}rule follows: size(input) > 0 => ndim(input) * size(input) >= 1\n");
    let mut seen = std::collections::BTreeSet::new();
    for input in inputs(&spec(&rules), options(Mode::Violate), 400) {
        let Intent::BreakRule { rule } = input.intent else {
            panic!("{:?} breaks no rule", input.intent);
        };
        seen.insert(rule);
    }
    assert!(!seen.contains("follows"), "{seen:?}");
    assert!(seen.len() >= 5, "{seen:?}");
}

#[test]
fn one_rule_can_be_chosen_and_a_wrong_name_is_told_with_the_right_ones() {
    let chosen = |name: &str| GenerateOptions {
        break_rule: Some(name.to_owned()),
        ..options(Mode::Violate)
    };
    for input in inputs(&spec(INDEX), chosen("dim"), 50) {
        assert_eq!(broken(&input), ["dim"]);
    }
    let error = Generator::new(&spec(INDEX), None, chosen("dimm"), 0).err();
    let error = error.expect("there is no such rule").to_string();
    assert!(
        error.contains("`dimm`") && error.contains("least"),
        "{error}"
    );
    // Breaking it breaks the other too.
    let twice = "param n: int\nrule a: n > 3\nrule b: n > 3\n";
    let error = Generator::new(&spec(twice), None, chosen("a"), 0).err();
    let reason = error.expect("it cannot be broken alone").reason;
    assert_eq!(
        reason,
        GenerateReason::Rules(RulesError::Unbreakable("a".into()))
    );
}

#[test]
fn boundary_cases_are_put_in_only_where_the_rules_still_hold() {
    let mutated = GenerateOptions {
        mutate_ratio: 1.0,
        ..options(Mode::Conform)
    };
    let inputs = inputs(&spec(INDEX), mutated, 300);
    assert!(inputs.iter().any(|input| !input.mutations.is_empty()));
    for input in &inputs {
        assert_eq!(broken(input), [] as [&str; 0], "{input:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_inputs_and_few_inputs_come_again_with_other_elements() {
    for mode in [Mode::Mixed, Mode::Violate] {
        let first = inputs(&spec(INDEX), options(mode), 200);
        assert_eq!(first, inputs(&spec(INDEX), options(mode), 200));
    }
    let few = "param x: tensor\nrule x: shape(x) = shape(x) and ndim(x) = 1 and \
               shape(x, 0) = 4 and dtype(x) in {float32, float64}\n";
    let again = inputs(&spec(few), options(Mode::Conform), 40);
    let distinct: std::collections::HashSet<String> = again
        .iter()
        .map(|it| format!("{:?}", it.arguments))
        .collect();
    assert!(distinct.len() > 20, "elements differ: {}", distinct.len());
}

#[test]
fn contradicting_rules_and_unreadable_ones_are_told() {
    let against = "param n: int\nrule small: n < 3\nrule odd: n % 2 = 1\nrule large: n > 5\n";
    let error = Generator::new(&spec(against), None, options(Mode::Conform), 0).err();
    let named = RulesError::Contradiction(vec!["small".into(), "large".into()]);
    assert_eq!(
        error.expect("nothing fits").reason,
        GenerateReason::Rules(named)
    );
    let error = Generator::new(
        &spec("param n: int\nrule n: n >\n"),
        None,
        options(Mode::Conform),
        0,
    );
    let error = error.err().expect("that is no rule").to_string();
    assert!(
        error.contains("line 2 of the rules from the test"),
        "{error}"
    );
}

#[test]
fn an_input_satisfies_the_constraint_file_and_the_rules_when_there_are_both() {
    let mut both = constraints(
        "title: torch.both\npackage: torch\ntarget: both\nversion: '1'\n\
         link: https://example.org\ninputs: {required: [a, b], optional: []}\nconstraints:\n  \
         a: {dtype: [int], ndim: ['0'], range: ['[0,40]']}\n  \
         b: {dtype: [int], ndim: ['0'], range: ['[0,5]']}\n",
    );
    let rules = |text: &str| {
        Some(RuleText {
            text: format!("param a: int\nparam b: int\n{text}"),
            origin: String::new(),
        })
    };
    both.rules = rules("rule even: a % 2 = 0\nrule above: a > b\n");
    let whole = |input: &ConcreteInput, at: usize| match input.arguments[at].value {
        Value::Int(value) => value,
        ref other => panic!("{other:?} is no whole number"),
    };
    for input in inputs(&both, options(Mode::Conform), 200) {
        let (a, b) = (whole(&input, 0), whole(&input, 1));
        assert!(
            (0..=40).contains(&a) && (0..=5).contains(&b) && a % 2 == 0 && a > b,
            "{a} {b}"
        );
    }
    let violating = inputs(&both, options(Mode::Violate), 200);
    let by_rule = |input: &&ConcreteInput| matches!(input.intent, Intent::BreakRule { .. });
    assert!(violating.iter().any(|input| by_rule(&input)));
    assert!(violating.iter().any(|input| !by_rule(&input)));
    both.rules = rules("rule far: a > 50\n");
    let mut rules_alone = Generator::new(&both, None, options(Mode::Conform), 0).unwrap();
    assert!(rules_alone.left_constraints_aside());
    assert!(whole(&rules_alone.generate(0), 0) > 50);
}

#[test]
fn the_unguided_baseline_knows_the_types_and_no_rule() {
    let unguided = GenerateOptions {
        unguided: true,
        ..options(Mode::Mixed)
    };
    let drawn = inputs(&spec(INDEX), unguided.clone(), 200);
    assert!(drawn.iter().any(|input| !broken(input).is_empty()));
    assert!(drawn.iter().all(|input| input.intent == Intent::Ignore));
    // Without any file the signature of the library is all there is.
    let mut bare = spec("");
    bare.rules = None;
    let param = |name: &str, kind: &str, default: Option<&str>| SignatureParam {
        name: name.into(),
        kind: kind.into(),
        default: default.map(Into::into),
    };
    let signature = Signature::of_function(
        "1",
        Some(vec![
            param("x", "positional_only", None),
            param("flag", "keyword_only", Some("False")),
        ]),
    );
    let mut generator = Generator::new(&bare, Some(&signature), unguided, 1).unwrap();
    let drawn: Vec<ConcreteInput> = (0..100).map(|number| generator.generate(number)).collect();
    let kinds: std::collections::HashSet<_> = drawn
        .iter()
        .map(|input| std::mem::discriminant(&input.arguments[0].value))
        .collect();
    assert!(kinds.len() >= 4, "any type will do for x");
    for input in &drawn {
        assert_eq!(input.arguments[0].passing, Passing::Positional);
        let flags = input.arguments.iter().filter(|it| it.name == "flag");
        for flag in flags {
            assert_eq!(
                (flag.passing, &flag.value),
                (Passing::Keyword, &Value::Bool(true))
            );
        }
    }
}

/// Of all elements and the length of a row.
type Check = fn(&[f64], usize) -> bool;

#[test]
fn facts_of_elements_hold_of_the_elements_themselves() {
    let checks: [(&str, Check); 4] = [
        ("permutation", |all, _| {
            let mut sorted = all.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted.iter().enumerate().all(|(at, it)| *it == at as f64)
        }),
        ("distinct", |all, _| {
            let distinct: std::collections::HashSet<u64> =
                all.iter().map(|it| it.to_bits()).collect();
            distinct.len() == all.len()
        }),
        ("one_hot", |all, row| {
            all.chunks(row)
                .all(|row| row.iter().sum::<f64>() == 1.0 && row.contains(&1.0))
        }),
        ("sorted", |all, row| {
            all.chunks(row).all(|row| row.is_sorted())
        }),
    ];
    for (fact, holds) in checks {
        let rules = format!(
            "param x: tensor\nrule x: {fact}(x) and ndim(x) in [1, 2] and size(x) > 0\n\
             rule dtype: dtype(x) in {{int64, float32}}\n"
        );
        let drawn = inputs(&spec(&rules), options(Mode::Conform), 60);
        let mut long = 0;
        for input in &drawn {
            let Value::Tensor(tensor) = &input.arguments[0].value else {
                panic!("{input:?} has no tensor");
            };
            let count = tensor.elements().unwrap() as usize;
            let pattern: Vec<f64> = tensor
                .pattern_scalars()
                .filter_map(fissure_solve::as_number)
                .collect();
            let all: Vec<f64> = pattern.into_iter().cycle().take(count).collect();
            let row = *tensor.shape.last().unwrap() as usize;
            assert!(holds(&all, row), "{fact}: {:?} {all:?}", tensor.shape);
            long += usize::from(count > 2);
        }
        assert!(long > 20, "{fact}: only {long} of 60 are worth looking at");
    }
}

#[test]
fn a_parameter_that_the_installed_version_calls_otherwise_is_passed_by_position() {
    let rules = "param input: tensor\nparam mode: str = \"full\"\nrule rank: ndim(input) = 2\n";
    let param = |name: &str, kind: &str, default: Option<&str>| SignatureParam {
        name: name.into(),
        kind: kind.into(),
        default: default.map(str::to_owned),
    };
    let declared = |first: &str| {
        let params = vec![
            param(first, "positional_or_keyword", None),
            param("mode", "positional_or_keyword", Some("'full'")),
        ];
        Signature::of_function("1", Some(params))
    };
    let first = |signature: &Signature| {
        let spec = spec(rules);
        let options = options(Mode::Conform);
        let mut generator = Generator::new(&spec, Some(signature), options, 5).unwrap();
        let input = generator.generate(0);
        (input.arguments[0].name.clone(), input.arguments[0].passing)
    };
    let renamed = first(&declared("A"));
    assert_eq!(renamed, ("A".to_owned(), Passing::Positional));
    let same = first(&declared("input"));
    assert_eq!(same.0, "input");
}

#[test]
fn the_rest_of_the_positional_arguments_stays_so_where_the_library_no_longer_names_it() {
    let rules = "param args: list(tensor) = ()\nparam dim: int? = None\nrule one: args.len = 1\n";
    let signature = Signature::of_function("1", Some(Vec::new()));
    let spec = spec(rules);
    let mut generator = Generator::new(&spec, Some(&signature), options(Mode::Conform), 5).unwrap();
    for number in 0..20 {
        let input = generator.generate(number);
        assert_eq!(input.arguments[0].name, "args");
        assert_eq!(input.arguments[0].passing, Passing::Positional);
    }
}
