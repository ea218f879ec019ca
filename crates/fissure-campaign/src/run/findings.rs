//! From an execution to a failure worth keeping.

use std::sync::Arc;
use std::time::Instant;

use fissure_judge::JudgeOptions;
use fissure_model::{ConcreteInput, Execution, Verdict};
use fissure_triage::Observed;

use super::{CampaignError, Run};
use crate::record::Record;

impl Run<'_> {
    /// Judges one execution and remembers a failure not seen before.
    pub(super) fn look(
        &mut self,
        at: usize,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Result<(), CampaignError> {
        let api = Arc::clone(&self.apis[at]);
        // A NaN alone is no verdict here: the input is judged by the oracle `nan`.
        let judge = JudgeOptions { check_nan: false };
        if let Some(verdict) = fissure_judge::judge(&api, input, execution, &judge) {
            return self.remember(at, &verdict, input, execution);
        }
        let trusted = self.options.trust_specs;
        if let Some((verdict, report)) = fissure_judge::documentation(input, execution, trusted)
            && self.options.has_oracle(&verdict.oracle)
        {
            let mut execution = execution.clone();
            execution.reports.push(report);
            return self.remember(at, &verdict, input, &execution);
        }
        Ok(())
    }

    /// Keeps a failure that no earlier one is the same as, if its oracle was asked.
    pub(super) fn remember(
        &mut self,
        at: usize,
        verdict: &Verdict,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Result<(), CampaignError> {
        if !self.options.has_oracle(&verdict.oracle) {
            return Ok(());
        }
        let api = Arc::clone(&self.apis[at]);
        if self
            .known_issues
            .silence(&api, verdict, execution)
            .is_some()
        {
            self.summary.silenced += 1;
            return Ok(());
        }
        let observed = self.collector.observe(&api, verdict, input, execution);
        if let Observed::New(signature) = observed {
            self.folder.append(&Record::Seen {
                at,
                api: api.title.clone(),
                id: fissure_triage::finding_id(&api, verdict, &signature),
                number: input.number,
            })?;
            self.seen.push((at, Instant::now(), signature));
        }
        Ok(())
    }
}
