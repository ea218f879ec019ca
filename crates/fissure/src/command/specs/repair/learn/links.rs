//! Candidates that tie sizes to each other: a size of one tensor to one of another or to a number, and
//! those of a matrix to each other.

use fissure_model::Value;
use fissure_spec::ExtractedFile;

use super::Seen;
use super::candidates::{Candidate, is_array, order, tensor, value_of};

/// A shape for the one tensor and for the other, where `s` is the size that they share.
const PAIRS: [(&str, &str); 10] = [
    ("[s]", "[...,s]"),
    ("[s]", "[s,...]"),
    ("[s]", "[b,s,...]"),
    ("[s,...]", "[s,...]"),
    ("[...,s]", "[...,s]"),
    ("[b,s,...]", "[c,s,...]"),
    ("[s,m]", "[...,s]"),
    ("[m,s]", "[...,s]"),
    ("[m,s,...]", "[b,s,...]"),
    ("[...,s,m]", "[...,k,s]"),
];
/// Shapes of a tensor of which one size is a number that is given.
const BY_NUMBER: [&str; 4] = ["[&p]", "[...,&p]", "[&p,...]", "[b,&p,...]"];
/// Shapes of a matrix by its own sizes.
const OWN: [&str; 3] = ["[...,s,s]", "[...,s,<=s]", "[...,s,>=s]"];

pub(super) fn candidates(file: &ExtractedFile, seen: &[Seen]) -> Vec<Vec<Candidate>> {
    let order = order(file);
    let is = |name: &String, of: fn(&Value) -> bool| {
        !name.starts_with('*') && seen.iter().any(|one| value_of(name, one).is_some_and(&of))
    };
    let is_tensor =
        |name: &&String| is_array(file, name) && is(name, |value| tensor(value).is_some());
    let tensors: Vec<&String> = order.iter().filter(is_tensor).collect();
    let is_number = |name: &&String| is(name, |value| matches!(value, Value::Int(_)));
    let numbers: Vec<&String> = order.iter().filter(is_number).collect();
    let shapes = |name: &str| file.constraints[name].lists.get("shape");
    let open = |name: &str| shapes(name).is_none_or(Vec::is_empty);
    let one = |param: &str, key, value, also| Candidate {
        param: param.to_owned(),
        key,
        values: vec![value],
        also,
        given: true,
    };
    let mut families = Vec::new();
    for (at, name) in tensors.iter().enumerate() {
        let ranks = file.constraints[*name].lists.get("ndim");
        for other in &tensors[..at] {
            if ranks.is_none_or(Vec::is_empty) {
                let forms = ["-1", "+1"].map(|more| format!("ndim:&{other}{more}"));
                families.extend(forms.map(|form| vec![one(name, "ndim", form, Vec::new())]));
            }
        }
        if !open(name) {
            continue;
        }
        let mut add = |param: &str, shape: String, also: Vec<(String, String)>| {
            families.push(vec![one(param, "shape", shape, also)]);
        };
        for shape in OWN {
            add(name, named(shape, name), Vec::new());
        }
        for number in &numbers {
            for shape in BY_NUMBER {
                let shape = named(&shape.replace('p', number), name);
                add(name, shape, Vec::new());
            }
        }
        for (position, other) in tensors.iter().enumerate() {
            if position == at {
                continue;
            }
            if open(other) {
                for (own, others) in PAIRS {
                    let others = named(others, other);
                    let shared = others.replace(&symbol("s", other), &symbol("s", name));
                    add(name, named(own, name), vec![((*other).clone(), shared)]);
                }
            }
            let [shape] = shapes(other).map_or(&[][..], Vec::as_slice) else {
                continue;
            };
            for size in symbols(shape) {
                for form in ["[s]", "[s,...]", "[...,s]", "[b,s,...]"] {
                    let shape = named(form, name).replace(&symbol("s", name), &size);
                    add(name, shape, Vec::new());
                }
            }
        }
    }
    families
}

fn symbol(letter: &str, name: &str) -> String {
    format!("{letter}_{name}")
}

/// The letters of a shape with the name of a parameter, so that they are those of no other shape.
fn named(shape: &str, name: &str) -> String {
    let inner = shape.trim_matches(['[', ']']);
    let sizes = inner.split(',').map(|size| {
        let start = size.len() - size.trim_start_matches(['<', '>', '=']).len();
        let (compared, letter) = size.split_at(start);
        match letter {
            "s" | "b" | "c" | "m" | "k" => format!("{compared}{}", symbol(letter, name)),
            _ => size.to_owned(),
        }
    });
    format!("[{}]", sizes.collect::<Vec<_>>().join(","))
}

/// The sizes of a shape that have a name of their own.
fn symbols(shape: &str) -> Vec<String> {
    let inner = shape.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let sizes = inner.unwrap_or_default().split(',');
    let is_name = |size: &&str| {
        size.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && size
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    sizes.filter(is_name).map(str::to_owned).collect()
}
