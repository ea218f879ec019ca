//! The rules that ship with Fissure hold on the library they were learned from.

mod support;

use serde_json::Value;
use support::{TestContext, run};

/// A function of two tensors, a reduction, a list of tensors, indices, a window, and a class.
const APIS: [&str; 6] = [
    "torch.add",
    "torch.argmax",
    "torch.meshgrid",
    "torch.index_select",
    "torch.nn.MaxPool2d",
    "torch.nn.RMSNorm",
];

#[test]
fn pytorch_accepts_what_shipped_rules_allow() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    let ran = run(context
        .command()
        .arg("fuzz")
        .args(APIS)
        .args(["--mode", "conform", "--mutate-p", "0", "--max-iter", "150"])
        .args(["--workdir", "out", "--json", "--python"])
        .arg(&python));
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let apis = summary["apis"].as_array().unwrap();
    assert_eq!(apis.len(), APIS.len(), "{ran:?}");
    for api in apis {
        let count = |name: &str| api["tally"][name].as_f64().unwrap();
        let accepted = count("conforming_accepted") / count("conforming");
        assert!(
            accepted >= 0.9,
            "{} accepts {accepted}: {}",
            api["api"]["title"],
            api["rejections"]
        );
    }
}
