//! Statements about two parameters.

use fissure_rules::Type;

use super::View;
use crate::vocabulary::Vocabulary;

/// Says it of two views; `{a}` and `{b}` stand for their names.
fn say(vocabulary: &mut Vocabulary, a: &View, b: &View, body: &str, cost: u32) {
    let body = body.replace("{a}", &a.name).replace("{b}", &b.name);
    vocabulary.add(&[(a.param, &a.of), (b.param, &b.of)], body, None, cost);
}

pub(super) fn add(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    let numbers = |view: &View| view.is_list_of(&Type::Int);
    match (&a.of, &b.of) {
        (Type::Tensor, Type::Tensor) => tensors(vocabulary, a, b),
        (Type::Tensor, Type::Int) => tensor_and_number(vocabulary, a, b),
        (Type::Tensor, Type::Dtype) => say(vocabulary, a, b, "dtype({a}) = {b}", 1),
        (Type::Tensor, _) if numbers(b) => tensor_and_list(vocabulary, a, b),
        (Type::Tensor, _) if b.is_list_of(&Type::list(Type::Int)) => {
            for at in 0..2 {
                let body =
                    format!("forall e in {{b}}[{at}]: -ndim({{a}}) <= e and e < ndim({{a}})");
                say(vocabulary, a, b, &body, 2);
            }
        }
        (Type::Tensor, _) if b.is_list_of(&Type::Tensor) => tensor_and_tensors(vocabulary, a, b),
        _ if a.is_number() && b.is_number() => {
            for body in ["{a} <= {b}", "{a} < {b}"] {
                say(vocabulary, a, b, body, 1);
            }
            if a.param < b.param {
                say(vocabulary, a, b, "{a} = {b}", 1);
                say(vocabulary, a, b, "{a} != {b}", 1);
            }
            if a.of == Type::Int && b.of == Type::Int {
                for body in [
                    "{b} != 0 and {a} % {b} = 0",
                    "{a} * 2 <= {b}",
                    "{a} <= {b} // 2 + 1",
                ] {
                    say(vocabulary, a, b, body, 2);
                }
            }
        }
        (_, _) if numbers(a) && numbers(b) => {
            if a.param < b.param {
                say(vocabulary, a, b, "{a}.len = {b}.len", 1);
                say(vocabulary, a, b, "{a} = {b}", 2);
            }
            let body = "forall i in [0, {a}.len - 1]: {a}[i] * 2 <= {b}[i]";
            say(vocabulary, a, b, body, 3);
            say(
                vocabulary,
                a,
                b,
                "forall i in [0, {a}.len - 1]: {a}[i] <= {b}[i]",
                2,
            );
        }
        (_, Type::Int) if numbers(a) => {
            for body in [
                "{a}.len = {b}",
                "{a}.len <= {b}",
                "forall e in {a}: e >= {b}",
                "forall e in {a}: e <= {b}",
                "forall e in {a}: e * 2 <= {b}",
                "forall e in {a}: e >= {b} * 2",
            ] {
                say(vocabulary, a, b, body, 2);
            }
        }
        (_, Type::Int) if a.is_list_of(&Type::Tensor) => {
            for body in [
                "-max(ndim({a}[0]), 1) <= {b} and {b} < max(ndim({a}[0]), 1)",
                "-ndim({a}[0]) <= {b} and {b} < ndim({a}[0])",
                "-ndim({a}[0]) - 1 <= {b} and {b} <= ndim({a}[0])",
                "forall t in {a}: forall i in [0, ndim(t) - 1]: i = {b} or i = {b} + ndim(t) or shape(t, i) = shape({a}[0], i)",
            ] {
                say(vocabulary, a, b, body, 2);
            }
            tensors_and_number(vocabulary, a, b);
        }
        _ => {}
    }
}

