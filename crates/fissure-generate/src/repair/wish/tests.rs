use super::*;

fn wants(message: &str, params: &[&str]) -> Vec<Want> {
    wishes(message, params)
        .into_iter()
        .map(|wish| wish.want)
        .collect()
}

#[test]
fn a_wanted_rank_is_read_and_the_one_that_was_got_is_not() {
    let wanted = wants(
        "Expected 3D or 4D (batch mode) tensor, but got: 2D",
        &["input"],
    );
    assert!(wanted.contains(&Want::Rank(vec![3, 4])), "{wanted:?}");
    let wanted = wants("Input rank should be: 4 instead of: 2", &["input"]);
    assert!(wanted.contains(&Want::Rank(vec![4])), "{wanted:?}");
}

#[test]
fn an_axis_that_a_tensor_lacks_asks_for_a_rank_that_has_it() {
    let message = "Dimension out of range (expected to be in range of [-1, 0], but got 1)";
    let wanted = wants(message, &["input", "hx"]);
    assert!(wanted.contains(&Want::Rank(vec![2])), "{wanted:?}");
    let wanted = wants(
        "Expected diagonals to have rank at least 2, got 1",
        &["diagonals"],
    );
    assert!(wanted.contains(&Want::Rank(vec![2])), "{wanted:?}");
}

#[test]
fn the_parameter_that_a_message_names_is_what_it_is_about() {
    let found = wishes(
        "Expected int for argument 'num_shards' not [1, 2].",
        &["config", "num_shards"],
    );
    assert_eq!(found[0].about.as_deref(), Some("num_shards"));
    assert_eq!(found[0].want, Want::Sort(Sort::Int));
    let found = wishes(
        "argument (position 2) must be Tensor, not int",
        &["input", "other"],
    );
    assert_eq!(found[0].about.as_deref(), Some("other"));
}

#[test]
fn a_refused_element_type_becomes_another() {
    let wanted = wants("\"softmax\" not implemented for 'Int'", &["input"]);
    let to = vec![Dtype::Float32, Dtype::Float64];
    let from = Some(Dtype::Int32);
    assert_eq!(wanted[0], Want::Dtype { from, to });
    let wanted = wants("expected scalar type Float but found Double", &["a"]);
    let to = vec![Dtype::Float32];
    let from = Some(Dtype::Float64);
    assert!(wanted.contains(&Want::Dtype { from, to }), "{wanted:?}");
}

#[test]
fn sizes_that_must_agree_are_tried_both_ways() {
    let wanted = wants(
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        &["a", "b"],
    );
    assert!(
        wanted.contains(&Want::Number { from: 4, to: 3 }),
        "{wanted:?}"
    );
    assert!(
        wanted.contains(&Want::Number { from: 3, to: 4 }),
        "{wanted:?}"
    );
}

#[test]
fn bounds_and_choices_are_read() {
    let wanted = wants("stride must be positive", &["stride"]);
    assert!(wanted.contains(&Want::AtLeast(1)), "{wanted:?}");
    let wanted = wants(
        "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
        &["input", "dim"],
    );
    assert!(wanted.contains(&Want::AtMost(1)), "{wanted:?}");
    let wanted = wants(
        "`data_format` values other than 'NHWC' are not supported. Received: data_format=mean",
        &["data_format"],
    );
    assert!(wanted.contains(&Want::Word("NHWC".into())), "{wanted:?}");
    let wanted = wants("got an unexpected keyword argument 'name'", &["x", "name"]);
    assert_eq!(wanted[0], Want::Nothing);
}

#[test]
fn the_reason_is_its_words_and_not_its_numbers() {
    let reason = |message: &str| match wants(message, &["x"]).pop() {
        Some(Want::Reason(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        reason("expected 3 but got 4"),
        reason("expected 7 but got [1, 2]")
    );
    assert_ne!(reason("expected 3 but got 4"), reason("must be positive"));
    let placed = "{{function_node __wrapped__Roll_device_/job:localhost/task:0}} must be positive";
    assert_eq!(reason(placed), reason("must be positive"));
}

#[test]
fn another_form_of_a_tensor_is_asked_for_in_words() {
    let wanted = wants(
        "Input to 'quantized.interpolate' must be quantized!",
        &["input"],
    );
    let path = "torch.quantize_per_tensor".to_owned();
    let gradient = wants(
        "cannot register a hook on a tensor that doesn't require gradient",
        &[],
    );
    let asked = Want::Through("torch.Tensor.requires_grad_".to_owned());
    assert!(gradient.contains(&asked), "{gradient:?}");
    assert!(wanted.contains(&Want::Through(path)), "{wanted:?}");
    let wanted = wants(
        "Value for attr 'T' of int32 is not in the list of allowed values: float, double",
        &["value"],
    );
    let to = vec![Dtype::Float32, Dtype::Float64];
    let from = Some(Dtype::Int32);
    assert!(wanted.contains(&Want::Dtype { from, to }), "{wanted:?}");
}

#[test]
fn any_text_is_read_without_a_panic() {
    for text in [
        "",
        "é".repeat(400).as_str(),
        "9".repeat(40).as_str(),
        "[1,2) > < >= -",
    ] {
        wishes(text, &["x"]);
    }
}

/// An argument that cannot be read would be left out of every repair.
#[test]
fn what_the_table_of_functions_makes_of_an_argument_is_readable() {
    for object in fissure_functions::functions().objects() {
        assert!(!object.said.is_empty(), "{object:?}");
        for json in &object.with {
            let read = serde_json::from_value::<fissure_model::Value>(json.clone());
            assert!(read.is_ok(), "{}: {json}: {read:?}", object.call);
        }
    }
}

#[test]
fn an_attribute_that_is_missed_says_what_was_meant() {
    let cases = [
        ("'int' object has no attribute 'get'", Sort::Dict),
        ("'Tensor' object has no attribute 'append'", Sort::List),
        ("'float' object has no attribute 'numel'", Sort::Tensor),
        ("'NoneType' object has no attribute 'endswith'", Sort::Text),
    ];
    for (message, sort) in cases {
        let wanted = wants(message, &["x"]);
        assert_eq!(wanted[0], Want::Sort(sort), "{message}: {wanted:?}");
    }
    let unknown = wants("'int' object has no attribute 'frobnicate'", &["x"]);
    assert!(
        !unknown.iter().any(|want| matches!(want, Want::Sort(_))),
        "{unknown:?}"
    );
}
