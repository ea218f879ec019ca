//! One sampler of rules that gives inputs without end, at a bounded cost for each.

use fissure_rules::Datum;
use fissure_solve::Random;
use fissure_solve::rules::{Drawn, RuleSampler};

/// Inputs that are remembered, to be given again with other elements when there are no others.
const REMEMBERED: usize = 1024;
/// Inputs after which a sampler forgets what it gave, so that a run without end stays small.
const FORGET: u64 = 1 << 20;
/// Work that a sampler may do for each input it is asked for, and before the first. Where new
/// inputs are rarer than that, earlier ones are given again with other elements in between.
const WORK: u64 = 400;
const ADVANCE: u64 = 40_000;

/// A sampler, and what it gave.
pub(crate) struct Stream {
    pub sampler: RuleSampler,
    asked: u64,
    remembered: Vec<Vec<Datum>>,
    exhausted: bool,
}

impl Stream {
    pub(crate) fn new(sampler: RuleSampler) -> Self {
        Stream {
            sampler,
            asked: 0,
            remembered: Vec::new(),
            exhausted: false,
        }
    }

    /// The first input, however long it takes to find it.
    pub(crate) fn first(&mut self) -> Option<Vec<Datum>> {
        self.new_input(u64::MAX)
    }

    /// The next input, or one that was given before; `None` when there is neither.
    pub(crate) fn next(&mut self, random: &mut Random) -> Option<Vec<Datum>> {
        self.asked += 1;
        if self.asked.is_multiple_of(FORGET) {
            self.sampler.forget();
        }
        let allowed = ADVANCE + WORK * self.asked;
        self.new_input(allowed).or_else(|| {
            (!self.remembered.is_empty()).then(|| random.pick(&self.remembered).clone())
        })
    }

    /// Looks for an input a while longer; `None` when it is not found meanwhile.
    pub(crate) fn look(&mut self, work: u64) -> Option<Vec<Datum>> {
        self.new_input(self.sampler.work().saturating_add(work))
    }

    /// All was tried: what the sampler has not given so far it never will.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    fn new_input(&mut self, allowed: u64) -> Option<Vec<Datum>> {
        if self.exhausted {
            return None;
        }
        match self.sampler.sample_within(allowed) {
            Drawn::Input(data) => {
                if self.remembered.len() < REMEMBERED {
                    self.remembered.push(data.clone());
                }
                Some(data)
            }
            Drawn::Exhausted => {
                self.exhausted = true;
                None
            }
            Drawn::Unfinished => None,
        }
    }
}
