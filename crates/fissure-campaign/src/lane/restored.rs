//! What an earlier process did for an API.

use std::collections::BTreeMap;
use std::time::Duration;

use fissure_model::ConcreteInput;

use super::{Lane, is_limit};
use crate::guide::{Block, Reached};
use crate::index::BatchIndex;
use crate::restore::RestoredBatch;
use crate::settled::Settled;

impl Lane {
    /// The outcomes of this batch, if an earlier process ran it.
    pub(crate) fn take_restored(&mut self, index: BatchIndex) -> Option<RestoredBatch> {
        self.restored.batches.remove(&index)
    }

    /// Counts a batch that an earlier process ran.
    pub(crate) fn complete_restored(
        &mut self,
        index: BatchIndex,
        inputs: Vec<ConcreteInput>,
        batch: &RestoredBatch,
    ) {
        let mut settled = Settled::with_capacity(inputs.len());
        let mut blocks: BTreeMap<u64, Vec<Block>> = batch.blocks.iter().cloned().collect();
        for (input, kind) in inputs.into_iter().zip(&batch.outcomes) {
            if let Some(blocks) = blocks.remove(&input.number) {
                settled.reached.push(Reached {
                    input: input.clone(),
                    kind: *kind,
                    blocks,
                });
            }
            self.tally.add(*kind, &input.intent);
            self.behaviour.observe(&input, *kind);
            let judging = self.judging.wants(Duration::ZERO);
            settled.add(&self.api, input, *kind, judging);
        }
        let hangs = batch.outcomes.iter().filter(|kind| is_limit(**kind));
        for _ in 0..hangs.count() {
            self.count_hang();
        }
        settled.wishes = batch.wishes.clone();
        self.rejections.restore(&batch.rejections);
        settled.busy = Duration::try_from_secs_f64(batch.busy).unwrap_or_default();
        self.busy += settled.busy;
        self.offer(index, settled);
        self.completed += 1;
    }
}
