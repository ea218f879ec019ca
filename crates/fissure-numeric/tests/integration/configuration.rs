//! Every key of the configuration file does what it says. The programs need NumPy only, so that a
//! scan takes a fraction of a second.

use std::path::Path;

use fissure_numeric::scan::{
    Config, Layout, ScanOptions, ScanReport, ScanTarget, scan, write_output,
};

const EXPONENTIALS: &str = "import numpy as np\nx = np.random.normal(size=6)\n\
                            print(np.exp(x).sum())\nprint(np.exp(x + 1.0).sum())\n";

/// Only one corner of the data makes the root fail: found by the direction search.
const CORNER: &str = "import numpy as np\nw = np.linspace(0.9, -0.6, 6)\n\
                      x = np.random.uniform(size=(20, 6))\nprint(np.sqrt(1.6 - x @ w).mean())\n";

fn configured(yaml: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yaml");
    std::fs::write(&path, yaml).unwrap();
    let config = Config::load(&path).unwrap();
    assert!(config.remarks.is_empty(), "{:?}", config.remarks);
    config
}

fn prepared(folder: &Path, text: &str, yaml: &str) -> Option<ScanOptions> {
    let python = fissure_testing::torch_python()?;
    let script = folder.join("program.py");
    std::fs::write(&script, text).unwrap();
    let target = ScanTarget::Script(script);
    let mut options = ScanOptions::new(target, python, folder.join("out"));
    options.config = configured(yaml);
    Some(options)
}

fn scanned(text: &str, yaml: &str) -> Option<ScanReport> {
    let folder = tempfile::tempdir().unwrap();
    let options = prepared(folder.path(), text, yaml)?;
    let report = scan(&options, &mut |_| {}).unwrap();
    assert!(!report.failed(), "{:?}", report.problems);
    Some(report)
}

#[test]
fn min_value_and_max_value_bound_inputs_whose_source_sets_no_range() {
    let Some(bounded) = scanned(EXPONENTIALS, "min_value: -5\nmax_value: 5\n") else {
        return;
    };
    assert!(bounded.findings.is_empty(), "{:?}", bounded.findings);
    let input = &bounded.inputs[0];
    assert_eq!((input.low, input.high), (Some(-5.0), Some(5.0)));
    let free = scanned(EXPONENTIALS, "").unwrap();
    assert_eq!(free.findings.len(), 2);
}

#[test]
fn stop_on_failure_ends_at_the_first_finding() {
    let Some(report) = scanned(
        "import numpy as np\nx = np.random.normal(size=6)\nprint(np.exp(x).sum())\n\
         y = np.random.normal(size=3)\nprint((1.0 / y).sum())\n",
        "stop_on_failure: true\n",
    ) else {
        return;
    };
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
}

#[test]
fn max_fuzz_iterations_limits_the_runs() {
    let Some(limited) = scanned(CORNER, "max_fuzz_iterations: 5\n") else {
        return;
    };
    // A run that confirms what the last one found may come on top.
    assert!(limited.runs <= 10, "{}", limited.runs);
    assert!(limited.findings.is_empty());
    let free = scanned(CORNER, "").unwrap();
    assert!(free.runs > 10);
    assert_eq!(free.findings.len(), 1);
}

#[test]
fn mutation_rate_and_oscillation_threshold_change_the_direction_search() {
    let Some(usual) = scanned(CORNER, "") else {
        return;
    };
    let fewer = scanned(CORNER, "mutation_rate: 0.2\n").unwrap();
    let patient = scanned(CORNER, "oscillation_threshold: 6\n").unwrap();
    assert_ne!(usual.runs, fewer.runs);
    assert_ne!(usual.runs, patient.runs);
}

#[test]
fn gradient_backprop_false_searches_without_gradients() {
    let text = "import torch\nx = torch.randn(6)\nprint(torch.exp(x).sum().item())\n";
    let Some(without) = scanned(text, "gradient_backprop: false\n") else {
        return;
    };
    assert_eq!(without.findings.len(), 1);
    assert!(!without.findings[0].label.contains("soft assertion"));
    let with = scanned(text, "gradient_backprop: true\n").unwrap();
    assert!(with.findings[0].label.contains("soft assertion"));
}

#[test]
fn tensor_size_is_the_side_of_the_arrays_made_for_a_function() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import numpy as np\n\ndef loss(values):\n    return np.exp(values).sum()\n";
    let Some(mut options) = prepared(folder.path(), text, "tensor_size: 7\n") else {
        return;
    };
    options.target = ScanTarget::FileFunction {
        file: folder.path().join("program.py"),
        function: "loss".to_owned(),
    };
    let report = scan(&options, &mut |_| {}).unwrap();
    assert!(!report.failed(), "{:?}", report.problems);
    assert!(
        report.inputs[0].shape.contains(&7),
        "{:?}",
        report.inputs[0].shape
    );
}

#[test]
fn the_logging_keys_decide_format_folder_and_whether_inputs_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("my-logs");
    let yaml = format!(
        "logging:\n  format: json\n  save_inputs: false\n  output_dir: {}\n",
        logs.display()
    );
    let Some(mut options) = prepared(folder.path(), EXPONENTIALS, &yaml) else {
        return;
    };
    options.layout = Layout::SoftAssertion;
    let report = scan(&options, &mut |_| {}).unwrap();
    let written = write_output(&options, &report).unwrap();
    assert_eq!(written, logs);
    let text = std::fs::read_to_string(logs.join("log_exp.json")).unwrap();
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["site"]["function"], "exp");
    assert_eq!(log["findings"][0]["oracle"], "nonfinite");
    assert!(logs.join("log_exp.txt").exists());
    assert!(logs.join("log_exp_line4.json").exists());
    assert!(!logs.join("inputs_failed.npy").exists());
    for finding in &report.findings {
        assert!(!finding.folder.join("inputs_failed.npy").exists());
    }
}

#[test]
fn a_timeout_of_the_file_is_kept_for_the_command() {
    let config = configured("timeout: 2.5\n");
    assert_eq!(
        config.timeout,
        Some(std::time::Duration::from_millis(2_500))
    );
}
