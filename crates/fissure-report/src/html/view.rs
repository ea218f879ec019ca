//! What the templates and the page's script are given.

use std::collections::BTreeMap;
use std::time::Duration;

use fissure_model::{Mutator, OutcomeKind, with_version};
use serde::Serialize;

use super::chart::{Series, line, percent_histogram, stacked};
use crate::run::{
    ApiReport, ApiState, ReportedFinding, RuleReport, Run, RunInfo, RunKind, RunState, Skipped,
    TimelinePoint, Totals,
};
use crate::{human_duration, words};

/// Points of the chart of inputs per second.
const RATES: usize = 80;

/// A finding as lists show it and as it is searched for.
#[derive(Serialize)]
pub struct FindingRow<'a> {
    id: &'a str,
    api: &'a str,
    kind: &'a str,
    oracle: &'a str,
    level: &'a str,
    title: &'a str,
    call: &'a str,
    /// How much it matters, in a word: the severity in a scan, else the kind.
    badge: &'a str,
    /// What is said below the title: the message of a scan, else the call.
    line: &'a str,
    /// Whether that is code.
    code: bool,
    advice: Option<&'a str>,
    unconfirmed: bool,
    observed: &'a str,
    also_through: &'a [String],
    note: bool,
    flaky: bool,
}

impl<'a> From<&'a ReportedFinding> for FindingRow<'a> {
    fn from(finding: &'a ReportedFinding) -> Self {
        let scanned = finding.location.is_some();
        FindingRow {
            badge: if scanned {
                &finding.detail
            } else {
                &finding.kind
            },
            line: finding.lead(),
            code: !scanned,
            advice: finding.advice.as_deref(),
            unconfirmed: finding.unconfirmed,
            id: &finding.id,
            api: &finding.api,
            kind: &finding.kind,
            oracle: &finding.oracle,
            level: finding.level.name(),
            title: &finding.title,
            call: &finding.call,
            observed: &finding.observed,
            also_through: &finding.also_through,
            note: finding.note,
            flaky: finding.flaky,
        }
    }
}

/// What is shown of a finding when it is opened, besides its row.
#[derive(Serialize)]
pub struct FindingDetail<'a> {
    arguments: &'a [crate::run::ReportedArgument],
    expected: &'a str,
    explanation: &'a [String],
    place: Option<String>,
    fix: Option<&'a crate::run::Fix>,
    script: &'a str,
    issue: &'a str,
    log: &'a str,
    folder: &'a str,
    versions: String,
}

impl<'a> From<&'a ReportedFinding> for FindingDetail<'a> {
    fn from(finding: &'a ReportedFinding) -> Self {
        // The bug report has the log already.
        let log = if finding.issue.contains(finding.log.trim()) {
            ""
        } else {
            &finding.log
        };
        FindingDetail {
            arguments: &finding.arguments,
            expected: &finding.expected,
            explanation: &finding.explanation,
            place: finding
                .location
                .as_ref()
                .map(|place| format!("{}:{}", place.file, place.line)),
            fix: finding.fix.as_ref(),
            script: &finding.script,
            issue: &finding.issue,
            log,
            folder: &finding.folder,
            versions: format!(
                "{}, Python {}",
                with_version(&finding.library, &finding.library_version),
                finding.python_version
            ),
        }
    }
}

/// An API as the page's script reads it.
#[derive(Serialize)]
pub struct ApiRow<'a> {
    #[serde(flatten)]
    api: &'a ApiReport,
    rate: Option<f64>,
}

impl<'a> From<&'a ApiReport> for ApiRow<'a> {
    fn from(api: &'a ApiReport) -> Self {
        let rate = api.inputs as f64 / api.busy_seconds;
        ApiRow {
            api,
            rate: rate.is_finite().then(|| rate.round()),
        }
    }
}

pub(super) fn state_name(run: &Run) -> &'static str {
    match run.info.state {
        RunState::Finished => "finished",
        RunState::Interrupted => "ended early",
        RunState::Unfinished => "not finished",
    }
}

/// A share of a whole, for bars.
#[derive(Serialize)]
struct Share {
    name: String,
    class: String,
    count: u64,
    percent: f64,
}

