//! The rules that ship with Fissure hold on the library they were learned from.

mod support;

use std::path::PathBuf;

use serde_json::Value;
use support::{TestContext, run};

/// Draws inputs from the shipped rules; nothing happens where the library cannot be had, which was
/// already said.
fn accepts_what_rules_allow(python: Option<PathBuf>, titles: &[&str], inputs: &str) {
    let Some(python) = python else {
        return;
    };
    let context = TestContext::new();
    let ran = run(context
        .command()
        .arg("fuzz")
        .args(titles)
        .args(["--mode", "conform", "--mutate-p", "0", "--max-iter", inputs])
        .args(["--workdir", "out", "--oracles", "fatal-signal", "--json"])
        .arg("--python")
        .arg(&python));
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let apis = summary["apis"].as_array().unwrap();
    assert_eq!(apis.len(), titles.len(), "{ran:?}");
    for api in apis {
        // A crash is a failure of the library, on some processors only, and says nothing of its rules.
        let counts = &api["tally"]["counts"];
        let count = |name: &str| counts[name].as_f64().unwrap();
        let (accepted, refused) = (count("accepted"), count("rejected") + count("not-built"));
        assert!(
            accepted >= 9.0 * refused && accepted > 0.0,
            "{} accepts {accepted}, refuses {refused}: {}",
            api["api"]["title"],
            api["rejections"]
        );
    }
}

#[test]
fn pytorch_accepts_what_shipped_rules_allow() {
    // A function of two tensors, a reduction, a list of tensors, indices, a window, and a class.
    let titles = [
        "torch.add",
        "torch.argmax",
        "torch.meshgrid",
        "torch.index_select",
        "torch.nn.MaxPool2d",
        "torch.nn.RMSNorm",
    ];
    accepts_what_rules_allow(fissure_testing::torch_python(), &titles, "150");
}

#[test]
fn tensorflow_accepts_what_shipped_rules_allow() {
    // Two tensors, an axis, a matrix product, an image, a dtype that must be the same.
    let titles = [
        "tf.math.add",
        "tf.argsort",
        "tf.linalg.matmul",
        "tf.image.adjust_hue",
        "tf.clip_by_value",
    ];
    let python = fissure_testing::library_python("tensorflow", "tensorflow-cpu==2.21.0");
    accepts_what_rules_allow(python, &titles, "150");
}

#[test]
fn jax_accepts_what_shipped_rules_allow() {
    // Few inputs: JAX compiles for each new shape.
    let titles = ["jax.lax.add", "jax.nn.log_softmax", "jax.numpy.argsort"];
    let python = fissure_testing::library_python("jax", "jax==0.7.1");
    accepts_what_rules_allow(python, &titles, "16");
}
