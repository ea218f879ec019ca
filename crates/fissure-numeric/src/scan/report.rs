//! The result of a scan as plain data.

use std::path::PathBuf;

use fissure_model::{ScanFinding, ScanProblem, ScanResults, ScanSite, Severity};
use serde::Serialize;

use crate::analysis::Form;

use super::event::{Event, InputEvent, OwnRun};
use super::plan::Analysed;
use super::process::Ended;
use super::{ScanOptions, ScanTarget};

/// The kind of the problem that a script ran only in part.
const PARTLY_RUN: &str = "partly-run";

/// Everything a scan learned: what was found, and what else is worth keeping.
#[derive(Clone, Debug, Serialize)]
pub struct ScanReport {
    #[serde(flatten)]
    pub results: ScanResults,
    pub own_run: Option<OwnRun>,
    pub inputs: Vec<InputEvent>,
    pub sites: Vec<SiteStatus>,
    /// Progress lines of the search.
    pub trace: Vec<String>,
    #[serde(skip)]
    strict: bool,
    /// The target is a script, not functions of it.
    #[serde(skip)]
    script: bool,
    /// The function under scan, of several.
    #[serde(skip)]
    many: Option<String>,
}

/// An unstable call site and what became of it.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct SiteStatus {
    pub file: PathBuf,
    pub line: usize,
    pub function: String,
    /// Times the program's own run passed it; 0 = never executed.
    pub hits: u64,
    pub found: bool,
}

impl std::ops::Deref for ScanReport {
    type Target = ScanResults;

    fn deref(&self) -> &ScanResults {
        &self.results
    }
}

