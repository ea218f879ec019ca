//! Batches on their way to the pool and back.

use std::sync::Arc;
use std::time::Duration;

use fissure_execute::{Batch, Event, Hit};
use fissure_model::{Execution, Outcome, OutcomeKind};

use super::{CampaignError, Run};
use crate::RunEvent;
use crate::index::{ApiIndex, BatchIndex};
use crate::lane::{ForOracles, SequencePart};
use crate::record::{Record, letter};

/// A batch that the pool has.
pub(super) struct Handed {
    /// Position of its API.
    lane: ApiIndex,
    work: Work,
    /// Inputs of it that ran into a limit, and failures that known issues silenced.
    hangs: u64,
    silenced: u64,
}

#[derive(Clone)]
enum Work {
    /// Newly generated inputs: the batch's index within its lane.
    Run(BatchIndex),
    /// Inputs for the oracles.
    Judge(ForOracles),
}

impl Work {
    fn part(&self, number: u64) -> SequencePart {
        match self {
            Work::Run(index) => SequencePart::of_batch(*index),
            Work::Judge(chosen) => chosen.part(number),
        }
    }
}

impl Run<'_> {
    pub(super) fn hand_out(&mut self) {
        // One batch running and two queued per worker: `submit` never blocks.
        let capacity = self.options.workers * 3;
        let mut order: Vec<ApiIndex> = self.lanes.keys().copied().collect();
        order.sort_unstable();
        // Begins after the one that was served last: places become free one at a time, and would
        // all go to the first.
        let served = order.partition_point(|at| *at <= self.last_served);
        order.rotate_left(served);
        let mut progressed = true;
        while progressed && self.in_flight.len() < capacity {
            progressed = false;
            for at in &order {
                if self.in_flight.len() >= capacity {
                    break;
                }
                let waits = self.ask_the_library(*at);
                let Some(lane) = self.lanes.get_mut(at) else {
                    continue;
                };
                let (work, mut batch) = match lane.next_judging() {
                    Some((chosen, batch)) => (Work::Judge(chosen), batch),
                    None if waits => continue,
                    None => match lane.next_batch() {
                        Some((index, batch)) => match lane.take_restored(index) {
                            // An earlier process has run it.
                            Some(restored) => {
                                lane.complete_restored(index, batch.inputs, &restored);
                                progressed = true;
                                continue;
                            }
                            None => (Work::Run(index), batch),
                        },
                        None => continue,
                    },
                };
                batch.id = self.next_batch_id;
                self.next_batch_id += 1;
                let handed = Handed {
                    lane: *at,
                    work,
                    hangs: 0,
                    silenced: 0,
                };
                self.in_flight.insert(batch.id, handed);
                self.pool.submit(batch);
                self.last_served = *at;
                progressed = true;
            }
        }
    }

    pub(super) fn handle(&mut self, event: Event) -> Result<(), CampaignError> {
        match event {
            Event::Abnormal {
                batch,
                input,
                execution,
            } => {
                let Some(handed) = self.in_flight.get_mut(&batch) else {
                    return Ok(());
                };
                if execution.outcome == Outcome::Timeout && execution.duration < self.pool.timeout()
                {
                    // The API's time for slow calls was used up: nothing hangs.
                    return Ok(());
                }
                let limit = matches!(execution.outcome, Outcome::Timeout | Outcome::OutOfMemory);
                handed.hangs += u64::from(limit);
                let at = handed.lane;
                let part = handed.work.part(input.number);
                // An oracle makes many calls of an input that alone kept within the limits.
                let mut silenced = 0;
                if !limit || matches!(handed.work, Work::Run(_)) {
                    silenced = self.look(at, &input, &execution, part)?;
                }
                if let Some(handed) = self.in_flight.get_mut(&batch) {
                    handed.silenced += silenced;
                }
                if let Some(lane) = self.lanes.get_mut(&at).filter(|_| limit) {
                    lane.count_hang();
                }
                Ok(())
            }
            Event::Done {
                batch,
                executions,
                hits,
                busy,
            } => {
                if let Some(handed) = self.in_flight.get(&batch.id) {
                    let api = &self.apis[handed.lane].title;
                    let elapsed = self.clock.elapsed();
                    self.coverage.note(api, executions.len(), &hits, elapsed);
                }
                self.complete(batch, &executions, &hits, busy)
            }
        }
    }

    fn complete(
        &mut self,
        batch: Batch,
        executions: &[Execution],
        hits: &[Hit],
        busy: Duration,
    ) -> Result<(), CampaignError> {
        let Some(handed) = self.in_flight.remove(&batch.id) else {
            return Ok(());
        };
        let at = handed.lane;
        let Work::Run(index) = handed.work else {
            return self.complete_judging(handed, &batch, executions, busy);
        };
        let mut silenced = handed.silenced;
        for (input, execution) in batch.inputs.iter().zip(executions) {
            // Whatever ended a process came as an event of its own, at once.
            if matches!(
                execution.outcome,
                Outcome::Accepted { .. } | Outcome::Rejected(_)
            ) {
                let part = SequencePart::of_batch(index);
                silenced += self.look(at, input, execution, part)?;
            }
        }
        let Some(lane) = self.lanes.get_mut(&at) else {
            return Ok(());
        };
        let before = lane.tally.clone();
        let first = batch.inputs.first().map_or(0, |input| input.number);
        lane.complete(index, batch.inputs, executions, hits, busy)?;
        let accepted = lane.tally.accepted() - before.accepted();
        let rejected =
            lane.tally.count(OutcomeKind::Rejected) - before.count(OutcomeKind::Rejected);
        let inputs = executions.len() as u64;
        self.folder.append(&Record::Batch {
            at,
            api: lane.api.title.clone(),
            index,
            first,
            inputs,
            accepted,
            rejected,
            other: inputs - accepted - rejected,
            outcomes: executions
                .iter()
                .map(|execution| letter(fissure_judge::kind(execution)))
                .collect(),
            busy: busy.as_secs_f64(),
            reached: lane.reached(),
            seconds: self.clock.elapsed().as_secs_f64(),
            spent: lane.spent(),
            rejections: lane.tell_rejections(),
            wishes: lane.wishes(index),
            silenced,
            blocks: lane.blocks(index),
        })?;
        (self.observer)(RunEvent::Progress {
            api: &lane.api,
            tally: &lane.tally,
            max_inputs: lane.max_inputs(),
        });
        Ok(())
    }

    /// Hears what the oracles had to say.
    fn complete_judging(
        &mut self,
        handed: Handed,
        batch: &Batch,
        executions: &[Execution],
        busy: Duration,
    ) -> Result<(), CampaignError> {
        let Handed {
            lane: at,
            work: Work::Judge(chosen),
            hangs,
            mut silenced,
        } = handed
        else {
            return Ok(());
        };
        let api = Arc::clone(&self.apis[at]);
        for (input, execution) in batch.inputs.iter().zip(executions) {
            for verdict in fissure_judge::reports(&api, input, execution) {
                let part = chosen.part(input.number);
                silenced += self.remember(at, &verdict, input, execution, part)?;
            }
        }
        if let Some(lane) = self.lanes.get_mut(&at) {
            let oracles = lane.complete_judging(&chosen, executions, busy);
            self.folder.append(&Record::Judged {
                at,
                api: lane.api.title.clone(),
                numbers: executions.iter().map(|one| one.number).collect(),
                reports: executions.iter().map(|one| one.reports.len() as u64).sum(),
                asked: chosen.asked,
                oracles,
                busy: busy.as_secs_f64(),
                hangs,
                silenced,
            })?;
        }
        Ok(())
    }
}
