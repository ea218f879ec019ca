//! Constraints that do not fit the documented type are narrowed to it, and nothing else is touched.

use std::path::Path;

use fissure_model::{Constraint, Role, Spec};
use fissure_spec::{Repair, load_text, repair, text};

fn spec(params: &[(&str, &str)]) -> Spec {
    let names: Vec<String> = params.iter().map(|(name, _)| format!("'{name}'")).collect();
    let mut file = format!(
        "title: torch.f\npackage: torch\ntarget: f\nversion: '1'\nlink: x\ninputs:\n  required: [{}]\n  optional: []\nconstraints:\n",
        names.join(", ")
    );
    for (name, keys) in params {
        file.push_str(&format!("  '{name}': {{{keys}}}\n"));
    }
    load_text(Path::new("f.yaml"), &file).unwrap().spec
}

fn repaired(keys: &str) -> (Constraint, Vec<Repair>) {
    let (spec, repairs) = repair(&spec(&[("p", keys)]));
    (spec.params[0].constraint.clone(), repairs)
}

fn dtypes(constraint: &Constraint) -> Vec<String> {
    constraint.dtypes.iter().map(text::dtype).collect()
}

#[test]
fn a_documented_tensor_is_no_zero_rank_integer() {
    let (constraint, repairs) = repaired(
        "doc_dtype: Tensor, dtype: [int], ndim: ['0'], range: ['[0,inf)'], structure: [list]",
    );
    assert_eq!(constraint.tensors.len(), 1);
    assert!(constraint.dtypes.is_empty() && constraint.ndims.is_empty());
    assert!(constraint.ranges.is_empty() && constraint.structures.is_empty());
    assert_eq!(
        repairs[0].message,
        "`list, any int, ndim 0, [0,inf)` does not fit the documented type (Tensor); read as `tensor`"
    );
}

#[test]
fn a_tensor_type_in_the_documentation_decides_the_dtype() {
    let (constraint, _) = repaired("doc_dtype: torch.ByteTensor, dtype: [torch.int8]");
    assert_eq!(dtypes(&constraint), ["uint8"]);
}

#[test]
fn numbers_lose_containers_and_foreign_dtypes() {
    let (constraint, _) = repaired(
        "doc_dtype: 'int, optional', dtype: [int, torch.bool], tensor_t: [torch.tensor], ndim: ['0', '1'], range: ['[1,5]']",
    );
    assert_eq!(dtypes(&constraint), ["any int"]);
    assert!(constraint.tensors.is_empty());
    assert_eq!(constraint.ndims.len(), 1);
    assert_eq!(constraint.ranges.len(), 1);
    let (constraint, _) = repaired("doc_dtype: float, dtype: [torch.dtype]");
    assert_eq!(dtypes(&constraint), ["any float"]);
}

#[test]
fn booleans_devices_and_dtypes_are_what_they_are_called() {
    let (constraint, _) =
        repaired("doc_dtype: bool, dtype: [torch.bool, torch.dtype], tensor_t: [tensor]");
    assert_eq!(
        constraint.enums.iter().map(text::value).collect::<Vec<_>>(),
        ["True", "False"]
    );
    let (constraint, _) =
        repaired("doc_dtype: torch.device, dtype: [torch.dtype], tensor_t: [tensor]");
    assert!(constraint.is_empty());
    let (constraint, _) =
        repaired("doc_dtype: torch.dtype, dtype: [torch.dtype], tensor_t: [tensor]");
    assert_eq!(dtypes(&constraint), ["dtype object"]);
    assert!(constraint.tensors.is_empty());
}

#[test]
fn sequences_get_the_entries_they_are_documented_with() {
    let structures = |keys: &str| -> Vec<String> {
        repaired(keys)
            .0
            .structures
            .iter()
            .map(text::structure)
            .collect()
    };
    assert_eq!(
        structures("doc_dtype: int or tuple, dtype: [int], structure: [tuple]"),
        ["tuple(any int)"]
    );
    assert_eq!(
        structures(
            "doc_dtype: tuple of Tensors or Tensor, dtype: [torch.bool], structure: [tuple], tensor_t: [tensor], ndim: ['0']"
        ),
        ["tuple(tensor)"]
    );
}

