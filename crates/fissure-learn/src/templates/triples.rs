//! Statements about three parameters or more.

use fissure_rules::Type;

use super::View;
use crate::vocabulary::Vocabulary;

/// Statements in which one number names a dimension that others are about.
pub(super) fn add(vocabulary: &mut Vocabulary, views: &[View]) {
    let tensors: Vec<&View> = views.iter().filter(|v| v.of == Type::Tensor).collect();
    let numbers: Vec<&View> = views.iter().filter(|v| v.of == Type::Int).collect();
    let mut say = |parts: [&View; 3], body: &str, cost| {
        let [a, b, c] = parts;
        if a.param == b.param || b.param == c.param || a.param == c.param {
            return;
        }
        let body = body
            .replace("{a}", &a.name)
            .replace("{b}", &b.name)
            .replace("{c}", &c.name);
        let own = [(a.param, &a.of), (b.param, &b.of), (c.param, &c.of)];
        vocabulary.add(&own, body, None, cost);
    };
    for a in &tensors {
        for b in &tensors {
            for c in &numbers {
                for (body, cost) in [
                    (
                        "forall i in [0, ndim({a}) - 1]: i = {c} or i = {c} + ndim({a}) or shape({a}, i) = shape({b}, i)",
                        2,
                    ),
                    (
                        "forall i in [0, ndim({a}) - 1]: i = {c} or i = {c} + ndim({a}) or shape({a}, i) <= shape({b}, i)",
                        2,
                    ),
                    (
                        "size({b}) = 0 or ndim({a}) = 0 or max({b}) < shape({a}, {c})",
                        2,
                    ),
                    (
                        "size({b}) = 0 or ndim({a}) = 0 or min({b}) >= -shape({a}, {c})",
                        2,
                    ),
                    ("size({b}) = shape({a}, {c})", 2),
                    ("shape({a}, {c}) = shape({b}, {c})", 2),
                    ("shape({b}, 0) = shape({a}, {c})", 2),
                    ("shape({a}, 1) = shape({b}, 1) * {c}", 1),
                    ("shape({a}, 0) = shape({b}, 0) * {c}", 2),
                    (
                        "{c} != 0 and shape({a}, 1) % {c} = 0 and shape({b}, 0) % {c} = 0",
                        2,
                    ),
                    ("shape({a}, 0) = shape({b}, 1) * {c}", 2),
                    ("shape({a}, 1) = shape({b}, 0) * {c}", 3),
                    // The last dimensions of one are the first of the other.
                    (
                        "forall i in [0, {c} - 1]: shape({a}, i - {c}) = shape({b}, i)",
                        3,
                    ),
                    // The shape of the one without a dimension.
                    (
                        "forall i in [0, ndim({b}) - 1]: shape({b}, i) = (if i < {c} or {c} < 0 and i < {c} + ndim({a}) then shape({a}, i) else shape({a}, i + 1))",
                        3,
                    ),
                ] {
                    say([*a, *b, *c], body, cost);
                }
            }
        }
        for b in &numbers {
            for c in &numbers {
                for (body, cost) in [
                    ("{b} < shape({a}, {c})", 1),
                    ("{b} <= shape({a}, {c})", 1),
                    ("{b} >= -shape({a}, {c})", 2),
                    ("ndim({a}) = 0 or {b} <= shape({a}, {c})", 2),
                    ("{c} != 0 and shape({a}, {b}) % {c} = 0", 2),
                    ("{b} != -1 or shape({a}, {c}) > 0", 3),
                    ("{b} != -1 or shape({a}, {c}) > 1", 3),
                    (
                        "{b} != {c} and {b} != {c} + ndim({a}) and {c} != {b} + ndim({a})",
                        2,
                    ),
                    (
                        "{b} != {c} and {b} != {c} + ndim({a}) + 1 and {c} != {b} + ndim({a}) + 1",
                        2,
                    ),
                ] {
                    say([*a, *b, *c], body, cost);
                }
            }
        }
    }
    let lists: Vec<&View> = views.iter().filter(|v| v.is_list_of(&Type::Int)).collect();
    let tables: Vec<&View> = views
        .iter()
        .filter(|v| v.is_list_of(&Type::list(Type::Int)))
        .collect();
    for a in &tensors {
        for b in &tensors {
            for c in &tables {
                let body = "forall i in [0, {c}[0].len - 1]: shape({a}, {c}[0][i]) = shape({b}, {c}[1][i])";
                say([*a, *b, *c], body, 3);
            }
        }
        for b in &lists {
            for c in &numbers {
                for (body, cost) in [
                    ("sum({b}) = shape({a}, {c})", 2),
                    ("product({b}) = shape({a}, {c})", 2),
                    (
                        "product({b}) = shape({a}, {c}) or product({b}) < 0 and shape({a}, {c}) % product({b}) = 0",
                        3,
                    ),
                    ("forall e in {b}: shape({a}, e) > {c}", 2),
                    (
                        "forall e in {b}: -shape({a}, {c}) <= e and e < shape({a}, {c})",
                        2,
                    ),
                ] {
                    say([*a, *b, *c], body, cost);
                }
            }
            for c in &lists {
                for body in [
                    "forall i in [0, {b}.len - 1]: {b}[i] != -1 or shape({a}, {c}[i]) > 0",
                    "{b}[-1] != -1 or shape({a}, {c}[-1]) > 1",
                    "forall i in [0, {b}.len - 1]: {b}[i] <= shape({a}, {c}[i])",
                ] {
                    say([*a, *b, *c], body, 3);
                }
            }
        }
    }
    let steps: Vec<&View> = views.iter().filter(|v| v.is_number()).collect();
    for a in &steps {
        for b in &steps {
            for c in &steps {
                // From, to and step.
                if a.param < b.param && b.param < c.param {
                    say([*a, *b, *c], "({b} - {a}) * {c} >= 0", 2);
                }
            }
        }
    }
    add_slices(vocabulary, &tensors, &numbers);
    add_strides(vocabulary, &tensors, &lists, &numbers);
}

