use std::process::Command;

use super::*;
use crate::{Family, Precision};

/// One function that has the property, and one that looks like it and has not.
const EXAMPLES: [(Property, &str, &str); 24] = [
    (
        Property::Elementwise,
        "torch.relu",
        "torch.nn.functional.glu",
    ),
    (Property::Rising, "torch.exp", "torch.cos"),
    (Property::Odd, "torch.Tensor.tanh", "torch.cosh"),
    (Property::Even, "torch.cosh", "torch.sinh"),
    (Property::Idempotent, "torch.round", "torch.special.erf"),
    (Property::Involution, "torch.flip", "torch.roll"),
    (Property::Commutative, "torch.add", "torch.sub"),
    (
        Property::SumsToOne,
        "torch.nn.functional.softmax",
        "torch.nn.functional.softplus",
    ),
    (
        Property::Uninitialised,
        "torch.Tensor.resize_",
        "torch.nn.functional.interpolate",
    ),
    (Property::Random, "torch.rand_like", "torch.ones_like"),
    (
        Property::Varies,
        "torch.Tensor.data_ptr",
        "torch.Tensor.data",
    ),
    (Property::Indices, "torch.argmax", "torch.tril_indices"),
    (
        Property::Unordered,
        "torch.linalg.eigvals",
        "torch.linalg.eigvalsh",
    ),
    (
        Property::Ambiguous,
        "torch.linalg.svd",
        "torch.linalg.svdvals",
    ),
    (Property::Sorted, "torch.sort", "torch.argsort"),
    (
        Property::WritesIndex,
        "torch.Tensor.index_copy_",
        "torch.index_select",
    ),
    (
        Property::AboutPosition,
        "torch.masked_select",
        "torch.masked_fill",
    ),
    (
        Property::AboutLayout,
        "torch.Tensor.stride",
        "torch.fft.fft",
    ),
    (Property::AboutDtype, "torch.nextafter", "torch.copysign"),
    (
        Property::Superlinear,
        "torch.linalg.lu",
        "torch.nn.functional.gelu",
    ),
    (
        Property::Waits,
        "tensorflow.raw_ops.QueueDequeueV2",
        "tensorflow.raw_ops.QueueSizeV2",
    ),
    (
        Property::RestrictedGradient,
        "torch.linalg.qr",
        "torch.sqrt",
    ),
    (Property::LinearComplex, "torch.matmul", "torch.log"),
    (Property::OtherReceiver, "torch.where", "torch.add"),
];

#[test]
fn each_property_is_held_by_a_function_and_not_by_one_that_looks_like_it() {
    let table = functions();
    for (property, has, has_not) in EXAMPLES {
        assert!(table.has(has, property), "{has} {property:?}");
        assert!(!table.has(has_not, property), "{has_not} {property:?}");
    }
    let covered: Vec<Property> = EXAMPLES.iter().map(|it| it.0).collect();
    assert_eq!(covered, Property::ALL);
}

/// The words `lu`, `qr`, `eig`, `mm` and others are parts of these names, and once switched oracles off.
#[test]
fn a_part_of_a_name_says_nothing() {
    let table = functions();
    for name in [
        "relu",
        "gelu",
        "elu",
        "silu",
        "glu",
        "softplus",
        "sqrt",
        "rsqrt",
        "kthvalue",
        "column_stack",
        "lgamma",
        "cummax",
        "cummin",
        "absolute",
        "prelu",
        "celu",
        "selu",
        "detach",
    ] {
        for path in [
            format!("torch.{name}"),
            format!("torch.nn.functional.{name}"),
        ] {
            assert!(!table.has(&path, Property::RestrictedGradient), "{path}");
            assert!(!table.has(&path, Property::Superlinear), "{path}");
            let rank = table.find(&path).and_then(|it| it.operand_rank);
            assert_eq!(rank, None, "{path}");
        }
    }
}

#[test]
fn all_forms_of_a_function_are_one() {
    let table = functions();
    for path in [
        "torch.relu",
        "torch.relu_",
        "torch.Tensor.relu",
        "torch.Tensor.relu_",
        "torch.nn.functional.relu",
        "torch.nn.functional.relu_",
        "torch.nn.ReLU",
        "torch.ops.aten.relu.default",
        "tensorflow.nn.relu",
        "tf.nn.relu",
        "tensorflow.raw_ops.Relu",
        "jax.nn.relu",
        "mine.relu",
    ] {
        assert_eq!(
            table.find(path).map(|it| it.name.as_str()),
            Some("relu"),
            "{path}"
        );
    }
    assert!(
        table.find("torch.mine.relu").is_none(),
        "only exact names in a library"
    );
    assert!(table.find("mine.my_relu").is_none());
}

