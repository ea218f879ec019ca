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

use fissure_model::{ConcreteInput, Execution};

use crate::novelty::{Novelty, element_types, kind};
use crate::turn::{FIRST_INPUTS, SECOND_INPUTS};

/// Inputs that travel together. Judging one takes a millisecond or more, so few are enough.
const BATCH: usize = 16;

/// Inputs that an API has judged whatever that costs: a run should not end without any.
const LEAST: u64 = 64;

/// By the clock, those are spread over the first two thousand plain inputs, so that every API is reached
/// soon: one of the first turn, and one of so many after it.
const SPREAD: u64 = 30;

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
    /// Names of the oracles, in the order in which they run; none: nothing is judged.
    pub oracles: Arc<[String]>,
    /// Calls of the API that all of them together make for one input.
    pub price: u64,
    /// Calls that oracles may make for each plain call; infinite: every accepted input is judged.
    pub share: f64,
    /// Share of the workers' time, in place of `share`.
    pub time_share: Option<f64>,
    /// What each oracle has cost over all APIs of the run, and for how many inputs: the same for
    /// every clone.
    pub costs: Arc<Mutex<HashMap<String, (u64, Duration)>>>,
}

/// An input that waits for its oracles.
#[derive(Debug)]
struct Waiting {
    oracles: Arc<[String]>,
    asked: bool,
    /// Its place among all that were ever queued: the same in every run that ends by a count.
    place: u64,
    input: ConcreteInput,
}

/// Inputs that go to the same oracles.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub oracles: Arc<[String]>,
    /// Their results called for these oracles: each input may be judged by the usual ones as well.
    pub asked: bool,
    pub places: Vec<u64>,
    pub inputs: Vec<ConcreteInput>,
}

/// The judging of one API.
#[derive(Debug)]
pub(crate) struct Judging {
    /// The oracles without those that look once.
    options: JudgingOptions,
    /// Those that look at one input of each combination of element types, and the combinations that they have seen.
    once: Arc<[String]>,
    seen: HashSet<u64>,
    credit: f64,
    novelty: Novelty,
    asked: Novelty,
    queue: VecDeque<Waiting>,
    /// Places given in the queue so far.
    queued: u64,
    /// Plain inputs, and inputs chosen, so far.
    plain: u64,
    chosen: u64,
    /// What workers spent on plain inputs and on judging.
    plain_time: Duration,
    judging_time: Duration,
    judged: u64,
    /// Inputs each oracle looked at, and its time.
    costs: HashMap<String, (u64, Duration)>,
}

