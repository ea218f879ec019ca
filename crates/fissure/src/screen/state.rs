//! What the screen knows of a run.

use std::time::{Duration, Instant};

use fissure_campaign::RunEvent;
use fissure_execute::Busy;
use fissure_model::OutcomeKind;
use fissure_triage::crash_reason;

/// One API.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub title: String,
    pub stage: Stage,
    pub inputs: u64,
    pub max_inputs: Option<u64>,
    pub accepted: u64,
    pub crashes: u64,
    pub findings: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Running,
    Queued,
    Done,
    Skipped,
}

/// Which APIs come first in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Activity,
    Name,
    Findings,
    Inputs,
    Accepted,
}

/// What fills the screen below the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum View {
    #[default]
    Apis,
    /// What was found, newest first.
    Findings,
    /// What the keys do.
    Help,
}

pub(super) struct State {
    pub view: View,
    pub title: String,
    /// APIs of the run.
    pub apis: usize,
    pub total: Option<Duration>,
    pub started: Instant,
    pub rows: Vec<Row>,
    pub workers: Vec<Option<Busy>>,
    /// Failures that are being made smaller, and that are being tried in fresh processes.
    pub shrinking: usize,
    pub confirming: usize,
    pub findings: u64,
    /// The last finding, and when it came.
    pub last: Option<(Instant, String)>,
    pub paused: bool,
    pub stopping: bool,
    pub order: Order,
    pub filter: String,
    /// Keys go to the filter.
    pub typing: bool,
    /// First row of the table that is shown.
    pub first: usize,
    /// What is printed when the screen is closed.
    pub lines: Vec<String>,
    /// Inputs at an earlier moment, for the rate of now.
    before: (Instant, u64),
    pub rate: f64,
}

/// Time over which the rate is measured.
const WINDOW: Duration = Duration::from_secs(2);

impl State {
    pub(super) fn new(title: String, apis: usize, total: Option<Duration>, now: Instant) -> State {
        State {
            view: View::default(),
            title,
            apis,
            total,
            started: now,
            rows: Vec::new(),
            workers: Vec::new(),
            shrinking: 0,
            confirming: 0,
            findings: 0,
            last: None,
            paused: false,
            stopping: false,
            order: Order::Activity,
            filter: String::new(),
            typing: false,
            first: 0,
            lines: Vec::new(),
            before: (now, 0),
            rate: 0.0,
        }
    }

    pub(super) fn observe(&mut self, event: RunEvent<'_>, now: Instant) {
        match event {
            RunEvent::Skipped { api, .. } => self.row(&api.title).stage = Stage::Skipped,
            RunEvent::Started { api, .. } => self.row(&api.title).stage = Stage::Running,
            RunEvent::Progress {
                api,
                tally,
                max_inputs,
            } => {
                let row = self.row(&api.title);
                if row.stage == Stage::Queued {
                    row.stage = Stage::Running;
                }
                row.inputs = tally.inputs;
                row.accepted = tally.accepted();
                row.crashes = tally.count(OutcomeKind::Crash);
                row.max_inputs = max_inputs;
            }
            RunEvent::Finished { summary } => {
                let row = self.row(&summary.api.title);
                row.stage = Stage::Done;
                row.inputs = summary.tally.inputs;
                row.accepted = summary.tally.accepted();
                row.crashes = summary.tally.count(OutcomeKind::Crash);
            }
            RunEvent::Found { finding, folder } => {
                let text = format!(
                    "{} {} {}{}",
                    finding.api.title,
                    finding.verdict.kind,
                    finding.verdict.detail,
                    crash_reason(finding)
                );
                let word = if finding.is_note() { "note " } else { "FOUND" };
                self.lines.push(format!(
                    "{word}  {text}\n       {}",
                    folder.join("reproduce.py").display()
                ));
                if !finding.is_note() {
                    self.findings += 1;
                    self.row(&finding.api.title).findings += 1;
                    self.last = Some((now, text));
                }
            }
            RunEvent::Folded { id, into } => {
                self.findings = self.findings.saturating_sub(1);
                self.lines.push(format!("same   {id} is {into}"));
            }
            RunEvent::Replayed { finding, outcome } => {
                let line = format!("again  {} {}", finding.id, outcome.name());
                self.lines.push(line);
            }
            RunEvent::Warning { message } => self.lines.push(format!("warning: {message}")),
            RunEvent::Tick {
                workers,
                shrinking,
                confirming,
            } => {
                self.workers = workers;
                self.shrinking = shrinking;
                self.confirming = confirming;
                self.measure(now);
            }
            RunEvent::Learned { .. } => {}
            RunEvent::Shrinking { .. } | RunEvent::Shrunk { .. } | RunEvent::Confirming { .. } => {}
        }
    }

