//! `fissure train` and `fissure assertions` as a user runs them.

mod support;

use std::path::Path;

use support::{Ran, TestContext, run};

fn fissure(context: &TestContext, arguments: &[&str]) -> Ran {
    run(context.command().args(arguments))
}

fn with_python(context: &TestContext, python: &Path, arguments: &[&str]) -> Ran {
    run(context
        .command()
        .args(arguments)
        .arg("--python")
        .arg(python))
}

#[test]
fn every_shipped_file_loads_and_there_are_at_least_61_functions() {
    let context = TestContext::new();
    let ran = fissure(&context, &["assertions", "list", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut functions: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| {
            let entry: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
            entry["function"].as_str().expect("a name").to_owned()
        })
        .collect();
    functions.sort();
    functions.dedup();
    assert!(functions.len() >= 61, "{}", functions.len());
}

#[test]
fn the_model_of_log_knows_where_log_fails() {
    let context = TestContext::new();
    let ran = fissure(&context, &["assertions", "show", "log"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("no change"), "{}", ran.stdout);
    assert!(ran.stdout.contains(": decrease"), "{}", ran.stdout);
    assert!(ran.stdout.contains("torch.log"), "{}", ran.stdout);
}

#[test]
fn wrong_names_and_oracles_are_usage_errors_that_say_what_to_do() {
    let context = TestContext::new();
    for (arguments, hint) in [
        (&["train", "nothing_like_it"][..], "assertions list"),
        (&["train", "my.function"][..], "needs --oracle"),
        (
            &["train", "my.function", "--oracle", "missing.py"][..],
            "neither an oracle nor a file",
        ),
        (
            &["train", "my.function", "--oracle", "rewrite"][..],
            "Python file",
        ),
        (&["train", "log", "--oracle", "nonfinite"][..], "your own"),
        (&["train", "log", "--dtypes", "int8"][..], "float16"),
        (&["assertions", "show", "nothing"][..], "assertions list"),
    ] {
        let ran = fissure(&context, arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(hint), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let context = TestContext::new();
    context.write("x.safetensors", "nonsense");
    let ran = fissure(&context, &["assertions", "show", "x.safetensors"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("is not a soft assertion"), "{ran:?}");
}

#[test]
fn a_type_in_which_nothing_fails_gets_no_model() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    let arguments = ["train", "cast_half", "--dtypes", "float16"];
    let ran = with_python(&context, &python, &arguments);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("it never fails here"), "{ran:?}");
    assert!(ran.stderr.contains("nothing was trained"), "{ran:?}");
}

/// The guide of docs/soft-assertions.md, step by step.
#[test]
fn the_guide_to_a_function_of_ones_own_works() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let root = fissure_testing::root();
    let guide = std::fs::read_to_string(root.join("docs/soft-assertions.md")).unwrap();
    let context = TestContext::new();
    for name in ["transport.py", "transport_oracle.py", "device.py"] {
        let text = std::fs::read_to_string(root.join("examples/own-function").join(name)).unwrap();
        assert!(guide.contains(&text), "the guide shows another {name}");
        context.write(name, &text);
    }
    let ran = with_python(
        &context,
        &python,
        &[
            "train",
            "transport.bernoulli",
            "--oracle",
            "transport_oracle.py",
            "--dtypes",
            "float32",
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let project = std::fs::read_to_string(context.path("fissure.toml")).unwrap();
    assert!(guide.contains(project.trim()), "{project}");
    let shown = fissure(&context, &["assertions", "show", "transport.bernoulli"]);
    assert!(shown.stdout.contains("no change"), "{}", shown.stdout);
    assert!(shown.stdout.contains("8.87"), "{}", shown.stdout);
    assert!(shown.stdout.contains("oracles: own"), "{}", shown.stdout);
    let scanned = with_python(&context, &python, &["scan", "device.py"]);
    assert_eq!(scanned.code, Some(1), "{scanned:?}");
    assert!(
        scanned.stdout.contains("transport.bernoulli"),
        "{}",
        scanned.stdout
    );
}

#[test]
fn an_oracle_file_without_an_oracle_is_explained() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write(
        "own.py",
        "import torch\n\ndef f(x):\n    return torch.log(x)\n",
    );
    context.write("empty.py", "x = 1\n");
    let arguments = [
        "train", "own.f", "--oracle", "empty.py", "--dtypes", "float32",
    ];
    let ran = with_python(&context, &python, &arguments);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("oracle(inputs, output)"), "{ran:?}");
    let missing = [
        "train",
        "own.g",
        "--oracle",
        "nonfinite",
        "--dtypes",
        "float32",
    ];
    let ran = with_python(&context, &python, &missing);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("has no function `g`"), "{ran:?}");
}

/// TensorFlow's models steer TensorFlow's calls, and the report says which source did.
#[test]
fn a_scan_of_tensorflow_is_steered_by_what_was_learned_when_asked_to() {
    let Some(python) = fissure_testing::library_python("tensorflow", "tensorflow-cpu==2.21.0")
    else {
        return;
    };
    let context = TestContext::new();
    let root = fissure_testing::root();
    let name = "tf_histogram_entropy.py";
    let program = std::fs::read_to_string(root.join("examples/numeric").join(name)).unwrap();
    context.write(name, &program);
    for (kind, signal) in [
        ("learned", "decrease (learned)"),
        ("best", "decrease (analytic)"),
    ] {
        let arguments = ["scan", name, "--assertions", kind, "--output", kind];
        let ran = with_python(&context, &python, &arguments);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let report = context.path(kind).join("report.json");
        let report = std::fs::read_to_string(report).unwrap();
        assert!(report.contains(signal), "{kind}: {report}");
    }
}

#[test]
fn the_share_of_samples_left_out_is_shown() {
    let context = TestContext::new();
    let ran = fissure(&context, &["assertions", "show", "layer_norm"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown = ran
        .stdout
        .matches("left out, because their label is luck")
        .count();
    assert_eq!(shown, 4, "{}", ran.stdout);
    assert!(!ran.stdout.contains("not recorded"), "{}", ran.stdout);
    let table = fissure(
        &context,
        &["assertions", "eval", "layer_norm", "--recorded"],
    );
    let row = table
        .stdout
        .lines()
        .find(|line| line.starts_with("| layer_norm"));
    let row = row.expect("a row of the table");
    assert!(row.trim_end().ends_with("% |"), "{row}");
}
