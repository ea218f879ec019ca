//! A reproducer gives the program exactly the failing bits, and a fix is judged by its digits.

use std::path::Path;
use std::process::Command;

use fissure_numeric::scan::{ScanOptions, ScanReport, ScanTarget, scan};

fn scanned(python: &Path, folder: &Path, text: &str) -> ScanReport {
    let script = folder.join("program.py");
    std::fs::write(&script, text).unwrap();
    let options = ScanOptions::new(
        ScanTarget::Script(script),
        python.to_owned(),
        folder.join("out"),
    );
    let report = scan(&options, &mut |_| {}).unwrap();
    assert!(!report.failed(), "{:?}", report.problems);
    report
}

/// Standard output and exit code.
fn run(python: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(python).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text, output.status.code())
}

/// The program prints its input in hexadecimal; so does a reader of `inputs_failed.npy`.
fn bits_agree(text: &str) {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let report = scanned(&python, folder.path(), text);
    let finding = report.findings.first().expect("the exponential overflows");
    let script = finding.folder.join("reproduce.py");
    let (printed, code) = run(&python, &[script.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{printed}");
    let seen = printed
        .lines()
        .find(|line| line.starts_with("bits "))
        .expect("the program printed its input");
    let saved = finding.folder.join("inputs_failed.npy");
    let reader = "import sys, numpy\nrecord = numpy.load(sys.argv[1])\n\
                  print('bits', [value.hex() for value in record['x'].ravel().tolist()])";
    let (wanted, _) = run(&python, &["-c", reader, saved.to_str().unwrap()]);
    assert_eq!(seen, wanted.trim_end());
}

#[test]
fn a_torch_reproducer_is_exact_to_the_last_bit() {
    bits_agree(
        "import torch\nx = torch.randn(7)\nprint('bits', [v.hex() for v in x.tolist()])\n\
         print(torch.exp(x / 3).sum().item())\n",
    );
}

#[test]
fn a_numpy_reproducer_is_exact_to_the_last_bit() {
    bits_agree(
        "import numpy as np\nx = np.random.normal(size=7)\n\
         print('bits', [v.hex() for v in x.tolist()])\nprint(np.exp(x / 3).sum())\n",
    );
}

#[test]
fn wrong_digits_of_numpy_are_reproduced_bit_by_bit() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let report = scanned(
        &python,
        folder.path(),
        "import numpy as np\nx = np.random.normal(size=50)\nm = np.mean(x)\n\
         v = np.mean(x * x) - m * m\nprint(float(v))\n",
    );
    let finding = report
        .findings
        .iter()
        .find(|finding| finding.site.line == 4)
        .expect("the variance loses its digits");
    let script = finding.folder.join("reproduce.py");
    let (printed, code) = run(&python, &[script.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("bit by bit"), "{printed}");
    let fix = finding.fix.as_ref().expect("var is a checked fix");
    assert!(fix.diff.contains(".var("), "{}", fix.diff);
}

#[test]
fn a_floor_that_hides_the_nan_but_not_the_lost_digits_is_no_fix() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/numeric/running_variance.py");
    let text = std::fs::read_to_string(program).unwrap();
    let report = scanned(&python, folder.path(), &text);
    let lost: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| ["sqrt", "sub"].contains(&finding.site.function.as_str()))
        .collect();
    assert_eq!(lost.len(), 2, "{:?}", report.findings);
    for finding in lost {
        assert!(finding.fix.is_none(), "{:?}", finding.fix);
        assert!(
            finding
                .refused_fixes
                .iter()
                .any(|(_, reason)| reason.contains("is right")),
            "{:?}",
            finding.refused_fixes
        );
        assert!(finding.precondition.is_some());
    }
}

#[test]
fn a_program_without_a_seed_gives_a_finding_that_reproduces() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let report = scanned(
        &python,
        folder.path(),
        "import time\nimport numpy as np\ngenerator = np.random.default_rng(time.time_ns())\n\
         x = generator.normal(size=5)\nprint(np.exp(x).sum())\n",
    );
    let finding = report.findings.first().expect("the exponential overflows");
    let script = finding.folder.join("reproduce.py");
    for _ in 0..2 {
        let (printed, code) = run(&python, &[script.to_str().unwrap()]);
        assert_eq!(code, Some(1), "{printed}");
    }
}