impl Judging {
    pub(crate) fn new(options: &JudgingOptions) -> Self {
        let mut options = options.clone();
        let is_once =
            |name: &&String| fissure_judge::oracle(name).is_some_and(|oracle| oracle.once);
        let once: Arc<[String]> = options.oracles.iter().filter(is_once).cloned().collect();
        if !once.is_empty() {
            let named = once.iter().filter_map(|name| fissure_judge::oracle(name));
            let price: u64 = named.map(|oracle| oracle.price).sum();
            options.price = options.price.saturating_sub(price);
            let usual = options.oracles.iter().filter(|name| !is_once(name));
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
            queued: 0,
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
        let later = self.plain.saturating_sub(FIRST_INPUTS);
        if self.chosen < LEAST.min(1 + later.div_ceil(SPREAD)) {
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
        expected.as_secs_f64() * (1.0 - share) <= self.plain_time.as_secs_f64() * share
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
    fn is_expensive(&self, oracle: &str) -> bool {
        let all = lock(&self.options.costs);
        all.get(oracle)
            .is_some_and(|(inputs, time)| time.div_f64((*inputs).max(1) as f64) > EXPENSIVE)
    }

    /// The oracles without those that have had more than their part of the time.
    fn affordable(&self, oracles: &Arc<[String]>) -> Arc<[String]> {
        if self.options.time_share.is_none() || *oracles != self.options.oracles {
            return Arc::clone(oracles);
        }
        let fair = self.judging_time.div_f64(oracles.len().max(1) as f64) * 2;
        let can = |name: &&String| {
            let none = (0, Duration::ZERO);
            let (inputs, time) = *self.costs.get(*name).unwrap_or(&none);
            if self.is_expensive(name) {
                inputs < LEAST_EXPENSIVE.min(self.plain / SPREAD_EXPENSIVE)
                    || (inputs > 0 && time <= fair)
            } else {
                inputs < LEAST || time <= fair
            }
        };
        let left: Arc<[String]> = oracles.iter().filter(can).cloned().collect();
        // With expensive ones alone, the share of the time is limit enough.
        if left.is_empty() {
            return Arc::clone(oracles);
        }
        left
    }

    /// An input whose result calls for certain oracles whatever the credit.
    pub(crate) fn ask(&mut self, oracles: Arc<[String]>, input: &ConcreteInput) {
        let kind = kind(input);
        if self.asked.times_chosen(kind) < ASKED_PER_KIND {
            self.asked.choose(kind);
            self.queue(oracles, true, input.clone());
        }
    }

    /// Judges this input with every oracle, without regard to credit.
    pub(crate) fn push(&mut self, input: ConcreteInput) {
        let all: Arc<[String]> = match self.once.is_empty() {
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

    fn queue(&mut self, oracles: Arc<[String]>, asked: bool, input: ConcreteInput) {
        let place = self.queued;
        self.queued += 1;
        self.queue.push_back(Waiting {
            oracles,
            asked,
            place,
            input,
        });
    }

    /// Inputs that wait for the same oracles, without those that are `done` (number, whether it was
    /// asked for, place).
    pub(crate) fn next(&mut self, mut done: impl FnMut(u64, bool, u64) -> bool) -> Option<Chosen> {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves sums that are still whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Intent, OracleCost, Outcome, Passing, Value};

    use super::*;

    fn input(number: u64, word: &str) -> ConcreteInput {
        ConcreteInput {
            number,
            arguments: vec![Argument {
                name: "mode".into(),
                passing: Passing::Keyword,
                value: Value::Text(word.into()),
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: vec![],
        }
    }

    fn judging(share: f64) -> Judging {
        Judging::new(&JudgingOptions {
            oracles: vec!["layout".to_owned()].into(),
            price: 10,
            share,
            ..JudgingOptions::default()
        })
    }

    fn chosen(judging: &mut Judging) -> Vec<u64> {
        std::iter::from_fn(|| judging.next(|_, _, _| false))
            .flat_map(|chosen| chosen.inputs)
            .map(|input| input.number)
            .collect()
    }

    #[test]
    fn kinds_not_yet_chosen_come_first() {
        let mut judging = judging(0.0);
        judging.credit = 20.0;
        let words = ["mean", "mean", "mean", "sum"];
        let inputs = words.iter().zip(0..).map(|(word, n)| input(n, word));
        judging.offer(4, Duration::ZERO, inputs.collect());
        assert_eq!(chosen(&mut judging), [0, 3]);
    }

    #[test]
    fn an_oracle_that_looks_once_sees_one_input_of_each_element_type() {
        let mut judging = Judging::new(&JudgingOptions {
            oracles: vec!["layout".to_owned(), "sweep".to_owned()].into(),
            price: 1000,
            share: 0.0,
            ..JudgingOptions::default()
        });
        judging.credit = 0.0;
        let of = |number, dtype| {
            let tensor = fissure_model::TensorValue {
                dtype,
                shape: vec![0],
                data: fissure_model::TensorData {
                    pattern: [].as_slice().into(),
                },
            };
            let mut made = input(number, "mean");
            made.arguments[0].value = Value::Tensor(tensor);
            made
        };
        use fissure_model::Dtype::{Float16, Float32};
        let inputs = vec![
            input(0, "no tensor"),
            of(1, Float32),
            of(2, Float32),
            of(3, Float16),
        ];
        judging.offer(4, Duration::ZERO, inputs);
        let batch = judging.next(|_, _, _| false).expect("two inputs wait");
        assert_eq!(*batch.oracles, ["sweep".to_owned()]);
        let numbers: Vec<u64> = batch.inputs.iter().map(|input| input.number).collect();
        assert_eq!(numbers, [1, 3]);
    }

    #[test]
    fn oracles_make_no_more_calls_than_plain_calls_have_earned() {
        let mut judging = judging(0.5);
        for batch in 0..100 {
            let inputs = (0..20).map(|n| input(batch * 20 + n, "mean")).collect();
            judging.offer(20, Duration::ZERO, inputs);
        }
        // 2,000 plain calls earn 1,000, which pays for 100 inputs; the rest is guaranteed.
        assert_eq!(chosen(&mut judging).len() as u64, 100 + LEAST);
    }

    #[test]
    fn by_the_clock_a_few_are_judged_at_once_and_then_half_of_the_time() {
        let mut judging = Judging::new(&JudgingOptions {
            time_share: Some(0.5),
            ..judging(0.0).options
        });
        let inputs = |from: u64| (from..from + 64).map(|n| input(n, "mean")).collect();
        judging.offer(64, Duration::from_millis(1), inputs(0));
        assert_eq!(chosen(&mut judging).len(), 1, "one in the first turn");
        let costs = |millis: u64| {
            let mut execution = Execution::new(0, Outcome::Timeout, Duration::ZERO);
            execution.oracle_costs.push(OracleCost {
                oracle: "layout".into(),
                duration: Duration::from_millis(millis),
            });
            execution
        };
        judging.count(&[costs(1)], Duration::from_millis(1));
        judging.offer(96, Duration::from_millis(9), inputs(64));
        let early = chosen(&mut judging).len();
        assert_eq!(early, 4, "one of so many in the second");
        judging.count(
            &[costs(1), costs(1), costs(1), costs(1)],
            Duration::from_millis(4),
        );
        judging.offer(64, Duration::from_millis(50), inputs(160));
        assert_eq!(
            chosen(&mut judging).len(),
            55,
            "60 ms at 1 ms each, 5 were spent"
        );
    }

    #[test]
    fn an_oracle_that_was_expensive_elsewhere_waits_for_more_plain_inputs() {
        let options = JudgingOptions {
            oracles: vec!["layout".to_owned(), "meta".to_owned()].into(),
            time_share: Some(0.5),
            ..judging(0.0).options
        };
        let costs = (10, 10 * EXPENSIVE + Duration::from_millis(1));
        lock(&options.costs).insert("meta".to_owned(), costs);
        let mut judging = Judging::new(&options);
        let inputs = (0..64).map(|n| input(n, "mean")).collect();
        judging.offer(64, Duration::from_millis(1), inputs);
        let oracles = judging.next(|_, _, _| false).unwrap().oracles;
        assert_eq!(*oracles, ["layout".to_owned()]);
        judging.plain = SPREAD_EXPENSIVE;
        judging.push(input(64, "mean"));
        assert_eq!(judging.next(|_, _, _| false).unwrap().oracles.len(), 2);
    }

    #[test]
    fn without_oracles_nothing_is_kept() {
        let mut judging = Judging::new(&JudgingOptions::default());
        judging.offer(1, Duration::ZERO, vec![input(0, "mean")]);
        assert!(judging.is_empty());
    }

    #[test]
    fn an_input_that_asks_for_an_oracle_gets_it_a_few_times_per_kind() {
        let mut judging = judging(0.0);
        let oracles: Arc<[String]> = vec!["nan".to_owned()].into();
        for number in 0..9 {
            judging.ask(Arc::clone(&oracles), &input(number, "mean"));
        }
        judging.ask(Arc::clone(&oracles), &input(9, "sum"));
        assert_eq!(chosen(&mut judging), [0, 1, 2, 9]);
    }
}
