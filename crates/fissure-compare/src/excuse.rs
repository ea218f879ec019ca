//! Whether different numbers in two versions are a change.
//!
//! They are not when the result reads memory that nobody has written, when both versions are about as far from the
//! result in `float64`, when the true result is beyond the type's range anyway, when NaN or infinities of the input
//! meet in another order, or when moving the input in its last digits does as much. The rules are those of the
//! oracles (`python/fissure_worker/oracles/referee.py`), over two processes.

use fissure_model::Execution;

use crate::behaviour::{Change, Kind};
use crate::difference::{Bound, unequal};
use crate::observation::{CLOSELY, CloseLook, Leaf, OBSERVE, Observation, answer};

/// A difference of this many times what moving the input did is still put down to that.
const GRACE: f64 = 16.0;
/// Below this share of the largest number a result does not overflow on the way.
const REPRESENTABLE: f64 = 1.0 / 16.0;
/// An error that is so many times the other is another accuracy; less is rounding.
const FACTOR: f64 = 3.0;

/// What is left of a change when both versions were asked closely; `None`: it is explained.
pub(crate) fn judged(mut change: Change, before: &Execution, after: &Execution) -> Option<Change> {
    if change.kind != Kind::Values || change.path.starts_with("argument ") {
        return Some(change);
    }
    let look = |execution: &Execution| answer::<CloseLook>(execution, CLOSELY);
    let (Some(first_look), Some(second_look)) = (look(before), look(after)) else {
        return Some(change);
    };
    if first_look.fresh || second_look.fresh {
        return None;
    }
    let leaf =
        |execution: &Execution| leaf_at(&answer::<Observation>(execution, OBSERVE)?, &change.path);
    let (Some(first), Some(second)) = (leaf(before), leaf(after)) else {
        return Some(change);
    };
    if first_look.unsteady || second_look.unsteady {
        return None;
    }
    let bound = Bound::of(first.dtype.as_deref().unwrap_or_default());
    let complex = first.is_complex();
    let (observed, expected) = (second.floats(), first.floats());
    if observed.is_empty() {
        // Whole numbers: a moved input that changes them says that they hang on the last digit.
        let moved =
            moved_integers(&first_look, &first).chain(moved_integers(&second_look, &second));
        let mut moved = moved;
        return moved.all(|same| same).then_some(change);
    }
    let (word, places) = unequal(&expected, &observed, bound, complex)?;
    if word != "numbers of" && !first_look.finite && !first_look.elementwise {
        return None;
    }
    if within_spread(&first_look, &first, &expected, &observed, &places)
        || within_spread(&second_look, &second, &expected, &observed, &places)
    {
        return None;
    }
    // The versions must agree on what is right.
    let wide = |look: &CloseLook| {
        let leaf = leaf_at(look.wide.as_ref()?, &change.path)?;
        (leaf.shape == first.shape).then(|| leaf.floats())
    };
    let (Some(right), Some(also)) = (wide(&first_look), wide(&second_look)) else {
        return Some(change);
    };
    let wide_bound = Bound::of("float32");
    if unequal(&right, &also, wide_bound, complex).is_some() {
        return Some(change);
    }
    if word != "numbers of" {
        let largest = bound.largest * REPRESENTABLE;
        let beyond = places.iter().all(|at| {
            let parts = right.get(*at..*at + if complex { 2 } else { 1 });
            parts.is_none_or(|parts| parts.iter().any(|it| it.is_nan() || it.abs() >= largest))
        });
        return (!beyond).then_some(change);
    }
    let errors = (distance(&right, &expected), distance(&right, &observed));
    let size = distance(&right, &vec![0.0; right.len()]);
    let slack = (bound.absolute + bound.relative * size) / 10.0;
    let (low, high) = (errors.0.min(errors.1), errors.0.max(errors.1));
    if high <= FACTOR * low + slack {
        return None;
    }
    change.kind = Kind::Accuracy;
    let word = if errors.1 > errors.0 { "less" } else { "more" };
    change.detail = format!("{word} accurate {}", change.detail);
    change.before = format!("{} (off by {:.1e})", change.before, errors.0);
    change.after = format!("{} (off by {:.1e})", change.after, errors.1);
    Some(change)
}

fn leaf_at(observation: &Observation, path: &str) -> Option<Leaf> {
    observation
        .leaves
        .iter()
        .find(|leaf| leaf.path == path)
        .cloned()
}

fn moved_integers<'a>(look: &'a CloseLook, leaf: &'a Leaf) -> impl Iterator<Item = bool> + 'a {
    look.moved.iter().map(|moved| {
        leaf_at(moved, &leaf.path).is_some_and(|other| other.integers() == leaf.integers())
    })
}

/// Moving the input in its last digits does as much at every place.
fn within_spread(
    look: &CloseLook,
    leaf: &Leaf,
    first: &[f64],
    second: &[f64],
    places: &[usize],
) -> bool {
    if look.moved.is_empty() {
        return false;
    }
    let base = leaf.floats();
    let step = if leaf.is_complex() { 2 } else { 1 };
    let others: Vec<Vec<f64>> = (look.moved.iter())
        .filter_map(|moved| leaf_at(moved, &leaf.path))
        .map(|it| it.floats())
        .collect();
    if others.iter().any(|other| other.len() != base.len()) {
        return true;
    }
    places.iter().flat_map(|at| *at..*at + step).all(|at| {
        if at >= base.len() || at >= first.len() || at >= second.len() {
            return true;
        }
        if first[at] == second[at] {
            return true;
        }
        let spread = others.iter().map(|other| {
            if other[at].is_finite() == base[at].is_finite() {
                let step = (other[at] - base[at]).abs();
                if step.is_nan() { 0.0 } else { step }
            } else {
                f64::INFINITY
            }
        });
        let spread = spread.fold(0.0, f64::max);
        spread == f64::INFINITY || (first[at] - second[at]).abs() <= GRACE * spread
    })
}

/// Root mean square over what is finite in both.
fn distance(reference: &[f64], values: &[f64]) -> f64 {
    let errors: Vec<f64> = (reference.iter().zip(values))
        .map(|(a, b)| (a - b).abs())
        .filter(|error| error.is_finite())
        .collect();
    let largest = errors.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return 0.0;
    }
    let mean: f64 =
        errors.iter().map(|it| (it / largest).powi(2)).sum::<f64>() / errors.len() as f64;
    largest * mean.sqrt()
}
