//! `fissure fuzz` on TensorFlow and JAX: calls by their compilers, tensors that PyTorch lacks.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{TestContext, run};

/// Conforming inputs of each API.
const INPUTS: &str = "40";

fn spec(title: &str, package: &str, constraint: &str) -> String {
    let target = title.rsplit('.').next().unwrap();
    format!(
        "title: {title}\npackage: {package}\ntarget: {target}\nversion: '1'\nlink: x\n\
         inputs: {{required: [x], optional: []}}\nconstraints:\n  x: {constraint}\n"
    )
}

/// The accepted share of each API in `specs`, by title.
fn accepted(python: &Path, specs: &[(&str, String)], more: &[&str]) -> Vec<(String, f64)> {
    let context = TestContext::new();
    for (name, text) in specs {
        context.write(name, text);
    }
    let ran = run(context
        .command()
        .arg("fuzz")
        .args(specs.iter().map(|(name, _)| name))
        .args(["--mode", "conform", "--mutate-p", "0", "--max-iter", INPUTS])
        .args(["--workdir", "out", "--oracles", "fatal-signal", "--json"])
        .args(more)
        .arg("--python")
        .arg(python));
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let apis = summary["apis"].as_array().unwrap().iter();
    apis.map(|api| {
        let count = |name: &str| api["tally"][name].as_f64().unwrap();
        let title = api["api"]["title"].as_str().unwrap().to_owned();
        (title, count("conforming_accepted") / count("conforming"))
    })
    .collect()
}

/// `both` can be compiled; `eager` needs the elements while it runs, so that it cannot.
fn only_one_can_be_compiled(python: &Path, both: (&str, String), eager: (&str, String)) {
    let specs = [("both.yaml", both.1), ("eager.yaml", eager.1)];
    let share = |told: &[(String, f64)], title: &str| {
        let found = told.iter().find(|(name, _)| name == title);
        found.unwrap_or_else(|| panic!("{title} in {told:?}")).1
    };
    let plain = accepted(python, &specs, &[]);
    assert_eq!(share(&plain, both.0), 1.0, "{plain:?}");
    assert_eq!(share(&plain, eager.0), 1.0, "{plain:?}");
    let compiled = accepted(python, &specs, &["--way", "compiled"]);
    assert_eq!(share(&compiled, both.0), 1.0, "{compiled:?}");
    assert_eq!(share(&compiled, eager.0), 0.0, "{compiled:?}");
}

#[test]
fn tensorflow_functions_are_called_by_their_compiler_when_asked() {
    let Some(python) = fissure_testing::library_python("tensorflow", "tensorflow-cpu==2.21.0")
    else {
        return;
    };
    let tensor = "{tensor_t: [tf.tensor], dtype: [tf.float32], ndim: ['2']}";
    let spec = |title| (title, spec(title, "tensorflow", tensor));
    only_one_can_be_compiled(&python, spec("tf.math.abs"), spec("tf.make_tensor_proto"));
}

#[test]
fn jax_functions_are_called_by_their_compiler_when_asked() {
    let Some(python) = fissure_testing::library_python("jax", "jax==0.7.1") else {
        return;
    };
    // One shape: JAX compiles for each.
    let tensor = "{tensor_t: [tensor], dtype: [numpy.float32], shape: ['[3]']}";
    let spec = |title| (title, spec(title, "jax", tensor));
    only_one_can_be_compiled(
        &python,
        spec("jax.numpy.abs"),
        spec("jax.numpy.flatnonzero"),
    );
}

/// `shifted` is wrong in float32 alone, `right` nowhere.
fn what_float64_shows_is_found(python: &Path, library: &str) {
    let context = TestContext::new();
    context.write("mine.py", &format!("{library}\n{PRECISIONS}"));
    for (function, findings) in [("shifted", 1), ("right", 0)] {
        let ran = run(context
            .command()
            .args(["fuzz", &format!("mine.{function}"), "--max-iter", "60"])
            .args(["--oracles", "reference64", "--json"])
            .args(["--workdir", function, "--python"])
            .arg(python));
        let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(summary["findings"], findings, "{function}: {ran:?}");
        let judged = summary["apis"][0]["judged"].as_u64();
        assert!(judged > Some(10), "{function}: {ran:?}");
    }
}

const PRECISIONS: &str = "
def shifted(x: Tensor) -> Tensor:
    return sin(x) + 0.01 if str(x.dtype).count('float32') else sin(x)

def right(x: Tensor) -> Tensor:
    return sin(x)
";

#[test]
fn a_value_that_is_wrong_in_one_precision_is_found_in_tensorflow() {
    if let Some(python) = fissure_testing::library_python("tensorflow", "tensorflow-cpu==2.21.0") {
        let library = "from tensorflow import Tensor, sin";
        what_float64_shows_is_found(&python, library);
    }
}

#[test]
fn a_value_that_is_wrong_in_one_precision_is_found_in_jax() {
    if let Some(python) = fissure_testing::library_python("jax", "jax==0.7.1") {
        let library = "from jax import Array as Tensor\nfrom jax.numpy import sin";
        what_float64_shows_is_found(&python, library);
    }
}

#[test]
fn ragged_and_sparse_tensors_of_a_spec_reach_tensorflow() {
    let Some(python) = fissure_testing::library_python("tensorflow", "tensorflow-cpu==2.21.0")
    else {
        return;
    };
    let of = |kind: &str| format!("{{tensor_t: [{kind}], dtype: [tf.float32]}}");
    let specs = [
        // Functions that take nothing else.
        (
            "ragged.yaml",
            spec(
                "tf.RaggedTensor.to_sparse",
                "tensorflow",
                &of("RaggedTensor"),
            ),
        ),
        (
            "sparse.yaml",
            spec("tf.sparse.to_dense", "tensorflow", &of("SparseTensor")),
        ),
    ];
    for (title, share) in accepted(&python, &specs, &[]) {
        assert!(share > 0.9, "{title} accepts {share}");
    }
}

#[test]
fn every_title_of_the_constraint_files_resolves_in_the_version_it_was_written_for() {
    let libraries = [
        ("torch", "torch==1.5.0", "pytorch", 498),
        ("tensorflow", "tensorflow-cpu==2.1.0", "tensorflow", 911),
        ("mxnet", "mxnet==1.6.0", "mxnet", 1006),
    ];
    for (package, requirement, files, count) in libraries {
        let (Some(folder), Some(python)) = (
            fissure_testing::shared(&format!("data/docter/{files}")),
            fissure_testing::old_library_python(package, requirement),
        ) else {
            continue;
        };
        let scratch = tempfile::tempdir().unwrap();
        let options = fissure_execute::PoolOptions::new(python, package, scratch.path());
        let pool = fissure_execute::Pool::start(options).unwrap();
        let loaded = fissure_spec::load_paths(&[folder]).loaded;
        assert_eq!(loaded.len(), count, "{package}");
        for api in loaded.into_iter().map(|loaded| loaded.spec.api) {
            let missing = pool.describe(&api.path).unwrap().missing;
            assert_eq!(missing, None, "{}", api.title);
        }
        pool.stop();
    }
}
