//! Guidance by coverage: inputs that reach new blocks are kept, and part of the sequence is made of their neighbours.
//!
//! Which input is credited with a block follows from the sequence: the first that reached it. Blocks are reported for
//! the first [`RARE`] batches of a worker that reach them, and are heard of at fixed points of the sequence, as all
//! feedback. So the inputs of a guided run with one worker are the same for a seed, as long as the library runs the
//! same code for the same calls in the same order. With several workers, what a process has cached or initialised
//! depends on which batches it got, and so does what is kept.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::time::Duration;

use fissure_execute::{Hit, RARE};
use fissure_generate::Generator;
use fissure_model::{Api, ConcreteInput, OutcomeKind};
use fissure_solve::Random;

use crate::corpus::{CorpusEntry, CorpusFile};
use crate::index::BatchIndex;

/// Inputs that are kept at most.
const MOST: usize = 2048;
/// Share of neighbours in the sequence: without evidence, at least and at most.
const LEAST_SHARE: f64 = 0.25;
const LARGEST_SHARE: f64 = 0.8;
/// What counts of earlier yields when a batch comes.
const MEMORY: f64 = 0.97;
/// An accepted input goes further than a rejected one.
const ACCEPTED: f32 = 3.0;
/// Weight of an input whose blocks are all common.
const COMMON: f32 = 0.2;
/// Neighbours after which an input has half the weight.
const PATIENCE: f32 = 150.0;

/// By the clock, an input that takes longer than this and so many times as long as the others is not kept: its
/// neighbours would take the time of many.
const SLOW: Duration = Duration::from_millis(10);
const TIMES_AS_LONG: f64 = 16.0;
/// What one input may cost at least and at most, in inputs of usual length.
const COSTS: (f64, f64) = (0.25, 64.0);

/// A block, as [`Hit`] names it: module and address.
pub(crate) type Block = (u16, u32);

/// An input that blocks are credited with, on its way to the point where it is heard of.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    pub input: ConcreteInput,
    pub kind: OutcomeKind,
    pub blocks: Vec<Block>,
}

struct Kept {
    input: ConcreteInput,
    accepted: bool,
    /// Blocks that it was the first to reach.
    blocks: Vec<Block>,
    tried: u32,
    weight: f32,
}

struct Seen {
    /// Batches that reached it, at most [`RARE`], and the last of them.
    count: u8,
    batch: BatchIndex,
    owner: Option<usize>,
}

/// How often inputs of a kind led to something new.
#[derive(Default)]
struct Yield {
    made: f64,
    kept: f64,
}

impl Yield {
    fn rate(&self) -> f64 {
        (self.kept + 1.0) / (self.made + 16.0)
    }
}

/// The corpus of one API, and what is made of it.
pub(crate) struct Guide {
    /// Blocks steer; without, only the neighbours of the seeds are made.
    by_coverage: bool,
    api: Api,
    key: [u8; 32],
    seeds: VecDeque<ConcreteInput>,
    kept: Vec<Kept>,
    seen: HashMap<Block, Seen>,
    /// Numbers of inputs that were made here and are under way.
    own: VecDeque<u64>,
    fresh: Yield,
    varied: Yield,
    /// By the clock: how long inputs under way took, and what others take in the mean.
    durations: HashMap<u64, Duration>,
    usual: Option<f64>,
    file: Option<CorpusFile>,
}

impl Guide {
    /// Guidance by coverage where a folder for the corpus is given, and by the seeds alone otherwise.
    pub(crate) fn new(
        api: &Api,
        seed: u64,
        seeds: impl Iterator<Item = ConcreteInput>,
        run: Option<&Path>,
    ) -> io::Result<Self> {
        let mut key = Random::key(seed, &api.title);
        key[2] ^= 0x69;
        Ok(Guide {
            by_coverage: run.is_some(),
            api: api.clone(),
            key,
            seeds: seeds.collect(),
            kept: Vec::new(),
            seen: HashMap::new(),
            own: VecDeque::new(),
            fresh: Yield::default(),
            varied: Yield::default(),
            durations: HashMap::new(),
            usual: None,
            file: run.map(|run| CorpusFile::new(run, api)).transpose()?,
        })
    }

    /// A seed, or a neighbour of a kept input if it is their turn.
    pub(crate) fn propose(
        &mut self,
        number: u64,
        generator: &mut Generator,
    ) -> Option<ConcreteInput> {
        let input = match self.seeds.pop_front() {
            Some(seed) => {
                let input = generator.adopt(number, seed);
                if !self.by_coverage {
                    self.keep(input.clone(), true, Vec::new());
                }
                input
            }
            None => self.neighbour(number, generator)?,
        };
        self.own.push_back(number);
        Some(input)
    }

