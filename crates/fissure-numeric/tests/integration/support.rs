//! What the integration tests share.

use std::path::Path;
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

/// The registry as the runtime gets it, in a file for the scripts that run it without a plan.
pub(crate) fn registry_file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let registry = fissure_numeric::registry::Registry::embedded().to_json();
    std::fs::write(file.path(), registry.to_string()).unwrap();
    file
}
