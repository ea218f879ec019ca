//! What `fissure scan` prints: as short as a good test runner's.

#![expect(clippy::print_stdout, reason = "this is the console side of a command")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fissure_model::TargetStatus;
use fissure_numeric::scan::{CaseStudy, InputEvent, OwnRun, ScanFinding, ScanReport, ScanSite};
use fissure_report::words::printable;

use crate::console;

/// Prints a line of which parts may be the program's own text: nothing of it acts on the terminal.
macro_rules! say {
    ($($text:tt)*) => { println!("{}", printable(&format!($($text)*))) };
}

/// The same on standard error.
macro_rules! tell {
    ($($text:tt)*) => { eprintln!("{}", printable(&format!($($text)*))) };
}

pub(super) struct Console {
    json: bool,
    verbose: bool,
    /// What was said of the program: one that ended its process and is run again says the same.
    said: RefCell<BTreeSet<String>>,
}

impl Console {
    pub(super) fn new(json: bool) -> Console {
        Console {
            json,
            verbose: console::verbose(),
            said: RefCell::default(),
        }
    }

    /// Explanations go to standard error, so that `--json` leaves standard output to the report.
    fn line(&self, text: &str) {
        if !self.json && !console::quiet() {
            say!("{text}");
        } else if self.verbose {
            tell!("{text}");
        }
    }

    /// Is this the first time that this is said?
    fn is_new(&self, what: String) -> bool {
        self.said.borrow_mut().insert(what)
    }

    pub(super) fn remark(&self, remark: &str) {
        if !console::quiet() {
            tell!("configuration: {remark}");
        }
    }

    pub(super) fn started(&self, target: &str, versions: &BTreeMap<String, String>) {
        let versions: Vec<String> = versions
            .iter()
            .map(|(name, version)| format!("{name} {version}"))
            .collect();
        self.line(&format!("scan {target} ({})", versions.join(", ")));
    }

    pub(super) fn own_run(&self, own_run: &OwnRun) {
        let training = match own_run.training_steps {
            0 => String::new(),
            steps => format!(", {}", counted(steps, "training step")),
        };
        if !self.is_new(format!("run {}{training}", own_run.operations)) {
            return;
        }
        self.line(&format!(
            "  own run: {:.2} s, {}{training}",
            own_run.seconds,
            counted(own_run.operations, "operation")
        ));
    }

    pub(super) fn sites(&self, sites: &[ScanSite]) {
        if !self.is_new(format!("{sites:?}")) {
            return;
        }
        self.line(&format!("  unstable call sites: {}", sites.len()));
        for site in sites {
            self.line(&format!(
                "    {}:{} {}",
                file_name(&site.file),
                site.line,
                site.function
            ));
        }
    }

    pub(super) fn inputs(&self, inputs: &[InputEvent]) {
        if !self.is_new(format!("{inputs:?}")) {
            return;
        }
        let (weights, others): (Vec<_>, Vec<_>) =
            inputs.iter().partition(|input| input.kind == "weight");
        let (frozen, free): (Vec<_>, Vec<_>) = others.into_iter().partition(|input| input.frozen);
        self.line(&format!("  inputs it may change: {}", free.len()));
        for input in free {
            self.line(&format!(
                "    {} = {} at line {}, {}{:?}, {} ({})",
                input.name,
                input.origin,
                input.line,
                input.dtype,
                input.shape,
                range(input.low, input.high),
                input.why
            ));
        }
        if !weights.is_empty() {
            let weights = counted(weights.len() as u64, "weight");
            self.line(&format!("    and at level L3 {weights}"));
        }
        if self.verbose {
            for input in frozen {
                self.line(&format!(
                    "    not {} at line {}: {}",
                    input.name, input.line, input.why
                ));
            }
        }
        self.line("  (--input NAME=low:high, --freeze NAME, --weights, --level correct this)");
    }

    pub(super) fn unknown_inputs(&self, names: &[String], known: &[String]) {
        tell!(
            "warning: no input is named {}; the inputs are {}",
            names.join(", "),
            known.join(", ")
        );
    }

    pub(super) fn search(&self, text: &str) {
        if self.verbose {
            self.line(&format!("  {text}"));
        }
    }

    /// One of several functions begins.
    pub(super) fn target(&self, name: &str) {
        if self.verbose {
            self.line(&format!("  {name}"));
        }
    }

    pub(super) fn target_done(&self, status: &TargetStatus) {
        if self.verbose
            && let Some(problem) = &status.problem
        {
            self.line(&format!("    {}: not scanned: {problem}", status.name));
        }
    }

    pub(super) fn patch(&self, path: &Path) {
        self.line(&format!("  wrote {}", path.display()));
    }

    /// The summary of Soft Assertion Fuzzer.
    pub(super) fn case_study(&self, study: &CaseStudy) {
        self.line("\nCase Study Summary:");
        for (name, value) in study.lines() {
            self.line(&format!("  {name}: {value}"));
        }
    }