#[test]
fn several_integers_are_no_single_one() {
    let (constraint, _) = repaired("doc_dtype: tuple or ints, dtype: [int], tensor_t: [tensor]");
    assert_eq!(
        constraint.ndims.iter().map(text::ndim).collect::<Vec<_>>(),
        ["1"]
    );
    assert!(constraint.tensors.is_empty());
    let (many, _) = repair(&spec(&[(
        "*size",
        "doc_dtype: int..., dtype: [int], structure: [list]",
    )]));
    assert!(many.params[0].constraint.structures.is_empty());
}

#[test]
fn what_fits_or_is_not_stated_stays_as_it_is() {
    for keys in [
        "doc_dtype: Tensor, tensor_t: [torch.tensor], dtype: [torch.float32], ndim: ['2']",
        "dtype: [int], tensor_t: [tensor]",
        "descp: some thing, dtype: [torch.dtype], tensor_t: [tensor]",
        "doc_dtype: Tensor or float, tensor_t: [torch.tensor], ndim: ['0', '1']",
        "doc_dtype: string, dtype: [string], enum: [a, b]",
        "doc_dtype: Tensor",
    ] {
        let (constraint, repairs) = repaired(keys);
        assert_eq!(repairs, [], "{keys}");
        assert_eq!(constraint, spec(&[("p", keys)]).params[0].constraint);
    }
}

#[test]
fn stars_that_nothing_describes_are_left_away_beside_named_parameters() {
    let (repaired, repairs) = repair(&spec(&[
        ("a", "dtype: [int]"),
        ("*args", ""),
        ("*more", "descp: more tensors"),
    ]));
    let names: Vec<&str> = repaired
        .params
        .iter()
        .map(|param| param.name.as_str())
        .collect();
    assert_eq!(names, ["a", "more"]);
    assert_eq!(repairs.len(), 1);
    let alone = spec(&[("*args", "")]);
    assert_eq!(repair(&alone), (alone, vec![]));
}

#[test]
fn the_rank_that_a_description_begins_with_counts_before_shapes_of_another_one() {
    let shape = "tensor_t: [torch.tensor], ndim: ['4', '5'], shape: ['[n,h,w,c]']";
    let (constraint, repairs) = repaired(&format!("descp: 'A 5-D `Tensor` of images', {shape}"));
    assert!(constraint.shapes.is_empty());
    let ranks: Vec<String> = constraint.ndims.iter().map(text::ndim).collect();
    assert_eq!((ranks, repairs.len()), (vec!["5".to_owned()], 1));
    for fitting in ["A 4-D `Tensor` of images", "A 4-D or 5-D tensor", "Images"] {
        let (constraint, repairs) = repaired(&format!("descp: '{fitting}', {shape}"));
        assert_eq!((constraint.shapes.len(), repairs), (1, vec![]), "{fitting}");
    }
}

#[test]
fn our_own_examples_need_no_repair() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs");
    for loaded in fissure_spec::load_paths(&[folder]).loaded {
        assert_eq!(repair(&loaded.spec).1, [], "{}", loaded.spec.api.title);
    }
}

#[test]
fn an_array_of_mxnet_is_its_own_and_given_unless_documented_as_optional() {
    let file = "title: mxnet.nd.f\npackage: mxnet\ntarget: f\nversion: '1'\nlink: x\n\
                inputs:\n  required: []\n  optional: [data, weight, heads, foreign]\n\
                constraints:\n  \
                data: {doc_dtype: NDArray, structure: [ndarray], default: None}\n  \
                weight: {doc_dtype: 'NDArray, optional', structure: [ndarray], default: None}\n  \
                heads: {doc_dtype: 'int, required', dtype: [int], default: _Null}\n  \
                foreign: {doc_dtype: 'numpy.ndarray, optional', structure: [ndarray]}\n";
    let loaded = load_text(Path::new("f.yaml"), file).unwrap().spec;
    let (spec, repairs) = repair(&loaded);
    let roles: Vec<Role> = spec.params.iter().map(|param| param.role).collect();
    let (given, left) = (Role::Required, Role::Optional);
    assert_eq!(roles, [given, left, given, left]);
    for at in [0, 1] {
        let constraint = &spec.params[at].constraint;
        assert_eq!(constraint.tensors.len(), 1, "{}", spec.params[at].name);
        assert!(constraint.structures.is_empty());
    }
    assert_eq!(spec.params[3].constraint, loaded.params[3].constraint);
    let given = repairs
        .iter()
        .filter(|one| one.message.contains("always given"));
    assert_eq!(given.count(), 2);
}
