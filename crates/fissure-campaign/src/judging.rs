//! Which inputs of an API the comparing oracles look at.
//!
//! An oracle calls the API several times for one input, so judging every input would cost many
//! times what running it does. The choice must be the same for every number of workers, so it
//! cannot depend on the clock: plain calls earn credit, calls of oracles cost it, and inputs of
//! kinds that were chosen least come first.

use std::collections::VecDeque;
use std::sync::Arc;

use fissure_model::ConcreteInput;

use crate::novelty::{Novelty, kind};

/// Inputs that travel together. Judging one takes a millisecond or more, so few are enough.
const BATCH: usize = 16;

/// Inputs that an API may have judged before its plain calls have earned it: a short run should
/// not end without any.
const ADVANCE: u64 = 8;

/// Inputs whose result asks for an oracle of its own (a NaN), per API and kind of input.
const ASKED_PER_KIND: u32 = 3;

/// What of a run is judged, and by whom.
#[derive(Clone, Debug, Default)]
pub struct JudgingOptions {
    /// Names of the oracles, in the order in which they run; none: nothing is judged.
    pub oracles: Arc<[String]>,
    /// Calls of the API that all of them together make for one input.
    pub price: u64,
    /// Calls that oracles may make for each plain call; infinite: every accepted input is judged.
    pub share: f64,
}

/// The judging of one API.
#[derive(Debug)]
pub struct Judging {
    options: JudgingOptions,
    credit: f64,
    novelty: Novelty,
    asked: Novelty,
    queue: VecDeque<(Arc<[String]>, ConcreteInput)>,
}

impl Judging {
    pub fn new(options: &JudgingOptions) -> Self {
        Judging {
            credit: (ADVANCE * options.price) as f64,
            options: options.clone(),
            novelty: Novelty::default(),
            asked: Novelty::default(),
            queue: VecDeque::new(),
        }
    }

    pub fn is_on(&self) -> bool {
        !self.options.oracles.is_empty()
    }

    /// Chooses from the accepted inputs of one batch of `calls` plain calls. Batches must come in
    /// the order of the sequence.
    pub fn offer(&mut self, calls: usize, accepted: Vec<ConcreteInput>) {
        if !self.is_on() {
            return;
        }
        self.credit += calls as f64 * self.options.share;
        let mut offered: Vec<(u64, ConcreteInput)> = accepted
            .into_iter()
            .map(|input| (kind(&input), input))
            .collect();
        let price = self.options.price as f64;
        while self.credit >= price && !offered.is_empty() {
            let least = (0..offered.len())
                .min_by_key(|at| (self.novelty.times_chosen(offered[*at].0), *at))
                .expect("something is offered");
            let (kind, input) = offered.remove(least);
            self.credit -= price;
            self.novelty.choose(kind);
            self.queue
                .push_back((Arc::clone(&self.options.oracles), input));
        }
    }

    /// An input whose result calls for certain oracles whatever the credit.
    pub fn ask(&mut self, oracles: Arc<[String]>, input: &ConcreteInput) {
        let kind = kind(input);
        if self.asked.times_chosen(kind) < ASKED_PER_KIND {
            self.asked.choose(kind);
            self.queue.push_back((oracles, input.clone()));
        }
    }

    /// Judges this input with every oracle, without regard to credit.
    pub fn push(&mut self, input: ConcreteInput) {
        self.queue
            .push_back((Arc::clone(&self.options.oracles), input));
    }

    /// Wanted inputs that wait for the same oracles.
    pub fn next(
        &mut self,
        wanted: impl Fn(u64) -> bool,
    ) -> Option<(Arc<[String]>, Vec<ConcreteInput>)> {
        let mut batch: Option<(Arc<[String]>, Vec<ConcreteInput>)> = None;
        while let Some((oracles, input)) = self.queue.pop_front() {
            if !wanted(input.number) {
                continue;
            }
            let (of, inputs) = batch.get_or_insert_with(|| (Arc::clone(&oracles), Vec::new()));
            if *of != oracles {
                self.queue.push_front((oracles, input));
                break;
            }
            inputs.push(input);
            if inputs.len() == BATCH {
                break;
            }
        }
        batch
    }

    /// Kinds of inputs that were chosen.
    pub fn kinds(&self) -> usize {
        self.novelty.kinds()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Nothing more is wanted.
    pub fn clear(&mut self) {
        self.queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{Argument, Intent, Passing, Value};

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
        })
    }

    fn chosen(judging: &mut Judging) -> Vec<u64> {
        std::iter::from_fn(|| judging.next(|_| true))
            .flat_map(|(_, inputs)| inputs)
            .map(|input| input.number)
            .collect()
    }

    #[test]
    fn kinds_not_yet_chosen_come_first() {
        let mut judging = judging(0.0);
        judging.credit = 20.0;
        let words = ["mean", "mean", "mean", "sum"];
        let inputs = words.iter().zip(0..).map(|(word, n)| input(n, word));
        judging.offer(4, inputs.collect());
        assert_eq!(chosen(&mut judging), [0, 3]);
    }

    #[test]
    fn oracles_make_no_more_calls_than_plain_calls_have_earned() {
        let mut judging = judging(0.5);
        for batch in 0..100 {
            let inputs = (0..20).map(|n| input(batch * 20 + n, "mean")).collect();
            judging.offer(20, inputs);
        }
        // 2,000 plain calls earn 1,000, which pays for 100 inputs; the rest is the advance.
        assert_eq!(chosen(&mut judging).len() as u64, 100 + ADVANCE);
    }

    #[test]
    fn without_oracles_nothing_is_kept() {
        let mut judging = Judging::new(&JudgingOptions::default());
        judging.offer(1, vec![input(0, "mean")]);
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
