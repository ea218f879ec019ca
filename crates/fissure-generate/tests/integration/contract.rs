//! What every generator promises, on specs written by hand.

mod contradictions;

use crate::common;

use fissure_generate::{GenerateOptions, Generator, TensorsAs};
use fissure_model::{
    Category, ConcreteInput, Dtype, Intent, Mode, Passing, Signature, SignatureParam, Spec, Value,
};
use fissure_solve::conforms;
use proptest::prelude::*;

fn options(mode: Mode) -> GenerateOptions {
    GenerateOptions {
        mode,
        mutate_ratio: 0.0,
        ..GenerateOptions::default()
    }
}

fn generate(spec: &Spec, options: GenerateOptions, seed: u64, count: u64) -> Vec<ConcreteInput> {
    let mut generator = Generator::new(spec, None, options, seed).unwrap();
    (0..count)
        .map(|number| {
            let input = generator.generate(number);
            generator.observe(number, number % 3 == 0);
            input
        })
        .collect()
}

fn tensor_bytes(input: &ConcreteInput) -> u64 {
    let mut total = 0;
    for argument in input
        .arguments
        .iter()
        .chain(input.layer_arguments.iter().flatten())
    {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::SparseTensor(tensor) = value {
                total += tensor.byte_len().unwrap();
            }
        });
    }
    total
}

#[test]
fn ragged_tensors_have_rows_of_different_lengths() {
    let specs = common::all_specs();
    let spec = specs
        .iter()
        .find(|spec| spec.api.title == "tf.ragged_and_sparse");
    let mut uneven = 0;
    for input in generate(spec.unwrap(), options(Mode::Conform), 3, 200) {
        let Value::Call { arguments, .. } = &input.arguments[0].value else {
            panic!("{input:?}");
        };
        let Some(Value::Tensor(tensor)) = arguments.first() else {
            panic!("{input:?}");
        };
        assert!(tensor.shape.len() >= 2, "{input:?}");
        if let Some(Value::List(lengths)) = arguments.get(1) {
            assert_eq!(lengths.len() as u64, tensor.shape[0]);
            uneven += usize::from(lengths.iter().any(|length| *length != lengths[0]));
        }
    }
    assert!(uneven > 40, "{uneven}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn conforming_inputs_break_nothing(seed: u64) {
        for spec in common::all_specs() {
            for input in generate(&spec, options(Mode::Conform), seed, 60) {
                prop_assert_eq!(&input.intent, &Intent::Conform);
                prop_assert_eq!(conforms(&spec, &input), vec![], "{:?}", input);
            }
        }
    }

    #[test]
    fn violating_inputs_break_exactly_what_they_say(seed: u64) {
        for spec in common::all_specs() {
            for input in generate(&spec, options(Mode::Violate), seed, 60) {
                let Intent::Violate { param, category } = &input.intent else {
                    return Err(TestCaseError::fail("not a violating input"));
                };
                let broken = conforms(&spec, &input);
                prop_assert_eq!(broken.len(), 1, "{:?} {:?}", broken, input);
                prop_assert_eq!(&broken[0].param, param);
                prop_assert_eq!(&broken[0].category, category);
            }
        }
    }

    #[test]
    fn the_same_seed_and_outcomes_give_the_same_bytes(seed: u64) {
        for spec in common::all_specs() {
            let full = || GenerateOptions { special_values: true, ..GenerateOptions::default() };
            let text = |inputs: Vec<ConcreteInput>| serde_json::to_string(&inputs).unwrap();
            let first = text(generate(&spec, full(), seed, 80));
            prop_assert_eq!(&first, &text(generate(&spec, full(), seed, 80)));
            prop_assert_ne!(&first, &text(generate(&spec, full(), seed.wrapping_add(1), 80)));
        }
    }

    #[test]
    fn tensors_of_one_input_stay_below_the_limit(seed: u64, limit in 2_000_u64..100_000) {
        for spec in common::all_specs() {
            let limited = GenerateOptions { max_tensor_bytes: limit, ..options(Mode::Mixed) };
            for input in generate(&spec, limited, seed, 60) {
                prop_assert!(tensor_bytes(&input) <= limit);
            }
        }
    }

    #[test]
    fn without_constraints_nothing_panics(seed: u64) {
        for spec in common::all_specs() {
            for input in generate(&spec, options(Mode::Ignore), seed, 60) {
                prop_assert_eq!(&input.intent, &Intent::Ignore);
            }
        }
    }
}

#[test]
fn every_category_of_every_parameter_gets_violated() {
    let spec = &common::all_specs()[0];
    let inputs = generate(spec, options(Mode::Violate), 3, 600);
    for (param, category) in [
        ("input", Category::Dtype),
        ("input", Category::Structure),
        ("input", Category::Shape),
        ("kernel_size", Category::Dtype),
        ("kernel_size", Category::Range),
        ("padding", Category::Range),
        ("mode", Category::Enum),
    ] {
        let wanted = Intent::Violate {
            param: param.into(),
            category,
        };
        assert!(
            inputs.iter().any(|input| input.intent == wanted),
            "{param} {category}"
        );
    }
}

