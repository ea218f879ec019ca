//! What of an API the oracles look at, and what they did.

use std::collections::BTreeMap;
use std::time::Duration;

use fissure_execute::Batch;
use fissure_model::{Execution, Oracle};

use super::part::PART_PLACES;
use super::{ForOracles, Lane, SequencePart};
use crate::index::Place;
use crate::judging::Chosen;
use crate::restore::RestoredJudged;
use crate::schedule::LAG;
use crate::{OracleTally, Part};

impl Lane {
    /// Inputs for the oracles, if any wait.
    pub(crate) fn next_judging(&mut self) -> Option<(ForOracles, Batch)> {
        if self.is_cut_short() {
            self.judging.clear();
        }
        if self.part == Part::Fuzz {
            // Chosen again, by the same rules, when the oracles have their turn.
            self.judging.clear();
            return None;
        }
        let judged = &self.restored.judged_numbers;
        let mut skipped = Vec::new();
        let chosen = self.judging.next(|number, asked, place| {
            let done = judged.contains(&(number, asked));
            skipped.extend(done.then_some(place));
            done
        });
        self.judged_at(skipped);
        let Chosen {
            oracles,
            asked,
            places,
            inputs,
        } = chosen?;
        self.judging_in_flight += 1;
        let numbers = inputs.iter().map(|input| input.number);
        let chosen = ForOracles {
            asked,
            places: numbers.zip(places).collect(),
        };
        let batch = Batch {
            id: 0,
            api: self.api.clone(),
            check_nan: false,
            oracles,
            inputs,
            abandoned: self.abandoned.clone(),
            slow_calls: None,
        };
        Some((chosen, batch))
    }

    /// These places in the queue of judging are done.
    pub(super) fn judged_at(&mut self, places: impl IntoIterator<Item = Place>) {
        self.judged_places.extend(places);
        while self.judged_places.remove(&self.next_place) {
            self.next_place.advance();
        }
    }

    /// Whether everything in this part of the sequence, and before it, has come back.
    pub(crate) fn is_over(&self, part: SequencePart) -> bool {
        match part {
            SequencePart::Plain(part) => self.next_judged.get() >= (part + 1) * LAG,
            SequencePart::Judged(part) => self.next_place.get() >= (part + 1) * PART_PLACES,
        }
    }

    /// Counts a batch of judged inputs that came back; gives what each oracle did.
    pub(crate) fn complete_judging(
        &mut self,
        chosen: &ForOracles,
        executions: &[Execution],
        busy: Duration,
    ) -> BTreeMap<Oracle, OracleTally> {
        self.judging_in_flight -= 1;
        self.judged_at(chosen.places.iter().map(|(_, place)| *place));
        self.judged += executions.len() as u64;
        self.busy += busy;
        self.judging.count(executions, busy);
        self.elapsed = self.clock.elapsed();
        let mut oracles: BTreeMap<Oracle, OracleTally> = BTreeMap::new();
        for execution in executions {
            for cost in &execution.oracle_costs {
                let tally = oracles.entry(cost.oracle.clone()).or_default();
                tally.inputs += 1;
                tally.time += cost.duration;
            }
            for report in &execution.reports {
                oracles.entry(report.oracle.clone()).or_default().reports += 1;
            }
        }
        self.count_oracles(&oracles);
        oracles
    }

    pub(super) fn count_oracles(&mut self, oracles: &BTreeMap<Oracle, OracleTally>) {
        for (oracle, tally) in oracles {
            self.oracles.entry(oracle.clone()).or_default().merge(tally);
        }
    }

    /// Counts what oracles did in an earlier process.
    pub(super) fn restore_judged(&mut self, judged: RestoredJudged) {
        self.judged += judged.numbers.len() as u64;
        self.busy += Duration::try_from_secs_f64(judged.busy).unwrap_or_default();
        self.hangs += judged.hangs;
        self.count_oracles(&judged.oracles);
    }
}
