//! Centaur's published files, where they lie beside the checkout: read, checked, written, read.

use std::path::{Path, PathBuf};

use fissure_model::Dtype;
use fissure_rules::centaur::{
    instantiate, read_corpus, read_invariants, read_rules, read_signatures, write_corpus,
    write_invariants, write_rules, write_signatures,
};
use fissure_rules::{Datum, Number, Precedence, Rule, TensorFacts, Type, check};

fn files(below: &str) -> Vec<(PathBuf, String)> {
    let Some(folder) = fissure_testing::shared("data/centaur") else {
        return Vec::new();
    };
    let mut found: Vec<(PathBuf, String)> = std::fs::read_dir(folder.join(below))
        .expect("the samples are readable")
        .map(|entry| {
            let path = entry.expect("the entry is readable").path();
            let text = std::fs::read_to_string(&path).expect("samples are text");
            (path, text)
        })
        .collect();
    found.sort();
    found
}

fn rule_files() -> Vec<(PathBuf, String)> {
    ["rules-torch", "rules-tf", "rules-jax"]
        .into_iter()
        .flat_map(files)
        .collect()
}

#[test]
fn every_sample_rule_is_read_and_makes_sense() {
    for (path, text) in rule_files() {
        let (rules, errors) = read_rules(&text, Precedence::LeftToRight);
        let told: Vec<String> = errors
            .iter()
            .map(|error| error.render(&text, &path.display().to_string(), false))
            .collect();
        assert!(told.is_empty(), "{}", told.join("\n"));
        assert!(!rules.is_empty(), "{}", path.display());
        for rule in rules {
            let printed = rule.rule.to_string();
            check(&rule.rule).unwrap_or_else(|error| {
                panic!(
                    "{}: rule {}: {error}: {printed}",
                    path.display(),
                    rule.number
                )
            });
        }
    }
}

#[test]
fn sample_rules_survive_being_written_under_either_precedence() {
    for (path, text) in rule_files() {
        for precedence in [Precedence::Usual, Precedence::LeftToRight] {
            let (rules, _) = read_rules(&text, precedence);
            let written = write_rules(&rules).expect("what they write we can write");
            for reading in [Precedence::Usual, Precedence::LeftToRight] {
                let (again, errors) = read_rules(&written, reading);
                assert_eq!(errors, [], "{written}");
                for (before, after) in rules.iter().zip(&again) {
                    assert_eq!(before.number, after.number);
                    assert_eq!(before.about, after.about);
                    assert_same_meaning(&before.rule, &after.rule, &path);
                }
                assert_eq!(rules.len(), again.len());
            }
        }
    }
}

/// Inputs of all types, many of which break something.
fn inputs(of: &Type) -> Vec<Datum> {
    let tensor = |dtype, shape: &[u64], low, high| {
        let mut facts = TensorFacts::new(dtype, shape.to_vec());
        facts.bounds = Some((Number::Int(low), Number::Int(high)));
        Datum::Tensor(facts)
    };
    match of {
        Type::Tensor => vec![
            tensor(Dtype::Int64, &[], 0, 0),
            tensor(Dtype::Bool, &[2], 0, 1),
            tensor(Dtype::Float32, &[2, 3], -1, 9),
            tensor(Dtype::Complex64, &[1, 0], 0, 0),
            tensor(Dtype::Float32, &[4, 2, 3, 3], 0, 1),
            tensor(Dtype::Int64, &[3, 2, 3], 0, 2),
        ],
        Type::Int => (-2..=3).map(Datum::Int).collect(),
        Type::Float => vec![Datum::Float(-0.5), Datum::Float(2.0)],
        Type::Bool => vec![Datum::Bool(false), Datum::Bool(true)],
        Type::Dtype => vec![Datum::Dtype(Dtype::Int8), Datum::Dtype(Dtype::String)],
        Type::Str => ["none", "highest", "other"]
            .map(|text| Datum::Text(text.to_owned()))
            .to_vec(),
        Type::None => vec![Datum::None],
        Type::List(of) => vec![Datum::List(inputs(of)), Datum::List(Vec::new())],
        Type::Tuple(of) => vec![
            Datum::Tuple(inputs(of)),
            Datum::Tuple(inputs(of).into_iter().rev().take(2).collect()),
        ],
        Type::Union(parts) => parts.iter().flat_map(inputs).collect(),
    }
}

/// The same answer to every combination of inputs.
#[track_caller]
fn assert_same_meaning(before: &Rule, after: &Rule, path: &Path) {
    let checked = [before, after].map(|rule| check(rule).expect("it makes sense"));
    let pools: Vec<Vec<Datum>> = before
        .params
        .iter()
        .map(|param| inputs(&param.of))
        .collect();
    let combinations: usize = pools.iter().map(Vec::len).product();
    for number in 0..combinations.min(2000) {
        let mut rest = number;
        let arguments: Vec<Datum> = pools
            .iter()
            .map(|pool| {
                let argument = pool[rest % pool.len()].clone();
                rest /= pool.len();
                argument
            })
            .collect();
        assert_eq!(
            checked[0].holds(&arguments),
            checked[1].holds(&arguments),
            "{}: {before}\n{after}\n{arguments:?}",
            path.display()
        );
    }
}

#[test]
fn sample_invariants_are_read_and_written_back() {
    for (path, text) in files("invariants") {
        let instances =
            read_invariants(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect();
        assert_eq!(
            write_invariants(&instances).lines().collect::<Vec<_>>(),
            lines
        );
    }
}

#[test]
fn invariants_and_rules_of_one_sample_fit_together() {
    let rules = files("rules-torch");
    let Some((_, text)) = rules
        .iter()
        .find(|(path, _)| path.ends_with("torch.scatter.excerpt.rules-ebnf"))
    else {
        return;
    };
    let (rules, _) = read_rules(text, Precedence::LeftToRight);
    let invariants = files("invariants");
    let (_, text) = invariants
        .iter()
        .find(|(path, _)| path.ends_with("torch.scatter"))
        .expect("the sample has both");
    for instance in read_invariants(text).expect("it is read") {
        let rule = instantiate(&instance, &rules).expect("the rule is in the excerpt");
        check(&rule).expect("it makes sense of the API's parameters");
    }
}

#[test]
fn sample_signatures_and_inputs_go_there_and_back() {
    for (path, text) in files("signatures") {
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let signatures = read_signatures(&text).expect("it is read");
            assert!(signatures.iter().any(|(_, one)| one.inner.is_some()));
            let again = read_signatures(&write_signatures(&signatures)).expect("it is read");
            assert_eq!(signatures, again);
        }
    }
    if let Some(path) = fissure_testing::shared("data/centaur/corpus_format_examples.jsonl") {
        let text = std::fs::read_to_string(path).expect("it is readable");
        assert_eq!(write_corpus(&read_corpus(&text).expect("it is read")), text);
    }
}
