//! What descriptions in the documentation say about parameters.

use std::path::Path;

use fissure_model::Value;
use fissure_spec::{Kind, ParamHints, hints, load_text, objects, text};

/// Hints of a PyTorch function whose parameters are given as `name: {keys}` lines.
fn hints_of(params: &[(&str, &str)]) -> Vec<ParamHints> {
    let names: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
    let mut file = format!(
        "title: torch.f\npackage: torch\ntarget: f\nversion: '1'\nlink: x\ninputs:\n  required: [{}]\n  optional: []\nconstraints:\n",
        names.join(", ")
    );
    for (name, keys) in params {
        file.push_str(&format!("  {name}: {{{keys}}}\n"));
    }
    let loaded = load_text(Path::new("f.yaml"), &file).unwrap();
    assert_eq!(loaded.warnings, [], "{file}");
    hints(&loaded.spec)
}

fn of_description(name: &str, description: &str) -> ParamHints {
    hints_of(&[
        ("input", "doc_dtype: Tensor"),
        (name, &format!("descp: {description:?}")),
    ])
    .remove(1)
}

fn of_tensor(description: &str) -> ParamHints {
    let keys = format!("doc_dtype: Tensor, descp: {description:?}");
    hints_of(&[
        ("input", "doc_dtype: Tensor"),
        ("t", &keys),
        ("groups", "dtype: [int]"),
    ])
    .remove(1)
}

fn shapes(hints: &ParamHints) -> Vec<String> {
    hints.shapes.iter().map(text::shape).collect()
}

#[test]
fn shapes_in_prose_become_shapes() {
    for (description, expected) in [
        (
            "the input tensor of size (*, m, n) where * is zero or more batch dimensions",
            vec!["[...,m,n]"],
        ),
        (
            "filters of shape (out _channels , in _channels/groups , kW)",
            vec!["[out_channels,in_channels/&groups,kw]"],
        ),
        (
            "input tensor (minibatch , in _channels , iT times iH , iW)",
            vec!["[minibatch,in_channels,it,ih,iw]"],
        ),
        (
            "(N, C) where C = number of classes or (N, C, d_1, d_2, ..., d_K) where K >= 1",
            vec!["[n,c]", "[n,c,...]"],
        ),
        ("input tensor of shape B times P times M .", vec!["[b,p,m]"]),
        ("the m by n matrix A", vec!["[m,n]"]),
        ("has to be a Tensor of size C", vec!["[c]"]),
        ("Tensor of the same shape as input", vec!["shape:&input"]),
        ("the first matrix to be multiplied", vec!["[rows,inner]"]),
        (
            "4-D Tensor of shape `[batch, height]` or 3-D Tensor of shape `[height]`.",
            vec!["[batch,height]", "[height]"],
        ),
        ("(N) where N is the size of the batch", vec!["[n]"]),
        ("(optional) the second tensor", vec![]),
        ("A 0-D tensor (scalar)", vec![]),
        ("the result (values, indices) of it", vec![]),
        ("of any shape", vec![]),
    ] {
        assert_eq!(shapes(&of_tensor(description)), expected, "{description}");
    }
}

#[test]
fn ranks_in_prose_become_ranks() {
    for (description, expected) in [
        ("1-d int tensor", vec!["1"]),
        ("a {3, 4, 5}-dimensional torch.Tensor", vec!["3", "4", "5"]),
        ("an n-dimensional torch.Tensor, where n >= 2", vec![">=2"]),
        (
            "the input tensor. Must be at least 2-dimensional.",
            vec![">=2"],
        ),
        ("the input matrix", vec!["2"]),
        ("a tensor, for 2D or 3D images", vec![]),
        ("An N+2 dimensional Tensor", vec![]),
    ] {
        let found = of_tensor(description);
        let ranks: Vec<String> = found.ndims.iter().map(text::ndim).collect();
        assert_eq!(ranks, expected, "{description}");
        assert_eq!(found.range, None, "{description}");
    }
}

#[test]
fn a_word_that_only_one_other_description_has_names_that_parameter() {
    let found = hints_of(&[
        ("input", "doc_dtype: Tensor, descp: the dividend"),
        (
            "other",
            "doc_dtype: Tensor or float, descp: a Tensor of the same shape as the dividend",
        ),
        ("strict", "doc_dtype: bool, descp: about the dividend"),
    ]);
    assert_eq!(shapes(&found[1]), ["shape:&input"]);
}

