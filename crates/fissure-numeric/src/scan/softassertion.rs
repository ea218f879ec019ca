//! The files of Soft Assertion Fuzzer, with its names, fields and words: `experiments/logs`, `experiments/reports` and
//! `experiments/bugs`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fissure_model::{ScanFinding, ScanOracle};
use serde_json::{Value, json};

use super::npy;
use super::output::{OutputError, create, link, pretty, write};
use super::report::{ScanReport, SiteStatus};

/// One function of the program, and whether it failed.
struct Case<'a> {
    /// `log`, or `log_line9` for a second site.
    stem: String,
    /// `torch.log`.
    function: String,
    place: (PathBuf, usize),
    elapsed: f64,
    finding: Option<&'a ScanFinding>,
}

/// Figures over all cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseStudy {
    pub total: usize,
    pub failed: usize,
    pub average_seconds: f64,
}

impl CaseStudy {
    /// The lines of its summary, in its order.
    pub fn lines(&self) -> [(&'static str, Value); 5] {
        let round = |number: f64, digits: f64| (number * digits).round() / digits;
        let rate = 100.0 * self.failed as f64 / self.total.max(1) as f64;
        [
            ("Total Functions", json!(self.total)),
            ("Passed", json!(self.total - self.failed)),
            ("Failed", json!(self.failed)),
            (
                "Average Time (sec)",
                json!(round(self.average_seconds, 1e3)),
            ),
            ("Failure Rate", json!(round(rate, 1e2))),
        ]
    }
}

/// Figures of a report.
pub fn case_study(report: &ScanReport) -> CaseStudy {
    let cases = cases(report);
    let seconds: f64 = cases.iter().map(|case| case.elapsed).sum();
    CaseStudy {
        total: cases.len(),
        failed: cases.iter().filter(|case| case.finding.is_some()).count(),
        average_seconds: seconds / cases.len().max(1) as f64,
    }
}

/// Writes its files; `logs` is `experiments/logs`, and the others lie beside it.
pub(super) fn write_layout(logs: &Path, report: &ScanReport) -> Result<(), OutputError> {
    let beside = logs.parent().unwrap_or(Path::new(""));
    let (bugs, reports) = (beside.join("bugs"), beside.join("reports"));
    [logs, &bugs, &reports].into_iter().try_for_each(create)?;
    let cases = cases(report);
    let ended = SystemTime::now();
    let (mut rows, mut trace) = (Vec::new(), String::new());
    for case in &cases {
        let before_end = (report.search_seconds - case.elapsed).max(0.0);
        let found = ended
            .checked_sub(Duration::try_from_secs_f64(before_end).unwrap_or_default())
            .unwrap_or(ended);
        let time = time_stamp(found);
        let input = case.finding.map(input_of);
        write(
            &logs.join(format!("log_{}.txt", case.stem)),
            &log(case, &time, input.as_ref()),
        )?;
        rows.push(row(case, input.as_ref()));
        let entry = json!({
            "call": case.function,
            "input": input.as_ref().map(ToString::to_string),
            "output": case.finding.map(|finding| finding.details.join("; ")),
            "status": status(case),
            "timestamp": time,
            "elapsed": case.elapsed,
        });
        writeln!(trace, "{entry}").expect("writing to a string cannot fail");
        if let Some(finding) = case.finding {
            link(&finding.folder, &bugs.join(&finding.id))?;
        }
    }
    write(
        &logs.join("summary_report.json"),
        &pretty(&Value::Array(rows)),
    )?;
    write(&logs.join("trace.log"), &trace)?;
    let figures: serde_json::Map<String, Value> = case_study(report)
        .lines()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let path = reports.join("case_study_summary.json");
    write(&path, &pretty(&Value::Object(figures)))
}

/// A case for each call site that ran, and for each failure elsewhere.
fn cases(report: &ScanReport) -> Vec<Case<'_>> {
    let mut taken = std::collections::BTreeSet::new();
    let mut cases = Vec::new();
    let mut add = |function: &str, place: (PathBuf, usize), library: &str, finding| {
        let stem = match taken.insert(function.to_owned()) {
            true => function.to_owned(),
            false => format!("{function}_line{}", place.1),
        };
        let finding: Option<&ScanFinding> = finding;
        cases.push(Case {
            stem,
            function: match library {
                "" => function.to_owned(),
                library => format!("{library}.{function}"),
            },
            elapsed: finding
                .and_then(|finding| finding.elapsed)
                .unwrap_or(report.search_seconds),
            place,
            finding,
        });
    };
    let library = library_of(report);
    let is_of = |finding: &ScanFinding, site: &SiteStatus| {
        let place = &finding.site;
        place.file == site.file && place.line == site.line && place.function == site.function
    };
    for site in report.sites.iter().filter(|site| site.hits > 0) {
        let place = (site.file.clone(), site.line);
        let finding = report.findings.iter().find(|one| is_of(one, site));
        add(&site.function, place, library, finding);
    }
    for finding in &report.findings {
        if !report.sites.iter().any(|site| is_of(finding, site)) {
            let place = (finding.site.file.clone(), finding.site.line);
            add(&finding.site.function, place, library, Some(finding));
        }
    }
    cases
}

