//! Is this the failure we know, seen again?

use std::fmt;
use std::sync::Arc;

use fissure_judge::JudgeOptions;
use fissure_model::{Api, ConcreteInput, Execution, Intent, Oracle, Outcome, Report, Verdict};

use crate::signature::{Signature, signature, signature_without_native};

/// What the documentation says of an input: keeps every constraint, breaks exactly one, or neither.
#[derive(Clone)]
pub struct Documented(Arc<dyn Fn(&ConcreteInput) -> Intent + Send + Sync>);

impl Documented {
    pub fn new(of: impl Fn(&ConcreteInput) -> Intent + Send + Sync + 'static) -> Self {
        Documented(Arc::new(of))
    }

    /// The input as if it had been made to be what the documentation says that it is.
    fn read(&self, input: &ConcreteInput) -> ConcreteInput {
        ConcreteInput {
            intent: (self.0)(input),
            mutations: Vec::new(),
            ..input.clone()
        }
    }
}

impl fmt::Debug for Documented {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Documented")
    }
}

/// One failure, to be recognised in other executions of the same API.
#[derive(Clone, Debug)]
pub struct Failure {
    api: Api,
    verdict: Verdict,
    sign: Sign,
    /// The oracle that has to be asked to see it.
    oracle: Option<Oracle>,
}

/// What it is known by.
#[derive(Clone, Debug)]
enum Sign {
    /// How the call ended. `bare`: the signature when the process could not be looked into.
    End {
        signature: Signature,
        bare: Signature,
        has_native_frames: bool,
    },
    /// What a comparing oracle said of a call that returned.
    Report { oracle: Oracle, detail: String },
    /// The text of the exception.
    Message,
    /// The input is accepted or rejected against the documentation. Without the documentation at
    /// hand no other input shows it: what was said of one is not said of a simpler one.
    Documentation {
        signature: Signature,
        documented: Option<Documented>,
    },
}

impl Failure {
    pub fn new(api: &Api, verdict: &Verdict, execution: &Execution) -> Self {
        let report = report_of(verdict, execution);
        let sign = match (&verdict.oracle, report) {
            (Oracle::Message, _) => Sign::Message,
            (oracle, _) if oracle.is_against_documentation() => Sign::Documentation {
                signature: signature(api, verdict, execution),
                documented: None,
            },
            (_, Some(report)) if !has_ended(execution) => Sign::Report {
                oracle: report.oracle.clone(),
                detail: report.detail.clone(),
            },
            _ => Sign::End {
                signature: signature(api, verdict, execution),
                bare: signature_without_native(api, verdict, execution),
                has_native_frames: !execution.native_frames.is_empty(),
            },
        };
        let oracle = match sign {
            Sign::Message | Sign::Documentation { .. } => None,
            _ => report.map(|report| report.oracle.clone()),
        };
        Failure {
            api: api.clone(),
            verdict: verdict.clone(),
            sign,
            oracle,
        }
    }

    /// The oracle that has to be asked to see it, if it does not show by itself.
    pub fn oracle(&self) -> Option<&Oracle> {
        self.oracle.as_ref()
    }

    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The same with the documentation at hand.
    #[must_use]
    pub fn documented(mut self, by: Documented) -> Self {
        if let Sign::Documentation { documented, .. } = &mut self.sign {
            *documented = Some(by);
        }
        self
    }

    /// Other inputs can show it, too.
    pub fn can_be_shown(&self) -> bool {
        !matches!(
            self.sign,
            Sign::Documentation {
                documented: None,
                ..
            }
        )
    }

    /// This execution of `input` shows the same failure: same oracle and variant for a wrong result,
    /// same signature for everything else. A crash that left no native frames, here or there, is
    /// compared without them.
    pub fn shown_by(&self, input: &ConcreteInput, execution: &Execution) -> bool {
        match &self.sign {
            Sign::Documentation {
                signature: known,
                documented,
            } => documented
                .as_ref()
                .and_then(|it| fissure_judge::documentation(&it.read(input), execution, true))
                .is_some_and(|(verdict, _)| {
                    verdict.oracle == self.verdict.oracle
                        && signature(&self.api, &verdict, execution) == *known
                }),
            Sign::Message => {
                fissure_judge::documentation(input, execution, false).is_some_and(|(verdict, _)| {
                    verdict.oracle == self.verdict.oracle && verdict.detail == self.verdict.detail
                })
            }
            Sign::Report { oracle, detail } => {
                !has_ended(execution)
                    && execution
                        .reports
                        .iter()
                        .any(|report| report.oracle == *oracle && report.detail == *detail)
            }
            Sign::End {
                signature: known,
                bare,
                has_native_frames,
            } => {
                let options = JudgeOptions { check_nan: true };
                let Some(mut verdict) = fissure_judge::judge(&self.api, input, execution, &options)
                else {
                    return false;
                };
                // That a large input explains a hang says nothing about whether it is the same.
                verdict.note = self.verdict.note;
                if *has_native_frames && !execution.native_frames.is_empty() {
                    signature(&self.api, &verdict, execution) == *known
                } else {
                    signature_without_native(&self.api, &verdict, execution) == *bare
                }
            }
        }
    }

    /// The execution with what a finding's script is made of: an oracle that looks at the exception
    /// alone writes its report here and not in the worker.
    pub fn complete(&self, input: &ConcreteInput, mut execution: Execution) -> Execution {
        let said = match &self.sign {
            Sign::Message => fissure_judge::documentation(input, &execution, false),
            Sign::Documentation { documented, .. } => documented
                .as_ref()
                .and_then(|it| fissure_judge::documentation(&it.read(input), &execution, true)),
            Sign::Report { .. } | Sign::End { .. } => None,
        };
        if let Some((_, report)) = said {
            execution.reports = vec![report];
        }
        execution
    }
}

/// The process ended, or was ended, while this ran.
fn has_ended(execution: &Execution) -> bool {
    matches!(
        execution.outcome,
        Outcome::Crash { .. } | Outcome::Exit { .. } | Outcome::Timeout | Outcome::OutOfMemory
    )
}

/// The report that a verdict is about: the last one when the process ended in a call that an oracle
/// made, else the one of its oracle and detail.
pub fn report_of<'a>(verdict: &Verdict, execution: &'a Execution) -> Option<&'a Report> {
    let reports = &execution.reports;
    if has_ended(execution) {
        return reports.last();
    }
    reports
        .iter()
        .find(|report| report.oracle == verdict.oracle && report.detail == verdict.detail)
        .or_else(|| {
            reports
                .iter()
                .find(|report| report.oracle == verdict.oracle)
        })
}