/// Of two tensors, whichever comes first.
const TENSORS_TOGETHER: [(&str, u32); 15] = [
    ("dtype({a}) = dtype({b})", 1),
    ("dtype({a}) != dtype({b})", 2),
    (
        "size({a}) = 0 or size({b}) = 0 or dtype({a}) = dtype({b})",
        2,
    ),
    ("ndim({a}) = ndim({b})", 1),
    ("ndim({a}) != ndim({b})", 2),
    ("shape({a}) = shape({b})", 1),
    ("broadcastable({a}, {b})", 1),
    ("size({a}) = size({b})", 1),
    (
        "forall i in [3, min(ndim({a}), ndim({b}))]: shape({a}, -i) = shape({b}, -i) or shape({a}, -i) = 1 or shape({b}, -i) = 1",
        3,
    ),
    (
        "forall i in [2, min(ndim({a}), ndim({b}))]: shape({a}, -i) = shape({b}, -i) or shape({a}, -i) = 1 or shape({b}, -i) = 1",
        3,
    ),
    (
        "forall i in [2, ndim({a}) - 1]: shape({a}, i) = shape({b}, i)",
        2,
    ),
    (
        "forall i in [1, ndim({a}) - 1]: shape({a}, i) = shape({b}, i)",
        2,
    ),
    (
        "forall i in [0, ndim({a}) - 2]: shape({a}, i) = shape({b}, i)",
        2,
    ),
    (
        "forall i in [0, ndim({a}) - 3]: shape({a}, i) = shape({b}, i)",
        2,
    ),
    (
        "ndim({a}) = 0 or ndim({b}) = 0 or shape({a}) = shape({b})",
        3,
    ),
];

/// Of two tensors, in both orders.
const TENSORS: [(&str, u32); 23] = [
    ("broadcastable_to({a}, {b})", 1),
    ("ndim({a}) <= ndim({b})", 1),
    ("ndim({a}) = ndim({b}) + 1", 1),
    ("ndim({a}) = ndim({b}) + 2", 2),
    ("size({a}) <= size({b})", 2),
    ("size({a}) = shape({b}, 0)", 2),
    ("size({a}) = shape({b}, 1)", 2),
    ("size({a}) = shape({b}, -1)", 2),
    (
        "forall i in [0, ndim({a}) - 1]: shape({a}, i) <= shape({b}, i)",
        2,
    ),
    (
        "forall i in [0, ndim({a}) - 1]: shape({a}, i) = shape({b}, i)",
        2,
    ),
    (
        "forall i in [1, ndim({a}) - 1]: shape({a}, i) = shape({b}, i + 1)",
        3,
    ),
    ("size({b}) = 0 or max({b}) < shape({a}, 0)", 2),
    ("size({b}) = 0 or max({b}) < shape({a}, 1)", 2),
    ("size({b}) = 0 or max({b}) < shape({a}, -1)", 2),
    ("size({b}) = 0 or max({b}) < size({a})", 2),
    ("size({b}) = 0 or min({b}) >= -size({a})", 2),
    ("size({b}) = 0 or max({b}) <= shape({a}, -1)", 2),
    ("size({b}) = 0 or max({b}) <= shape({a}, -2)", 2),
    (
        "product(shape({a}), 0, ndim({b}) - 1) = product(shape({a}), ndim({b}), ndim({a}) - 1)",
        3,
    ),
    (
        "forall i in [1, ndim({b})]: shape({b}, -i) = 1 or shape({b}, -i) = shape({a}, -i)",
        3,
    ),
    ("dtype({a}) in {complex} or dtype({b}) not in {complex}", 2),
    (
        "dtype({a}) in {float, complex} or dtype({b}) in {int, bool}",
        2,
    ),
    ("dtype({a}) in {bool} or dtype({b}) not in {bool}", 2),
];

fn tensors(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    if a.param < b.param {
        for (body, cost) in TENSORS_TOGETHER {
            say(vocabulary, a, b, body, cost);
        }
    }
    for (body, cost) in TENSORS {
        say(vocabulary, a, b, body, cost);
    }
    for left in [0, 1, 2, -1, -2] {
        for right in [0, 1, 2, -1, -2] {
            if a.param < b.param {
                say(
                    vocabulary,
                    a,
                    b,
                    &format!("shape({{a}}, {left}) = shape({{b}}, {right})"),
                    1,
                );
            }
            if left == right || (left, right) == (-1, -2) {
                let body = format!("shape({{a}}, {left}) <= shape({{b}}, {right})");
                say(vocabulary, a, b, &body, 2);
            }
            say(
                vocabulary,
                a,
                b,
                &format!(
                    "shape({{a}}, {left}) = 1 or shape({{a}}, {left}) = shape({{b}}, {right})"
                ),
                3,
            );
        }
    }
}

