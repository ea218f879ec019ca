//! From an execution to a failure worth keeping.

use std::sync::Arc;
use std::time::Instant;

use fissure_judge::JudgeOptions;
use fissure_model::{ConcreteInput, Confidence, Execution, Verdict};
use fissure_triage::{Observed, Signature};

use super::{CampaignError, PATIENCE, Run};
use crate::index::ApiIndex;
use crate::lane::SequencePart;
use crate::record::Record;

impl Run<'_> {
    /// Judges one execution and remembers a failure not seen before. Gives how many were silenced.
    pub(super) fn look(
        &mut self,
        at: ApiIndex,
        input: &ConcreteInput,
        execution: &Execution,
        part: SequencePart,
    ) -> Result<u64, CampaignError> {
        let api = Arc::clone(&self.apis[at]);
        // A NaN alone is no verdict here: the input is judged by the oracle `nan`.
        let judge = JudgeOptions { check_nan: false };
        if let Some(verdict) = fissure_judge::judge(&api, input, execution, &judge) {
            return self.remember(at, &verdict, input, execution, part);
        }
        let trusted = self.options.trust_specs;
        let said = fissure_judge::documentation(input, execution, trusted).or_else(|| {
            let spec = self.spec(at).filter(|_| !trusted)?;
            fissure_judge::stated(spec, input, execution)
        });
        if let Some((verdict, report)) = said
            && self.options.has_oracle(&verdict.oracle)
        {
            let mut execution = execution.clone();
            execution.reports.push(report);
            return self.remember(at, &verdict, input, &execution, part);
        }
        Ok(0)
    }

    /// Keeps a failure that no earlier one is the same as, if its oracle was asked.
    pub(super) fn remember(
        &mut self,
        at: ApiIndex,
        verdict: &Verdict,
        input: &ConcreteInput,
        execution: &Execution,
        part: SequencePart,
    ) -> Result<u64, CampaignError> {
        if !self.options.has_oracle(&verdict.oracle) {
            return Ok(0);
        }
        // By the clock, a limit that the sizes of the input explain is counted and nothing else: making it
        // small would take the time of other APIs.
        if verdict.note && verdict.confidence == Confidence::Performance && !self.is_counted() {
            return Ok(0);
        }
        let api = Arc::clone(&self.apis[at]);
        if self
            .known_issues
            .silence(&api, verdict, execution)
            .is_some()
        {
            self.summary.silenced += 1;
            return Ok(1);
        }
        // By the clock, how much comes back in time depends on it anyway: the simplest input is kept.
        let rank = if self.is_counted() { part.rank() } else { 0 };
        let observed = self
            .collector
            .observe(&api, verdict, input, execution, rank);
        if let Observed::New(signature) = observed {
            self.folder.append(&Record::Seen {
                at,
                api: api.title.clone(),
                id: fissure_triage::finding_id(&api, verdict, &signature),
                number: input.number,
                judging: matches!(part, SequencePart::Judged(_)),
            })?;
            self.seen.push((at, Instant::now(), signature));
        }
        Ok(0)
    }

    /// The run ends by a count: what it finds does not depend on the clock.
    pub(super) fn is_counted(&self) -> bool {
        let options = self.options;
        let timed = options.max_time.or(options.total_time).or(options.turn);
        options.max_inputs.is_some() && timed.is_none()
    }

    /// Whether a failure has had its time to be shown by a simpler input.
    pub(super) fn has_waited(&self, at: ApiIndex, since: Instant, signature: &Signature) -> bool {
        if !self.is_counted() {
            return since.elapsed() >= PATIENCE;
        }
        let part = self.collector.part(signature);
        match (part, self.lanes.get(&at)) {
            (Some(part), Some(lane)) => lane.is_over(SequencePart::from_rank(part)),
            _ => true,
        }
    }
}
