//! The files of a scan: logs, summary, trace, failing inputs, patches.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

use fissure_model::ScanFinding;
use serde_json::{Value, json};

use super::report::ScanReport;
use super::{Layout, LogFormat, ScanOptions, SiteStatus, softassertion};

#[derive(Debug, thiserror::Error)]
#[error("failed to write `{path}`: {error}")]
pub struct OutputError {
    pub path: String,
    pub error: std::io::Error,
}

/// Writes everything; returns the folder of the logs.
pub fn write_output(options: &ScanOptions, report: &ScanReport) -> Result<PathBuf, OutputError> {
    let logs = match options.layout {
        Layout::Fissure => options.output.join("logs"),
        Layout::SoftAssertion => match &options.config.output_dir {
            Some(folder) => folder.clone(),
            // As it does: below the folder it is started in.
            None => PathBuf::from("experiments/logs"),
        },
    };
    create(&logs)?;
    let mut names = BTreeSet::new();
    let wants_logs =
        options.layout == Layout::Fissure || options.config.log_format == LogFormat::Json;
    for site in report.sites.iter().filter(|_| wants_logs) {
        let findings: Vec<&ScanFinding> = report
            .findings
            .iter()
            .chain(&report.notes)
            .filter(|finding| {
                let place = &finding.site;
                place.file == site.file
                    && place.line == site.line
                    && place.function == site.function
            })
            .collect();
        let stem = free_name(&mut names, &site.function, site.line);
        write_log(
            &logs,
            &stem,
            options.config.log_format,
            Some(site),
            &findings,
        )?;
    }
    // Failures of operations that are not announced as unstable have a log of their own.
    for finding in report.findings.iter().chain(&report.notes) {
        let place = &finding.site;
        if wants_logs
            && !report.sites.iter().any(|site| {
                site.file == place.file
                    && site.line == place.line
                    && site.function == place.function
            })
        {
            let stem = free_name(&mut names, &place.function, place.line);
            write_log(&logs, &stem, options.config.log_format, None, &[finding])?;
        }
    }
    if options.layout == Layout::SoftAssertion {
        softassertion::write_layout(&logs, report)?;
    } else {
        write(&logs.join("summary_report.json"), &pretty(&summary(report)))?;
        write(&logs.join("trace.log"), &trace(report))?;
    }
    write(&options.output.join("report.json"), &pretty(&json!(report)))?;
    if let Some(first) = report.findings.first()
        && options.config.save_inputs != Some(false)
    {
        copy(&first.folder, &logs, "inputs_failed.npy")?;
    }
    Ok(logs)
}

/// The log of one site, as text or JSON.
fn write_log(
    logs: &Path,
    stem: &str,
    format: LogFormat,
    site: Option<&SiteStatus>,
    findings: &[&ScanFinding],
) -> Result<(), OutputError> {
    if format == LogFormat::Json {
        let value = json!({"site": site, "findings": findings});
        return write(&logs.join(format!("{stem}.json")), &pretty(&value));
    }
    let mut text = String::new();
    if let Some(site) = site {
        writeln!(
            text,
            "{} at {}:{}\nexecuted {} times in the program's own run",
            site.function,
            site.file.display(),
            site.line,
            site.hits
        )
        .expect("writing to a string cannot fail");
    }
    if findings.is_empty() {
        text.push_str("no instability found\n");
    }
    for finding in findings {
        text.push_str(&describe(finding));
    }
    write(&logs.join(format!("{stem}.txt")), &text)
}

/// `log_<function>`, with the line where the plain name is taken.
fn free_name(taken: &mut BTreeSet<String>, function: &str, line: usize) -> String {
    let mut name = format!("log_{function}");
    let mut number = 1;
    while !taken.insert(name.clone()) {
        name = if number == 1 {
            format!("log_{function}_line{line}")
        } else {
            format!("log_{function}_line{line}_{number}")
        };
        number += 1;
    }
    name
}

fn describe(finding: &ScanFinding) -> String {
    let event = finding;
    let mut text = format!(
        "\n{} ({}), oracle {}, level {}\nproducer: {}\nfound by: {}\n",
        event.id, event.severity, event.oracle, event.level, event.producer, event.label
    );
    for detail in &event.details {
        writeln!(text, "  {detail}").expect("writing to a string cannot fail");
    }
    for (name, input) in &event.input {
        writeln!(text, "input {name}: {}", json!(input)).expect("writing to a string cannot fail");
    }
    if let Some(fix) = &finding.fix {
        writeln!(text, "fix: {}\n{}", fix.title, fix.diff)
            .expect("writing to a string cannot fail");
    }
    if let Some(precondition) = &finding.precondition {
        writeln!(text, "precondition: {precondition}").expect("writing to a string cannot fail");
    }
    for (title, reason) in &finding.refused_fixes {
        writeln!(text, "fix not shown: {title}: {reason}")
            .expect("writing to a string cannot fail");
    }
    text
}