/// Sizes and strides, one for each dimension, that stay within the elements there are.
fn add_strides(vocabulary: &mut Vocabulary, tensors: &[&View], lists: &[&View], numbers: &[&View]) {
    for x in tensors {
        for sizes in lists {
            for strides in lists.iter().filter(|it| it.param > sizes.param) {
                let (n, s) = (&sizes.name, &strides.name);
                let own = [
                    (x.param, &x.of),
                    (sizes.param, &sizes.of),
                    (strides.param, &strides.of),
                ];
                for length in 1..=5 {
                    let last: Vec<String> = (0..length)
                        .map(|at| format!("({n}[{at}] - 1) * {s}[{at}]"))
                        .collect();
                    let last = last.join(" + ");
                    let unless = format!("{n}.len != {length} or product({n}) = 0");
                    let body = format!("{unless} or {last} < size({})", x.name);
                    vocabulary.add(&own, body, None, 3);
                    for first in numbers {
                        let body =
                            format!("{unless} or {} + {last} < size({})", first.name, x.name);
                        let mut own = own.to_vec();
                        own.push((first.param, &first.of));
                        vocabulary.add(&own, body, None, 3);
                    }
                }
            }
        }
    }
}

/// A start and a length within a dimension.
fn add_slices(vocabulary: &mut Vocabulary, tensors: &[&View], numbers: &[&View]) {
    for x in tensors {
        for dim in numbers {
            for start in numbers {
                for length in numbers {
                    let mut params = vec![x.param, dim.param, start.param, length.param];
                    params.sort_unstable();
                    params.dedup();
                    if params.len() < 4 || start.param > length.param {
                        continue;
                    }
                    let (x_, d, s, l) = (&x.name, &dim.name, &start.name, &length.name);
                    let body = format!(
                        "{s} + {l} <= shape({x_}, {d}) and ({s} >= 0 or {s} + {l} <= 0 and {s} >= -shape({x_}, {d}))"
                    );
                    let own = [
                        (x.param, &x.of),
                        (dim.param, &dim.of),
                        (start.param, &start.of),
                        (length.param, &length.of),
                    ];
                    vocabulary.add(&own, body, None, 3);
                }
            }
        }
    }
}
