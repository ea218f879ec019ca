use super::*;

mod sizes;

fn wants(message: &str, params: &[&str]) -> Vec<Want> {
    asked(message, params, None)
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
    let found = asked(
        "Expected int for argument 'num_shards' not [1, 2].",
        &["config", "num_shards"],
        None,
    );
    assert_eq!(found[0].about.as_deref(), Some("num_shards"));
    assert_eq!(found[0].want, Want::Sort(Sort::Int));
    let found = asked(
        "argument (position 2) must be Tensor, not int",
        &["input", "other"],
        None,
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
        asked(text, &["x"], None);
    }
}

/// An argument that cannot be read would be left out of every repair.
#[test]
fn what_the_table_of_functions_makes_of_an_argument_is_readable() {
    for object in fissure_functions::functions().objects() {
        assert!(!object.said.is_empty(), "{object:?}");
        for json in &object.with {
            let read = serde_json::from_value::<Value>(json.clone());
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

fn call(arguments: &[(&str, Passing, Value)]) -> ConcreteInput {
    let arguments = arguments
        .iter()
        .map(|(name, passing, value)| Argument {
            name: (*name).to_owned(),
            passing: *passing,
            value: value.clone(),
        })
        .collect();
    ConcreteInput {
        number: 0,
        arguments,
        layer_arguments: None,
        intent: fissure_model::Intent::Conform,
        mutations: Vec::new(),
    }
}

#[test]
fn an_argument_that_only_its_value_names_is_left_away() {
    let input = call(&[
        ("filters", Passing::Positional, Value::Int(3)),
        (
            "regularizer",
            Passing::Keyword,
            Value::Text("nearest".into()),
        ),
        ("activation", Passing::Keyword, Value::Text("relu".into())),
    ]);
    let found = said(
        "Could not interpret regularizer identifier: nearest",
        &input,
    );
    assert_eq!(found[0].about.as_deref(), Some("regularizer"));
    assert_eq!(found[0].want, Want::Nothing);
    // Two arguments have the value: neither is blamed.
    let input = call(&[
        ("one", Passing::Keyword, Value::Text("nearest".into())),
        ("other", Passing::Keyword, Value::Text("nearest".into())),
    ]);
    let found = said("nearest is odd", &input);
    assert!(found.iter().all(|wish| wish.want != Want::Nothing));
}

#[test]
fn the_range_and_the_order_of_elements_are_read() {
    let wanted = wants("indices[0] = 5 is not in [0, 3)", &["params", "indices"]);
    assert!(wanted.contains(&Want::AtMost(2)), "{wanted:?}");
    assert!(wanted.contains(&Want::AtLeast(0)), "{wanted:?}");
    let wanted = wants("segment ids are not increasing", &["segment_ids"]);
    assert!(wanted.contains(&Want::Ordered), "{wanted:?}");
    let wanted = wants("index out of range in self", &["weight", "indices"]);
    assert!(wanted.contains(&Want::Small), "{wanted:?}");
    let wanted = wants("expected m1 and m2 to have the same dtype", &["m1"]);
    assert!(wanted.contains(&Want::SameDtype), "{wanted:?}");
}

#[test]
fn what_cannot_become_a_tensor_is_not_asked_to_be_sparse() {
    let said = "Attempt to convert a value (SparseTensor(indices=...)) with an unsupported type \
                (<class 'SparseTensor'>) to a Tensor.";
    let wanted = wants(said, &["x"]);
    assert!(wanted.contains(&Want::Sort(Sort::Tensor)), "{wanted:?}");
    assert!(!wanted.contains(&Want::Sort(Sort::Sparse)), "{wanted:?}");
}

#[test]
fn arguments_of_the_kind_that_is_not_understood_are_left_away() {
    let tensor = Value::List(vec![Value::Int(1)]);
    let input = call(&[
        ("filters", Passing::Keyword, Value::Int(3)),
        ("kernel_regularizer", Passing::Keyword, tensor.clone()),
        ("bias_regularizer", Passing::Keyword, Value::None),
        ("padding", Passing::Keyword, tensor),
    ]);
    let found = said("Could not interpret regularizer identifier: [1]", &input);
    let left: Vec<&str> = found
        .iter()
        .filter(|wish| wish.want == Want::Nothing)
        .filter_map(|wish| wish.about.as_deref())
        .collect();
    assert_eq!(left, ["kernel_regularizer"]);
}

#[test]
fn of_two_types_that_do_not_fit_either_gives_way() {
    let said = "Tensor conversion requested dtype float32 for Tensor with dtype int64";
    let wanted = wants(said, &["x"]);
    for (from, to) in [
        (Dtype::Int64, Dtype::Float32),
        (Dtype::Float32, Dtype::Int64),
    ] {
        let (from, to) = (Some(from), vec![to]);
        assert!(wanted.contains(&Want::Dtype { from, to }), "{wanted:?}");
    }
    // A choice of two is no conflict.
    let wanted = wants("expected a tensor of dtype float32 or float64", &["x"]);
    let to = vec![Dtype::Float32, Dtype::Float64];
    assert!(
        wanted.contains(&Want::Dtype { from: None, to }),
        "{wanted:?}"
    );
}

#[test]
fn a_rejection_is_about_the_arguments_of_the_failing_expression() {
    let input = call(&[
        ("boxes", Passing::Positional, Value::Int(3)),
        ("scores", Passing::Positional, Value::Int(3)),
        ("top", Passing::Keyword, Value::Int(3)),
    ]);
    let refused = |involved: &str| {
        let exception = Exception {
            message: "index 2 is out of bounds for dimension 1 with size 1".into(),
            involved: involved.into(),
            ..Exception::default()
        };
        wishes(&exception, &input)
    };
    let about = |found: &[Wish]| {
        let of_all = |wish: &&Wish| !matches!(wish.want, Want::Agree { .. } | Want::Reached(_));
        let about = found.iter().filter(of_all);
        let mut about: Vec<_> = about.map(|wish| wish.about.clone()).collect();
        about.sort();
        about.dedup();
        about
    };
    assert_eq!(about(&refused("")), [None]);
    assert_eq!(about(&refused("0;12.40|#1")), [Some("scores".to_owned())]);
    assert_eq!(about(&refused("0;12.40|w,top")), [Some("top".to_owned())]);
    assert_eq!(
        about(&refused("0;12.40|w,#7,~0")),
        [None],
        "none of the call"
    );
    // The same words at another place of the code are another reason.
    let reason = |found: Vec<Wish>| {
        let mut wants = found.into_iter().map(|wish| wish.want);
        wants.find(|want| matches!(want, Want::Reason(_)))
    };
    assert_eq!(reason(refused("0;12.40|#1")), reason(refused("0;12.40|#0")));
    assert_ne!(reason(refused("0;12.40|#1")), reason(refused("0;12.44|#1")));
}

#[test]
fn a_failing_check_goes_before_its_message() {
    let input = call(&[
        ("x", Passing::Positional, Value::Int(3)),
        ("mode", Passing::Keyword, Value::Int(3)),
    ]);
    let refused = |involved: &str| {
        let exception = Exception {
            message: "x must be positive".into(),
            involved: involved.into(),
            ..Exception::default()
        };
        wishes(&exception, &input)
    };
    let found = refused(
        "0;7.12|x|#0:axis=-1,4;#5:rank=2;mode:word=mean;#0:shape=2,;#0:axis=0,99999;x:odd=1",
    );
    let wanted: Vec<_> = found
        .iter()
        .map(|wish| (wish.about.as_deref(), &wish.want))
        .collect();
    let axis = Want::Axis { at: -1, size: 4 };
    let word = Want::Word("mean".into());
    let shape = Want::Shape(vec![2]);
    let first = [
        (Some("x"), &axis),
        (Some("mode"), &word),
        (Some("x"), &shape),
    ];
    assert_eq!(wanted[..3], first);
    assert_eq!(wanted[3], (Some("x"), &Want::AtLeast(1)));
    assert!(matches!(found.last().unwrap().want, Want::Reached(_)));
}

#[test]
fn numbers_at_the_end_of_their_type_are_read() {
    let least = "index -9223372036854775808 is out of bounds for dimension 0 with size 3";
    let most = "index 9223372036854775807 is out of bounds for dimension 0 with size 3";
    for message in [least, most] {
        let to = i64::MAX;
        assert!(wants(message, &["x"]).contains(&Want::Number { from: 3, to }));
    }
}

#[test]
fn a_parameter_is_known_by_its_words_apart_and_by_a_part_of_its_name() {
    let about = |message, params: &[&str]| mentioned(message, params).map(str::to_owned);
    let found = about(
        "kernel size should be greater than zero, but got 0x3",
        &["input", "kernel_size"],
    );
    assert_eq!(found.as_deref(), Some("kernel_size"));
    let found = about(
        "pivots passed to it must be between 1 and LU.size[-2] inclusive",
        &["LU_data", "LU_pivots"],
    );
    assert_eq!(found.as_deref(), Some("LU_pivots"));
    let found = about(
        "Expected list for 'ksizes' argument to 'extract' Op, not 3.",
        &["images", "sizes", "strides"],
    );
    assert_eq!(found.as_deref(), Some("sizes"));
    let found = about("two inputs are needed", &["left_inputs", "right_inputs"]);
    assert_eq!(found, None, "either may be meant");
}

#[test]
fn where_it_happened_and_what_the_operation_declares_ask_for_nothing() {
    let message = "Length for attr 'strides' of 2 must be at least minimum 4\n\t; NodeDef: {{node D}}; Op<name=D; attr=padding:string,allowed=[\"SAME\", \"VALID\"]>";
    let wanted = wants(message, &["strides", "padding"]);
    assert!(wanted.contains(&Want::Length(4)), "{wanted:?}");
    assert!(
        !wanted.iter().any(|want| matches!(want, Want::Word(_))),
        "{wanted:?}"
    );
    let message = "{{function_node __wrapped__Pad_device_/job:localhost}} The first dimension of paddings must be the rank of inputs[5,2] [2,3]";
    let wanted = wants(message, &["x"]);
    assert!(wanted.contains(&Want::Rank(vec![5])), "{wanted:?}");
}
