//! Specs that contradict themselves, and inputs that contradict their spec.

use fissure_generate::Generator;
use fissure_model::{Category, Mode, Value};
use fissure_solve::Checker;

use super::{HEAD, generate, options};
use crate::common;

#[test]
fn a_circle_of_dependencies_is_named() {
    let text = format!(
        "{HEAD}inputs: {{required: [a, b], optional: []}}
constraints:
  a: {{dtype: [int], range: ['[0,&b]']}}
  b: {{dtype: [int], range: ['[0,&a]']}}
"
    );
    let spec = common::spec("circle", &text);
    let error = Generator::new(&spec, None, options(Mode::Conform), 1)
        .err()
        .unwrap();
    let message = error.to_string();
    assert!(
        message.contains('a') && message.contains("→") && message.contains("torch.f"),
        "{message}"
    );
}

#[test]
fn an_impossible_constraint_is_named_and_an_optional_one_left_away() {
    let text = |required: &str, optional: &str| {
        format!(
            "{HEAD}inputs: {{required: [{required}], optional: [{optional}]}}
constraints:
  x: {{dtype: [int], ndim: ['0'], range: ['(0,1)']}}
  y: {{dtype: [int], ndim: ['0']}}
"
        )
    };
    let spec = common::spec("impossible", &text("x", "y"));
    let error = Generator::new(&spec, None, options(Mode::Conform), 1)
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "cannot generate inputs for `torch.f`: no value satisfies the range constraint of parameter `x`"
    );
    let spec = common::spec("possible", &text("y", "x"));
    let inputs = generate(&spec, options(Mode::Conform), 1, 50);
    assert!(inputs.iter().all(|input| input.arguments.len() == 1));
}

#[test]
fn the_checker_blames_the_parameter_that_contradicts_the_others() {
    let text = format!(
        "{HEAD}inputs: {{required: [a, b, c], optional: []}}
constraints:
  a: {{tensor_t: [torch.tensor], shape: ['[n]']}}
  b: {{tensor_t: [torch.tensor], shape: ['[n]']}}
  c: {{tensor_t: [torch.tensor], shape: ['[n]']}}
"
    );
    let spec = common::spec("blame", &text);
    let checker = Checker::new(&spec);
    for mut input in generate(&spec, options(Mode::Conform), 1, 20) {
        let Value::Tensor(tensor) = &mut input.arguments[1].value else {
            panic!()
        };
        tensor.shape[0] += 1;
        let broken = checker.check(&input);
        assert_eq!(broken.len(), 1);
        assert_eq!(
            (broken[0].param.as_str(), broken[0].category),
            ("b", Category::Shape)
        );
    }
}
