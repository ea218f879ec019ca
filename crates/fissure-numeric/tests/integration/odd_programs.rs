//! Programs that are no ordinary training script: each gets a clear answer.

use std::path::Path;
use std::time::Duration;

use fissure_numeric::scan::{Bounds, ScanError, ScanReport, scan};

fn scan_text(
    text: &str,
    change: impl FnOnce(&mut fissure_numeric::scan::ScanOptions),
) -> Option<ScanReport> {
    let python = fissure_testing::torch_python()?;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("program.py");
    std::fs::write(&script, text).unwrap();
    let mut options = crate::support::options(
        &python,
        script.to_str().unwrap(),
        &folder.path().join("out"),
    );
    change(&mut options);
    Some(crate::support::run(&options))
}

fn complaint(report: &ScanReport) -> String {
    report
        .problems
        .iter()
        .map(|problem| problem.message.clone())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_syntax_error_is_shown_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("program.py");
    std::fs::write(&script, "import torch\nx = torch.rand(3\n").unwrap();
    let options = crate::support::options(
        Path::new("python3"),
        script.to_str().unwrap(),
        folder.path(),
    );
    match scan(&options, &mut |_| {}) {
        Err(ScanError::Syntax(error)) => assert!(error.line >= 2, "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_file_is_named() {
    let options =
        crate::support::options(Path::new("python3"), "no/such/file.py", Path::new("out"));
    match scan(&options, &mut |_| {}) {
        Err(error @ ScanError::Read { .. }) => {
            assert!(error.to_string().contains("no/such/file.py"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_infinite_loop_is_stopped_and_what_it_did_is_searched() {
    let report = scan_text(
        "import torch\nx = torch.randn(4)\ny = torch.log(x * x)\nwhile True:\n    pass\n",
        |options| options.own_run_timeout = Duration::from_secs(2),
    );
    let Some(report) = report else { return };
    assert!(
        complaint(&report).contains("still ran after"),
        "{}",
        complaint(&report)
    );
    assert!(report.findings.iter().any(|finding| finding.site.line == 3));
}

#[test]
fn a_program_that_asks_for_input_is_told_so() {
    let Some(report) = scan_text("import torch\nname = input('name? ')\n", |_| {}) else {
        return;
    };
    assert!(report.failed());
    assert!(
        complaint(&report).contains("input('name? ')"),
        "{}",
        complaint(&report)
    );
}

#[test]
fn a_program_that_exits_is_still_searched() {
    let report = scan_text(
        "import sys\nimport torch\nx = torch.randn(4)\nprint(torch.log(x * x).sum().item())\nsys.exit(0)\n",
        |_| {},
    );
    let Some(report) = report else { return };
    assert!(!report.failed(), "{}", complaint(&report));
    assert!(report.findings.iter().any(|finding| finding.site.line == 4));
}

#[test]
fn a_missing_module_is_named() {
    let Some(report) = scan_text("import torch\nimport no_such_module\n", |_| {}) else {
        return;
    };
    assert!(report.failed());
    let text = complaint(&report);
    assert!(
        text.contains("no_such_module") && text.contains("--python"),
        "{text}"
    );
}

#[test]
fn a_program_without_unstable_calls_has_no_finding() {
    let text = "import torch\nprint(torch.ones(3) + 1.0)\n";
    let Some(report) = scan_text(text, |_| {}) else {
        return;
    };
    assert!(!report.failed());
    assert!(report.findings.is_empty() && report.sites.is_empty());
}

#[test]
fn a_program_of_which_nothing_could_be_run_is_not_called_clean() {
    let Some(report) = scan_text("print('nothing to see')\n", |_| {}) else {
        return;
    };
    assert!(report.nothing_ran() && report.failed());
}

#[test]
fn a_program_that_ran_in_part_is_not_called_clean() {
    let begin = "import torch\nx = torch.rand(4) + 1.0\nprint(x * 2.0)\n";
    for end in [
        "raise RuntimeError('no device')\n",
        "import sys\nsys.exit('no output given')\n",
        "def never():\n    return torch.log(x - 1.0)\n",
    ] {
        let Some(report) = scan_text(&format!("{begin}{end}"), |_| {}) else {
            return;
        };
        assert!(report.failed(), "{end}");
        assert!(
            complaint(&report).contains("only a part of the program was scanned"),
            "{}",
            complaint(&report)
        );
    }
    let Some(report) = scan_text(begin, |_| {}) else {
        return;
    };
    assert!(!report.failed(), "{}", complaint(&report));
}

#[test]
fn a_process_that_ends_itself_without_an_error_is_reported() {
    let text = "import os\nimport torch\nx = torch.rand(2)\nos._exit(0)\n";
    let Some(report) = scan_text(text, |_| {}) else {
        return;
    };
    assert!(report.failed());
    assert!(
        complaint(&report).contains("exit code 0"),
        "{}",
        complaint(&report)
    );
}

#[test]
fn a_process_that_kills_itself_is_reported() {
    let text = "import os\nimport torch\nx = torch.rand(2)\nos._exit(7)\n";
    let Some(report) = scan_text(text, |_| {}) else {
        return;
    };
    assert!(report.failed());
    assert!(complaint(&report).contains("7"), "{}", complaint(&report));
}

#[test]
fn plots_files_of_its_own_folder_and_arguments_work() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("numbers.txt"), "1.0 2.0 3.0").unwrap();
    std::fs::write(
        folder.path().join("helper.py"),
        "import torch\n\ndef safe(x):\n    return torch.log(x)\n",
    )
    .unwrap();
    let script = folder.path().join("program.py");
    std::fs::write(
        &script,
        "import sys\nimport torch\nfrom helper import safe\nvalues = [float(word) for word in open('numbers.txt').read().split()]\n\
         x = torch.tensor(values)\nassert sys.argv[1:] == ['--name', 'value']\nprint(safe(x).sum().item())\n",
    )
    .unwrap();
    let mut options = crate::support::options(
        &python,
        script.to_str().unwrap(),
        &folder.path().join("out"),
    );
    options.arguments = vec!["--name".to_owned(), "value".to_owned()];
    let report = crate::support::run(&options);
    assert!(!report.failed(), "{}", complaint(&report));
    let finding = report
        .findings
        .first()
        .expect("log of a changed tensor fails");
    assert!(
        finding.site.file.ends_with("helper.py"),
        "{:?}",
        finding.site
    );
}

#[test]
fn a_bounded_source_is_not_driven_outside_its_range_unless_asked() {
    let text = "import torch\nx = torch.rand(8)\nprint(torch.exp(100 * x - 50).sum().item())\n";
    let Some(report) = scan_text(text, |_| {}) else {
        return;
    };
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let asked = scan_text(text, |options| {
        options.inputs.insert(
            "x".to_owned(),
            Bounds {
                low: Some(0.0),
                high: Some(2.0),
            },
        );
    });
    assert!(!asked.unwrap().findings.is_empty());
}

#[test]
fn a_frozen_input_is_left_alone() {
    let text = "import torch\nx = torch.randn(8)\nprint(torch.exp(x).sum().item())\n";
    let Some(free) = scan_text(text, |_| {}) else {
        return;
    };
    assert_eq!(free.findings.len(), 1);
    let frozen = scan_text(text, |options| options.freeze.push("x".to_owned())).unwrap();
    assert!(frozen.findings.is_empty());
}

#[test]
fn the_level_limits_the_search() {
    let text = "import torch\nx = torch.randn(8)\nprint(torch.exp(x).sum().item())\n";
    let Some(report) = scan_text(text, |options| options.level = 1) else {
        return;
    };
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn a_marked_region_needs_no_installed_package() {
    let text = "import torch\nfrom softassertion.analysis.boundary_tracer import start_fuzz, end_fuzz\n\
                a = torch.log(torch.randn(3).abs())\nx = torch.randn(8)\nstart_fuzz()\ny = torch.exp(x)\nend_fuzz()\n\
                z = torch.log(x.abs())\n";
    let Some(report) = scan_text(text, |_| {}) else {
        return;
    };
    let lines: Vec<usize> = report
        .findings
        .iter()
        .map(|finding| finding.site.line)
        .collect();
    assert_eq!(lines, [6], "{:?}", report.problems);
}

#[test]
fn a_function_of_a_file_gets_arguments() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("losses.py");
    std::fs::write(
        &script,
        "import torch\n\ndef focal_loss(logits, targets, gamma: float = 2.0):\n    p = torch.sigmoid(logits)\n    \
         return -(targets * (1 - p) ** gamma * torch.log(p)).mean()\n\nclass Head:\n    def __init__(self, scale: float = 1.0):\n        \
         self.scale = scale\n\n    def ratio(self, a, b):\n        return self.scale * a / b\n",
    )
    .unwrap();
    for (function, line) in [("focal_loss", 5), ("Head.ratio", 12)] {
        let target = format!("{}::{function}", script.display());
        let options = crate::support::options(&python, &target, &folder.path().join(function));
        let report = crate::support::run(&options);
        assert!(
            report
                .findings
                .iter()
                .any(|finding| finding.site.line == line),
            "{function}: {:?} {:?}",
            report.findings,
            report.problems
        );
    }
}

#[test]
fn weights_alone_can_be_the_trigger() {
    // The weights start at zero: no input moves the logits.
    let text = "import torch\nx = torch.randn(8, 4)\nw = torch.zeros(4, 3, requires_grad=True)\n\
                p = torch.softmax(x @ w, dim=1)\nloss = -torch.log(p)[:, 0].mean()\nloss.backward()\n";
    let Some(report) = scan_text(text, |_| {}) else {
        return;
    };
    let finding = report
        .findings
        .iter()
        .find(|finding| finding.site.line == 5)
        .expect("log(softmax) fails with other weights");
    assert_eq!(finding.level, fissure_model::TriggerLevel::L3);
}

#[test]
fn a_reproducer_with_weights_runs_without_fissure() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("program.py");
    std::fs::write(
        &script,
        "import torch\nfrom torch import nn\n\nmodel = nn.Linear(3, 2)\n\
         x = torch.rand(4, 3)\nprint(torch.log(torch.softmax(model(x), dim=1)).sum().item())\n",
    )
    .unwrap();
    let options = crate::support::options(
        &python,
        script.to_str().unwrap(),
        &folder.path().join("out"),
    );
    let report = crate::support::run(&options);
    let finding = report
        .findings
        .first()
        .expect("log(softmax) fails with other weights");
    assert_eq!(finding.level, fissure_model::TriggerLevel::L3);
    let run = std::process::Command::new(&python)
        .arg(finding.folder.join("reproduce.py"))
        .output()
        .unwrap();
    assert_eq!(
        run.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&run.stdout)
    );
    let fix = finding.fix.as_ref().expect("log_softmax is a checked fix");
    assert!(fix.diff.contains("log_softmax"), "{}", fix.diff);
}

#[test]
fn the_files_of_a_scan_are_all_there() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("program.py");
    std::fs::write(
        &script,
        "import torch\nx = torch.randn(4)\nprint(torch.exp(x).sum().item())\n\
         print(torch.exp(x + 1).sum().item())\n",
    )
    .unwrap();
    let output = folder.path().join("out");
    let options = crate::support::options(&python, script.to_str().unwrap(), &output);
    let report = crate::support::run(&options);
    let logs = fissure_numeric::scan::write_output(&options, &report).unwrap();
    for name in [
        "summary_report.json",
        "trace.log",
        "inputs_failed.npy",
        "log_exp.txt",
        "log_exp_line4.txt",
    ] {
        assert!(logs.join(name).exists(), "{name}");
    }
    let summary: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(logs.join("summary_report.json")).unwrap())
            .unwrap();
    for key in [
        "function",
        "file",
        "line",
        "status",
        "oracle",
        "level",
        "input",
        "model_signal",
        "severity",
        "producer",
        "elapsed_time",
    ] {
        assert!(summary[0].get(key).is_some(), "{key}");
    }
}

#[test]
fn missing_arguments_of_the_program_are_shown_in_its_own_words() {
    let text = "import argparse\nimport torch\nparser = argparse.ArgumentParser()\n\
                parser.add_argument('--size', required=True)\nparser.parse_args()\n";
    let Some(report) = scan_text(text, |_| {}) else {
        return;
    };
    assert!(report.failed());
    let text = complaint(&report);
    assert!(
        text.contains("--size") && text.contains("after `--`"),
        "{text}"
    );
}

#[test]
fn a_function_that_does_not_exist_is_named() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("losses.py");
    std::fs::write(&script, "import torch\n").unwrap();
    let target = format!("{}::focal", script.display());
    let options = crate::support::options(&python, &target, &folder.path().join("out"));
    let report = crate::support::run(&options);
    assert!(report.failed());
    assert!(
        complaint(&report).contains("no `focal`"),
        "{}",
        complaint(&report)
    );
}