impl ScanReport {
    pub(super) fn new(options: &ScanOptions, analysed: &Analysed) -> ScanReport {
        let target = match &options.target {
            ScanTarget::Script(path) => path.display().to_string(),
            ScanTarget::FileFunction { file, function } => {
                format!("{}::{function}", file.display())
            }
            ScanTarget::ModuleFunction { module, function } => format!("{module}:{function}"),
            ScanTarget::Module(module) => module.clone(),
            ScanTarget::Folder(path) => path.display().to_string(),
        };
        let mut sites = Vec::new();
        if let (Some(analysis), Some(file)) = (&analysed.analysis, &analysed.file) {
            // Whether a cast can go wrong depends on types that only a run shows, and a module
            // object is called elsewhere than where it is made.
            for site in analysis
                .sites
                .iter()
                .filter(|site| site.announced)
                .filter(|site| site.form != Form::ModuleClass && !site.function.starts_with("cast"))
            {
                let status = SiteStatus {
                    file: file.clone(),
                    line: site.span.line,
                    function: site.function.clone(),
                    hits: 0,
                    found: false,
                };
                if !sites.contains(&status) {
                    sites.push(status);
                }
            }
        }
        ScanReport {
            results: ScanResults {
                target,
                ..ScanResults::default()
            },
            own_run: None,
            inputs: Vec::new(),
            sites,
            trace: Vec::new(),
            strict: options.strict,
            script: matches!(options.target, ScanTarget::Script(_)),
            many: None,
        }
    }

    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Started { versions } => self.results.versions = versions,
            Event::OwnRun(own_run) => self.take_own_run(own_run),
            Event::Understood {
                sites,
                inputs,
                executed,
            } => {
                self.inputs.extend(inputs);
                for site in sites {
                    self.reached(&site);
                }
                // A call that runs as other operations (a distribution's log_prob) is known by
                // its line.
                for site in self.sites.iter_mut().filter(|site| site.hits == 0) {
                    let place = (site.file.clone(), site.line);
                    site.hits = u64::from(executed.contains(&place));
                }
            }
            Event::UnknownInputs { names, known } => self.problem(
                "target",
                format!(
                    "no input is named {}; the inputs are {}",
                    names.join(", "),
                    known.join(", ")
                ),
                false,
            ),
            Event::Note { text } => self.trace.push(text),
            Event::Target { name } => self.many = Some(name),
            Event::TargetDone(status) => self.results.targets.push(status),
            Event::Finding(finding) => self.take_finding(*finding),
            Event::Searched {
                seconds,
                runs,
                out_of_time,
            } => {
                self.results.search_seconds += seconds;
                self.results.runs += runs;
                if out_of_time && self.many.is_none() {
                    self.problem(
                        "time",
                        format!(
                            "the search ended at its limit of {seconds:.0} s; --total-time gives it more"
                        ),
                        false,
                    );
                }
            }
            Event::Failed {
                kind,
                message,
                file,
                line,
            } => {
                let place = match (file, line) {
                    (Some(file), Some(line)) => format!("{}:{line}: ", file.display()),
                    _ => String::new(),
                };
                self.problem(&kind, format!("{place}{message}"), true);
            }
            Event::Checked { .. } | Event::Finished | Event::Direction(_) => {}
        }
    }

    fn take_own_run(&mut self, own_run: OwnRun) {
        if self.many.is_some() {
            // What went wrong with one of several functions is said beside its name.
            return;
        }
        let fatal = own_run.operations == 0 && !own_run.functions_instead;
        let instead = if own_run.functions_instead {
            "; its functions are scanned one by one"
        } else {
            ""
        };
        if let Some((class, message, file, line)) = &own_run.error {
            let place = match (file, line) {
                (Some(file), Some(line)) => format!("{}:{line}: ", file.display()),
                _ => String::new(),
            };
            let hint = match class.as_str() {
                "InputRequested" => {
                    "; a scan has nobody to ask: give the value as an argument after `--`"
                }
                "ModuleNotFoundError" | "ImportError" => {
                    "; the interpreter of the scan must have it: name one with --python, or --with PACKAGE \
                     for a managed environment that has it"
                }
                "FileNotFoundError" => "; the program runs in its own folder",
                "SystemExit" => "; arguments for the program go after `--`",
                _ => "",
            };
            self.problem(
                "program",
                format!("{place}the program raises {class}: {message}{hint}{instead}"),
                fatal,
            );
        } else if let Some(code) = own_run.exit_code
            && code != 0
        {
            self.problem(
                "program",
                format!(
                    "the program ends itself with exit code {code}; arguments for it go after `--`{}{instead}",
                    match own_run.errors.lines().rev().find(|line| !line.trim().is_empty()) {
                        Some(line) => format!("\n  its last words: {line}"),
                        None => String::new(),
                    }
                ),
                fatal,
            );
        } else if own_run.operations == 0 {
            self.problem(
                "program",
                "the program's own run passes no array operation: its functions are scanned one by \
                 one"
                    .to_owned(),
                false,
            );
        }
        for part in &own_run.unseen {
            self.problem("own-run", format!("not seen: {part}"), false);
        }
        if own_run.stopped.as_deref() == Some("time") {
            self.problem(
                "own-run",
                format!(
                    "the program still ran after {:.0} s and was stopped there; what it had \
                     executed is searched (--total-time gives it more)",
                    own_run.seconds
                ),
                false,
            );
        }
        self.own_run = Some(own_run);
    }

    fn reached(&mut self, event: &ScanSite) {
        let known = self.sites.iter_mut().find(|site| {
            site.file == event.file && site.line == event.line && site.function == event.function
        });
        match known {
            Some(site) => site.hits = event.hits,
            None => self.sites.push(SiteStatus {
                file: event.file.clone(),
                line: event.line,
                function: event.function.clone(),
                hits: event.hits,
                found: false,
            }),
        }
    }

    fn take_finding(&mut self, finding: ScanFinding) {
        let counted = self.strict || finding.severity != Severity::Theoretical;
        if counted {
            for site in &mut self.sites {
                if std::iter::once(&finding.site)
                    .chain(&finding.same_cause)
                    .any(|found| {
                        site.file == found.file
                            && site.line == found.line
                            && site.function == found.function
                    })
                {
                    site.found = true;
                }
            }
        }
        if counted {
            if let Some(known) = self.results.findings.iter_mut().find(|known| {
                known.target != finding.target
                    && known.oracle == finding.oracle
                    && known.site.file == finding.site.file
                    && known.site.line == finding.site.line
                    && known.site.function == finding.site.function
            }) {
                // One place is one finding, whichever function it was reached from.
                if let Some(target) = &finding.target {
                    known.details.push(format!("the same in {target}"));
                }
                return;
            }
            self.results.findings.push(finding);
        } else {
            self.results.notes.push(finding);
        }
    }

    pub(super) fn problem(&mut self, kind: &str, message: String, fatal: bool) {
        self.results.problems.push(ScanProblem {
            kind: kind.to_owned(),
            message,
            fatal,
        });
    }

    pub(super) fn close(&mut self, ended: Ended, searched: bool, log: String) {
        match ended {
            _ if self.results.interrupted => self.problem(
                "interrupted",
                if searched {
                    "interrupted: this is what was found until then".to_owned()
                } else {
                    "interrupted before the search began".to_owned()
                },
                false,
            ),
            Ended::Normally => {}
            Ended::Silent(patience) => self.problem(
                "runtime",
                format!(
                    "nothing was heard from the program for {} s; it was ended",
                    patience.as_secs()
                ),
                !searched,
            ),
            Ended::Gone { status, log } => {
                let tail: Vec<&str> = log.lines().rev().take(5).collect();
                let tail: Vec<&str> = tail.into_iter().rev().collect();
                self.problem(
                    "runtime",
                    format!(
                        "the program's process ended ({status}) before the scan was done{}{}",
                        if tail.is_empty() {
                            ""
                        } else {
                            "; its last words:\n"
                        },
                        tail.join("\n")
                    ),
                    !searched,
                );
            }
        }
        if let Some(reason) = self.partly_run() {
            self.problem(PARTLY_RUN, reason, true);
        }
        if !log.trim().is_empty() {
            self.trace.push(format!("standard error:\n{log}"));
        }
        self.sites
            .sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    }

    /// Why nothing can be said of the whole of a script in which nothing was found: its run did not come to its
    /// end, or to none of its unstable call sites.
    fn partly_run(&self) -> Option<String> {
        let run = self.own_run.as_ref()?;
        if !self.script
            || run.functions_instead
            || run.operations == 0
            || self.interrupted
            || !self.findings.is_empty()
        {
            return None;
        }
        let missed = self.sites.iter().filter(|site| site.hits == 0).count();
        let reached = self.sites.len() - missed;
        let raised = run.error.is_some() || run.exit_code.is_some_and(|code| code != 0);
        let why = if raised {
            "its run did not come to its end"
        } else if run.stopped.as_deref() == Some("time") && missed > 0 {
            "its run was stopped by the clock (--steps ends a training loop sooner)"
        } else if reached == 0 && missed > 0 {
            "its run came to none of its unstable call sites"
        } else {
            return None;
        };
        Some(format!(
            "only a part of the program was scanned: {why}; nothing was found in that part, with {reached} of {} \
             unstable call sites (exit code 4)",
            self.sites.len()
        ))
    }

    /// Nothing was found, and that is true only of the part of the program that ran.
    pub fn in_part(&self) -> bool {
        let mut fatal = self.problems.iter().filter(|problem| problem.fatal);
        fatal
            .next()
            .is_some_and(|problem| problem.kind == PARTLY_RUN)
            && fatal.next().is_none()
            && !self.nothing_ran()
    }

    /// Nothing could be searched, or not the whole of it.
    pub fn failed(&self) -> bool {
        self.problems.iter().any(|problem| problem.fatal) || self.nothing_ran()
    }

    /// No array operation of the target was executed: nothing is known about it.
    pub fn nothing_ran(&self) -> bool {
        let own = self.own_run.as_ref().map_or(0, |run| run.operations);
        own == 0
            && self.findings.is_empty()
            && self.targets.iter().all(|target| target.operations == 0)
    }
}
