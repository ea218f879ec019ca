//! A sweep that is ended from outside tells what it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fissure_sweep::{Options, sweep};

#[test]
fn a_sweep_that_is_stopped_reports_what_was_swept_by_then() {
    let Some(python) = fissure_testing::library_python("numpy", "numpy==2.4.6") else {
        return;
    };
    let stop = Arc::new(AtomicBool::new(false));
    let options = Options {
        python,
        library: "numpy".into(),
        dtypes: vec!["float16".into()],
        timeout: Duration::from_secs(60),
        stop: Some(Arc::clone(&stop)),
        ..Options::default()
    };
    let report = sweep(&options, |_| stop.store(true, Ordering::Relaxed)).expect("the sweep runs");
    // One had begun while the first was told.
    assert!(
        (1..=4).contains(&report.profiles.len()),
        "{}",
        report.profiles.len()
    );
    let over = Options {
        until: Some(Instant::now()),
        stop: None,
        ..options
    };
    let report = sweep(&over, |_| ()).expect("the sweep runs");
    assert!(report.profiles.is_empty());
}