#[derive(Serialize)]
struct Chart {
    title: &'static str,
    svg: String,
}

/// One row of the table of boundary cases.
#[derive(Default, Serialize)]
struct MutatorRow {
    name: String,
    parameters: u64,
    apis: u64,
    inputs: u64,
    accepted: u64,
    rejected: u64,
}

/// One row of the evidence for constraints.
#[derive(Default, Serialize)]
struct ConstraintRow {
    name: String,
    parameters: u64,
    inputs: u64,
    rejected: u64,
    accepted: u64,
    rejected_percent: f64,
}

/// What the templates show.
#[derive(Serialize)]
pub(super) struct PageContext<'a> {
    name: &'a str,
    state: &'static str,
    info: &'a RunInfo,
    totals: &'a Totals,
    elapsed: String,
    summary: Vec<String>,
    fuzz: bool,
    outcomes: Vec<Share>,
    throughput: Option<String>,
    growth: Vec<Chart>,
    validity: Option<String>,
    skipped: &'a [Skipped],
    problems: &'a [String],
    mutators: Vec<MutatorRow>,
    constraints: Vec<ConstraintRow>,
    oracles: Vec<OracleRow>,
    rules: &'a [RuleReport],
    under_way: Vec<&'a str>,
    /// What was reached of the library's code has a page of its own beside this one.
    coverage: bool,
}

/// In the run's folder.
pub(crate) const COVERAGE_PAGE: &str = "coverage.html";

pub(super) fn page_context(run: &Run) -> PageContext<'_> {
    let seconds = Duration::try_from_secs_f64(run.totals.seconds).unwrap_or_default();
    PageContext {
        name: &run.info.name,
        state: state_name(run),
        info: &run.info,
        totals: &run.totals,
        elapsed: human_duration(seconds),
        summary: words::summary(run),
        fuzz: run.info.kind == RunKind::Fuzz,
        outcomes: outcomes(run),
        throughput: throughput(run),
        growth: growth(run),
        validity: validity(run),
        skipped: &run.skipped,
        problems: &run.problems,
        mutators: mutators(run),
        constraints: constraints(run),
        oracles: oracles(run),
        rules: &run.rules,
        under_way: run
            .apis
            .iter()
            .filter(|api| api.state == ApiState::UnderWay)
            .map(|api| api.title.as_str())
            .collect(),
        coverage: run.info.folder.join(COVERAGE_PAGE).is_file(),
    }
}

fn outcomes(run: &Run) -> Vec<Share> {
    let whole: u64 = run.totals.outcomes.values().sum();
    OutcomeKind::ALL
        .iter()
        .filter_map(|kind| {
            let count = run.totals.outcomes.get(kind.name()).copied()?;
            Some(Share {
                name: kind.name().replace('-', " "),
                class: kind.name().to_owned(),
                count,
                percent: 100.0 * count as f64 / whole.max(1) as f64,
            })
        })
        .collect()
}

fn throughput(run: &Run) -> Option<String> {
    let timeline = &run.timeline;
    if timeline.points.is_empty() {
        return None;
    }
    // Single batches would make a comb of a finer line.
    let group = timeline.points.len().div_ceil(RATES);
    let rates = |of: fn(&TimelinePoint) -> u64| {
        let rate = |(at, points): (usize, &[TimelinePoint])| {
            let begun = timeline.step * (at * group) as f64;
            let whole = timeline.step * group as f64;
            // The last stretch is not over.
            let stretch = (timeline.seconds() - begun).clamp(whole / 4.0, whole);
            points.iter().map(of).sum::<u64>() as f64 / stretch
        };
        let groups = timeline.points.chunks(group).enumerate();
        groups.map(rate).collect()
    };
    let series = [
        Series {
            name: "accepted per second",
            class: "accepted",
            values: rates(|point| point.accepted),
        },
        Series {
            name: "rejected per second",
            class: "rejected",
            values: rates(|point| point.rejected),
        },
        Series {
            name: "other outcomes per second",
            class: "crash",
            values: rates(|point| point.other),
        },
    ];
    Some(stacked(
        "Inputs per second over time",
        &series,
        timeline.seconds(),
    ))
}

