//! Statements about two parameters or more.

use fissure_rules::Type;

use super::View;
use crate::vocabulary::Vocabulary;

/// Says it of two views; `{a}` and `{b}` stand for their names.
fn say(vocabulary: &mut Vocabulary, a: &View, b: &View, body: &str, cost: u32) {
    let body = body.replace("{a}", &a.name).replace("{b}", &b.name);
    vocabulary.add(&[(a.param, &a.of), (b.param, &b.of)], body, None, cost);
}

pub(super) fn add_pair(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    let numbers = |view: &View| view.is_list_of(&Type::Int);
    match (&a.of, &b.of) {
        (Type::Tensor, Type::Tensor) => tensors(vocabulary, a, b),
        (Type::Tensor, Type::Int) => tensor_and_number(vocabulary, a, b),
        (Type::Tensor, Type::Dtype) => say(vocabulary, a, b, "dtype({a}) = {b}", 1),
        (Type::Tensor, _) if numbers(b) => tensor_and_list(vocabulary, a, b),
        (Type::Tensor, _) if b.is_list_of(&Type::Tensor) => tensor_and_tensors(vocabulary, a, b),
        (Type::Int | Type::Float, Type::Int | Type::Float) => {
            for body in ["{a} <= {b}", "{a} < {b}"] {
                say(vocabulary, a, b, body, 1);
            }
            if a.param < b.param {
                say(vocabulary, a, b, "{a} = {b}", 1);
                say(vocabulary, a, b, "{a} != {b}", 1);
            }
            if a.of == Type::Int && b.of == Type::Int {
                for body in ["{b} != 0 and {a} % {b} = 0", "{a} * 2 <= {b}"] {
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
        }
        _ => {}
    }
}

fn tensors(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    if a.param < b.param {
        for (body, cost) in [
            ("dtype({a}) = dtype({b})", 1),
            ("dtype({a}) != dtype({b})", 2),
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
        ] {
            say(vocabulary, a, b, body, cost);
        }
    }
    for (body, cost) in [
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
    ] {
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

fn tensor_and_number(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    for (body, cost) in [
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
        ("ndim({a}) = 0 or shape({a}, {b}) > 0", 2),
        ("ndim({a}) = 0 or shape({a}, {b}) > 1", 3),
        (
            "size({a}) > 0 or (ndim({a}) > 0 and shape({a}, {b}) > 0)",
            3,
        ),
        ("size({a}) = 0 or max({a}) < {b}", 2),
        ("size({a}) = 0 or max({a}) <= {b}", 2),
    ] {
        say(vocabulary, a, b, body, cost);
    }
    for at in [0, 1, -1, -2] {
        for (test, cost) in [
            ("{b} = shape({a}, {at})", 2),
            ("{b} <= shape({a}, {at})", 2),
            ("{b} < shape({a}, {at})", 2),
            ("{b} >= -shape({a}, {at})", 3),
            ("{b} != 0 and shape({a}, {at}) % {b} = 0", 2),
            ("{b} > 0 and shape({a}, {at}) % ({b} * {b}) = 0", 3),
        ] {
            say(
                vocabulary,
                a,
                b,
                &test.replace("{at}", &at.to_string()),
                cost,
            );
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

fn tensor_and_tensors(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    for body in [
        "forall t in {b}: dtype(t) = dtype({a})",
        "forall t in {b}: ndim(t) = ndim({a})",
        "forall t in {b}: shape(t) = shape({a})",
        "forall t in {b}: broadcastable(t, {a})",
        "{b}.len = ndim({a})",
        "{b}.len <= ndim({a})",
        "{b}.len = shape({a}, 0)",
        "forall t in {b}: size(t) = 0 or max(t) < shape({a}, 0)",
    ] {
        say(vocabulary, a, b, body, 2);
    }
}

/// Statements in which one number names a dimension that others are about.
pub(super) fn add_triples(vocabulary: &mut Vocabulary, views: &[View]) {
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
                ] {
                    say([*a, *b, *c], body, cost);
                }
            }
        }
    }
    add_slices(vocabulary, &tensors, &numbers);
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

/// Windows that slide over the last dimensions: the output is not empty. Kernels are a parameter
/// of that name or the last dimensions of a weight.
pub(super) fn add_windows(vocabulary: &mut Vocabulary, views: &[View]) {
    let named = |words: &[&str]| -> Vec<&View> {
        views
            .iter()
            .filter(|view| words.iter().any(|word| view.name.contains(word)))
            .filter(|view| view.of == Type::Int || view.is_list_of(&Type::Int))
            .collect()
    };
    let inputs: Vec<&View> = views
        .iter()
        .filter(|view| view.of == Type::Tensor && view.name.contains("input"))
        .collect();
    let mut kernels = named(&["kernel_size"]);
    kernels.extend(
        views
            .iter()
            .filter(|view| view.of == Type::Tensor && view.name.contains("weight")),
    );
    // A missing parameter counts as its usual value.
    let optional = |found: Vec<&View>| -> Vec<Option<View>> {
        match found.as_slice() {
            [] => vec![None],
            found => found.iter().map(|view| Some((*view).clone())).collect(),
        }
    };
    let (paddings, dilations) = (
        optional(named(&["padding"])),
        optional(named(&["dilation"])),
    );
    for x in &inputs {
        for kernel in &kernels {
            for padding in &paddings {
                for dilation in &dilations {
                    window(vocabulary, x, kernel, padding.as_ref(), dilation.as_ref());
                }
            }
        }
    }
}

fn window(
    vocabulary: &mut Vocabulary,
    x: &View,
    kernel: &View,
    padding: Option<&View>,
    dilation: Option<&View>,
) {
    let item = |view: &View| match &view.of {
        Type::Int => view.name.clone(),
        Type::Tensor => format!("shape({}, -i)", view.name),
        _ => format!("{}[-min(i, {}.len)]", view.name, view.name),
    };
    let k = item(kernel);
    let p = padding.map_or("0".to_owned(), item);
    let d = dilation.map_or("1".to_owned(), item);
    let mut own = vec![(x.param, &x.of), (kernel.param, &kernel.of)];
    own.extend(padding.map(|view| (view.param, &view.of)));
    own.extend(dilation.map(|view| (view.param, &view.of)));
    for dims in 1..=3 {
        let body = format!(
            "forall i in [1, {dims}]: shape({}, -i) + 2 * {p} >= {d} * ({k} - 1) + 1",
            x.name
        );
        vocabulary.add(&own, body, None, 2);
        if padding.is_some() {
            let body = format!("forall i in [1, {dims}]: {p} * 2 <= {k}");
            vocabulary.add(&own, body, None, 2);
        }
    }
}