    pub(super) fn report(&self, report: &ScanReport, logs: &Path) -> anyhow::Result<()> {
        if self.json {
            println!("{}", serde_json::to_string_pretty(report)?);
            return Ok(());
        }
        for problem in &report.problems {
            say!(
                "\n{}: {}",
                if problem.fatal { "error" } else { "warning" },
                problem.message
            );
        }
        for finding in &report.findings {
            show_finding(finding);
        }
        if console::quiet() {
            return Ok(());
        }
        if !report.notes.is_empty() {
            say!(
                "\n{} (not counted; --strict counts them):",
                counted(report.notes.len() as u64, "note")
            );
            for note in &report.notes {
                let event = note;
                say!(
                    "  {}:{} {}: {}",
                    file_name(&event.site.file),
                    event.site.line,
                    event.site.function,
                    event
                        .reason
                        .as_deref()
                        .unwrap_or("only at magnitudes where correct code overflows too")
                );
            }
        }
        show_targets(report);
        if report.failed() || report.interrupted && report.runs == 0 {
            if report.nothing_ran() && !report.interrupted {
                say!("\nnothing was scanned: no array operation of the target could be run");
            }
            return Ok(());
        }
        let missed = report.sites.iter().filter(|site| site.hits == 0).count();
        let reached = report.sites.len() - missed;
        say!(
            "\n{}: {} executed{}, {} in {:.2} s",
            match report.findings.len() {
                0 if report.targets.iter().any(|target| target.problem.is_some()) =>
                    "no instability found in what was scanned".to_owned(),
                0 => "no instability found".to_owned(),
                count => counted(count as u64, "finding"),
            },
            counted(reached as u64, "unstable call site"),
            if missed == 0 {
                String::new()
            } else {
                format!(" ({missed} never)")
            },
            counted(report.runs, "run"),
            report.search_seconds
        );
        say!("logs: {}", logs.display());
        Ok(())
    }
}

/// What was scanned and what was not, of a target that stands for several functions.
fn show_targets(report: &ScanReport) {
    if report.targets.is_empty() {
        return;
    }
    let (left, scanned): (Vec<_>, Vec<_>) = report
        .targets
        .iter()
        .partition(|target| target.problem.is_some());
    say!(
        "\nscanned {} of {}",
        scanned.len(),
        counted(report.targets.len() as u64, "function")
    );
    for target in left.iter().take(SHOWN_TARGETS) {
        let problem = target.problem.as_deref().unwrap_or_default();
        say!("  not {}: {}", target.name, first_line(problem));
    }
    if left.len() > SHOWN_TARGETS {
        say!("  and {} more (report.json)", left.len() - SHOWN_TARGETS);
    }
}

const SHOWN_TARGETS: usize = 20;

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn show_finding(finding: &ScanFinding) {
    let event = finding;
    say!(
        "\n{}: {}:{} {} [{}, {}]",
        event.severity,
        file_name(&event.site.file),
        event.site.line,
        event.site.function,
        event.oracle,
        event.level
    );
    if let Some(target) = &event.target {
        say!("  in {target}");
    }
    if !event.sentence.is_empty() {
        say!("  {}", event.sentence);
    }
    for detail in &event.details {
        say!("  {detail}");
    }
    if let Some(by) = &event.hidden_by {
        say!("  hidden by a later {by}");
    }
    if !event.same_cause.is_empty() {
        let lines: Vec<String> = event
            .same_cause
            .iter()
            .map(|site| site.line.to_string())
            .collect();
        say!("  the same at line {}", lines.join(", "));
    }
    if event.training_steps > 0 {
        say!("  after {}", counted(event.training_steps, "training step"));
    }
    if event.input.is_empty() {
        say!("  input: {}", event.label);
    }
    for (name, input) in &event.input {
        say!(
            "  input: {name} {}{:?}, {} changed, values from {} to {}",
            input.dtype,
            input.shape,
            counted(input.elements_changed, "element"),
            number(input.smallest.as_ref()),
            number(input.largest.as_ref())
        );
    }
    say!(
        "  reproduce: python {}",
        near(&event.folder.join("reproduce.py")).display()
    );
    match (&finding.fix, &finding.precondition) {
        (Some(fix), _) => {
            say!("  fix (checked): {}", fix.title);
            for line in fix.diff.lines() {
                say!("    {line}");
            }
        }
        (None, Some(precondition)) => say!("  no rewrite passed the check; {precondition}"),
        (None, None) => {}
    }
}

/// `1 note`, `2 notes`.
fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A path below the current folder without that folder: shorter, and still right to copy.
fn near(path: &Path) -> PathBuf {
    std::env::current_dir()
        .ok()
        .and_then(|folder| path.strip_prefix(folder).ok())
        .unwrap_or(path)
        .to_owned()
}

fn file_name(path: &Path) -> String {
    match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    }
}

fn range(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (None, None) => "any finite value".to_owned(),
        (Some(low), None) => format!("from {low}"),
        (None, Some(high)) => format!("up to {high}"),
        (Some(low), Some(high)) => format!("from {low} to {high}"),
    }
}

fn number(value: Option<&serde_json::Value>) -> String {
    match value.and_then(serde_json::Value::as_f64) {
        Some(number) if number == 0.0 || (1e-3..1e6).contains(&number.abs()) => {
            format!("{number:.6}")
        }
        Some(number) => format!("{number:.6e}"),
        None => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_a_plural() {
        assert_eq!(counted(1, "note"), "1 note");
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(2, "finding"), "2 findings");
    }

    #[test]
    fn a_path_below_the_current_folder_is_shown_without_it() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            near(&here.join("out/reproduce.py")),
            Path::new("out/reproduce.py")
        );
        assert_eq!(
            near(Path::new("/elsewhere/x.py")),
            Path::new("/elsewhere/x.py")
        );
    }

    #[test]
    fn numbers_of_any_size_are_short() {
        let shown = |value: f64| number(Some(&serde_json::json!(value)));
        assert_eq!(shown(0.0), "0.000000");
        assert_eq!(shown(1.5e20), "1.500000e20");
        assert_eq!(number(None), "?");
    }
}