const TENSOR_AND_NUMBER: [(&str, u32); 19] = [
    ("forall i in [0, ndim({a}) - 1]: shape({a}, i) > {b}", 3),
    (
        "product(shape({a}), 0, {b} - 1) = product(shape({a}), {b}, ndim({a}) - 1)",
        3,
    ),
    ("-max(ndim({a}), 1) <= {b} and {b} < max(ndim({a}), 1)", 1),
    ("-ndim({a}) <= {b} and {b} < ndim({a})", 1),
    ("-ndim({a}) - 1 <= {b} and {b} <= ndim({a})", 1),
    ("-ndim({a}) < {b} and {b} < ndim({a})", 2),
    ("{b} < ndim({a})", 1),
    ("{b} <= ndim({a})", 1),
    ("{b} >= -ndim({a})", 1),
    ("{b} <= size({a})", 2),
    ("{b} < size({a})", 2),
    ("shape({a}, {b}) > 0", 2),
    ("shape({a}, {b}) > 1", 2),
    ("shape({a}, {b}) % 2 = 0", 2),
    ("ndim({a}) = 0 or shape({a}, {b}) > 0", 2),
    ("ndim({a}) = 0 or shape({a}, {b}) > 1", 3),
    (
        "size({a}) > 0 or (ndim({a}) > 0 and shape({a}, {b}) > 0)",
        3,
    ),
    ("size({a}) = 0 or max({a}) < {b}", 2),
    ("size({a}) = 0 or max({a}) <= {b}", 2),
];

/// Of one dimension of a tensor and a number.
const SIZE_AND_NUMBER: [(&str, u32); 7] = [
    ("{b} = shape({a}, {at})", 2),
    ("{b} <= shape({a}, {at})", 2),
    ("{b} < shape({a}, {at})", 2),
    ("{b} >= -shape({a}, {at})", 3),
    ("{b} != 0 and shape({a}, {at}) % {b} = 0", 2),
    ("{b} > 0 and shape({a}, {at}) % ({b} * {b}) = 0", 3),
    ("shape({a}, {at}) = 2 * {b}", 3),
];

fn tensor_and_number(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    for (body, cost) in TENSOR_AND_NUMBER {
        say(vocabulary, a, b, body, cost);
    }
    for at in [0, 1, -1, -2] {
        for (body, cost) in SIZE_AND_NUMBER {
            let body = body.replace("{at}", &at.to_string());
            say(vocabulary, a, b, &body, cost);
        }
    }
}

