//! What a user sees while a run goes on.
//!
//! In a terminal: one line that is redrawn. Otherwise: lines that can be searched, each starting
//! with a word that says what it is (`start`, `found`, `done`, `skip`, `note`, `warning`).

#![expect(clippy::print_stderr, reason = "this is the file that prints")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use fissure_campaign::{RunEvent, Tally};
use fissure_model::Finding;
use fissure_triage::crash_reason;
use indicatif::{ProgressBar, ProgressStyle};

use crate::human_duration;
use crate::words::{first_word_painted, printable};

/// How often a run that is not watched in a terminal says where it is.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Steps of the bar per API.
const STEPS: u64 = 1000;

/// Counts of an API under way.
#[derive(Clone, Copy, Default)]
struct Active {
    inputs: u64,
    accepted: u64,
    max_inputs: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Terminal,
    Plain,
    /// Findings and warnings only.
    Quiet,
}

pub struct Progress {
    style: Style,
    verbose: bool,
    colored: bool,
    bar: Option<ProgressBar>,
    started: Instant,
    last_plain: Instant,
    active: BTreeMap<String, Active>,
    /// Inputs and accepted inputs of the APIs that are done.
    done: (u64, u64),
    finished: usize,
    apis: usize,
    findings: u64,
    notes: u64,
}

