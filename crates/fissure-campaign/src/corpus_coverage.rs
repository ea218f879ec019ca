//! What each input of a corpus reaches by itself, and the fewest inputs that reach the same together.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fissure_coverage::{BlockSet, CoverageRecord};
use fissure_execute::{Batch, Event, Hit, Pool};

use crate::{Corpus, CorpusEntry};

/// How long the pool may be silent.
const SILENCE: Duration = Duration::from_secs(600);

type Block = (u16, u32);

/// The inputs of one API with the blocks that each reaches.
#[derive(Debug)]
pub struct Measured {
    pub entries: Vec<(CorpusEntry, BTreeSet<Block>)>,
}

/// Runs each input by itself, in a pool whose blocks are armed for each message. All of them run once before: what only
/// the first call of a process runs belongs to none.
pub fn measure(corpus: &Corpus, pool: &Pool) -> Result<Vec<Measured>, String> {
    let mut apis = Vec::new();
    for entries in corpus.apis() {
        reached(pool, entries)?;
        let mut measured = Vec::new();
        for entry in entries {
            let hits = reached(pool, std::slice::from_ref(entry))?;
            let blocks = hits.iter().map(|hit| (hit.module, hit.block)).collect();
            measured.push((entry.clone(), blocks));
        }
        apis.push(Measured { entries: measured });
    }
    Ok(apis)
}

fn reached(pool: &Pool, entries: &[CorpusEntry]) -> Result<Vec<Hit>, String> {
    let Some(first) = entries.first() else {
        return Ok(Vec::new());
    };
    pool.submit(Batch {
        id: 0,
        api: Arc::new(first.api.clone()),
        check_nan: false,
        oracles: Arc::default(),
        inputs: entries.iter().map(|entry| entry.input.clone()).collect(),
        abandoned: Arc::default(),
        slow_calls: None,
    });
    loop {
        match pool.events().recv_timeout(SILENCE) {
            Ok(Event::Done { hits, .. }) => return Ok(hits),
            Ok(Event::Abnormal { .. }) => {}
            Err(_) => return Err(pool.failure().unwrap_or_else(|| "no answer".to_owned())),
        }
    }
}

impl Measured {
    /// Blocks that any of the inputs reaches.
    pub fn union(&self) -> BTreeSet<Block> {
        let all = self.entries.iter().flat_map(|(_, blocks)| blocks.iter());
        all.copied().collect()
    }

    /// Inputs that reach together what all reach: always the one next that adds most, the earliest of equals.
    pub fn fewest(&self) -> Vec<&CorpusEntry> {
        let mut left: BTreeSet<Block> = self.union();
        let mut chosen = Vec::new();
        while !left.is_empty() {
            let gain = |blocks: &BTreeSet<Block>| blocks.intersection(&left).count();
            let gains = self.entries.iter().enumerate();
            let gains = gains.map(|(at, (_, blocks))| (gain(blocks), std::cmp::Reverse(at)));
            let Some((1.., std::cmp::Reverse(best))) = gains.max() else {
                break;
            };
            let (entry, blocks) = &self.entries[best];
            left.retain(|block| !blocks.contains(block));
            chosen.push(entry);
        }
        chosen
    }
}

/// The same as a record that can be compared with others.
pub fn record(measured: &[Measured], pool: &Pool) -> CoverageRecord {
    let modules = pool.info().modules.clone();
    let count = modules.len();
    let mut record = CoverageRecord::new(modules);
    for api in measured {
        let mut sets = vec![BlockSet::new(); count];
        for (_, blocks) in &api.entries {
            for (module, block) in blocks {
                if let Some(set) = sets.get_mut(usize::from(*module)) {
                    set.insert(*block);
                }
            }
        }
        if let Some((entry, _)) = api.entries.first() {
            record.set_api(&entry.api.title, &sets);
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::{Api, ConcreteInput, Intent};

    #[test]
    fn the_fewest_inputs_reach_what_all_reach() {
        let entry = |number: u64, blocks: &[u32]| {
            let entry = CorpusEntry {
                api: Api::default(),
                input: ConcreteInput {
                    number,
                    arguments: Vec::new(),
                    layer_arguments: None,
                    intent: Intent::Conform,
                    mutations: Vec::new(),
                },
                blocks: 0,
            };
            (entry, blocks.iter().map(|block| (0, *block)).collect())
        };
        let measured = Measured {
            entries: vec![
                entry(0, &[1, 2]),
                entry(1, &[1, 2, 3, 4]),
                entry(2, &[5]),
                entry(3, &[4, 5]),
                entry(4, &[]),
            ],
        };
        let numbers: Vec<u64> = measured.fewest().iter().map(|it| it.input.number).collect();
        assert_eq!(numbers, [1, 2]);
    }
}