    /// APIs whose turn comes.
    pub(super) fn queue(&mut self, titles: impl IntoIterator<Item = String>) {
        for title in titles {
            self.row(&title).stage = Stage::Queued;
        }
    }

    fn row(&mut self, title: &str) -> &mut Row {
        let at = match self.rows.iter().position(|row| row.title == title) {
            Some(at) => at,
            None => {
                self.rows.push(Row {
                    title: title.to_owned(),
                    stage: Stage::Running,
                    inputs: 0,
                    max_inputs: None,
                    accepted: 0,
                    crashes: 0,
                    findings: 0,
                });
                self.rows.len() - 1
            }
        };
        &mut self.rows[at]
    }

    fn measure(&mut self, now: Instant) {
        let since = now.saturating_duration_since(self.before.0);
        if since >= WINDOW {
            let inputs = self.inputs();
            self.rate = inputs.saturating_sub(self.before.1) as f64 / since.as_secs_f64();
            self.before = (now, inputs);
        }
    }

    pub(super) fn inputs(&self) -> u64 {
        self.rows.iter().map(|row| row.inputs).sum()
    }

    pub(super) fn accepted_percent(&self) -> Option<f64> {
        let accepted: u64 = self.rows.iter().map(|row| row.accepted).sum();
        let inputs = self.inputs();
        (inputs > 0).then(|| 100.0 * accepted as f64 / inputs as f64)
    }

    /// APIs that need nothing more.
    pub(super) fn done(&self) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| matches!(row.stage, Stage::Done | Stage::Skipped))
            .count()
    }

    /// What is left, as far as it can be said: by the clock, or by what the APIs have done.
    pub(super) fn remaining(&self, now: Instant) -> Option<Duration> {
        let elapsed = now.saturating_duration_since(self.started);
        if let Some(total) = self.total {
            return Some(total.saturating_sub(elapsed));
        }
        let share = |row: &Row| match (row.stage, row.max_inputs) {
            (Stage::Done | Stage::Skipped, _) => Some(1.0),
            (Stage::Queued, _) => Some(0.0),
            (Stage::Running, Some(max)) => Some(row.inputs as f64 / max.max(1) as f64),
            (Stage::Running, None) => None,
        };
        let done: f64 = self.rows.iter().map(share).sum::<Option<f64>>()?;
        let done = done / self.apis.max(1) as f64;
        (done > 0.01).then(|| elapsed.mul_f64((1.0 - done).max(0.0) / done))
    }

    /// What goes on.
    pub(super) fn phase(&self) -> &'static str {
        if self.stopping {
            "stopping: what is under way ends (q again ends at once)"
        } else if self.paused {
            "paused (p goes on)"
        } else if self.done() < self.apis {
            "fuzz, judge, triage"
        } else {
            "triage"
        }
    }

    /// The rows that the filter lets through, in order.
    pub(super) fn visible(&self) -> Vec<&Row> {
        let wanted = self.filter.to_lowercase();
        let mut rows: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| row.title.to_lowercase().contains(&wanted))
            .collect();
        rows.sort_by(|one, other| {
            let by_name = one.title.cmp(&other.title);
            match self.order {
                Order::Activity => one.stage.cmp(&other.stage).then(by_name),
                Order::Name => by_name,
                Order::Findings => {
                    let counts = |row: &Row| (row.findings, row.crashes);
                    counts(other).cmp(&counts(one)).then(by_name)
                }
                Order::Inputs => other.inputs.cmp(&one.inputs).then(by_name),
                Order::Accepted => {
                    let share = |row: &Row| row.accepted as f64 / row.inputs.max(1) as f64;
                    share(one).total_cmp(&share(other)).then(by_name)
                }
            }
        });
        rows
    }
}
