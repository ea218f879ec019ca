//! The checker against calls written by hand.

use std::path::Path;

use fissure_model::{
    Argument, Category, ConcreteInput, Dtype, Intent, Passing, Spec, TensorData, TensorValue, Value,
};
use fissure_solve::conforms;

const HEAD: &str = "title: torch.f
package: torch
target: f
version: '1'
link: https://example.org
";

fn spec(required: &str, constraints: &str) -> Spec {
    let text = format!(
        "{HEAD}inputs: {{required: [{required}], optional: []}}\nconstraints:\n{constraints}"
    );
    fissure_spec::load_text(Path::new("f.yaml"), &text)
        .unwrap()
        .spec
}

fn tensor(dtype: Dtype, shape: &[u64], bytes: &[u8]) -> Value {
    Value::Tensor(TensorValue {
        dtype,
        shape: shape.to_vec(),
        data: TensorData {
            pattern: bytes.into(),
        },
    })
}

fn bytes(shape: &[u64]) -> Value {
    tensor(Dtype::Uint8, shape, &[1])
}

fn call(arguments: &[(&str, Value)]) -> ConcreteInput {
    ConcreteInput {
        number: 0,
        arguments: arguments
            .iter()
            .map(|(name, value)| Argument {
                name: (*name).into(),
                passing: Passing::Keyword,
                value: value.clone(),
            })
            .collect(),
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: vec![],
    }
}

/// The broken categories of `x`, given its constraint and its value.
fn broken(constraint: &str, value: Value) -> Vec<Category> {
    let spec = spec("x", &format!("  x: {{{constraint}}}\n"));
    conforms(&spec, &call(&[("x", value)]))
        .into_iter()
        .map(|broken| broken.category)
        .collect()
}

#[test]
fn each_category_is_told_apart() {
    let pool = "dtype: [int], structure: [tuple], ndim: ['0', '1'], range: ['[0,9)']";
    assert_eq!(broken(pool, Value::Int(3)), []);
    assert_eq!(
        broken(pool, Value::Tuple(vec![Value::Int(3), Value::Int(8)])),
        []
    );
    assert_eq!(broken(pool, Value::Int(9)), [Category::Range]);
    assert_eq!(
        broken(pool, Value::Tuple(vec![Value::Int(3), Value::Int(-1)])),
        [Category::Range]
    );
    assert_eq!(broken(pool, Value::Text("3".into())), [Category::Dtype]);
    assert_eq!(
        broken(pool, Value::List(vec![Value::Int(3)])),
        [Category::Structure]
    );
    assert_eq!(
        broken("enum: [mean, sum]", Value::Text("men".into())),
        [Category::Enum]
    );
    assert_eq!(broken("enum: [mean, None]", Value::None), []);
}

#[test]
fn a_tensor_is_a_tensor() {
    let tensor_only = "tensor_t: [torch.tensor], dtype: [numeric]";
    assert_eq!(broken(tensor_only, bytes(&[2])), []);
    assert_eq!(broken(tensor_only, Value::Int(1)), [Category::Structure]);
    let sparse = "tensor_t: [SparseTensor]";
    assert_eq!(broken(sparse, bytes(&[2])), [Category::Structure]);
}

#[test]
fn ranks_and_shapes_are_compared_with_what_is_there() {
    let ranked = "tensor_t: [torch.tensor], ndim: ['>=2']";
    assert_eq!(broken(ranked, bytes(&[2, 2, 2])), []);
    assert_eq!(broken(ranked, bytes(&[2])), [Category::Ndim]);
    let square = "tensor_t: [torch.tensor], shape: ['[...,n,n]', '[3]']";
    assert_eq!(broken(square, bytes(&[7, 2, 2])), []);
    assert_eq!(broken(square, bytes(&[3])), []);
    assert_eq!(broken(square, bytes(&[2, 3])), [Category::Shape]);
    let sum = "tensor_t: [torch.tensor], shape: ['[n,n+2]']";
    assert_eq!(broken(sum, bytes(&[3, 5])), []);
    assert_eq!(broken(sum, bytes(&[3, 4])), [Category::Shape]);
}

#[test]
fn every_element_of_a_tensor_is_in_range() {
    let bounded = "tensor_t: [torch.tensor], range: ['[0,100]']";
    assert_eq!(broken(bounded, tensor(Dtype::Int8, &[4], &[0, 100])), []);
    assert_eq!(
        broken(bounded, tensor(Dtype::Int8, &[4], &[0, 101])),
        [Category::Range]
    );
    let nan = f32::NAN.to_le_bytes();
    assert_eq!(
        broken(bounded, tensor(Dtype::Float32, &[1], &nan)),
        [Category::Range]
    );
    let only_int = "tensor_t: [torch.tensor], range: ['int:[0,1]']";
    assert_eq!(
        broken(only_int, tensor(Dtype::Int8, &[1], &[2])),
        [Category::Range]
    );
    assert_eq!(
        broken(only_int, tensor(Dtype::Float32, &[1], &2f32.to_le_bytes())),
        []
    );
}

#[test]
fn parameters_refer_to_each_other() {
    let spec = spec(
        "a, dim, lengths, b",
        "  a: {tensor_t: [torch.tensor]}
  dim: {dtype: [int], range: ['[-ndim:&a,ndim:&a)']}
  lengths: {tensor_t: [torch.tensor], shape: ['[len:&a]']}
  b: {tensor_t: [torch.tensor], dtype: ['dtype:&a'], shape: ['[max_value:&lengths]']}
",
    );
    let check = |dim: i128, b: Value| -> Vec<(String, Category)> {
        let input = call(&[
            ("a", bytes(&[2, 3])),
            ("dim", Value::Int(dim)),
            ("lengths", tensor(Dtype::Int8, &[2], &[5, 4])),
            ("b", b),
        ]);
        conforms(&spec, &input)
            .into_iter()
            .map(|broken| (broken.param, broken.category))
            .collect()
    };
    assert_eq!(check(-2, bytes(&[5])), []);
    assert_eq!(check(2, bytes(&[5])), [("dim".into(), Category::Range)]);
    assert_eq!(check(0, bytes(&[4])), [("b".into(), Category::Shape)]);
    assert_eq!(
        check(0, tensor(Dtype::Int8, &[5], &[1])),
        [("b".into(), Category::Dtype)]
    );
}

#[test]
fn a_missing_required_parameter_is_noticed() {
    let spec = spec("x, y", "  x: {dtype: [int]}\n  y: {dtype: [int]}\n");
    let found = conforms(&spec, &call(&[("x", Value::Int(1))]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].param, "y");
}

#[test]
fn shapes_that_broadcast_with_another_or_to_it() {
    let with = |form: &str, x: &[u64], y: &[u64]| {
        let constraints = format!("  x: {{}}\n  y: {{shape: ['{form}:&x']}}\n");
        let spec = spec("x, y", &constraints);
        conforms(&spec, &call(&[("x", bytes(x)), ("y", bytes(y))])).is_empty()
    };
    assert!(with("broadcast", &[2, 3], &[2, 3]));
    assert!(with("broadcast", &[2, 3], &[4, 1, 3]));
    assert!(with("broadcast", &[2, 1], &[3]));
    assert!(!with("broadcast", &[2, 3], &[2]));
    assert!(with("broadcast_to", &[2, 3], &[1, 3]));
    assert!(with("broadcast_to", &[2, 3], &[]));
    assert!(!with("broadcast_to", &[2, 3], &[4, 2, 3]));
    assert!(!with("broadcast_to", &[2, 1], &[2, 3]));
}