fn tensor_and_list(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    for (body, cost) in [
        ("{b}.len = ndim({a})", 1),
        ("{b}.len <= ndim({a})", 1),
        ("{b}.len >= ndim({a})", 1),
        ("{b}.len = ndim({a}) - 1", 1),
        ("{b}.len = ndim({a}) - 2", 1),
        ("{b}.len = shape({a}, -1)", 2),
        ("{b}.len <= 2 * ndim({a})", 2),
        ("{b}.len = 2 * (ndim({a}) - 1)", 2),
        ("{b}.len = 2 * (ndim({a}) - 2)", 2),
        (
            "forall e in {b}: -max(ndim({a}), 1) <= e and e < max(ndim({a}), 1)",
            1,
        ),
        ("forall e in {b}: -ndim({a}) <= e and e < ndim({a})", 1),
        (
            "forall i in [0, {b}.len - 1]: forall j in [0, {b}.len - 1]: i = j or ({b}[i] != {b}[j] and {b}[i] != {b}[j] + ndim({a}) and {b}[i] != {b}[j] - ndim({a}))",
            2,
        ),
        ("forall e in {b}: ndim({a}) = 0 or shape({a}, e) > 0", 3),
        ("product({b}) = size({a})", 1),
        ("sum({b}) = shape({a}, 0)", 2),
        ("sum({b}) = shape({a}, -1)", 2),
        ("broadcastable_to({a}, {b})", 1),
        ("broadcastable_to({b}, {a})", 1),
        (
            "product({b}) = size({a}) or product({b}) < 0 and size({a}) % product({b}) = 0",
            2,
        ),
        ("{b}.len > 0 and shape({a}, {b}[-1]) > 0", 2),
        ("{b}.len > 0 and shape({a}, {b}[-1]) > 1", 2),
        ("forall e in {b}: shape({a}, e) > 0", 2),
        (
            "forall i in [1, {b}.len]: {b}[-i] != -1 or shape({a}, -i) > 0",
            3,
        ),
        ("{b}[-1] != -1 or shape({a}, -1) > 1", 3),
        (
            "forall i in [1, ndim({a})]: {b}[-i] = -1 or shape({a}, -i) = 1 or {b}[-i] = shape({a}, -i)",
            2,
        ),
        ("forall i in [0, {b}.len - ndim({a}) - 1]: {b}[i] >= 0", 2),
        ("{b}.len > 0 and {b}[0] <= shape({a}, -1)", 2),
        ("{b} = shape({a})", 2),
        ("forall i in [1, {b}.len]: {b}[-i] = shape({a}, -i)", 2),
        ("forall i in [1, {b}.len]: {b}[-i] <= shape({a}, -i)", 2),
        ("forall i in [0, {b}.len - 1]: {b}[i] <= shape({a}, i)", 2),
        ("forall i in [1, {b}.len]: {b}[-i] < shape({a}, -i)", 2),
        (
            "forall i in [1, {b}.len // 2]: {b}[2 * i - 1] < shape({a}, -i) and {b}[2 * i - 2] < shape({a}, -i)",
            3,
        ),
        (
            "forall i in [1, {b}.len // 2]: {b}[2 * i - 1] <= shape({a}, -i) and {b}[2 * i - 2] <= shape({a}, -i)",
            3,
        ),
        (
            "forall i in [1, {b}.len // 2]: shape({a}, -i) + {b}[2 * i - 2] + {b}[2 * i - 1] >= 0",
            3,
        ),
        (
            "forall i in [1, {b}.len // 2]: shape({a}, -i) + {b}[2 * i - 2] + {b}[2 * i - 1] > 0",
            3,
        ),
    ] {
        say(vocabulary, a, b, body, cost);
    }
}

/// What is said of two tensors, said of one and each item of a list.
fn tensor_and_tensors(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    for body in [
        "{b}.len = ndim({a})",
        "{b}.len <= ndim({a})",
        "{b}.len = shape({a}, 0)",
        "{b}.len = shape({a}, -1)",
        // One index tensor for each dimension.
        "forall i in [0, {b}.len - 1]: size({b}[i]) = 0 or max({b}[i]) < shape({a}, i)",
        "forall i in [0, {b}.len - 1]: size({b}[i]) = 0 or min({b}[i]) >= -shape({a}, i)",
    ] {
        say(vocabulary, a, b, body, 2);
    }
    for (body, cost) in TENSORS_TOGETHER.iter().chain(&TENSORS) {
        say_of_items(vocabulary, a, b, body, cost + 1);
    }
    for left in [0, 1, -1, -2] {
        for right in [0, 1, -1, -2] {
            let body = format!("shape({{a}}, {left}) = shape({{b}}, {right})");
            say_of_items(vocabulary, a, b, &body, 2);
        }
    }
}

/// `{b}` stands for each item of the second.
fn say_of_items(vocabulary: &mut Vocabulary, a: &View, b: &View, body: &str, cost: u32) {
    let body = body.replace("{b}", "t");
    say(
        vocabulary,
        a,
        b,
        &format!("forall t in {{b}}: {body}"),
        cost,
    );
}

/// What is said of a tensor and a number, said of each item of a list.
fn tensors_and_number(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    let mut bodies: Vec<(String, u32)> = TENSOR_AND_NUMBER
        .iter()
        .map(|(body, cost)| ((*body).to_owned(), *cost))
        .collect();
    for at in [0, 1, -1] {
        for (body, cost) in SIZE_AND_NUMBER {
            bodies.push((body.replace("{at}", &at.to_string()), cost));
        }
    }
    for (body, cost) in bodies {
        let body = format!("forall t in {{a}}: {}", body.replace("{a}", "t"));
        say(vocabulary, a, b, &body, cost + 1);
    }
}