#[test]
fn an_enum_gives_the_object_none_and_a_violation_is_one_edit_away() {
    let spec = &common::all_specs()[0];
    let values = |mode| -> Vec<Value> {
        generate(spec, options(mode), 5, 400)
            .into_iter()
            .filter(|input| {
                mode == Mode::Conform
                    || matches!(&input.intent, Intent::Violate { param, .. } if param == "mode")
            })
            .flat_map(|input| input.arguments)
            .filter(|argument| argument.name == "mode")
            .map(|argument| argument.value)
            .collect()
    };
    assert!(values(Mode::Conform).contains(&Value::None));
    assert!(!values(Mode::Conform).contains(&Value::Text("None".into())));
    for value in values(Mode::Violate) {
        let Value::Text(text) = value else {
            panic!("{value:?}")
        };
        assert!((2..=5).contains(&text.len()), "{text}");
    }
}

#[test]
fn a_violated_flag_is_often_an_array_of_several_elements() {
    let spec = &common::all_specs()[4];
    let flags: Vec<Value> = generate(spec, options(Mode::Violate), 1, 400)
        .into_iter()
        .filter(|input| matches!(&input.intent, Intent::Violate { param, .. } if param == "flag"))
        .flat_map(|input| input.arguments)
        .filter(|argument| argument.name == "flag")
        .map(|argument| argument.value)
        .collect();
    let several = flags.iter().filter(|value| match value {
        Value::NdArray(array) => array.elements().is_some_and(|count| count > 1),
        _ => false,
    });
    assert!(several.count() > flags.len() / 4, "{flags:?}");
    assert!(flags.iter().any(|value| matches!(value, Value::Text(_))));
    assert!(flags.iter().any(|value| matches!(value, Value::List(_))));
}

#[test]
fn a_list_of_axes_seldom_names_one_twice() {
    let spec = &common::all_specs()[4];
    let (mut lists, mut repeated) = (0, 0);
    for input in generate(spec, options(Mode::Conform), 1, 600) {
        let value = |name: &str| {
            &input
                .arguments
                .iter()
                .find(|a| a.name == name)
                .unwrap()
                .value
        };
        let (Value::Tensor(tensor) | Value::NdArray(tensor)) = value("tensor") else {
            continue;
        };
        let rank = tensor.shape.len() as i128;
        let Value::List(axes) = value("axes") else {
            continue;
        };
        let axes: Option<Vec<i128>> = axes
            .iter()
            .map(|axis| match axis {
                Value::Int(axis) if (-rank..rank).contains(axis) => Some(axis.rem_euclid(rank)),
                _ => None,
            })
            .collect();
        let Some(mut axes) = axes else { continue };
        // More axes than there are cannot all differ.
        if (2..=tensor.shape.len()).contains(&axes.len()) {
            lists += 1;
            axes.sort_unstable();
            repeated += usize::from(axes.windows(2).any(|pair| pair[0] == pair[1]));
        }
    }
    assert!(lists > 50 && repeated * 10 < lists, "{repeated} of {lists}");
}

#[test]
fn sixty_in_a_hundred_mixed_inputs_conform() {
    let spec = &common::all_specs()[0];
    let inputs = generate(spec, options(Mode::Mixed), 1, 2000);
    let conforming = inputs
        .iter()
        .filter(|input| input.intent == Intent::Conform)
        .count();
    assert!((1100..1300).contains(&conforming), "{conforming}");
}

#[test]
fn optional_parameters_follow_the_ratio() {
    let spec = &common::all_specs()[0];
    for (ratio, expected) in [(0.0, 0..1), (0.6, 480..720), (1.0, 1000..1001)] {
        let wanted = GenerateOptions {
            optional_ratio: ratio,
            ..options(Mode::Conform)
        };
        let mut generator = Generator::new(spec, None, wanted, 1).unwrap();
        let given = (0..1000)
            .filter(|number| {
                let input = generator.generate(*number);
                input
                    .arguments
                    .iter()
                    .any(|argument| argument.name == "mode")
            })
            .count();
        assert!(expected.contains(&given), "{ratio}: {given}");
    }
}

#[test]
fn a_dtype_parameter_gets_dtype_objects() {
    let spec = &common::all_specs()[3];
    let inputs = generate(spec, options(Mode::Conform), 1, 300);
    let mut given = inputs
        .iter()
        .flat_map(|input| &input.arguments)
        .filter(|argument| argument.name == "dtype")
        .peekable();
    assert!(given.peek().is_some());
    assert!(given.all(|argument| matches!(argument.value, Value::Dtype(_))));
}

