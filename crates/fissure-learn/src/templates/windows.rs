//! Statements about windows that slide over a tensor.

use fissure_rules::Type;

use super::View;
use crate::vocabulary::Vocabulary;

/// Windows that slide over the last dimensions: the output is not empty. Kernels are a parameter
/// of that name or the last dimensions of a weight.
pub(super) fn add(vocabulary: &mut Vocabulary, views: &[View]) {
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
