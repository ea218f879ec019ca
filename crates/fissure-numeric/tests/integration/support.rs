//! What the integration tests share.

use std::path::Path;
use std::time::Duration;

use fissure_numeric::scan::{ScanOptions, ScanReport, ScanTarget, scan};

pub fn options(python: &Path, target: &str, output: &Path) -> ScanOptions {
    let target: ScanTarget = target.parse().expect("the test names a target");
    let mut options = ScanOptions::new(target, python.to_owned(), output.to_owned());
    options.timeout = Duration::from_secs(60);
    options
}

pub fn run(options: &ScanOptions) -> ScanReport {
    scan(options, &mut |_| {}).expect("the scan itself works")
}