#[test]
fn bounds_in_prose_become_ranges() {
    let range = |name: &str, description: &str| {
        of_description(name, description)
            .range
            .as_ref()
            .map(text::range)
    };
    for (name, description, expected) in [
        (
            "m",
            "minimum number of bins. Should be non-negative.",
            Some("[0,inf)"),
        ),
        ("p", "a p-norm distance in [0, infty] .", Some("[0,inf)")),
        ("r", "the ratio, between 0 and 1", Some("[0,1]")),
        ("k", "a positive integer", Some("(0,inf)")),
        ("q", "must be at least 2", Some("[2,inf)")),
        ("kernel_size", "the size of the window", Some("[1,inf)")),
        ("signal", "The rank must be at least 1", None),
        ("x3", "composed of positive-definite matrices", None),
        (
            "amount",
            "If float, should be between 0.0 and 1.0",
            Some("any float:[0,1]"),
        ),
    ] {
        assert_eq!(
            range(name, description).as_deref(),
            expected,
            "{description}"
        );
    }
    let target = of_tensor("(N) where each value is 0 <= targets[i] <= C-1");
    assert_eq!(
        target.range.as_ref().map(text::range).as_deref(),
        Some("[0,c)")
    );
    assert_eq!(
        target.dtypes.iter().map(text::dtype).collect::<Vec<_>>(),
        ["int64"]
    );
}

#[test]
fn options_in_prose_become_choices() {
    let choices = |keys: &str| -> Vec<String> {
        let found = hints_of(&[("mode", keys)]).remove(0).choices;
        found.iter().map(text::value).collect()
    };
    let words = ["'none'", "'mean'", "'sum'"];
    assert_eq!(
        choices(
            "doc_dtype: string, descp: \"the reduction: `'none'` | `'mean'` | `'sum'`. `'none'`: no\""
        ),
        words
    );
    assert_eq!(
        choices("default: mean, descp: \"one of 'none', 'mean' and 'sum'\""),
        words
    );
    assert_eq!(
        choices("doc_dtype: string, descp: '(any one of none, mean, sum)'"),
        words
    );
    assert_eq!(
        choices("doc_dtype: int, descp: 'can only be 1, 2 or 3'"),
        ["1", "2", "3"]
    );
    assert_eq!(
        choices("doc_dtype: string, descp: \"a name such as 'none'\""),
        Vec::<String>::new()
    );
    assert_eq!(
        choices("doc_dtype: int, descp: \"'none' or 'mean'\""),
        Vec::<String>::new()
    );
}

#[test]
fn kinds_are_inferred_only_from_clear_words() {
    let int = || Some(Box::new(Kind::Int));
    for (name, description, kinds) in [
        (
            "f",
            "a Python function that takes Tensor inputs",
            vec![Kind::Callable],
        ),
        (
            "s",
            "Can be a single number or a tuple (sT, sH, sW). Default: 1",
            vec![Kind::Int, Kind::Tuple(int())],
        ),
        ("t", "an n-dimensional torch.Tensor", vec![Kind::Tensor]),
        ("w", "filters of shape (a, b)", vec![Kind::Tensor]),
        ("num_things", "how many", vec![Kind::Int]),
        ("flag", "If True, does it", vec![Kind::Bool]),
        ("device", "", vec![Kind::Device]),
        ("thing", "some thing or other", vec![]),
    ] {
        let name = if name == "f" { "fun" } else { name };
        assert_eq!(
            of_description(name, description).kinds,
            kinds,
            "{name}: {description}"
        );
    }
    assert_eq!(
        of_description("s", "Can be a single number or a tuple (sT, sH, sW)").length,
        Some(3)
    );
}

#[test]
fn axes_belong_to_the_first_tensor() {
    let found = hints_of(&[
        ("x", "doc_dtype: Tensor"),
        ("dim", "doc_dtype: int"),
        ("start", "doc_dtype: int, descp: the starting dimension"),
        ("n", "doc_dtype: int, descp: the number of dimensions"),
        (
            "out",
            "doc_dtype: Tensor, descp: 'the output tensor of size (a, b)'",
        ),
    ]);
    assert_eq!(found[1].axis_of.as_deref(), Some("x"));
    assert_eq!(found[2].axis_of.as_deref(), Some("x"));
    assert_eq!(found[3].axis_of, None);
    assert!(found[4].output && found[4].shapes.is_empty());
}

#[test]
fn a_stated_type_is_marked_as_such_and_offers_objects() {
    let found = hints_of(&[(
        "device",
        "doc_dtype: 'torch.device, optional', dtype: [torch.dtype]",
    )]);
    assert!(found[0].stated && found[0].none_allowed);
    assert_eq!(found[0].kinds, [Kind::Device]);
    let found = objects(&Kind::Device, "torch");
    assert!(found.contains(&Value::Text("cpu".into())), "{found:?}");
    assert!(objects(&Kind::Int, "torch").is_empty());
}