impl Progress {
    pub fn new(style: Style, verbose: bool, apis: usize) -> Self {
        let bar = (style == Style::Terminal).then(|| {
            let bar = ProgressBar::new(apis as u64 * STEPS);
            bar.set_style(
                ProgressStyle::with_template("{spinner} [{elapsed}] {bar:24} {msg}")
                    .expect("the template is constant"),
            );
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Progress {
            style,
            verbose,
            colored: false,
            bar,
            started: Instant::now(),
            last_plain: Instant::now(),
            active: BTreeMap::new(),
            done: (0, 0),
            finished: 0,
            apis,
            findings: 0,
            notes: 0,
        }
    }

    /// With the first word of a line in colour where it matters.
    pub fn colored(self, colored: bool) -> Self {
        Progress { colored, ..self }
    }

    pub fn observe(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::Skipped { api, reason } => {
                self.finished += 1;
                self.line(
                    &format!("skip   {}: {reason}", api.title),
                    self.style != Style::Quiet,
                );
                self.advance();
            }
            RunEvent::Started { api, .. } => {
                self.active.insert(api.title.clone(), Active::default());
                self.line(&format!("start  {}", api.title), self.verbose);
            }
            RunEvent::Learned { api, rules } => {
                self.line(
                    &format!("learn  {}: {rules} rules", api.title),
                    self.style != Style::Quiet,
                );
            }
            RunEvent::Progress {
                api,
                tally,
                max_inputs,
            } => {
                let active = Active {
                    inputs: tally.inputs,
                    accepted: tally.accepted(),
                    max_inputs,
                };
                self.active.insert(api.title.clone(), active);
                self.refresh();
            }
            RunEvent::Replayed { finding, outcome } => {
                self.findings += u64::from(outcome.fails() && !finding.is_note());
                let detail = match outcome.detail() {
                    "" => String::new(),
                    detail => format!(": {detail}"),
                };
                self.line(
                    &format!("again  {} {}{detail}", finding.id, outcome.name()),
                    true,
                );
            }
            RunEvent::Shrinking { id, .. } => {
                self.line(&format!("shrink {id}"), self.verbose);
            }
            RunEvent::Shrunk { finding, summary } => {
                let line = format!(
                    "       {} smaller in {} step{}, {} inputs, {}",
                    finding.id,
                    summary.steps,
                    if summary.steps == 1 { "" } else { "s" },
                    summary.tried,
                    human_duration(summary.elapsed)
                );
                self.line(&line, self.verbose);
            }
            RunEvent::Confirming { id, .. } => {
                self.line(&format!("try    {id} in a fresh process"), self.verbose);
            }
            RunEvent::Found { finding, folder } => self.found(finding, &folder),
            RunEvent::Tick { .. } => {}
            RunEvent::Folded { id, into } => {
                self.findings = self.findings.saturating_sub(1);
                self.line(
                    &format!("same   {id} is {into}"),
                    self.style != Style::Quiet,
                );
            }
            RunEvent::Finished { summary } => {
                self.finished += 1;
                self.active.remove(&summary.api.title);
                self.done.0 += summary.tally.inputs;
                self.done.1 += summary.tally.accepted();
                let line = done_line(&summary.api.title, &summary.tally, summary.elapsed);
                let wanted = self.verbose || (self.style == Style::Plain && self.apis > 1);
                self.line(&line, wanted);
                if self.verbose {
                    for (reason, count) in summary.rejections.iter().take(5) {
                        self.line(&format!("       {count:>6} × {reason}"), true);
                    }
                }
                self.advance();
            }
            RunEvent::Warning { message } => self.line(&format!("warning: {message}"), true),
        }
    }

    fn found(&mut self, finding: &Finding, folder: &Path) {
        let (word, label) = if finding.is_note() {
            self.notes += 1;
            let label = if finding.verdict.note {
                "explained by the input"
            } else if finding
                .reproduction
                .is_some_and(|tried| tried.failures == 0)
            {
                "not seen again"
            } else {
                finding.interest().label()
            };
            ("note ", label.to_owned())
        } else {
            self.findings += 1;
            (
                "FOUND",
                match finding.reproduction {
                    Some(tried) if tried.is_stable() => "reproduces in a fresh process".to_owned(),
                    Some(tried) => format!("flaky: {} of {} runs", tried.failures, tried.runs),
                    None => "not tried".to_owned(),
                },
            )
        };
        self.line(
            &format!(
                "{word}  {} {} {}{} (input {}, {label})\n       {}{}\n       {}",
                finding.api.title,
                finding.verdict.kind,
                finding.verdict.detail,
                crash_reason(finding),
                finding.input.number,
                finding.api.title.rsplit('.').next().unwrap_or_default(),
                finding.input.summary(),
                folder.join("reproduce.py").display()
            ),
            !finding.is_note() || self.style != Style::Quiet,
        );
    }

    fn line(&self, text: &str, wanted: bool) {
        if !wanted {
            return;
        }
        let text = printable(text);
        let text = match self.colored {
            true => first_word_painted(&text),
            false => text,
        };
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }

    /// Moves the bar: an API that is done counts whole, one under way by its inputs.
    fn advance(&self) {
        let Some(bar) = &self.bar else { return };
        let under_way: u64 = self
            .active
            .values()
            .filter_map(|api| Some(api.inputs * STEPS / api.max_inputs?.max(1)))
            .sum();
        bar.set_position(self.finished as u64 * STEPS + under_way);
    }

    fn refresh(&mut self) {
        let (inputs, accepted) = self.active.values().fold(self.done, |total, api| {
            (total.0 + api.inputs, total.1 + api.accepted)
        });
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let share = if inputs > 0 {
            100.0 * accepted as f64 / inputs as f64
        } else {
            0.0
        };
        let status = format!(
            "{inputs} inputs  {:.0}/s  {share:.0} % accepted  {} finding{}",
            inputs as f64 / seconds,
            self.findings,
            if self.findings == 1 { "" } else { "s" },
        );
        self.advance();
        if let Some(bar) = &self.bar {
            let current = self
                .active
                .iter()
                .next()
                .map_or(String::new(), |(title, api)| match api.max_inputs {
                    Some(max) => format!("{title} {}/{max}", api.inputs),
                    None => format!("{title} {}", api.inputs),
                });
            let done = format!("{}/{} APIs", self.finished, self.apis);
            bar.set_message(format!("{done}  {status}  {current}"));
        } else if self.style == Style::Plain && self.last_plain.elapsed() >= PLAIN_INTERVAL {
            self.last_plain = Instant::now();
            eprintln!(
                "status {}/{} APIs  {status}  {}",
                self.finished,
                self.apis,
                human_duration(self.started.elapsed())
            );
        }
    }

    /// Removes the live line, so that what is printed next stands alone.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn done_line(title: &str, tally: &Tally, elapsed: Duration) -> String {
    format!(
        "done   {title}: {} inputs, {:.1} % accepted, {}",
        tally.inputs,
        tally.accepted_percent().unwrap_or(0.0),
        human_duration(elapsed)
    )
}
