//! How far one shard is, from its own log.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::event_log::EventReader;
use crate::record::Record;
use crate::{EVENTS_FILE, StoreError};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShardProgress {
    pub inputs: u64,
    pub accepted: u64,
    pub apis_done: usize,
    pub findings: usize,
    /// The run has ended, and was not interrupted.
    pub ended: bool,
}

impl ShardProgress {
    pub fn sum(shards: &[ShardProgress]) -> ShardProgress {
        let mut sum = ShardProgress {
            ended: true,
            ..ShardProgress::default()
        };
        for shard in shards {
            sum.inputs += shard.inputs;
            sum.accepted += shard.accepted;
            sum.apis_done += shard.apis_done;
            sum.findings += shard.findings;
            sum.ended &= shard.ended;
        }
        sum
    }
}

/// Reads the log of a run folder; one that has none yet has done nothing.
pub fn shard_progress(run: &Path) -> Result<ShardProgress, StoreError> {
    let mut progress = ShardProgress::default();
    let mut done = BTreeSet::new();
    let mut found = BTreeSet::new();
    let read = EventReader::new(run).read(|record: Record| match record {
        Record::Batch {
            inputs, accepted, ..
        } => {
            progress.inputs += inputs;
            progress.accepted += accepted;
        }
        Record::Finished { at, .. } | Record::Skipped { at, .. } => {
            done.insert(at);
        }
        Record::Found { id, note, .. } if !note => {
            found.insert(id);
        }
        Record::Folded { id, .. } => {
            found.remove(&id);
        }
        Record::End { interrupted } => progress.ended = !interrupted,
        Record::Run(_) => progress.ended = false,
        _ => {}
    });
    read.map_err(StoreError::at("read", &run.join(EVENTS_FILE)))?;
    progress.apis_done = done.len();
    progress.findings = found.len();
    Ok(progress)
}