/// The published tool's fields, and ours beside them.
fn summary(report: &ScanReport) -> Value {
    let mut rows = Vec::new();
    for finding in &report.findings {
        rows.push(row(finding, "fail"));
    }
    for finding in &report.notes {
        rows.push(row(finding, "note"));
    }
    for site in report.sites.iter().filter(|site| !site.found) {
        rows.push(json!({
            "function": site.function, "file": site.file, "line": site.line,
            "status": if site.hits == 0 { "not executed" } else { "pass" },
            "oracle": null, "level": null, "input": null, "model_signal": "no change",
            "severity": null, "producer": null, "elapsed_time": report.search_seconds,
        }));
    }
    Value::Array(rows)
}

fn row(finding: &ScanFinding, status: &str) -> Value {
    let event = finding;
    json!({
        "function": event.site.function, "file": event.site.file, "line": event.site.line,
        "status": status, "oracle": event.oracle, "level": event.level, "input": event.input,
        "model_signal": event.signal, "severity": event.severity, "producer": event.producer,
        "elapsed_time": event.elapsed,
    })
}

fn trace(report: &ScanReport) -> String {
    let mut text = format!("scan of {}\n", report.target);
    for (library, version) in &report.versions {
        writeln!(text, "{library} {version}").expect("writing to a string cannot fail");
    }
    if let Some(own_run) = &report.own_run {
        writeln!(
            text,
            "own run: {:.3} s, {} operations, {} training steps",
            own_run.seconds, own_run.operations, own_run.training_steps
        )
        .expect("writing to a string cannot fail");
        if !own_run.output.is_empty() {
            writeln!(text, "its output ended with:\n{}", own_run.output)
                .expect("writing to a string cannot fail");
        }
    }
    for problem in &report.problems {
        writeln!(text, "{}: {}", problem.kind, problem.message)
            .expect("writing to a string cannot fail");
    }
    for line in &report.trace {
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    }
    writeln!(
        text,
        "search: {:.3} s, {} runs",
        report.search_seconds, report.runs
    )
    .expect("writing to a string cannot fail");
    text
}

pub(super) fn pretty(value: &Value) -> String {
    let mut text =
        serde_json::to_string_pretty(value).expect("a JSON value always has a text form");
    text.push('\n');
    text
}

/// A link to a finding's folder, whose script finds the program from where it lies.
pub(super) fn link(folder: &Path, link: &Path) -> Result<(), OutputError> {
    let folder = folder.canonicalize().map_err(|error| at(folder, error))?;
    match std::fs::remove_file(link) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(at(link, error)),
        _ => {}
    }
    let beside = link.parent().unwrap_or(Path::new("."));
    let beside = beside.canonicalize().map_err(|error| at(link, error))?;
    std::os::unix::fs::symlink(way(&beside, &folder), link).map_err(|error| at(link, error))
}

/// How one gets from one folder to another: both can then be moved together.
fn way(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components());
    let common = common.take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// Copies a file that may not be there.
fn copy(from: &Path, to: &Path, name: &str) -> Result<(), OutputError> {
    let (from, to) = (from.join(name), to.join(name));
    if from.exists() {
        std::fs::copy(&from, &to).map_err(|error| at(&to, error))?;
    }
    Ok(())
}

fn at(path: &Path, error: std::io::Error) -> OutputError {
    OutputError {
        path: path.display().to_string(),
        error,
    }
}

pub(super) fn create(path: &Path) -> Result<(), OutputError> {
    std::fs::create_dir_all(path).map_err(|error| at(path, error))
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), OutputError> {
    std::fs::write(path, text).map_err(|error| at(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sites_of_one_function_get_two_logs() {
        let mut taken = BTreeSet::new();
        assert_eq!(free_name(&mut taken, "log", 3), "log_log");
        assert_eq!(free_name(&mut taken, "log", 9), "log_log_line9");
        assert_eq!(free_name(&mut taken, "log", 9), "log_log_line9_2");
    }
}
