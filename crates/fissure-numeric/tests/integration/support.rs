//! What the integration tests share.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fissure_numeric::scan::{ScanOptions, ScanReport, ScanTarget, scan};

pub(crate) fn options(python: &Path, target: &str, output: &Path) -> ScanOptions {
    let target: ScanTarget = target.parse().expect("the test names a target");
    let mut options = ScanOptions::new(target, python.to_owned(), output.to_owned());
    options.timeout = Duration::from_secs(60);
    options
}

pub(crate) fn run(options: &ScanOptions) -> ScanReport {
    scan(options, &mut |_| {}).expect("the scan itself works")
}

/// Runs a script beside this file with the folder of the runtime and these arguments, all of which is
/// well; gives the lines that it prints.
pub(crate) fn self_test(
    python: &Path,
    script: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new(python)
        .arg(here.join("tests/integration").join(script))
        .arg(here.join("../../python"))
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPLBACKEND", "Agg")
        // Some virtual machines advertise AMX and cannot run it: PyTorch's kernels then end the
        // process by SIGILL, and these scripts have many programs in one.
        .env("ONEDNN_MAX_CPU_ISA", "AVX2")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{}: {printed}{}",
        run.status,
        String::from_utf8_lossy(&run.stderr)
    );
    printed.lines().map(str::to_owned).collect()
}

/// Every line says that its sentence holds, and there are at least so many.
pub(crate) fn all_hold(lines: &[String], at_least: usize) {
    assert!(
        lines.len() >= at_least && lines.iter().all(|line| line.ends_with("ok")),
        "{lines:#?}"
    );
}

/// The registry as the runtime gets it, in a file for the scripts that run it without a plan.
pub(crate) fn registry_file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let registry = fissure_numeric::registry::Registry::embedded().to_json();
    std::fs::write(file.path(), registry.to_string()).unwrap();
    file
}
