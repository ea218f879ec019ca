//! Two executions of one input, looked at together.

use fissure_model::{Dtype, Execution, Outcome};

use crate::behaviour::{Change, Kind};
use crate::observation::{Leaf, OBSERVE, Observation, answer};

/// Characters of a value in a line.
const SHOWN: usize = 90;

/// What differs, if anything does.
pub(crate) fn difference(before: &Execution, after: &Execution) -> Option<Change> {
    let ends = (end(&before.outcome), end(&after.outcome));
    match (&before.outcome, &after.outcome) {
        // It cannot even be asked.
        (Outcome::NotBuilt(_), _) | (_, Outcome::NotBuilt(_)) => None,
        (Outcome::Accepted { .. }, Outcome::Accepted { .. }) => {
            let first: Observation = answer(before, OBSERVE)?;
            let second: Observation = answer(after, OBSERVE)?;
            results(&first, &second)
        }
        (Outcome::Accepted { .. }, Outcome::Rejected(exception)) => {
            let message = fissure_triage::mask(&exception.message);
            Some(change(
                Kind::Acceptance,
                format!("accepted → {}: {message}", exception.class),
                shown(before),
                shown(after),
            ))
        }
        (Outcome::Rejected(exception), Outcome::Accepted { .. }) => {
            let message = fissure_triage::mask(&exception.message);
            Some(change(
                Kind::Acceptance,
                format!("{}: {message} → accepted", exception.class),
                shown(before),
                shown(after),
            ))
        }
        (Outcome::Rejected(first), Outcome::Rejected(second)) if first.class != second.class => {
            let message = fissure_triage::mask(&second.message);
            Some(change(
                Kind::ExceptionClass,
                format!("{} → {}: {message}", first.class, second.class),
                shown(before),
                shown(after),
            ))
        }
        _ => match ends {
            (None, None) => None,
            (Some(first), Some(second)) if first == second => None,
            (Some((first, _)), Some((second, _)))
                if first == Kind::Crash && second == Kind::Crash =>
            {
                // Which signal a broken heap dies of is chance.
                None
            }
            (first, second) => {
                let kind = first.iter().chain(&second).map(|it| it.0).min()?;
                let word = |end: Option<(Kind, String)>, execution: &Execution| {
                    end.map_or_else(|| plain_end(execution), |it| it.1)
                };
                let words = (word(first, before), word(second, after));
                Some(change(
                    kind,
                    format!("{} → {}", words.0, words.1),
                    shown(before),
                    shown(after),
                ))
            }
        },
    }
}

fn change(kind: Kind, detail: String, before: String, after: String) -> Change {
    Change {
        kind,
        detail,
        before,
        after,
        path: String::new(),
    }
}

/// How a call ended that did not end as calls should, and what kind of change that makes.
fn end(outcome: &Outcome) -> Option<(Kind, String)> {
    match outcome {
        Outcome::Accepted { .. } | Outcome::Rejected(_) | Outcome::NotBuilt(_) => None,
        Outcome::Crash { signal } => Some((Kind::Crash, format!("signal {signal}"))),
        Outcome::Exit { code } => Some((Kind::Crash, format!("exit {code}"))),
        Outcome::Corruption => Some((Kind::Crash, "memory overwritten".into())),
        Outcome::Fatal(exception) => Some((Kind::Crash, exception.class.clone())),
        Outcome::Timeout => Some((Kind::Speed, "no end".into())),
        Outcome::OutOfMemory => Some((Kind::Memory, "out of memory".into())),
    }
}

fn plain_end(execution: &Execution) -> String {
    match &execution.outcome {
        Outcome::Rejected(exception) => exception.class.clone(),
        _ => "accepted".to_owned(),
    }
}

/// What one version did, in a line.
pub(crate) fn shown(execution: &Execution) -> String {
    match &execution.outcome {
        Outcome::Accepted { .. } => answer::<Observation>(execution, OBSERVE)
            .and_then(|it| {
                it.leaves
                    .first()
                    .map(|leaf| format!("accepted, {}", whole(leaf)))
            })
            .unwrap_or_else(|| "accepted".to_owned()),
        Outcome::Rejected(exception) | Outcome::Fatal(exception) | Outcome::NotBuilt(exception) => {
            let line = exception.message.lines().next().unwrap_or_default();
            cut(&format!("{}: {line}", exception.class))
        }
        outcome => end(outcome).map_or_else(String::new, |it| it.1),
    }
}

