//! What changed from one run to another.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::run::{ReportedFinding, Run};

/// A change of the accepted share by less than this is chance.
const PERCENT_POINTS: f64 = 5.0;

/// What the second run has that the first had not, and the other way round. Notes are left out.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    pub new: Vec<DiffFinding>,
    pub gone: Vec<Gone>,
    pub changed: Vec<Changed>,
    /// Findings of both that are alike.
    pub same: u64,
    /// APIs whose valid inputs are accepted more or less often, worst first.
    pub validity: Vec<ValidityChange>,
    pub totals: [TotalsRow; 2],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiffFinding {
    pub id: String,
    pub api: String,
    pub kind: String,
    pub title: String,
    pub call: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Gone {
    #[serde(flatten)]
    pub finding: DiffFinding,
    /// The second run has not tried its API: that it is gone says nothing.
    pub not_tried: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    pub id: String,
    pub title: String,
    /// What differs, each as `what: before → after`.
    pub differences: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ValidityChange {
    pub api: String,
    pub before: f64,
    pub after: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct TotalsRow {
    pub name: String,
    pub library: String,
    pub apis: u64,
    pub inputs: u64,
    pub findings: u64,
    pub conforming_percent: Option<f64>,
    pub inputs_per_second: Option<f64>,
    /// Inputs per second that a worker spent on them.
    pub inputs_per_busy_second: Option<f64>,
}

impl From<&ReportedFinding> for DiffFinding {
    fn from(finding: &ReportedFinding) -> Self {
        DiffFinding {
            id: finding.id.clone(),
            api: finding.api.clone(),
            kind: finding.kind.clone(),
            title: finding.title.clone(),
            call: finding.call.clone(),
        }
    }
}

/// Compares two runs. A finding is the same when its id is.
pub fn diff(before: &Run, after: &Run) -> Diff {
    let old: BTreeMap<&str, &ReportedFinding> = by_id(before);
    let new: BTreeMap<&str, &ReportedFinding> = by_id(after);
    let tried: BTreeSet<&str> = after
        .apis
        .iter()
        .filter(|api| api.inputs > 0)
        .map(|api| api.title.as_str())
        .collect();
    let is_tried =
        |finding: &ReportedFinding| after.apis.is_empty() || tried.contains(finding.api.as_str());
    let mut changed = Vec::new();
    let mut same = 0;
    for (id, now) in &new {
        let Some(then) = old.get(id) else { continue };
        let differences = differences(then, now);
        if differences.is_empty() {
            same += 1;
        } else {
            changed.push(Changed {
                id: now.id.clone(),
                title: now.title.clone(),
                differences,
            });
        }
    }
    Diff {
        new: new
            .values()
            .filter(|finding| !old.contains_key(finding.id.as_str()))
            .map(|finding| DiffFinding::from(*finding))
            .collect(),
        gone: old
            .values()
            .filter(|finding| !new.contains_key(finding.id.as_str()))
            .map(|finding| Gone {
                finding: DiffFinding::from(*finding),
                not_tried: !is_tried(finding),
            })
            .collect(),
        changed,
        same,
        validity: validity(before, after),
        totals: [totals(before), totals(after)],
    }
}

fn by_id(run: &Run) -> BTreeMap<&str, &ReportedFinding> {
    run.counted()
        .map(|finding| (finding.id.as_str(), finding))
        .collect()
}

/// What of a finding is not as it was. The input may well be another one that shows the same.
fn differences(then: &ReportedFinding, now: &ReportedFinding) -> Vec<String> {
    let mut list = Vec::new();
    let mut compare = |what: &str, then: String, now: String| {
        if then != now {
            list.push(format!("{what}: {then} → {now}"));
        }
    };
    let tried = |finding: &ReportedFinding| match finding.reproduction {
        Some(tried) => format!("{} of {}", tried.failures, tried.runs),
        None => "not tried".to_owned(),
    };
    compare("fails in fresh processes", tried(then), tried(now));
    compare("level", then.level.name().into(), now.level.name().into());
    compare(
        "also through",
        then.also_through.join(", "),
        now.also_through.join(", "),
    );
    let fix = |finding: &ReportedFinding| match &finding.fix {
        Some(fix) => fix.title.clone(),
        None => "none".to_owned(),
    };
    compare("fix", fix(then), fix(now));
    list
}

fn validity(before: &Run, after: &Run) -> Vec<ValidityChange> {
    let shares: BTreeMap<&str, f64> = before
        .apis
        .iter()
        .filter_map(|api| Some((api.title.as_str(), api.conforming_percent?)))
        .collect();
    let mut changes: Vec<ValidityChange> = after
        .apis
        .iter()
        .filter_map(|api| {
            let change = ValidityChange {
                api: api.title.clone(),
                before: *shares.get(api.title.as_str())?,
                after: api.conforming_percent?,
            };
            let large = (change.after - change.before).abs() >= PERCENT_POINTS;
            large.then_some(change)
        })
        .collect();
    changes.sort_by(|a, b| (a.after - a.before).total_cmp(&(b.after - b.before)));
    changes
}

fn totals(run: &Run) -> TotalsRow {
    let busy = run.totals.inputs as f64 / run.totals.busy_seconds;
    TotalsRow {
        name: run.info.name.clone(),
        library: format!("{} {}", run.info.library, run.info.library_version),
        apis: run.totals.apis,
        inputs: run.totals.inputs,
        findings: run.totals.findings,
        conforming_percent: run.totals.conforming_percent,
        inputs_per_second: run.totals.inputs_per_second,
        inputs_per_busy_second: busy.is_finite().then_some(busy),
    }
}
