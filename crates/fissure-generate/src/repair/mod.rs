//! Inputs made from what rejections say, and from inputs that such a repair made acceptable.
//!
//! A rejected input is changed as the rejection asks and tried again, a few times over, because a
//! library names one thing at a time. What is accepted in the end is remembered, and its
//! neighbours are tried. How much of the sequence this takes depends on how little else is
//! accepted, and on nothing but outcomes told at fixed points of the sequence.

mod apply;
mod explore;
mod stages;
mod vary;
mod wish;
mod words;

use std::collections::VecDeque;

use fissure_model::{ConcreteInput, Example, Intent};
use fissure_solve::Random;

pub(crate) use apply::reshaped;
use stages::Stages;
pub(crate) use vary::resize as resize_alike;
pub use wish::{Want, Wish, wishes};

/// Repairs of one input, one after the other.
const DEPTH: u8 = 8;
/// Inputs that wait to be tried.
const QUEUE: usize = 64;
/// Changed inputs that one rejection leads to.
const BRANCHES: usize = 3;
/// Accepted inputs whose neighbours are tried.
const ELITES: usize = 24;
/// Accepted inputs after which there is nothing to search for.
const ENOUGH: f64 = 3.0;
/// Inputs whose outcome is awaited.
const REMEMBERED: usize = 4096;

/// How much of the sequence goes to repairs and neighbours while next to nothing is accepted, and
/// when most is.
const LARGEST_SHARE: f64 = 0.6;
const LEAST_SHARE: f64 = 0.04;
/// The same where some have run and none was accepted.
const FRUITLESS_SHARE: f64 = 0.8;

/// Drawn inputs of which fewer are accepted leave the larger part to repaired ones that do better.
const POOR: f64 = 0.3;

/// Inputs after which it is clear whether what is known of an API holds for this version.
const STALE_AFTER: f64 = 32.0;

/// Inputs after which nothing accepted means something.
const FRUITLESS_AFTER: f64 = 8.0;

pub(crate) struct Repairs {
    queue: VecDeque<(ConcreteInput, u8)>,
    elites: Vec<ConcreteInput>,
    next_elite: usize,
    /// Inputs under way: number, input, how often repaired.
    waiting: VecDeque<(u64, ConcreteInput, u8)>,
    /// Rejected inputs by reason, as long as nothing is accepted.
    stages: Stages,
    /// Examples that wait to be tried.
    examples: VecDeque<ConcreteInput>,
    /// Of inputs that were drawn, not repaired: how many ran, how many were accepted.
    tried: f64,
    accepted: f64,
    /// The same of repaired ones and neighbours.
    proposed: f64,
    kept: f64,
    key: [u8; 32],
}

/// Examples as inputs, each twice: a boundary case may come into it.
fn twice(examples: &[Example]) -> VecDeque<ConcreteInput> {
    let inputs = examples.iter().chain(examples);
    inputs
        .map(|example| ConcreteInput {
            number: 0,
            arguments: example.arguments.clone(),
            layer_arguments: example.layer_arguments.clone(),
            intent: Intent::Conform,
            mutations: Vec::new(),
        })
        .collect()
}

impl Repairs {
    pub(crate) fn new(key: [u8; 32], examples: &[Example]) -> Self {
        let mut key = key;
        // A stream of its own: numbers of inputs name its parts too.
        key[0] ^= 0x5a;
        Repairs {
            queue: VecDeque::new(),
            elites: Vec::new(),
            next_elite: 0,
            waiting: VecDeque::new(),
            stages: Stages::default(),
            examples: twice(examples),
            tried: 0.0,
            accepted: 0.0,
            proposed: 0.0,
            kept: 0.0,
            key,
        }
    }

    /// More calls that are known to work.
    pub(crate) fn add_examples(&mut self, examples: &[Example]) {
        self.examples.extend(twice(examples));
    }

    /// How much of what is drawn is accepted.
    pub(crate) fn rate(&self) -> f64 {
        (self.accepted + 1.0) / (self.tried + 2.0)
    }

    /// Some inputs have run, and neither a drawn nor a repaired one was accepted.
    pub(crate) fn is_fruitless(&self) -> bool {
        self.tried >= FRUITLESS_AFTER && self.accepted == 0.0 && self.elites.is_empty()
    }

