//! Which inputs of an API the comparing oracles look at.
//!
//! An oracle calls the API several times for one input, so judging every input would cost many
//! times what running it does. In a run that ends by a count, the choice is the same for every
//! number of workers and does not depend on the clock: plain calls earn credit, calls of oracles
//! cost it. In a run that ends by the clock, judging gets a share of the workers' time, and what each
//! oracle really costs decides how often it looks. Inputs of kinds that were chosen least come first.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fissure_judge::{OracleInfo, Tier};
use fissure_model::{ConcreteInput, Execution, Oracle};

use crate::index::Place;
use crate::novelty::{Novelty, element_types, kind};
use crate::turn::{FIRST_INPUTS, SECOND_INPUTS};

/// Inputs that travel together. Judging one takes a millisecond or more, so few are enough.
const BATCH: usize = 16;

/// Inputs that an API has judged whatever that costs: a run should not end without any.
const LEAST: u64 = 64;

/// Of these, by the clock, oracles that are not cheap look at so many; at more only while judging keeps within its share.
const LEAST_USUAL: u64 = 16;

/// By the clock, those are spread over the plain inputs, so that every API is reached soon: one of the first turn,
/// one of so many in the second, and one of so many after it.
const SPREAD: u64 = 30;
const SPREAD_LATER: u64 = 8;

/// An oracle that takes longer than this for one input, in the mean over all APIs, is expensive: it
/// looks at few of the guaranteed inputs, one of so many plain ones, and gets no more time than the
/// others.
const EXPENSIVE: Duration = Duration::from_millis(6);
const LEAST_EXPENSIVE: u64 = 4;
const SPREAD_EXPENSIVE: u64 = 256;

/// By the clock, an input whose plain call took longer than this is not judged: its oracles would
/// make dozens of such calls, and another input asks the same questions for less.
const SLOW: Duration = Duration::from_millis(50);

/// What judging one input takes, before anything was judged.
const GUESS: Duration = Duration::from_millis(8);

/// Inputs whose result asks for an oracle of its own (a NaN), per API and kind of input.
const ASKED_PER_KIND: u32 = 3;

/// Combinations of element types of an API that the oracles see which look once.
const ONCE: usize = 16;

/// What of a run is judged, and by whom.
#[derive(Clone, Debug, Default)]
pub struct JudgingOptions {
    /// The oracles, in the order in which they run; none: nothing is judged.
    pub oracles: Arc<[Oracle]>,
    /// Calls of the API that all of them together make for one input.
    pub price: u64,
    /// Calls that oracles may make for each plain call; infinite: every accepted input is judged.
    pub share: f64,
    /// Share of the workers' time, in place of `share`.
    pub time_share: Option<f64>,
    /// What each oracle has cost over all APIs of the run, and for how many inputs: the same for
    /// every clone.
    pub costs: Arc<Mutex<HashMap<Oracle, (u64, Duration)>>>,
}

/// An input that waits for its oracles.
#[derive(Debug)]
struct Waiting {
    oracles: Arc<[Oracle]>,
    asked: bool,
    /// Its place among all that were ever queued: the same in every run that ends by a count.
    place: Place,
    input: ConcreteInput,
}

/// Inputs that go to the same oracles.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub oracles: Arc<[Oracle]>,
    /// Their results called for these oracles: each input may be judged by the usual ones as well.
    pub asked: bool,
    pub places: Vec<Place>,
    pub inputs: Vec<ConcreteInput>,
}

/// The judging of one API.
#[derive(Debug)]
pub(crate) struct Judging {
    /// The oracles without those that look once.
    options: JudgingOptions,
    /// Those that look at one input of each combination of element types, and the combinations that they have seen.
    once: Arc<[Oracle]>,
    seen: HashSet<u64>,
    credit: f64,
    novelty: Novelty,
    asked: Novelty,
    queue: VecDeque<Waiting>,
    /// Places given in the queue so far.
    queued: Place,
    /// Plain inputs, and inputs chosen, so far.
    plain: u64,
    chosen: u64,
    /// What workers spent on plain inputs and on judging.
    plain_time: Duration,
    judging_time: Duration,
    judged: u64,
    /// Inputs each oracle looked at, and its time.
    costs: HashMap<Oracle, (u64, Duration)>,
}