/// What differs in two results.
pub(crate) fn results(before: &Observation, after: &Observation) -> Option<Change> {
    if before.structure != after.structure {
        return Some(change(
            Kind::Structure,
            format!("{} → {}", before.structure, after.structure),
            before.structure.clone(),
            after.structure.clone(),
        ));
    }
    let random = before.random || after.random;
    let open = before.open.iter().chain(&after.open);
    let unordered = open
        .clone()
        .any(|word| word == "ambiguous" || word == "unordered");
    let indices = open.clone().any(|word| word == "indices");
    let free = open
        .clone()
        .any(|word| matches!(word.as_str(), "random" | "uninitialised" | "varies"));
    for (first, second) in before.leaves.iter().zip(&after.leaves) {
        if first.path != second.path {
            // An argument is written to in one version only: told by its own part elsewhere.
            continue;
        }
        if let Some(found) = facts(first, second) {
            return Some(found);
        }
        if first.text != second.text && !random && !free {
            return Some(texts(first, second));
        }
        let index = indices && second.kind.as_deref() == Some("integer");
        if random || free || unordered || index {
            continue;
        }
        if let Some(found) = values(first, second) {
            return Some(found);
        }
    }
    written(before, after).filter(|_| !random)
}

/// Arguments that only one version writes to.
fn written(before: &Observation, after: &Observation) -> Option<Change> {
    let of = |it: &Observation| -> Vec<String> {
        let leaves = it.leaves.iter().map(|leaf| leaf.path.clone());
        leaves
            .filter(|path| path.starts_with("argument "))
            .collect()
    };
    let (first, second) = (of(before), of(after));
    if first == second {
        return None;
    }
    let text = |names: &[String]| match names {
        [] => "writes to no argument".to_owned(),
        names => format!("writes to {}", names.join(", ")),
    };
    Some(change(
        Kind::Values,
        format!("{} → {}", text(&first), text(&second)),
        text(&first),
        text(&second),
    ))
}

/// Type, dtype, shape.
fn facts(before: &Leaf, after: &Leaf) -> Option<Change> {
    let place = if before.path.is_empty() {
        String::new()
    } else {
        format!(" of {}", before.path)
    };
    let found = |kind, before: String, after: String, detail: String| {
        Some(Change {
            kind,
            detail: format!("{detail}{place}"),
            before,
            after,
            path: String::new(),
        })
    };
    if before.type_name != after.type_name {
        let detail = format!("{} → {}", before.type_name, after.type_name);
        return found(
            Kind::Structure,
            before.type_name.clone(),
            after.type_name.clone(),
            detail,
        );
    }
    if before.dtype != after.dtype {
        let text = |leaf: &Leaf| leaf.dtype.clone().unwrap_or_default();
        let detail = format!("{} → {}", text(before), text(after));
        return found(Kind::Dtype, text(before), text(after), detail);
    }
    if before.shape != after.shape {
        let text = |leaf: &Leaf| format!("{:?}", leaf.shape.clone().unwrap_or_default());
        let rank = |leaf: &Leaf| leaf.shape.as_ref().map_or(0, Vec::len);
        let detail = match (rank(before), rank(after)) {
            (first, second) if first == second => "other sizes".to_owned(),
            (first, second) if first < second => format!("{} dimensions more", second - first),
            (first, second) => format!("{} dimensions fewer", first - second),
        };
        return found(Kind::Shape, text(before), text(after), detail);
    }
    None
}

/// Plain values.
fn texts(before: &Leaf, after: &Leaf) -> Change {
    let place = match before.path.as_str() {
        "" => String::new(),
        path => format!(" in {path}"),
    };
    Change {
        kind: Kind::Values,
        detail: format!("{}{place}", before.type_name),
        before: before.text.clone().unwrap_or_default(),
        after: after.text.clone().unwrap_or_default(),
        path: before.path.clone(),
    }
}

fn values(before: &Leaf, after: &Leaf) -> Option<Change> {
    let dtype = before.dtype.clone().unwrap_or_default();
    let place = if before.path.is_empty() {
        String::new()
    } else {
        format!(" in {}", before.path)
    };
    let (first, second) = (before.integers(), after.integers());
    if first != second {
        let wrong = first.iter().zip(&second).filter(|(a, b)| a != b).take(4);
        let (a, b): (Vec<i64>, Vec<i64>) = wrong.unzip();
        return Some(Change {
            kind: Kind::Values,
            detail: format!("{dtype}{place}"),
            before: cut(&format!("{a:?}")),
            after: cut(&format!("{b:?}")),
            path: before.path.clone(),
        });
    }
    let (first, second) = (before.floats(), after.floats());
    let bound = Bound::of(&dtype);
    let (word, places) = unequal(&first, &second, bound, before.is_complex())?;
    let show = |values: &[f64]| {
        let some: Vec<String> = places
            .iter()
            .take(4)
            .filter_map(|at| values.get(*at))
            .map(|value| format!("{value:?}"))
            .collect();
        cut(&some.join(", "))
    };
    Some(Change {
        kind: Kind::Values,
        detail: format!("{word} {dtype}{place}"),
        before: show(&first),
        after: show(&second),
        path: before.path.clone(),
    })
}

/// How far two numbers of a type may be apart: `torch.testing`'s tolerances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub relative: f64,
    pub absolute: f64,
    pub largest: f64,
}