#[test]
fn every_unstable_entry_is_there_with_its_measured_regions() {
    let table = functions();
    assert!(table.unstable().len() >= 100);
    for family in [
        Family::Elementwise,
        Family::Reduction,
        Family::Loss,
        Family::Normalisation,
        Family::LinearAlgebra,
        Family::Distance,
        Family::Distribution,
        Family::Cast,
    ] {
        let mut entries = table.unstable().iter();
        assert!(entries.any(|entry| entry.family == family), "{family:?}");
    }
    let exp = table.unstable().iter().find(|it| it.name == "exp").unwrap();
    assert!((exp.regions[&Precision::F32].nonfinite[0][0] - 88.72284).abs() < 1e-4);
}

#[test]
fn workers_get_every_function_and_twin_in_the_words_of_the_files() {
    let json: serde_json::Value = serde_json::from_str(worker_json()).unwrap();
    let rows = |key: &str| json[key].as_array().unwrap().len();
    assert_eq!(rows("function"), functions().functions().len());
    assert!(rows("twin") >= 150);
    let functions = json["function"].as_array().unwrap();
    let sigmoid = functions.iter().find(|it| it["name"] == "sigmoid").unwrap();
    assert_eq!(sigmoid["range"]["high"], 1.0);
    assert_eq!(sigmoid["monotone"], "rising");
}

fn refusal(text: &str) -> String {
    let files = [("file.toml".to_owned(), text.to_owned())];
    let error = Table::read(files.into()).expect_err("the file is not valid");
    error.to_string()
}

const LOG: &str = r#"
[[function]]
name = "log"
torch = ["torch.log"]
"#;
const FAILS: &str = r#"
[[unstable]]
name = "log"
family = "elementwise"
objective = "interval"
functions = ["log"]
arguments = ["input"]
oracles = ["nonfinite"]
probe = "x = t"
regions.f32 = { nonfinite = [[-3.40282347e38, 0.0]], gradient_nonfinite = [] }
"#;

#[test]
fn what_is_not_valid_is_refused() {
    let both = format!("{LOG}{FAILS}");
    let twice = LOG.replace("\"log\"", "\"log_again\"");
    for (text, problem) in [
        (format!("{LOG}colour = \"red\"\n"), "colour"),
        (format!("{LOG}monotone = \"sideways\"\n"), "sideways"),
        (format!("{LOG}{LOG}"), "already belongs to `log`"),
        (
            format!("{LOG}{twice}"),
            "`torch.log` already belongs to `log`",
        ),
        (
            LOG.replace("\"torch.log\"", "\"numpy.log\""),
            "does not start with `torch.`",
        ),
        (
            LOG.replace("torch = [\"torch.log\"]", ""),
            "no name in any library",
        ),
        (
            format!("{LOG}range = {{ low = 1.0, high = 0.0 }}\n"),
            "is empty",
        ),
        (FAILS.to_owned(), "there is no function `log`"),
        (format!("{both}{FAILS}"), "is part of `log` too"),
        (both.replace("-3.40282347e38", "-1e39"), "is not valid"),
        (
            both.replace("[[-3.40282347e38, 0.0]]", "[[1.0, 0.0]]"),
            "is not valid",
        ),
        (both.replace("[\"nonfinite\"]", "[]"), "names no oracle"),
    ] {
        let told = refusal(&text);
        assert!(told.contains(problem), "{told} has no {problem:?}");
    }
    assert!(Table::read([("file.toml".to_owned(), both)].into()).is_ok());
}

/// Of one library, those listed names that lead nowhere.
fn missing(python: &std::path::Path, library: &str) -> String {
    let root = format!("{library}.");
    let table = functions();
    let also = table.unstable().iter().flat_map(|it| &it.also);
    let listed = table.functions().iter().flat_map(Function::listed);
    let names: Vec<&str> = listed
        .map(|(name, _)| name)
        .chain(also.map(String::as_str))
        .filter(|name| name.starts_with(&root))
        .collect();
    assert!(names.len() > 200, "{library}: {}", names.len());
    let script = r#"
import importlib, sys
for name in sys.argv[1].split():
    parts = name.split(".")
    value, path = importlib.import_module(parts[0]), parts[0]
    for part in parts[1:]:
        path += "." + part
        try:
            value = getattr(value, part) if hasattr(value, part) else importlib.import_module(path)
        except ImportError:
            print(name)
            break
"#;
    let output = Command::new(python)
        .args(["-c", script, &names.join(" ")])
        .output()
        .expect("the interpreter starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Names that came after the version that the tests use.
const NEWER: [&str; 3] = [
    "torch.linalg.polar",
    "torch.linalg.matrix_sqrth",
    "torch.Tensor.const_data_ptr",
];

#[test]
fn every_name_exists_in_the_real_libraries() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    for library in ["torch", "numpy"] {
        let missing = missing(&python, library);
        let missing: Vec<&str> = missing.lines().filter(|it| !NEWER.contains(it)).collect();
        assert!(missing.is_empty(), "these names do not exist: {missing:?}");
    }
}
