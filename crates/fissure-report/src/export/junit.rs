//! JUnit's XML: each API is a test case, each finding a failed one.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::run::{ReportedFinding, Run, RunKind};

pub fn junit(run: &Run) -> String {
    let mut report = Report::new("fissure");
    let mut suite = TestSuite::new(&*run.info.name);
    suite.set_time(Duration::try_from_secs_f64(run.totals.seconds).unwrap_or_default());
    for (name, value) in [
        ("library", &run.info.library),
        ("library_version", &run.info.library_version),
        ("python_version", &run.info.python_version),
        ("command", &run.info.command),
    ] {
        suite.add_property(Property::new(name, &**value));
    }
    for finding in run.counted() {
        suite.add_test_case(failed(finding));
    }
    if run.info.kind == RunKind::Fuzz {
        for api in run.apis.iter().filter(|api| api.findings.is_empty()) {
            let mut case = TestCase::new(&*api.title, TestCaseStatus::success());
            case.set_classname(&*run.info.library);
            case.set_time(Duration::try_from_secs_f64(api.busy_seconds).unwrap_or_default());
            suite.add_test_case(case);
        }
        for skipped in &run.skipped {
            let mut status = TestCaseStatus::skipped();
            status.set_message(&*skipped.reason);
            let mut case = TestCase::new(&*skipped.api, status);
            case.set_classname(&*run.info.library);
            suite.add_test_case(case);
        }
    }
    report.add_test_suite(suite);
    report
        .to_string()
        .expect("text without characters that XML forbids always serialises")
}

fn failed(finding: &ReportedFinding) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_type(&*finding.kind)
        .set_message(&*finding.title)
        .set_description(format!(
            "{}\n\nobserved: {}\nexpected: {}\nreproduce: python {}/reproduce.py\n",
            finding.call, finding.observed, finding.expected, finding.folder
        ));
    let mut case = TestCase::new(&*finding.id, status);
    case.set_classname(&*finding.api);
    case.set_system_out(&*finding.script);
    if !finding.log.is_empty() {
        case.set_system_err(&*finding.log);
    }
    case
}
