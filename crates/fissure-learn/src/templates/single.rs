//! Statements about one parameter.

use std::collections::BTreeSet;

use fissure_model::Dtype;
use fissure_rules::{Answer, Datum, Type};

use super::{View, views};
use crate::mutate::DTYPES;
use crate::vocabulary::{Atom, Vocabulary};

/// Values of a number or text that get statements of their own.
const CONSTANTS: usize = 12;

pub(super) fn add(vocabulary: &mut Vocabulary, view: &View, accepted: &[Vec<Datum>]) {
    let own = [(view.param, &view.of)];
    let union = vocabulary.params[view.param].of.alternatives().len() > 1;
    if union && view.of.alternatives().len() == 1 {
        // Said of this type alone: the argument is not of it.
        vocabulary.add(&own, "false".into(), None, 2);
    }
    let x = &view.name;
    match &view.of {
        Type::Tensor => tensor(vocabulary, view),
        Type::Int => {
            let mut constants: BTreeSet<i64> = (-3..=4).chain([8, 16]).collect();
            let seen = accepted
                .iter()
                .filter_map(|input| match &input[view.param] {
                    Datum::Int(value) if (-1000..=1000).contains(value) => Some(*value),
                    _ => None,
                });
            constants.extend(seen.take(CONSTANTS));
            for c in constants {
                vocabulary.add_both(&own, &format!("{x} >= {c}"), &format!("{x} < {c}"), 1);
                vocabulary.add_both(&own, &format!("{x} = {c}"), &format!("{x} != {c}"), 1);
            }
        }
        _ if view.is_number() => {
            for c in ["0", "1", "-1", "0.5", "2"] {
                vocabulary.add_both(&own, &format!("{x} >= {c}"), &format!("{x} < {c}"), 1);
                vocabulary.add_both(&own, &format!("{x} > {c}"), &format!("{x} <= {c}"), 1);
                vocabulary.add_both(&own, &format!("{x} = {c}"), &format!("{x} != {c}"), 1);
            }
        }
        Type::Bool => {
            vocabulary.add_both(&own, &format!("{x} = true"), &format!("{x} = false"), 1);
        }
        Type::Str => {
            let texts = seen_texts(view.param, accepted);
            for text in texts.iter().take(CONSTANTS) {
                vocabulary.add_both(
                    &own,
                    &format!("{x} = {text:?}"),
                    &format!("{x} != {text:?}"),
                    1,
                );
            }
        }
        Type::Dtype => dtypes(vocabulary, view, x),
        Type::List(item) => list(vocabulary, view, item),
        _ => {}
    }
}

fn seen_texts(param: usize, accepted: &[Vec<Datum>]) -> BTreeSet<String> {
    accepted
        .iter()
        .filter_map(|input| match &input[param] {
            Datum::Text(text) => Some(text.clone()),
            _ => None,
        })
        .collect()
}

fn dtypes(vocabulary: &mut Vocabulary, view: &View, of: &str) {
    let own = [(view.param, &view.of)];
    for family in [
        "{float}",
        "{complex}",
        "{int}",
        "{float, complex}",
        "{int, bool}",
        "{numeric}",
        "{float16, bfloat16}",
        "{int64}",
        "{int32, int64}",
        "{bool}",
        "{uint8}",
        "{bool, uint8}",
        "{float16}",
        "{bfloat16}",
        "{float32, float64}",
        "{float32, float64, complex64, complex128}",
    ] {
        vocabulary.add_both(
            &own,
            &format!("{of} in {family}"),
            &format!("{of} not in {family}"),
            1,
        );
    }
}