    fn share(&self) -> f64 {
        if self.is_fruitless() {
            return FRUITLESS_SHARE;
        }
        let rate = self.rate();
        let repaired = (self.kept + 1.0) / (self.proposed + 2.0);
        if rate < POOR && repaired > 2.0 * rate {
            return FRUITLESS_SHARE;
        }
        (LARGEST_SHARE * (1.0 - 1.6 * rate)).clamp(LEAST_SHARE, LARGEST_SHARE)
    }

    /// Of many inputs that should be accepted fewer than half are.
    pub(crate) fn is_stale(&self) -> bool {
        self.tried >= STALE_AFTER && self.accepted < 0.5 * self.tried
    }

    /// A repaired input or a neighbour of an accepted one, if it is their turn.
    pub(crate) fn propose(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        let example = match self.examples.is_empty() || random.chance(0.5) {
            true => None,
            false => self.examples.pop_front(),
        };
        if example.is_none() && !random.chance(self.share()) {
            return None;
        }
        let nothing = self.elites.is_empty();
        let (input, depth) = if let Some(example) = example {
            (example, 1)
        } else if !self.queue.is_empty() && random.chance(0.5) {
            self.queue.pop_front()?
        } else if nothing {
            let refused = self.stages.pick(random)?;
            (explore::explored(refused, random), 2)
        } else {
            let elite = self.elites.get(random.index(self.elites.len().max(1)))?;
            // Its own rejection is repaired too, but not for long.
            (vary::neighbour(elite, random), DEPTH - 2)
        };
        let input = ConcreteInput {
            number,
            intent: Intent::Conform,
            mutations: Vec::new(),
            ..input
        };
        self.remember(number, &input, depth.max(1));
        Some(input)
    }

    /// An input is under way; `depth` 0: it was drawn, not repaired.
    pub(crate) fn remember(&mut self, number: u64, input: &ConcreteInput, depth: u8) {
        if self.waiting.len() == REMEMBERED {
            self.waiting.pop_front();
        }
        self.waiting.push_back((number, input.clone(), depth));
    }

    /// The outcome of this input, the last one made, will not be learned from.
    pub(crate) fn forget(&mut self, number: u64) {
        self.waiting.pop_back_if(|(waiting, ..)| *waiting == number);
    }

    /// Tells the outcome of an input, in the order of the numbers; some may be left out.
    pub(crate) fn observe(&mut self, number: u64, accepted: bool, wishes: &[Wish]) {
        while let Some((waiting, ..)) = self.waiting.front() {
            if *waiting > number {
                return;
            }
            let Some((waiting, input, depth)) = self.waiting.pop_front() else {
                return;
            };
            if waiting != number {
                continue;
            }
            if depth == 0 {
                self.tried += 1.0;
                self.accepted += f64::from(u8::from(accepted));
            } else {
                self.proposed += 1.0;
                self.kept += f64::from(u8::from(accepted));
                if accepted {
                    self.keep(input);
                    return;
                }
            }
            if !accepted && self.elites.is_empty() && self.accepted < ENOUGH {
                for wish in wishes {
                    if let Want::Reason(reason) = wish.want {
                        self.stages.meet(reason, &input);
                    }
                }
            }
            if !accepted && depth < DEPTH {
                self.repair(&input, wishes, depth);
            }
            return;
        }
    }

    fn keep(&mut self, input: ConcreteInput) {
        if self.elites.len() < ELITES {
            self.elites.push(input);
        } else {
            self.elites[self.next_elite] = input;
            self.next_elite = (self.next_elite + 1) % ELITES;
        }
    }

    fn repair(&mut self, input: &ConcreteInput, wishes: &[Wish], depth: u8) {
        let mut random = Random::new(self.key, input.number);
        let mut made = Vec::new();
        for wish in wishes {
            let room = BRANCHES - made.len();
            made.extend(apply::repaired(input, wish, room.min(2), &mut random));
            if made.len() >= BRANCHES {
                break;
            }
        }
        for changed in made {
            if self.queue.len() == QUEUE {
                // The oldest has been overtaken by what was learned since.
                self.queue.pop_front();
            }
            // What has come further goes first.
            if depth > 0 {
                self.queue.push_front((changed, depth + 1));
            } else {
                self.queue.push_back((changed, depth + 1));
            }
        }
        self.queue.truncate(QUEUE);
    }
}