/// The library whose functions the program calls; the most particular of those it has loaded.
fn library_of(report: &ScanReport) -> &str {
    if let Some(finding) = report.findings.first() {
        return &finding.library;
    }
    ["torch", "tensorflow", "jax", "numpy"]
        .into_iter()
        .find(|name| report.versions.contains_key(*name))
        .unwrap_or_default()
}

fn status(case: &Case<'_>) -> &'static str {
    match case.finding {
        Some(_) => "FAIL",
        None => "PASS",
    }
}

fn row(case: &Case<'_>, input: Option<&Value>) -> Value {
    let Some(finding) = case.finding else {
        return json!({
            "function": case.function, "status": "PASS", "elapsed_time": case.elapsed,
            "file": case.place.0, "line": case.place.1,
        });
    };
    json!({
        "function": case.function, "status": "FAIL", "oracle": oracle(finding.oracle), "input": input,
        "model_signal": finding.signal.replace(' ', "_"), "severity": finding.severity,
        "elapsed_time": case.elapsed, "file": case.place.0, "line": case.place.1,
        "level": finding.level,
    })
}

/// Its name of what saw the failure.
fn oracle(oracle: ScanOracle) -> &'static str {
    match oracle {
        ScanOracle::Nonfinite | ScanOracle::HiddenNonfinite | ScanOracle::GradientNonfinite => {
            "NaN/INF"
        }
        other => other.name(),
    }
}

/// The failing values, nested as the array is; of several arrays, each by its name.
fn input_of(finding: &ScanFinding) -> Value {
    let saved = npy::read(&finding.folder.join("inputs_failed.npy"));
    let arrays = saved.unwrap_or_else(|| {
        let known = finding.input.iter();
        known
            .map(|(name, input)| (name.clone(), Value::Array(input.values.clone())))
            .collect()
    });
    match arrays.as_slice() {
        [(_, only)] => only.clone(),
        _ => arrays.into_iter().collect(),
    }
}

fn log(case: &Case<'_>, time: &str, input: Option<&Value>) -> String {
    let (file, line) = &case.place;
    let mut text = match case.finding {
        Some(_) => format!("[BUG FOUND] Function: {}\n", case.function),
        None => format!("[NO BUG] Function: {}\n", case.function),
    };
    text += &format!("Timestamp: {time}\n");
    if let Some(input) = input {
        text += &format!("Input:\n{input}\n");
    }
    if let Some(finding) = case.finding {
        text += &format!("Output:\n{}\n", finding.details.join("\n"));
    }
    text += &format!("Elapsed Time: {:.3} seconds\n", case.elapsed);
    text += &format!("At: {}:{line}\n", file.display());
    if let Some(fix) = case.finding.and_then(|finding| finding.fix.as_ref()) {
        text += &format!("Fix (checked): {}\n{}", fix.title, fix.diff);
    }
    text
}

/// `2026-11-17 12:00:00.000000`, in universal time.
fn time_stamp(time: SystemTime) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%d %H:%M:%S%.6f").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_its_lines() {
        let study = CaseStudy {
            total: 3,
            failed: 1,
            average_seconds: 1.23456,
        };
        let lines: Vec<String> = study
            .lines()
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(
            lines,
            [
                "Total Functions: 3",
                "Passed: 2",
                "Failed: 1",
                "Average Time (sec): 1.235",
                "Failure Rate: 33.33"
            ]
        );
    }

    #[test]
    fn times_are_written_as_python_prints_them() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_000_000_250_000);
        assert_eq!(time_stamp(time), "2017-07-14 02:40:00.250000");
    }
}
