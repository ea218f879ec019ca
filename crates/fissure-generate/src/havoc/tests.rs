use super::*;
use fissure_model::{Argument, Intent, Passing};

fn kept() -> ConcreteInput {
    let tensor = TensorValue {
        dtype: Dtype::Float32,
        shape: vec![2, 3],
        data: TensorData {
            pattern: [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat().into(),
        },
    };
    let argument = |name: &str, passing, value| Argument {
        name: name.into(),
        passing,
        value,
    };
    ConcreteInput {
        number: 7,
        arguments: vec![
            argument("x", Passing::Positional, Value::Tensor(tensor)),
            argument("dim", Passing::Keyword, Value::Int(1)),
        ],
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: Vec::new(),
    }
}

/// Neighbours of one input by many streams.
fn neighbours() -> Vec<ConcreteInput> {
    let kept = kept();
    let havoc = Havoc {
        other: &kept,
        dtypes: None,
        library: "torch",
    };
    let key = Random::key(3, "f");
    (0..2000)
        .map(|stream| havoc.changed(&kept, &mut Random::new(key, stream)))
        .collect()
}

#[test]
fn neighbours_differ_in_shape_type_layout_and_elements_and_are_the_same_for_a_stream() {
    let all = neighbours();
    assert_eq!(all, neighbours());
    let of = |wanted: &dyn Fn(&TensorValue) -> bool| {
        let fits = |input: &&ConcreteInput| match &input.arguments[0].value {
            Value::Tensor(tensor) => wanted(tensor),
            _ => false,
        };
        all.iter().filter(fits).count()
    };
    assert!(of(&|it| it.shape != [2, 3]) > 200);
    assert!(of(&|it| it.dtype != Dtype::Float32) > 100);
    assert!(of(&|it| it.shape == [2, 3] && it.dtype == Dtype::Float32) > 500);
    let layouts = all.iter();
    let layouts = layouts.filter(|it| matches!(it.arguments[0].value, Value::Call { .. }));
    assert!(layouts.count() > 30);
    let unchanged = all.iter().filter(|it| it.arguments == kept().arguments);
    assert!(unchanged.count() < 300);
}

#[test]
fn every_tensor_has_whole_elements_and_only_allowed_types() {
    let kept = kept();
    let allowed = [Dtype::Int16, Dtype::Float32];
    let havoc = Havoc {
        other: &kept,
        dtypes: Some(&allowed),
        library: "torch",
    };
    let key = Random::key(4, "f");
    for stream in 0..2000 {
        let mut input = kept.clone();
        for round in 0..4 {
            input = havoc.changed(&input, &mut Random::new(key, stream * 4 + round));
        }
        for argument in &input.arguments {
            argument.value.walk(&mut |value| {
                if let Value::Tensor(tensor) = value {
                    assert!(allowed.contains(&tensor.dtype));
                    let size = tensor.dtype.size().unwrap();
                    assert_eq!(tensor.data.pattern.len() % size, 0);
                    let empty = tensor.elements() == Some(0);
                    assert_eq!(tensor.data.pattern.is_empty(), empty);
                }
            });
        }
    }
}

/// Of the neighbours of plain arguments, those that fit.
fn neighbours_of(arguments: Vec<Value>, fits: impl Fn(&[&Value]) -> bool) -> usize {
    let mut kept = kept();
    kept.arguments = arguments
        .into_iter()
        .enumerate()
        .map(|(at, value)| Argument {
            name: format!("a{at}"),
            passing: Passing::Positional,
            value,
        })
        .collect();
    let havoc = Havoc {
        other: &kept.clone(),
        dtypes: None,
        library: "torch",
    };
    let key = Random::key(5, "f");
    (0..4000)
        .filter(|stream| {
            let changed = havoc.changed(&kept, &mut Random::new(key, *stream));
            let values: Vec<&Value> = changed.arguments.iter().map(|it| &it.value).collect();
            fits(&values)
        })
        .count()
}

#[test]
fn numbers_become_what_has_to_do_with_others_and_single_bits_change() {
    let pair = || vec![Value::Int(1240), Value::Int(77)];
    for wanted in [1240, 1239, 1241, 2480, 620, 1317, 76 ^ 1] {
        let found = neighbours_of(pair(), |values| *values[1] == Value::Int(wanted));
        assert!(found > 3, "{wanted}: {found} of 4000");
    }
    let bits = neighbours_of(pair(), |values| *values[1] == Value::Int(77 ^ 4096));
    assert!(bits > 3, "{bits}");
}

#[test]
fn sizes_become_numbers_of_the_call() {
    let tensor = kept().arguments[0].value.clone();
    let found = neighbours_of(
        vec![tensor, Value::Int(39)],
        |values| matches!(values[0], Value::Tensor(tensor) if tensor.shape.contains(&39)),
    );
    assert!(found > 3, "{found}");
}

#[test]
fn texts_change_by_a_letter() {
    let text = |text: &str| Value::Text(text.into());
    for wanted in ["su", "sumk", "qum", "sqm"] {
        let found = neighbours_of(vec![text("sum")], |values| *values[0] == text(wanted));
        assert!(found > 3, "{wanted}: {found}");
    }
}