fn growth(run: &Run) -> Vec<Chart> {
    let timeline = &run.timeline;
    if timeline.points.is_empty() {
        return Vec::new();
    }
    let chart = |title: &'static str, of: fn(&TimelinePoint) -> u64| {
        // Nothing at first.
        let mut values = vec![0.0];
        values.extend(timeline.points.iter().map(|point| of(point) as f64));
        let series = Series {
            name: title,
            class: "growth",
            values,
        };
        Chart {
            title,
            svg: line(title, &series, timeline.seconds()),
        }
    };
    vec![
        discovery(run),
        chart("Behaviours", |point| point.reached.behaviours),
        chart("Reasons for rejection", |point| point.reached.reasons),
        chart("Element types × ranks", |point| point.reached.dtype_ranks),
        chart("Parameters × boundary cases", |point| {
            point.reached.mutations
        }),
    ]
}

/// How many findings had been met by when: the moment of the first input that shows one counts, not the one at which it
/// was small and confirmed.
fn discovery(run: &Run) -> Chart {
    let title = "Findings, by when each was first met";
    let met: Vec<f64> = run.counted().filter_map(|one| one.found_after).collect();
    let mut values = vec![0.0];
    values.extend(run.timeline.points.iter().map(|point| {
        let earlier = met.iter().filter(|after| **after <= point.seconds);
        earlier.count() as f64
    }));
    let series = Series {
        name: "findings",
        class: "growth",
        values,
    };
    Chart {
        title,
        svg: line(title, &series, run.timeline.seconds()),
    }
}

fn validity(run: &Run) -> Option<String> {
    let percents: Vec<f64> = run
        .apis
        .iter()
        .filter_map(|api| api.conforming_percent.or(api.accepted_percent))
        .collect();
    (!percents.is_empty()).then(|| {
        percent_histogram(
            "APIs by the accepted share of their valid inputs",
            percents.into_iter(),
        )
    })
}

fn mutators(run: &Run) -> Vec<MutatorRow> {
    let mut rows: BTreeMap<&str, MutatorRow> = BTreeMap::new();
    for api in &run.apis {
        let mut last = None;
        let mut ordered: Vec<_> = api.mutators.iter().collect();
        ordered.sort_by_key(|one| &one.mutator);
        for counts in ordered {
            let row = rows.entry(&counts.mutator).or_default();
            row.parameters += 1;
            row.inputs += counts.inputs;
            row.accepted += counts.accepted;
            row.rejected += counts.rejected;
            if last != Some(&counts.mutator) {
                row.apis += 1;
                last = Some(&counts.mutator);
            }
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    // One that was never used is worth seeing.
    Mutator::ALL
        .iter()
        .map(|mutator| MutatorRow {
            name: mutator.name().replace('_', " "),
            ..rows.remove(mutator.name()).unwrap_or_default()
        })
        .collect()
}

fn constraints(run: &Run) -> Vec<ConstraintRow> {
    let mut rows: BTreeMap<&str, ConstraintRow> = BTreeMap::new();
    for counts in run.apis.iter().flat_map(|api| &api.constraints) {
        let row = rows.entry(&counts.category).or_default();
        row.parameters += 1;
        row.inputs += counts.inputs;
        row.rejected += counts.rejected;
        row.accepted += counts.accepted;
    }
    rows.into_iter()
        .map(|(name, row)| ConstraintRow {
            name: name.to_owned(),
            rejected_percent: 100.0 * row.rejected as f64 / row.inputs.max(1) as f64,
            ..row
        })
        .collect()
}

/// One row of the table of oracles.
#[derive(Default, Serialize)]
struct OracleRow {
    name: String,
    inputs: u64,
    reports: u64,
    seconds: f64,
}

fn oracles(run: &Run) -> Vec<OracleRow> {
    let mut rows: BTreeMap<&str, OracleRow> = BTreeMap::new();
    for (name, counts) in run.apis.iter().flat_map(|api| &api.oracles) {
        let row = rows.entry(name).or_default();
        row.name = name.clone();
        row.inputs += counts.inputs;
        row.reports += counts.reports;
        row.seconds += counts.seconds;
    }
    rows.into_values().collect()
}
