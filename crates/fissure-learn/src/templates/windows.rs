//! Statements about windows that slide over a tensor.

use fissure_rules::Type;

use super::View;
use crate::vocabulary::Vocabulary;

/// Windows that slide over the last dimensions: the output is not empty. Kernels are a parameter
/// of that name or the last dimensions of a weight.
pub(super) fn add(vocabulary: &mut Vocabulary, views: &[View]) {
    let inputs = views
        .iter()
        .filter(|view| view.of == Type::Tensor && view.name.contains("input"));
    let sizes = widest(views);
    let named = |word: &str| {
        let found = sizes.iter().find(|view| view.name == format!("`{word}`"));
        found.copied()
    };
    let mut kernels: Vec<&View> = named("kernel_size").into_iter().collect();
    kernels.extend(
        views
            .iter()
            .filter(|view| view.of == Type::Tensor && view.name.contains("weight")),
    );
    let word = views
        .iter()
        .find(|view| view.of == Type::Str && view.name == "`padding`");
    for x in inputs {
        for kernel in &kernels {
            let window = Window {
                x,
                kernel,
                stride: named("stride"),
                padding: named("padding"),
                dilation: named("dilation"),
            };
            window.slide(vocabulary);
            if let Some(word) = word {
                window.slide_unpadded(vocabulary, word);
            }
            if let Some(output_padding) = named("output_padding") {
                window.slide_back(vocabulary, output_padding);
            }
        }
    }
    for view in &sizes {
        each_size(vocabulary, view);
    }
    for a in &sizes {
        for b in &sizes {
            if a.param != b.param {
                two_sizes(vocabulary, a, b);
            }
        }
    }
}

/// Of each parameter that gives sizes, the view that says most: a number or a list.
fn widest(views: &[View]) -> Vec<&View> {
    let mut found: Vec<&View> = Vec::new();
    for view in views.iter().filter(|view| view.is_sizes()) {
        match found.iter_mut().find(|other| other.param == view.param) {
            Some(other) if other.of.alternatives().len() < view.of.alternatives().len() => {
                *other = view;
            }
            Some(_) => {}
            None => found.push(view),
        }
    }
    found
}

/// A window over the last dimensions; what is missing counts as its usual value.
struct Window<'a> {
    x: &'a View,
    kernel: &'a View,
    stride: Option<&'a View>,
    padding: Option<&'a View>,
    dilation: Option<&'a View>,
}

impl Window<'_> {
    fn own<'v>(&'v self, further: &[Option<&'v View>]) -> Vec<(usize, &'v Type)> {
        let all = [Some(self.x), Some(self.kernel), self.dilation];
        let all = all.iter().chain(further).flatten();
        all.map(|view| (view.param, &view.of)).collect()
    }

    /// How far the window reaches beyond its first element.
    fn reach(&self) -> String {
        let k = match self.kernel.of {
            Type::Tensor => format!("shape({}, -i)", self.kernel.name),
            _ => self.kernel.size(),
        };
        match self.dilation {
            Some(dilation) => format!("{} * ({k} - 1)", dilation.size()),
            None => format!("({k} - 1)"),
        }
    }

    fn slide(&self, vocabulary: &mut Vocabulary) {
        let own = self.own(&[self.padding]);
        let (x, reach) = (&self.x.name, self.reach());
        let p = self.padding.map_or("0".to_owned(), View::size);
        for dims in 1..=3 {
            let body = format!("forall i in [1, {dims}]: shape({x}, -i) + 2 * {p} > {reach}");
            vocabulary.add(&own, body, None, 2);
            if self.padding.is_some() {
                let body = format!("forall i in [1, {dims}]: {p} * 2 <= {reach} + 1");
                vocabulary.add(&own, body, None, 2);
            }
        }
    }

    fn slide_unpadded(&self, vocabulary: &mut Vocabulary, word: &View) {
        let own = self.own(&[Some(word)]);
        let (x, reach) = (&self.x.name, self.reach());
        for dims in 1..=3 {
            let body = format!(
                "{} = \"same\" or forall i in [1, {dims}]: shape({x}, -i) > {reach}",
                word.name
            );
            vocabulary.add(&own, body, None, 3);
        }
    }

    /// The output of a transposed convolution is not empty, and its padding is that of one step.
    fn slide_back(&self, vocabulary: &mut Vocabulary, output_padding: &View) {
        let (x, reach) = (&self.x.name, self.reach());
        let o = output_padding.size();
        let or = |view: Option<&View>, usual: &str| view.map_or(usual.to_owned(), View::size);
        let (s, p) = (or(self.stride, "1"), or(self.padding, "0"));
        let d = or(self.dilation, "1");
        let further = [self.stride, self.padding, Some(output_padding)];
        for dims in 1..=3 {
            let body = format!(
                "forall i in [1, {dims}]: (shape({x}, -i) - 1) * {s} + {reach} + {o} >= 2 * {p}"
            );
            vocabulary.add(&self.own(&further), body, None, 3);
            let body = format!("forall i in [1, {dims}]: {o} < {s} or {o} < {d}");
            let steps = [self.stride, self.dilation, Some(output_padding)];
            let own: Vec<(usize, &Type)> = steps
                .iter()
                .flatten()
                .map(|view| (view.param, &view.of))
                .collect();
            vocabulary.add(&own, body, None, 3);
        }
    }
}

/// Bounds of a number or of each item of a list.
fn each_size(vocabulary: &mut Vocabulary, view: &View) {
    if view.of.alternatives().len() == 1 {
        // Said elsewhere.
        return;
    }
    let own = [(view.param, &view.of)];
    let x = &view.name;
    for bound in [">= 0", "> 0", ">= -1", "> 1"] {
        let body = format!("(if ndim({x}) = 0 then {x} else min({x})) {bound}");
        vocabulary.add(&own, body, None, 1);
    }
    for bound in ["<= 0", "<= 1", "<= 2", "<= 4"] {
        let body = format!("(if ndim({x}) = 0 then {x} else max({x})) {bound}");
        vocabulary.add(&own, body, None, 2);
    }
    for length in 1..=4 {
        let body = format!("ndim({x}) = 0 or {x}.len = {length}");
        vocabulary.add(&own, body, None, 1);
        if length > 1 {
            let body = format!("ndim({x}) = 0 or {x}.len = 1 or {x}.len = {length}");
            vocabulary.add(&own, body, None, 2);
        }
    }
}

fn two_sizes(vocabulary: &mut Vocabulary, a: &View, b: &View) {
    if a.of.alternatives().len() + b.of.alternatives().len() == 2 {
        // Said elsewhere.
        return;
    }
    let own = [(a.param, &a.of), (b.param, &b.of)];
    for dims in 1..=3 {
        for test in ["{a} * 2 <= {b}", "{a} < {b}", "{a} <= {b}"] {
            let test = test.replace("{a}", &a.size()).replace("{b}", &b.size());
            vocabulary.add(&own, format!("forall i in [1, {dims}]: {test}"), None, 2);
        }
    }
}
