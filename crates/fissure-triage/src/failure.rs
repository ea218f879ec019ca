//! Is this the failure we know, seen again?

use fissure_judge::JudgeOptions;
use fissure_model::{Api, ConcreteInput, Execution, Report, Verdict};

use crate::signature::{Signature, signature, signature_without_native};

/// One failure, to be recognised in other executions of the same API.
#[derive(Clone, Debug)]
pub struct Failure {
    api: Api,
    verdict: Verdict,
    signature: Signature,
    /// The signature when a process could not be looked into.
    bare: Signature,
    has_native_frames: bool,
    /// Oracle and variant during which the process died, for a crash inside a comparison.
    variant: Option<(String, String)>,
}

impl Failure {
    pub fn new(api: &Api, verdict: &Verdict, execution: &Execution) -> Self {
        Failure {
            api: api.clone(),
            verdict: verdict.clone(),
            signature: signature(api, verdict, execution),
            bare: signature_without_native(api, verdict, execution),
            has_native_frames: !execution.native_frames.is_empty(),
            variant: report_of(verdict, execution).map(name),
        }
    }

    /// The name of the oracle that has to be asked to see it, if it does not show by itself.
    pub fn oracle(&self) -> Option<&str> {
        self.variant.as_ref().map(|(oracle, _)| oracle.as_str())
    }

    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// This execution of `input` shows the same failure: same oracle and variant for a wrong result,
    /// same signature for everything else. A crash that left no native frames, here or there, is
    /// compared without them.
    pub fn shown_by(&self, input: &ConcreteInput, execution: &Execution) -> bool {
        if self.variant != report_like(self.variant.as_ref(), execution).map(name) {
            return false;
        }
        let options = JudgeOptions { check_nan: true };
        let Some(mut verdict) = fissure_judge::judge(&self.api, input, execution, &options) else {
            // A wrong result is an accepted call: its report is all there is.
            return self.variant.is_some()
                && self.verdict.kind != fissure_model::OutcomeKind::Crash;
        };
        if self.variant.is_some() && verdict.kind != self.verdict.kind {
            return false;
        }
        // That a large input explains a hang says nothing about whether it is the same hang.
        verdict.note = self.verdict.note;
        verdict.oracle.clone_from(&self.verdict.oracle);
        if self.variant.is_some() {
            verdict.detail.clone_from(&self.verdict.detail);
        }
        if self.has_native_frames && !execution.native_frames.is_empty() {
            signature(&self.api, &verdict, execution) == self.signature
        } else {
            signature_without_native(&self.api, &verdict, execution) == self.bare
        }
    }
}

/// The report that a verdict is about: of its oracle and detail, or the one that was announced
/// before the process died.
pub fn report_of<'a>(verdict: &Verdict, execution: &'a Execution) -> Option<&'a Report> {
    let reports = &execution.reports;
    reports
        .iter()
        .find(|report| report.oracle == verdict.oracle && report.detail == verdict.detail)
        .or_else(|| {
            reports
                .iter()
                .find(|report| report.oracle == verdict.oracle)
        })
        .or_else(|| {
            let died = crate::confirm::is_process_end(verdict.kind)
                || verdict.kind == fissure_model::OutcomeKind::Timeout;
            reports.last().filter(|_| died)
        })
}

fn report_like<'a>(
    variant: Option<&(String, String)>,
    execution: &'a Execution,
) -> Option<&'a Report> {
    let (oracle, detail) = variant?;
    execution
        .reports
        .iter()
        .find(|report| report.oracle == *oracle && report.detail == *detail)
}

fn name(report: &Report) -> (String, String) {
    (report.oracle.clone(), report.detail.clone())
}
