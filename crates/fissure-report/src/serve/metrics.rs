//! Counts in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::run::{Run, RunState};

/// The content type that the format asks for.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn metrics(run: &Run) -> String {
    let mut text = String::new();
    let name = label(&run.info.name);
    let library = label(&run.info.library);
    let totals = &run.totals;
    let both = format!("run=\"{name}\",library=\"{library}\"");
    let mut add = |metric: &str, kind: &str, help: &str, rows: &[(String, f64)]| {
        let _ = writeln!(text, "# HELP {metric} {help}\n# TYPE {metric} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(text, "{metric}{{{both}{labels}}} {value}");
        }
    };
    let one = |value: f64| vec![(String::new(), value)];
    let counter = "counter";
    let gauge = "gauge";
    add(
        "fissure_inputs_total",
        counter,
        "Inputs tried.",
        &one(totals.inputs as f64),
    );
    let outcomes: Vec<(String, f64)> = totals
        .outcomes
        .iter()
        .map(|(kind, count)| (format!(",outcome=\"{}\"", label(kind)), *count as f64))
        .collect();
    add(
        "fissure_outcomes_total",
        counter,
        "Inputs by outcome.",
        &outcomes,
    );
    let mut kinds: BTreeMap<&str, f64> = BTreeMap::new();
    for finding in run.counted() {
        *kinds.entry(&finding.kind).or_default() += 1.0;
    }
    let kinds: Vec<(String, f64)> = kinds
        .into_iter()
        .map(|(kind, count)| (format!(",kind=\"{}\"", label(kind)), count))
        .collect();
    add(
        "fissure_findings",
        gauge,
        "Distinct failures by kind.",
        &kinds,
    );
    add(
        "fissure_notes",
        gauge,
        "Failures that are not counted.",
        &one(totals.notes as f64),
    );
    add(
        "fissure_apis",
        gauge,
        "APIs begun.",
        &one(totals.apis as f64),
    );
    add(
        "fissure_apis_finished",
        gauge,
        "APIs done.",
        &one(totals.apis_finished as f64),
    );
    add(
        "fissure_behaviours",
        gauge,
        "Distinct behaviours.",
        &one(totals.behaviours as f64),
    );
    add(
        "fissure_work_seconds_total",
        counter,
        "Wall-clock seconds of work.",
        &one(totals.seconds),
    );
    add(
        "fissure_busy_seconds_total",
        counter,
        "Seconds of workers.",
        &one(totals.busy_seconds),
    );
    let finished = f64::from(run.info.state != RunState::Unfinished);
    add(
        "fissure_run_ended",
        gauge,
        "Whether the run has ended.",
        &one(finished),
    );
    text
}

/// A label's value.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_end_itself() {
        assert_eq!(label("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }
}