impl Bound {
    pub(crate) fn of(dtype: &str) -> Bound {
        let (relative, absolute) = match dtype {
            "float64" | "complex128" => (1e-7, 1e-7),
            "float16" | "complex32" => (1e-3, 1e-5),
            "bfloat16" => (1.6e-2, 1e-5),
            "float8_e5m2" | "float8_e5m2fnuz" => (0.25, 1e-2),
            name if name.starts_with("float8") => (0.13, 1e-2),
            _ => (1.3e-6, 1e-5),
        };
        Bound {
            relative,
            absolute,
            largest: Dtype::float_max_of(dtype).unwrap_or_else(|| f32::MAX.into()),
        }
    }

    pub(crate) fn holds(self, first: f64, second: f64) -> bool {
        first == second || (first - second).abs() <= self.absolute + self.relative * second.abs()
    }
}

/// How two lists of numbers differ, and at which places; `None` within the bound. Of complex numbers only
/// that one is infinite or not a number is compared, not in which part.
pub(crate) fn unequal(
    first: &[f64],
    second: &[f64],
    bound: Bound,
    complex: bool,
) -> Option<(&'static str, Vec<usize>)> {
    let step = if complex { 2 } else { 1 };
    let count = first.len().min(second.len()) / step;
    let class = |values: &[f64], at: usize| -> u8 {
        let parts = &values[at * step..(at + 1) * step];
        if parts.iter().any(|part| part.is_infinite()) {
            1
        } else if parts.iter().any(|part| part.is_nan()) {
            2
        } else {
            0
        }
    };
    let mut nan = Vec::new();
    let mut infinite = Vec::new();
    let mut others = Vec::new();
    for at in 0..count {
        let classes = (class(first, at), class(second, at));
        let place = at * step;
        if (classes.0 == 2) != (classes.1 == 2) {
            nan.push(place);
        } else if classes.0 != classes.1 || (classes.0 == 1 && !complex && first[at] != second[at])
        {
            infinite.push(place);
        } else if classes.0 == 0 {
            let apart = (place..place + step).any(|part| !bound.holds(first[part], second[part]));
            // A part is small beside the other: the number as a whole counts.
            let size = |values: &[f64]| {
                values[place..place + step]
                    .iter()
                    .map(|it| it * it)
                    .sum::<f64>()
            };
            let whole = || {
                let squares: f64 = (place..place + step)
                    .map(|part| (first[part] - second[part]).powi(2))
                    .sum();
                squares.sqrt() > bound.absolute + bound.relative * size(second).sqrt()
            };
            if apart && (!complex || whole()) {
                others.push(place);
            }
        }
    }
    [("NaN in", nan), ("infinite in", infinite), ("", others)]
        .into_iter()
        .find(|(_, places)| !places.is_empty())
        .map(|(word, places)| (if word.is_empty() { "numbers of" } else { word }, places))
}

/// A leaf in a few words.
fn whole(leaf: &Leaf) -> String {
    if let Some(text) = &leaf.text {
        return cut(text);
    }
    let mut text = leaf.dtype.clone().unwrap_or_else(|| leaf.type_name.clone());
    if let Some(shape) = &leaf.shape {
        text.push_str(&format!(" {shape:?}"));
    }
    let floats = leaf.floats();
    let integers = leaf.integers();
    if !floats.is_empty() && floats.len() <= 4 {
        text.push_str(&format!(": {floats:?}"));
    } else if !integers.is_empty() && integers.len() <= 4 {
        text.push_str(&format!(": {integers:?}"));
    }
    cut(&text)
}

fn cut(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_by_class_first_and_then_beyond_the_tolerance() {
        let bound = Bound::of("float32");
        assert_eq!(
            unequal(&[1.0, f64::NAN], &[1.000001, f64::NAN], bound, false),
            None
        );
        let found = unequal(&[1.0, 2.0], &[1.0, f64::NAN], bound, false);
        assert_eq!(found, Some(("NaN in", vec![1])));
        let infinity = f64::INFINITY;
        let found = unequal(&[infinity], &[-infinity], bound, false);
        assert_eq!(found, Some(("infinite in", vec![0])));
        let found = unequal(&[1.0], &[1.1], bound, false);
        assert_eq!(found, Some(("numbers of", vec![0])));
    }

    #[test]
    fn a_complex_number_counts_as_a_whole() {
        let bound = Bound::of("complex64");
        // The imaginary part is all rounding beside a real part of a million.
        assert_eq!(unequal(&[1e6, 1e-3], &[1e6, 2e-3], bound, true), None);
        assert!(unequal(&[1.0, 1e-3], &[1.0, 2e-3], bound, true).is_some());
        let nan = f64::NAN;
        assert_eq!(
            unequal(&[f64::INFINITY, nan], &[nan, f64::INFINITY], bound, true),
            None
        );
    }
}