fn tensor(vocabulary: &mut Vocabulary, view: &View) {
    let own = [(view.param, &view.of)];
    let x = &view.name;
    for rank in 0..=5 {
        vocabulary.add_both(
            &own,
            &format!("ndim({x}) = {rank}"),
            &format!("ndim({x}) != {rank}"),
            1,
        );
        if rank > 0 {
            vocabulary.add_both(
                &own,
                &format!("ndim({x}) >= {rank}"),
                &format!("ndim({x}) < {rank}"),
                1,
            );
        }
    }
    vocabulary.add_both(
        &own,
        &format!("size({x}) > 0"),
        &format!("size({x}) = 0"),
        1,
    );
    vocabulary.add_both(
        &own,
        &format!("size({x}) > 1"),
        &format!("size({x}) <= 1"),
        1,
    );
    vocabulary.add_both(
        &own,
        &format!("size({x}) = 1"),
        &format!("size({x}) != 1"),
        1,
    );
    for most in [4, 16] {
        vocabulary.add_both(
            &own,
            &format!("size({x}) <= {most}"),
            &format!("size({x}) > {most}"),
            2,
        );
    }
    dtypes(vocabulary, view, &format!("dtype({x})"));
    for at in [0, 1, 2, -1, -2] {
        for (test, cost) in [
            ("> 0", 1),
            ("> 1", 2),
            ("= 1", 2),
            ("= 2", 2),
            ("= 3", 2),
            ("= 0", 2),
        ] {
            vocabulary.add(&own, format!("shape({x}, {at}) {test}"), None, cost);
        }
    }
    vocabulary.add(&own, format!("shape({x}, -1) = shape({x}, -2)"), None, 1);
    vocabulary.add(&own, format!("shape({x}, -1) <= shape({x}, -2)"), None, 2);
    vocabulary.add(&own, format!("shape({x}, -1) >= shape({x}, -2)"), None, 2);
    vocabulary.add(&own, format!("shape({x}, 1) % 4 = 0"), None, 3);
    vocabulary.add(&own, format!("shape({x}, -1) % 2 = 0"), None, 3);
    vocabulary.add(
        &own,
        format!("forall i in [1, ndim({x}) - 1]: shape({x}, i) > 0"),
        None,
        2,
    );
    vocabulary.add(
        &own,
        format!("forall i in [2, ndim({x}) - 1]: shape({x}, i) > 0"),
        None,
        2,
    );
    for bound in [
        "min({x}) >= 0",
        "min({x}) > 0",
        "min({x}) >= 1",
        "min({x}) >= -1",
        "max({x}) <= 1",
        "max({x}) < 0",
        "max({x}) <= 0",
        "max({x}) <= 20",
    ] {
        let bound = bound.replace("{x}", x);
        vocabulary.add(&own, format!("size({x}) = 0 or {bound}"), None, 2);
    }
    for fact in ["symmetric", "positive_definite"] {
        vocabulary.add(&own, format!("{fact}({x})"), None, 2);
    }
    let apart_from_zero = format!("size({x}) = 0 or min({x}) > 0 or max({x}) < 0");
    vocabulary.add(&own, apart_from_zero, None, 3);
}

fn list(vocabulary: &mut Vocabulary, view: &View, item: &Type) {
    let own = [(view.param, &view.of)];
    let x = &view.name;
    for length in 0..=5 {
        vocabulary.add_both(
            &own,
            &format!("{x}.len = {length}"),
            &format!("{x}.len != {length}"),
            1,
        );
        if length > 0 {
            vocabulary.add_both(
                &own,
                &format!("{x}.len >= {length}"),
                &format!("{x}.len < {length}"),
                1,
            );
        }
    }
    for (statement, cost) in of_items(item) {
        vocabulary.add(&own, statement.replace("{x}", x), None, cost);
    }
}

/// What is said of a list `{x}` with items of the type; of a list of lists, of each of them.
fn of_items(item: &Type) -> Vec<(String, u32)> {
    let mut found = vec![("{x}.len % 2 = 0".to_owned(), 2)];
    match item {
        Type::Int | Type::Float => {
            for bound in ["e >= 0", "e > 0", "e >= -1", "e > 1", "e != 0", "e = 1"] {
                found.push((format!("forall e in {{x}}: {bound}"), 1));
            }
            found.push(("distinct({x})".into(), 1));
            found.push(("permutation({x})".into(), 1));
            found.push(("sorted({x})".into(), 2));
            found.push(("product({x}) < 1000000".into(), 2));
            found.push(("product({x}) > -1000000".into(), 2));
            let one_unknown = "forall i in [0, {x}.len - 1]: forall j in [0, {x}.len - 1]: i = j or {x}[i] >= 0 or {x}[j] >= 0";
            found.push((one_unknown.into(), 3));
        }
        Type::Tensor => {
            for statement in ITEMS {
                found.push((format!("forall t in {{x}}: {statement}"), 1));
            }
            for skipped in 0..3 {
                let rest = format!(
                    "forall t in {{x}}: forall i in [0, ndim(t) - 1]: i = {skipped} or shape(t, i) = shape({{x}}[0], i)"
                );
                found.push((rest, 2));
            }
            for statement in [
                "broadcastable(t, u)",
                "forall i in [1, ndim(t) - 1]: shape(t, i) = shape(u, i)",
                "forall i in [0, ndim(t) - 2]: shape(t, i) = shape(u, i)",
            ] {
                found.push((
                    format!("forall t in {{x}}: forall u in {{x}}: {statement}"),
                    2,
                ));
            }
            found.push(("forall i in [1, {x}.len - 2]: ndim({x}[i]) = 2".into(), 2));
            // Each with the next: a chain.
            for (left, right) in [(-1, 0), (-1, -2), (1, 0)] {
                found.push((
                    format!("forall i in [1, {{x}}.len - 1]: shape({{x}}[i - 1], {left}) = shape({{x}}[i], {right})"),
                    2,
                ));
            }
        }
        Type::List(inner) => {
            for length in 1..=3 {
                found.push((format!("forall l in {{x}}: l.len = {length}"), 1));
                found.push((format!("forall l in {{x}}: l.len >= {length}"), 1));
                found.push((format!("forall l in {{x}}: l.len <= {length}"), 1));
            }
            found.push(("forall l in {x}: l.len = {x}[0].len".into(), 1));
            for (statement, cost) in of_items(inner) {
                let statement = statement.replace("{x}", "l");
                found.push((format!("forall l in {{x}}: {statement}"), cost + 1));
            }
        }
        _ => {}
    }
    found
}

