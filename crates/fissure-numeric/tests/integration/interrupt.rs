//! Ctrl-C, huge data, plots: what a scan does with programs that take their time or their space.

use std::time::Duration;

use fissure_numeric::scan::{Progress, ScanOptions, ScanReport, ScanTarget, scan};

fn prepared(text: &str) -> Option<(tempfile::TempDir, ScanOptions)> {
    let python = fissure_testing::torch_python()?;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("program.py");
    std::fs::write(&script, text).unwrap();
    let output = folder.path().join("out");
    let options = ScanOptions::new(ScanTarget::Script(script), python, output);
    Some((folder, options))
}

fn scanned(text: &str) -> Option<ScanReport> {
    let (_folder, options) = prepared(text)?;
    Some(scan(&options, &mut |_| {}).unwrap())
}

/// Each file of tests is one process, and an interrupt is for its one scan: so this test runs the
/// scan in a process of its own, this very program again.
#[test]
fn an_interrupt_ends_the_search_and_what_was_found_is_reported() {
    const INSIDE: &str = "FISSURE_TEST_INTERRUPTED_SCAN";
    if std::env::var_os(INSIDE).is_none() {
        if fissure_testing::torch_python().is_none() {
            return;
        }
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "interrupt::an_interrupt_ends_the_search_and_what_was_found_is_reported",
            ])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stdout)
        );
        return;
    }
    // The own data fail at once; the search would go on for many seconds.
    let text = "import time\nimport numpy as np\nx = np.random.normal(size=6)\n\
                y = np.log(x - x)\ntime.sleep(0.5)\nprint(np.exp(x).sum())\n";
    let (_folder, mut options) = prepared(text).expect("asked before");
    options.timeout = Duration::from_secs(600);
    let report = scan(&options, &mut |progress| {
        if let Progress::Understood { .. } = progress {
            std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(700));
                fissure_numeric::scan::interrupt();
            });
        }
    })
    .unwrap();
    assert!(report.interrupted);
    assert!(!report.failed(), "{:?}", report.problems);
    assert_eq!(report.findings[0].site.line, 4);
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.kind == "interrupted"),
        "{:?}",
        report.problems
    );
}

#[test]
fn data_too_large_to_be_searched_is_said_and_left_as_it_is() {
    let Some((_folder, mut options)) = prepared(
        "import numpy as np\nlarge = np.frombuffer(bytearray(8 * 20_000_001))\n\
         print(np.exp(large[0]))\n",
    ) else {
        return;
    };
    // The search itself is not the point here, and each run of it makes the data again.
    options.level = 0;
    let report = scan(&options, &mut |_| {}).unwrap();
    assert!(!report.failed(), "{:?}", report.problems);
    assert!(
        report
            .trace
            .iter()
            .any(|line| line.contains("large is too large")),
        "{:?}",
        report.trace
    );
}

#[test]
fn plots_go_nowhere_and_nobody_is_asked() {
    let Some(report) = scanned(
        "import os, sys\nimport numpy as np\nassert os.environ['MPLBACKEND'] == 'Agg'\n\
         assert sys.stdin.read() == ''\nx = np.random.normal(size=4)\nprint(np.exp(x).sum())\n",
    ) else {
        return;
    };
    assert!(!report.failed(), "{:?}", report.problems);
    assert_eq!(report.findings.len(), 1);
}