impl Judging {
    pub(crate) fn new(options: &JudgingOptions) -> Self {
        let mut options = options.clone();
        let is_once = |oracle: &&Oracle| OracleInfo::of(oracle).is_some_and(|info| info.once);
        let once: Arc<[Oracle]> = options.oracles.iter().filter(is_once).cloned().collect();
        if !once.is_empty() {
            let price: u64 = once
                .iter()
                .filter_map(OracleInfo::of)
                .map(|info| info.price)
                .sum();
            options.price = options.price.saturating_sub(price);
            let usual = options.oracles.iter().filter(|oracle| !is_once(oracle));
            options.oracles = usual.cloned().collect();
        }
        Judging {
            credit: (LEAST * options.price) as f64,
            options,
            once,
            seen: HashSet::new(),
            novelty: Novelty::default(),
            asked: Novelty::default(),
            queue: VecDeque::new(),
            queued: Place::default(),
            plain: 0,
            chosen: 0,
            plain_time: Duration::ZERO,
            judging_time: Duration::ZERO,
            judged: 0,
            costs: HashMap::new(),
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !(self.options.oracles.is_empty() && self.once.is_empty())
    }

    /// May an input be chosen whose plain call took so long?
    pub(crate) fn wants(&self, call: Duration) -> bool {
        self.is_on() && (self.options.time_share.is_none() || call <= SLOW)
    }

    /// Chooses from the accepted inputs of one batch of `calls` plain calls. Batches must come in
    /// the order of the sequence.
    pub(crate) fn offer(&mut self, calls: usize, busy: Duration, accepted: Vec<ConcreteInput>) {
        if !self.is_on() {
            return;
        }
        self.plain += calls as u64;
        self.plain_time += busy;
        self.credit += calls as f64 * self.options.share;
        if !self.is_early() {
            for input in &accepted {
                self.look_once(input);
            }
        }
        if self.options.oracles.is_empty() {
            return;
        }
        let mut offered: Vec<(u64, ConcreteInput)> = accepted
            .into_iter()
            .map(|input| (kind(&input), input))
            .collect();
        let price = self.options.price as f64;
        while self.can_afford(price) && !offered.is_empty() {
            let least = (0..offered.len())
                .min_by_key(|at| (self.novelty.times_chosen(offered[*at].0), *at))
                .expect("something is offered");
            let (kind, input) = offered.remove(least);
            self.credit -= price;
            self.chosen += 1;
            self.novelty.choose(kind);
            self.queue(Arc::clone(&self.options.oracles), false, input);
        }
    }

    /// Queues an input for the oracles that look once, if it is the first of its element types.
    fn look_once(&mut self, input: &ConcreteInput) {
        if self.once.is_empty() || self.seen.len() == ONCE {
            return;
        }
        if element_types(input).is_some_and(|types| self.seen.insert(types)) {
            self.queue(Arc::clone(&self.once), true, input.clone());
        }
    }

    /// By the clock, every API has its first two turns before any is looked at closely.
    fn is_early(&self) -> bool {
        self.options.time_share.is_some() && self.plain <= SECOND_INPUTS
    }

    fn can_afford(&self, price: f64) -> bool {
        let Some(share) = self.options.time_share else {
            return self.credit >= price;
        };
        let in_second = self.plain.min(SECOND_INPUTS).saturating_sub(FIRST_INPUTS);
        let later = self.plain.saturating_sub(SECOND_INPUTS);
        let spread = 1 + in_second.div_ceil(SPREAD) + later / SPREAD_LATER;
        if self.chosen < LEAST.min(spread) {
            return true;
        }
        if self.is_early() {
            return false;
        }
        let mean = match self.judged {
            0 => GUESS,
            judged => self.judging_time.div_f64(judged as f64),
        };
        let waiting = self.chosen.saturating_sub(self.judged);
        let expected = self.judging_time + mean.mul_f64(waiting as f64 + 1.0);
        self.is_within(share, expected)
    }

    /// Is so much judging no more than this share of the time?
    fn is_within(&self, share: f64, judging: Duration) -> bool {
        judging.as_secs_f64() * (1.0 - share) <= self.plain_time.as_secs_f64() * share
    }

    /// Counts what judged inputs cost.
    pub(crate) fn count(&mut self, executions: &[Execution], busy: Duration) {
        self.judging_time += busy;
        self.judged += executions.len() as u64;
        for cost in executions.iter().flat_map(|one| &one.oracle_costs) {
            let (inputs, time) = self.costs.entry(cost.oracle.clone()).or_default();
            *inputs += 1;
            *time += cost.duration;
            let mut all = lock(&self.options.costs);
            let (inputs, time) = all.entry(cost.oracle.clone()).or_default();
            *inputs += 1;
            *time += cost.duration;
        }
    }

    /// Does the oracle take long for an input, as far as is known?
    fn is_expensive(&self, oracle: &Oracle) -> bool {
        let all = lock(&self.options.costs);
        all.get(oracle)
            .is_some_and(|(inputs, time)| time.div_f64((*inputs).max(1) as f64) > EXPENSIVE)
    }

    /// The oracles without those that have had more than their part of the time.
    fn affordable(&self, oracles: &Arc<[Oracle]>) -> Arc<[Oracle]> {
        let Some(share) = self.options.time_share else {
            return Arc::clone(oracles);
        };
        if *oracles != self.options.oracles {
            return Arc::clone(oracles);
        }
        let fair = self.judging_time.div_f64(oracles.len().max(1) as f64) * 2;
        let has_time = self.is_within(share, self.judging_time);
        let can = |oracle: &&Oracle| {
            let none = (0, Duration::ZERO);
            let (inputs, time) = *self.costs.get(*oracle).unwrap_or(&none);
            if self.is_expensive(oracle) {
                inputs < LEAST_EXPENSIVE.min(self.plain / SPREAD_EXPENSIVE)
                    || (inputs > 0 && time <= fair)
            } else if is_cheap(oracle) {
                inputs < LEAST || time <= fair
            } else {
                inputs < LEAST_USUAL || (has_time && time <= fair)
            }
        };
        let left: Arc<[Oracle]> = oracles.iter().filter(can).cloned().collect();
        // With expensive ones alone, the share of the time is limit enough.
        if left.is_empty() {
            return Arc::clone(oracles);
        }
        left
    }

    /// An input whose result calls for certain oracles whatever the credit.
    pub(crate) fn ask(&mut self, oracles: Arc<[Oracle]>, input: &ConcreteInput) {
        let kind = kind(input);
        if self.asked.times_chosen(kind) < ASKED_PER_KIND {
            self.asked.choose(kind);
            self.queue(oracles, true, input.clone());
        }
    }

    /// Judges this input with every oracle, without regard to credit.
    pub(crate) fn push(&mut self, input: ConcreteInput) {
        let all: Arc<[Oracle]> = match self.once.is_empty() {
            true => Arc::clone(&self.options.oracles),
            false => self
                .options
                .oracles
                .iter()
                .chain(&*self.once)
                .cloned()
                .collect(),
        };
        self.queue(all, false, input);
    }

    fn queue(&mut self, oracles: Arc<[Oracle]>, asked: bool, input: ConcreteInput) {
        let place = self.queued.advance();
        self.queue.push_back(Waiting {
            oracles,
            asked,
            place,
            input,
        });
    }

    /// Inputs that wait for the same oracles, without those that are `done` (number, whether it was
    /// asked for, place).
    pub(crate) fn next(
        &mut self,
        mut done: impl FnMut(u64, bool, Place) -> bool,
    ) -> Option<Chosen> {
        let mut batch: Option<Chosen> = None;
        while let Some(waiting) = self.queue.pop_front() {
            if done(waiting.input.number, waiting.asked, waiting.place) {
                continue;
            }
            let chosen = batch.get_or_insert_with(|| Chosen {
                oracles: Arc::clone(&waiting.oracles),
                asked: waiting.asked,
                places: Vec::new(),
                inputs: Vec::new(),
            });
            if (&chosen.oracles, chosen.asked) != (&waiting.oracles, waiting.asked) {
                self.queue.push_front(waiting);
                break;
            }
            chosen.places.push(waiting.place);
            chosen.inputs.push(waiting.input);
            if chosen.inputs.len() == BATCH {
                break;
            }
        }
        let chosen = batch?;
        let oracles = self.affordable(&chosen.oracles);
        Some(Chosen { oracles, ..chosen })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Nothing more is wanted.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }
}

fn is_cheap(oracle: &Oracle) -> bool {
    OracleInfo::of(oracle).is_some_and(|info| info.tier <= Tier::Cheap)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves sums that are still whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
