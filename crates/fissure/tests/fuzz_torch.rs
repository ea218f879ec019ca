//! `fissure fuzz` on the real PyTorch.

mod support;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use serde_json::Value;
use support::{TestContext, names, run};

#[test]
fn the_example_specs_describe_inputs_that_pytorch_accepts() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    let ran = run(context
        .command()
        .arg("fuzz")
        .arg(fissure_testing::root().join("examples/specs"))
        .args([
            "--mode",
            "conform",
            "--mutate-p",
            "0",
            "--max-iter",
            "400",
            "--workdir",
            "out",
        ])
        .args(["--json", "--python"])
        .arg(&python));
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let apis = summary["apis"].as_array().unwrap();
    assert!(apis.len() >= 10, "{ran:?}");
    for api in apis {
        let title = api["api"]["title"].as_str().unwrap();
        let count = |name: &str| api["tally"][name].as_f64().unwrap();
        let accepted = count("conforming_accepted") / count("conforming");
        // The one spec that leaves a relation to the library, so that it can be broken.
        let wanted = if title.ends_with("pixel_shuffle") {
            0.4
        } else {
            0.85
        };
        assert!(
            accepted >= wanted,
            "{title} accepts {accepted}: {}",
            api["rejections"]
        );
    }
}

#[test]
fn a_real_crash_of_pytorch_is_found_and_its_script_dies_of_it_without_fissure() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    let spec = "examples/specs/torch.nn.functional.pixel_shuffle.yaml";
    let ran = run(context
        .command()
        .arg("fuzz")
        .arg(fissure_testing::root().join(spec))
        .args(["--max-iter", "10000", "--workdir", "out", "--python"])
        .arg(&python));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let findings = names(&context.path("out/findings"));
    let crash = findings
        .iter()
        .find(|name| name.starts_with("torch.nn.functional.pixel_shuffle-crash-SIGFPE"))
        .unwrap_or_else(|| panic!("{findings:?}"));
    let script = context
        .path("out/findings")
        .join(crash)
        .join("reproduce.py");
    let text = std::fs::read_to_string(&script).unwrap();
    assert!(
        !text.contains("import fissure") && !text.contains("pickle"),
        "{text}"
    );
    let died = Command::new(&python).arg(script).output().unwrap();
    assert_eq!(died.status.signal(), Some(8), "{died:?}");
}

#[test]
fn a_spec_is_compared_with_the_installed_library() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    let spec = context.write(
        "spec.yaml",
        "title: torch.add\npackage: torch\ntarget: add\nversion: '1'\nlink: ''\n\
         inputs: {required: [input, othr], optional: []}\n\
         constraints: {input: {tensor_t: [torch.tensor]}, othr: {tensor_t: [torch.tensor]}}\n",
    );
    let ran = run(context
        .command()
        .args(["specs", "show"])
        .arg(spec)
        .arg("--python")
        .arg(&python));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("confirmed") && ran.stdout.contains("input"),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("othr") && ran.stdout.contains("other"),
        "{ran:?}"
    );
}