    fn neighbour(&mut self, number: u64, generator: &mut Generator) -> Option<ConcreteInput> {
        if self.kept.is_empty() {
            return None;
        }
        let mut random = Random::new(self.key, number);
        if !random.chance(self.share()) {
            return None;
        }
        let weight = |kept: &Kept| kept.weight / (1.0 + kept.tried as f32 / PATIENCE);
        let weights: Vec<f32> = self.kept.iter().map(weight).collect();
        let chosen = random.weighted(&weights);
        let other = random.index(self.kept.len());
        let input = generator.vary(number, &self.kept[chosen].input, &self.kept[other].input)?;
        self.kept[chosen].tried = self.kept[chosen].tried.saturating_add(1);
        Some(input)
    }

    /// Follows what led further so far.
    fn share(&self) -> f64 {
        if !self.by_coverage {
            return LEAST_SHARE;
        }
        let (varied, fresh) = (self.varied.rate(), self.fresh.rate());
        (varied / (varied + fresh)).clamp(LEAST_SHARE, LARGEST_SHARE)
    }

    /// An input took so long: told in runs that end by the clock, where time is what is to be spent well. In runs that
    /// end by a count nothing depends on it.
    pub(crate) fn took(&mut self, number: u64, duration: Duration) {
        self.durations.insert(number, duration);
    }

    /// Takes far longer than others do.
    pub(crate) fn is_slow(&self, duration: Duration) -> bool {
        let usual = self.usual.unwrap_or(f64::INFINITY);
        duration > SLOW && duration.as_secs_f64() > TIMES_AS_LONG * usual
    }

    /// What an input cost, in inputs of usual length.
    fn cost(&mut self, number: u64, own: bool) -> f64 {
        let Some(duration) = self.durations.remove(&number) else {
            return 1.0;
        };
        let seconds = duration.as_secs_f64();
        // Fresh inputs tell what is usual.
        if !own {
            let usual = self.usual.unwrap_or(seconds);
            self.usual = Some(usual + (seconds - usual) / 64.0);
        }
        let Some(usual) = self.usual else {
            return 1.0;
        };
        (seconds / usual.max(1e-9)).clamp(COSTS.0, COSTS.1)
    }

    /// Was this input, under way, made here?
    pub(crate) fn is_own(&self, number: u64) -> bool {
        self.own.binary_search(&number).is_ok()
    }

    /// What of the hits of a batch may matter, by the input's position in the batch.
    pub(crate) fn matters(&self, hits: &[Hit]) -> BTreeMap<u32, Vec<Block>> {
        let mut found: BTreeMap<u32, Vec<Block>> = BTreeMap::new();
        for hit in hits.iter().filter(|_| self.by_coverage) {
            let block = (hit.module, hit.block);
            if self.seen.get(&block).is_none_or(|seen| seen.count < RARE) {
                found.entry(hit.input).or_default().push(block);
            }
        }
        for blocks in found.values_mut() {
            blocks.sort_unstable();
            blocks.dedup();
        }
        found
    }

    /// Hears of a batch: the numbers of its inputs, and what they reached, in the order of the sequence.
    pub(crate) fn settle(&mut self, batch: BatchIndex, numbers: &[u64], reached: Vec<Reached>) {
        for yields in [&mut self.fresh, &mut self.varied] {
            yields.made *= MEMORY;
            yields.kept *= MEMORY;
        }
        let mut leading = Vec::new();
        for Reached {
            input,
            kind,
            blocks,
        } in reached
        {
            let number = input.number;
            let new = self.credit(batch, &blocks);
            if !new.is_empty() {
                leading.push(number);
                let accepted = matches!(kind, OutcomeKind::Accepted | OutcomeKind::Nan);
                // What ends the process would end it again.
                if accepted || kind == OutcomeKind::Rejected {
                    self.keep(input, accepted, new);
                }
            }
        }
        for number in numbers {
            let own = self.own.pop_front_if(|first| *first == *number).is_some();
            let cost = self.cost(*number, own);
            let yields = if own {
                &mut self.varied
            } else {
                &mut self.fresh
            };
            yields.made += cost;
            yields.kept += f64::from(u8::from(leading.contains(number)));
        }
        self.weigh();
    }

    /// Counts the batch for each block; gives those that were not known.
    fn credit(&mut self, batch: BatchIndex, blocks: &[Block]) -> Vec<Block> {
        let mut new = Vec::new();
        for block in blocks {
            match self.seen.get_mut(block) {
                None => {
                    let seen = Seen {
                        count: 1,
                        batch,
                        owner: None,
                    };
                    self.seen.insert(*block, seen);
                    new.push(*block);
                }
                Some(seen) if seen.batch != batch && seen.count < RARE => {
                    seen.count += 1;
                    seen.batch = batch;
                }
                Some(_) => {}
            }
        }
        new
    }