/// Of each tensor `t` in a list `{x}`.
const ITEMS: [&str; 25] = [
    "dtype(t) = dtype({x}[0])",
    "ndim(t) = ndim({x}[0])",
    "shape(t) = shape({x}[0])",
    "size(t) = size({x}[0])",
    "shape(t, 0) = shape({x}[0], 0)",
    "shape(t, 1) = shape({x}[0], 1)",
    "shape(t, -1) = shape({x}[0], -1)",
    "size(t) > 0",
    "size(t) > 1",
    "ndim(t) = 0",
    "ndim(t) >= 1",
    "ndim(t) <= 1",
    "ndim(t) = 1",
    "ndim(t) <= 2",
    "ndim(t) = 2",
    "ndim(t) >= 2",
    "ndim(t) >= 3",
    "dtype(t) in {float}",
    "dtype(t) in {float, complex}",
    "dtype(t) not in {complex}",
    "dtype(t) not in {bool}",
    "dtype(t) in {int}",
    "dtype(t) in {int, bool}",
    "dtype(t) in {int64, int32, bool, uint8}",
    "dtype(t) not in {float16, bfloat16}",
];

/// Statements whose constants are as tight as the accepted inputs allow. Under a condition too:
/// `conditions` are statements, the constants fit the accepted inputs that break them.
pub(crate) fn fit(vocabulary: &mut Vocabulary, accepted: &[Vec<Datum>]) {
    let everything: Vec<&Vec<Datum>> = accepted.iter().collect();
    fit_to(vocabulary, &everything);
    let conditions: Vec<usize> = (0..vocabulary.atoms.len())
        .filter(|atom| is_condition(&vocabulary.atoms[*atom]))
        .collect();
    for condition in conditions {
        let Atom { rule, .. } = &vocabulary.atoms[condition];
        let under: Vec<&Vec<Datum>> = accepted
            .iter()
            .filter(|input| rule.rule.answer(input, &rule.binding) == Answer::Broken)
            .collect();
        if under.len() >= 8 && under.len() < accepted.len() {
            fit_to(vocabulary, &under);
        }
    }
}

/// Cheap statements about one parameter that is not a size: a dtype family, a rank, a flag.
fn is_condition(atom: &Atom) -> bool {
    atom.header.len() == 1 && (atom.body == "false" || (atom.negation.is_some() && atom.cost == 1))
}

fn fit_to(vocabulary: &mut Vocabulary, accepted: &[&Vec<Datum>]) {
    for view in views(vocabulary) {
        let own = [(view.param, &view.of)];
        let x = &view.name;
        let values = accepted.iter().map(|input| &input[view.param]);
        match &view.of {
            Type::Tensor => {
                let dtypes: BTreeSet<Dtype> = values
                    .filter_map(|value| match value {
                        Datum::Tensor(tensor) => Some(tensor.dtype),
                        _ => None,
                    })
                    .collect();
                if !dtypes.is_empty() && dtypes.len() < DTYPES.len() {
                    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
                    let body = format!("dtype({x}) in {{{}}}", names.join(", "));
                    vocabulary.add(&own, body, None, 2);
                }
            }
            Type::List(item) if **item == Type::Tensor => {
                let dtypes: BTreeSet<Dtype> = values
                    .filter_map(|value| match value {
                        Datum::List(items) => Some(items),
                        _ => None,
                    })
                    .flatten()
                    .filter_map(|item| match item {
                        Datum::Tensor(tensor) => Some(tensor.dtype),
                        _ => None,
                    })
                    .collect();
                if !dtypes.is_empty() && dtypes.len() < DTYPES.len() {
                    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
                    let set = names.join(", ");
                    let body = format!("forall t in {x}: dtype(t) in {{{set}}}");
                    vocabulary.add(&own, body, None, 2);
                }
            }
            Type::Dtype => {
                let dtypes: BTreeSet<Dtype> = values
                    .filter_map(|value| match value {
                        Datum::Dtype(dtype) => Some(*dtype),
                        _ => None,
                    })
                    .collect();
                if !dtypes.is_empty() {
                    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
                    let body = format!("{x} in {{{}}}", names.join(", "));
                    vocabulary.add(&own, body, None, 2);
                }
            }
            Type::Str => {
                let texts: BTreeSet<String> = values
                    .filter_map(|value| match value {
                        Datum::Text(text) => Some(format!("{text:?}")),
                        _ => None,
                    })
                    .collect();
                if !texts.is_empty() && texts.len() <= 24 {
                    let texts: Vec<String> = texts.into_iter().collect();
                    vocabulary.add(&own, format!("{x} in {{{}}}", texts.join(", ")), None, 2);
                }
            }
            _ => {}
        }
    }
}