#[test]
fn star_arguments_go_by_position_and_sparse_tensors_occur() {
    let spec = &common::all_specs()[3];
    let inputs = generate(spec, options(Mode::Conform), 1, 300);
    let stars: Vec<_> = inputs
        .iter()
        .flat_map(|input| &input.arguments)
        .filter(|argument| argument.name == "tensors")
        .collect();
    assert!(
        stars
            .iter()
            .all(|argument| argument.passing == Passing::Positional)
    );
    assert!(
        stars
            .iter()
            .any(|argument| matches!(argument.value, Value::SparseTensor(_)))
    );
    assert!(
        stars
            .iter()
            .any(|argument| matches!(argument.value, Value::Tensor(_)))
    );
    assert!(
        inputs
            .iter()
            .all(|input| input.arguments.iter().all(|a| a.name != "kwargs"))
    );
}

#[test]
fn a_layer_is_called_with_an_input_unless_told_otherwise() {
    let spec = &common::all_specs()[2];
    let called = generate(spec, options(Mode::Conform), 1, 50);
    assert!(called.iter().all(|input| {
        input
            .layer_arguments
            .as_ref()
            .is_some_and(|a| !a.is_empty())
    }));
    let only = GenerateOptions {
        layer_call: false,
        ..options(Mode::Conform)
    };
    assert!(
        generate(spec, only, 1, 50)
            .iter()
            .all(|input| input.layer_arguments.is_none())
    );
}

#[test]
fn only_the_wanted_dtypes_are_generated() {
    let spec = &common::all_specs()[3];
    let wanted = GenerateOptions {
        dtypes: Some(vec![Dtype::Int16]),
        ..options(Mode::Conform)
    };
    for input in generate(spec, wanted, 1, 100) {
        for argument in &input.arguments {
            if let Value::Tensor(tensor) | Value::SparseTensor(tensor) = &argument.value {
                assert_eq!(tensor.dtype, Dtype::Int16);
            }
        }
    }
}

#[test]
fn tensors_are_handed_over_in_the_wanted_form() {
    let spec = &common::all_specs()[0];
    for (form, fits) in [
        (
            TensorsAs::NdArray,
            (|value| matches!(value, Value::NdArray(_))) as fn(&Value) -> bool,
        ),
        (TensorsAs::List, |value| {
            matches!(value, Value::List(_) | Value::Tensor(_))
        }),
    ] {
        let wanted = GenerateOptions {
            tensors_as: form,
            ..options(Mode::Conform)
        };
        let inputs = generate(spec, wanted, 1, 50);
        assert!(
            inputs.iter().all(|input| fits(&input.arguments[0].value)),
            "{form:?}"
        );
    }
}

#[test]
fn feedback_raises_acceptance_and_keeps_exploring() {
    let spec = &common::all_specs()[0];
    let mut generator = Generator::new(spec, None, options(Mode::Conform), 1).unwrap();
    // A library that only takes double precision and no padding.
    let accepts = |input: &ConcreteInput| {
        let double = input
            .arguments
            .iter()
            .any(|a| matches!(&a.value, Value::Tensor(tensor) if tensor.dtype == Dtype::Float64));
        double
            && input
                .arguments
                .iter()
                .all(|argument| argument.name != "padding")
    };
    let mut rates = Vec::new();
    for round in 0..4 {
        let mut accepted = 0;
        for number in round * 250..(round + 1) * 250 {
            let input = generator.generate(number);
            accepted += u32::from(accepts(&input));
            generator.observe(number, accepts(&input));
        }
        rates.push(accepted);
    }
    assert!(rates[3] > 2 * rates[0] || rates[3] > 175, "{rates:?}");
    assert!(rates[3] < 250, "{rates:?}");
}

#[test]
fn a_signature_decides_how_arguments_are_passed() {
    let spec = &common::all_specs()[0];
    let known = |name: &str| SignatureParam {
        name: name.into(),
        kind: "positional_or_keyword".into(),
        default: None,
    };
    let signature = Signature::of_function(
        "1",
        Some(vec![known("self"), known("kernel_size"), known("mode")]),
    );
    let mut generator = Generator::new(spec, Some(&signature), options(Mode::Conform), 1).unwrap();
    for number in 0..100 {
        for argument in generator.generate(number).arguments {
            match argument.name.as_str() {
                // The library has another name for it.
                "input" => assert_eq!(argument.passing, Passing::Positional),
                "kernel_size" | "mode" => assert_eq!(argument.passing, Passing::Keyword),
                // The library no longer has it.
                name => panic!("{name}"),
            }
        }
    }
}

const HEAD: &str = "title: torch.f
package: torch
target: f
version: '1'
link: https://example.org
";
