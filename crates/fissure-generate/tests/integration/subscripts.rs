//! A function that cuts its tensors apart, and whose messages speak of the parts only.

use fissure_generate::{GenerateOptions, Generator, wishes};
use fissure_model::{
    Api, ConcreteInput, Constraint, Exception, Kind, Param, ParamHints, Role, Spec, Value,
};

fn boxes(name: &str) -> Param {
    let hints = ParamHints {
        name: name.into(),
        kinds: vec![Kind::Tensor],
        stated: true,
        ..ParamHints::default()
    };
    Param {
        name: name.into(),
        role: Role::Required,
        deprecated: false,
        default: None,
        default_text: None,
        doc_dtype: None,
        description: None,
        constraint: Constraint::default(),
        line: None,
        hints: Some(Box::new(hints)),
    }
}

pub(crate) fn spec() -> Spec {
    Spec {
        api: Api {
            title: "pkg.overlap".into(),
            package: "pkg".into(),
            tensors: Some("torch".into()),
            path: "pkg.overlap".into(),
            ..Api::default()
        },
        params: vec![boxes("a"), boxes("b")],
        layer_params: Vec::new(),
        symbols: Vec::new(),
        check_nan: false,
        aliases: Vec::new(),
        source: None,
        rules: None,
        forms: Vec::new(),
        examples: Vec::new(),
    }
}

/// What `x[:, 6:] - x[:, :5]` and `x[:, 10]` say of both arguments.
fn answer(input: &ConcreteInput) -> Result<(), String> {
    let mut columns = Vec::new();
    for argument in &input.arguments {
        let Value::Tensor(tensor) = &argument.value else {
            return Err("'int' object is not subscriptable".into());
        };
        match tensor.shape[..] {
            [_, size] => columns.push(size),
            [] | [_] => {
                let rank = tensor.shape.len();
                return Err(format!("too many indices for tensor of dimension {rank}"));
            }
            _ => return Err("boxes are not flat".into()),
        }
    }
    for size in columns {
        let (first, rest) = (size.min(5), size.saturating_sub(6));
        if first != rest {
            return Err(format!(
                "The size of tensor a ({rest}) must match the size of tensor b ({first}) at non-singleton dimension 1"
            ));
        }
        if size < 11 {
            return Err(format!(
                "index 10 is out of bounds for dimension 1 with size {size}"
            ));
        }
    }
    Ok(())
}

#[test]
fn sizes_that_only_the_parts_of_a_tensor_show_are_found() {
    let mut generator = Generator::new(&spec(), None, GenerateOptions::default(), 7).unwrap();
    let mut accepted = 0;
    for number in 0..1500 {
        let input = generator.generate(number);
        match answer(&input) {
            Ok(()) => {
                accepted += 1;
                generator.observe(number, true);
            }
            Err(message) => {
                let exception = Exception {
                    message,
                    ..Exception::default()
                };
                let asked = wishes(&exception, &input);
                generator.observe_reason(number, false, &asked);
            }
        }
    }
    assert!(accepted > 300, "{accepted}");
}