    fn keep(&mut self, input: ConcreteInput, accepted: bool, blocks: Vec<Block>) {
        if self.kept.len() == MOST {
            return;
        }
        for block in &blocks {
            if let Some(seen) = self.seen.get_mut(block) {
                seen.owner = Some(self.kept.len());
            }
        }
        if let Some(file) = &mut self.file {
            file.push(&CorpusEntry {
                api: self.api.clone(),
                input: input.clone(),
                blocks: blocks.len(),
            });
        }
        self.kept.push(Kept {
            input,
            accepted,
            blocks,
            tried: 0,
            weight: 1.0,
        });
    }

    /// Energy goes to those whose blocks few batches have reached.
    fn weigh(&mut self) {
        for kept in &mut self.kept {
            let rarity = |block: &Block| match self.seen.get(block).map_or(RARE, |it| it.count) {
                count if count < RARE => 1.0 / f32::from(count),
                _ => 0.0,
            };
            let rare: f32 = kept.blocks.iter().map(rarity).sum();
            let accepted = if kept.accepted { ACCEPTED } else { 1.0 };
            // Many rare blocks are one way through the code, not many.
            kept.weight = accepted * (COMMON + (1.0 + rare).ln());
        }
    }

    /// Writes what was kept.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), CorpusFile::flush)
    }

    /// Where it is written.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(CorpusFile::path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::Intent;

    fn input(number: u64) -> ConcreteInput {
        ConcreteInput {
            number,
            arguments: Vec::new(),
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    fn reached(number: u64, kind: OutcomeKind, blocks: &[u32]) -> Reached {
        Reached {
            input: input(number),
            kind,
            blocks: blocks.iter().map(|block| (0, *block)).collect(),
        }
    }

    fn guide(folder: &Path) -> Guide {
        let api = Api {
            title: "lib.f".into(),
            ..Api::default()
        };
        Guide::new(&api, 0, std::iter::empty(), Some(folder)).unwrap()
    }

    #[test]
    fn the_first_input_that_reaches_a_block_is_kept_and_rare_blocks_give_energy() {
        let folder = tempfile::tempdir().unwrap();
        let mut guide = guide(folder.path());
        let accepted = OutcomeKind::Accepted;
        let batch = |number| vec![reached(number, accepted, &[1, 2])];
        guide.settle(BatchIndex::new(0), &[0], batch(0));
        guide.settle(BatchIndex::new(1), &[1], batch(1));
        guide.settle(BatchIndex::new(2), &[2], batch(2));
        guide.settle(
            BatchIndex::new(3),
            &[3, 4],
            vec![reached(4, accepted, &[1, 2, 3])],
        );
        assert_eq!(guide.kept.len(), 2);
        assert!(guide.kept[1].weight > 2.0 * guide.kept[0].weight);
        guide.flush().unwrap();
        let corpus = crate::Corpus::load(folder.path()).unwrap();
        assert_eq!(corpus.len(), 1, "the two inputs are the same call");
    }

    #[test]
    fn what_ends_the_process_is_not_kept_and_a_rejected_input_counts_less() {
        let folder = tempfile::tempdir().unwrap();
        let mut guide = guide(folder.path());
        let batch = vec![
            reached(0, OutcomeKind::Crash, &[1]),
            reached(1, OutcomeKind::Rejected, &[2]),
            reached(2, OutcomeKind::Accepted, &[3]),
        ];
        guide.settle(BatchIndex::new(0), &[0, 1, 2], batch);
        assert_eq!(guide.kept.len(), 2);
        assert!(guide.kept[1].weight > guide.kept[0].weight);
    }

    #[test]
    fn neighbours_that_lead_as_far_and_take_longer_get_less_of_the_time() {
        let shares = [1, 40].map(|times_as_long| {
            let folder = tempfile::tempdir().unwrap();
            let mut guide = guide(folder.path());
            for batch in 0..60_u64 {
                let number = 2 * batch;
                guide.own.push_back(number);
                guide.took(number, Duration::from_millis(times_as_long));
                guide.took(number + 1, Duration::from_millis(1));
                let news =
                    |number, block: u64| reached(number, OutcomeKind::Accepted, &[block as u32]);
                let both = vec![news(number, number), news(number + 1, number + 1)];
                guide.settle(BatchIndex::new(batch), &[number, number + 1], both);
            }
            assert!(!guide.is_slow(Duration::from_millis(5)));
            assert!(guide.is_slow(Duration::from_millis(40)));
            guide.share()
        });
        assert!((shares[0] - 0.5).abs() < 0.05, "{shares:?}");
        assert_eq!(shares[1], LEAST_SHARE);
    }

    #[test]
    fn neighbours_take_more_of_the_sequence_where_they_lead_further() {
        let folder = tempfile::tempdir().unwrap();
        let mut guide = guide(folder.path());
        let usual = guide.share();
        for batch in 0..20_u64 {
            let number = 2 * batch;
            guide.own.push_back(number);
            let news = reached(number, OutcomeKind::Accepted, &[batch as u32]);
            guide.settle(BatchIndex::new(batch), &[number, number + 1], vec![news]);
        }
        assert!(guide.share() > usual);
    }
}
