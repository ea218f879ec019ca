//! Inputs made from what rejections say, and from inputs that such a repair made acceptable.
//!
//! A rejected input is changed as the rejection asks and tried again, a few times over, because a
//! library names one thing at a time. What is accepted in the end is remembered, and its
//! neighbours are tried. How much of the sequence this takes depends on how little else is
//! accepted, and on nothing but outcomes told at fixed points of the sequence.

mod alike;
mod apply;
mod bonds;
mod elements;
mod examples;
mod explore;
mod ladder;
mod moves;
mod queue;
mod stages;
mod standing;
mod statements;
mod vary;
mod waiting;
mod way;
mod wish;
mod words;

use std::cmp::Ordering;
use std::collections::VecDeque;

use fissure_model::{ConcreteInput, Example, Intent};
use fissure_solve::Random;

pub(crate) use alike::{retyped, same_shape};
pub(crate) use apply::formed;
use bonds::Bonds;
pub(crate) use elements::reshaped;
use examples::twice;
use ladder::Ladder;
use moves::{Change, Moves};
use queue::{Queue, Queued};
use stages::Stages;
use standing::Standing;
pub(crate) use vary::resize as resize_alike;
use waiting::{Rate, Waiting};
use way::{Way, further};
pub use wish::{Want, Wish, wishes};

/// Repairs of one input, one after the other.
const DEPTH: u8 = 8;
/// Changed inputs that one rejection leads to.
const BRANCHES: usize = 3;
/// The same as long as nothing is accepted.
const BRANCHES_AT_FIRST: usize = 5;
/// How often a refused input is tried with nothing but what a call must have, as long as nothing is accepted.
const LEAST_CALL: f64 = 0.35;
/// Accepted inputs whose neighbours are tried.
const ELITES: usize = 48;
/// Inputs whose outcome is awaited.
const REMEMBERED: usize = 4096;

/// How much of the sequence goes to repairs and neighbours while next to nothing is accepted, and
/// when most is.
const LARGEST_SHARE: f64 = 0.6;
const LEAST_SHARE: f64 = 0.04;
/// The same where some have run and none was accepted.
const FRUITLESS_SHARE: f64 = 0.8;
/// The same where neighbours do far better than drawn inputs: the rest finds what is no neighbour of anything.
const DESERVED_SHARE: f64 = 0.75;
/// The same where the user wants only inputs that should be accepted.
const DESERVED_CONFORMING: f64 = 0.92;

/// How much better than drawn inputs neighbours have to do to get all that they may have.
const BETTER: f64 = 0.4;
/// Neighbours that are made until one is wanted.
const NEIGHBOUR_ATTEMPTS: u32 = 6;
/// Accepted inputs from which on repairs of others have to be worth their share.
const SEVERAL: usize = 4;

/// Inputs after which it is clear whether what is known of an API holds for this version.
const STALE_AFTER: f64 = 16.0;

/// Inputs after which nothing accepted means something.
const FRUITLESS_AFTER: f64 = 8.0;

pub(crate) struct Repairs {
    queue: Queue,
    elites: Vec<ConcreteInput>,
    next_elite: usize,
    waiting: VecDeque<Waiting>,
    /// Which changes of accepted inputs are accepted.
    moves: Moves,
    /// What belongs together in accepted inputs.
    bonds: Bonds,
    /// What refusals ask for again and again.
    standing: Standing,
    /// Rejected inputs by reason, as long as nothing is accepted.
    stages: Stages,
    /// The same by how far they came.
    ladder: Ladder,
    /// Examples that wait to be tried.
    examples: VecDeque<ConcreteInput>,
    /// Of inputs that were drawn, not repaired: how many ran, how many were accepted.
    tried: f64,
    accepted: f64,
    /// The same of repaired ones, and of neighbours of accepted ones.
    repaired: Rate,
    neighbours: Rate,
    /// Nothing is to be broken on purpose.
    conforming: bool,
    /// The most that repairs and neighbours may take of the sequence once something is accepted.
    most: f64,
    key: [u8; 32],
}

impl Repairs {
    /// `conforming`: nothing is to be broken on purpose, so that neighbours of accepted inputs may take more.
    pub(crate) fn new(key: [u8; 32], examples: &[Example], conforming: bool) -> Self {
        let mut key = key;
        // A stream of its own: numbers of inputs name its parts too.
        key[0] ^= 0x5a;
        Repairs {
            queue: Queue::default(),
            elites: Vec::new(),
            next_elite: 0,
            waiting: VecDeque::new(),
            moves: Moves::default(),
            bonds: Bonds::default(),
            standing: Standing::default(),
            stages: Stages::default(),
            ladder: Ladder::default(),
            examples: twice(examples),
            tried: 0.0,
            accepted: 0.0,
            repaired: Rate::default(),
            neighbours: Rate::default(),
            conforming,
            most: match conforming {
                true => DESERVED_CONFORMING,
                false => DESERVED_SHARE,
            },
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
        let needed = LARGEST_SHARE * (1.0 - 1.6 * rate);
        let deserved = match self.elites.is_empty() {
            true => 0.0,
            false => self.most * (self.neighbours.value() - rate) / BETTER,
        };
        needed.max(deserved).clamp(LEAST_SHARE, self.most)
    }

    /// Of many inputs that should be accepted fewer than half are.
    pub(crate) fn is_stale(&self) -> bool {
        self.tried >= STALE_AFTER && self.accepted < 0.5 * self.tried
    }

    /// A repaired input or a neighbour of an accepted one, if it is their turn.
    ///
    /// `judge` says whether an input breaks what is known, and `None` where it is not wanted at all. What breaks
    /// something is proposed where `may_break`, or next to an accepted one that breaks something too.
    pub(crate) fn propose(
        &mut self,
        number: u64,
        may_break: bool,
        judge: &dyn Fn(&ConcreteInput) -> Option<Intent>,
        random: &mut Random,
    ) -> Option<ConcreteInput> {
        let example = match self.examples.is_empty() || random.chance(0.5) {
            true => None,
            false => self.examples.pop_front(),
        };
        if example.is_none() && !random.chance(self.share()) {
            return None;
        }
        let wanted = |input: &ConcreteInput, may_break: bool| {
            judge(input).filter(|intent| may_break || *intent == Intent::Conform)
        };
        let mut from = None;
        let (input, intent, depth, changes) = if let Some(example) = example {
            let intent = wanted(&example, may_break)?;
            (example, intent, 1, Vec::new())
        } else if !self.queue.is_empty() && random.chance(self.queue_share()) {
            let next = self.queue.pop()?;
            from = next.from;
            let mut input = next.input;
            if self.elites.is_empty()
                && let Some(better) = self.standing.fulfilled(&input, random)
                && wanted(&better, may_break).is_some()
            {
                input = better;
            }
            let intent = wanted(&input, may_break)?;
            (input, intent, next.depth, Vec::new())
        } else if self.elites.is_empty() {
            let (refused, about, way) = self.stages.pick(random)?;
            from = way.cloned();
            let mut input = explore::explored(refused, about, random);
            if random.chance(0.5) {
                // What was changed may have to agree with something that got it so far.
                input = self.bonds.with_early(&input, random);
            }
            let intent = wanted(&input, may_break)?;
            (input, intent, 2, Vec::new())
        } else {
            let elite = random.pick(&self.elites);
            let other = random.pick(&self.elites);
            // A neighbour of what obeys a file obeys it too: what the file says of this place has held.
            let may_break = elite.intent != Intent::Conform;
            let (input, intent, changes) = (0..NEIGHBOUR_ATTEMPTS).find_map(|_| {
                let (input, changes) = vary::neighbour(elite, other, &self.moves, random);
                wanted(&input, may_break).map(|intent| (input, intent, changes))
            })?;
            // Its own rejection is repaired too, but not for long.
            (input, intent, DEPTH - 2, changes)
        };
        let input = ConcreteInput {
            number,
            intent,
            mutations: Vec::new(),
            ..input
        };
        self.await_outcome(number, &input, depth.max(1), changes);
        if let Some(last) = self.waiting.back_mut() {
            last.from = from;
        }
        Some(input)
    }

    /// Two inputs that were accepted, or one twice.
    pub(crate) fn two_accepted(
        &self,
        random: &mut Random,
    ) -> Option<(ConcreteInput, ConcreteInput)> {
        if self.elites.is_empty() {
            return None;
        }
        let mut pick = || random.pick(&self.elites).clone();
        Some((pick(), pick()))
    }

    /// How many of the proposals are repairs of refused inputs while some wait.
    fn queue_share(&self) -> f64 {
        if self.elites.len() < SEVERAL {
            return 0.5;
        }
        let worth = self.repaired.value() / self.neighbours.value();
        match self.conforming {
            true => (0.5 * worth * worth).clamp(0.03, 0.5),
            false => (0.5 * worth).clamp(0.05, 0.5),
        }
    }

    /// An input is under way; `depth` 0: it was drawn, not repaired.
    pub(crate) fn remember(&mut self, number: u64, input: &ConcreteInput, depth: u8) {
        self.await_outcome(number, input, depth, Vec::new());
    }

    fn await_outcome(
        &mut self,
        number: u64,
        input: &ConcreteInput,
        depth: u8,
        changes: Vec<Change>,
    ) {
        if self.waiting.len() == REMEMBERED {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting {
            number,
            input: input.clone(),
            depth,
            from: None,
            changes,
            tied: false,
            doubted: false,
            fulfilled: None,
        });
    }

    /// A drawn input with all that is known to belong together, if it is the turn of one.
    pub(crate) fn tied(&self, input: &ConcreteInput, random: &mut Random) -> Option<ConcreteInput> {
        self.bonds.tied(input, random)
    }

    /// A drawn input with what refusals ask for again and again, if it is the turn of one.
    pub(crate) fn fulfilled(
        &self,
        input: &ConcreteInput,
        random: &mut Random,
    ) -> Option<ConcreteInput> {
        // Where most is accepted as it is drawn, nothing is missing that words could tell.
        (self.rate() < 0.5).then(|| self.standing.fulfilled(input, random))?
    }

    /// What refusals ask for was put into the last input, or not; it was drawn.
    pub(crate) fn remember_fulfilled(&mut self, fulfilled: bool) {
        if let Some(last) = self.waiting.back_mut() {
            last.fulfilled = Some(fulfilled);
        }
    }

    /// The same as [`Repairs::remember`], of an input that [`Repairs::tied`] made.
    pub(crate) fn remember_tied(&mut self, number: u64, input: &ConcreteInput) {
        self.remember(number, input, 0);
        if let Some(last) = self.waiting.back_mut() {
            last.tied = true;
        }
    }

    /// The last input made has become this one. If it is accepted all the same, it is tried with other elements as long
    /// as no other is accepted; nothing else is learned from it.
    pub(crate) fn doubt(&mut self, input: &ConcreteInput) {
        let none = self.elites.is_empty();
        if let Some(last) = self.waiting.back_mut()
            && last.number == input.number
            && none
        {
            last.input = input.clone();
            last.doubted = true;
        } else {
            self.forget(input.number);
        }
    }

    /// The outcome of this input, the last one made, will not be learned from.
    pub(crate) fn forget(&mut self, number: u64) {
        self.waiting.pop_back_if(|waiting| waiting.number == number);
    }

    /// Tells the outcome of an input, in the order of the numbers; some may be left out.
    pub(crate) fn observe(&mut self, number: u64, accepted: bool, wishes: &[Wish]) {
        while let Some(waiting) = self.waiting.pop_front_if(|first| first.number <= number) {
            if waiting.number != number {
                continue;
            }
            let Waiting {
                input,
                depth,
                from,
                changes,
                tied,
                doubted,
                fulfilled,
                ..
            } = waiting;
            if doubted {
                if accepted && self.elites.is_empty() {
                    // Without the odd elements it may be the first of its kind.
                    let mut random = Random::new(self.key, input.number);
                    self.queue.push_first(Queued {
                        input: vary::refilled(&input, &mut random),
                        depth: 1,
                        from: None,
                    });
                }
                return;
            }
            if let Some(with) = fulfilled {
                self.standing.judge(with, accepted);
            }
            if !accepted {
                self.standing.learn(wishes);
            }
            self.bonds.learn(&input, accepted);
            if depth == 0 {
                self.bonds.judge(tied, accepted);
                self.tried += 1.0;
                self.accepted += f64::from(u8::from(accepted));
            } else if changes.is_empty() {
                self.repaired.count(accepted);
            } else {
                self.neighbours.count(accepted);
                self.moves.learn(changes, accepted);
            }
            if accepted {
                self.keep(input);
                return;
            }
            let way = wishes.iter().find_map(|wish| match &wish.want {
                Want::Reached(way) => Some(way),
                _ => None,
            });
            if self.elites.is_empty() {
                for wish in wishes {
                    if let Want::Reason(reason) = wish.want {
                        let about = wish.about.as_deref();
                        self.stages.meet(reason, about, way, &input);
                    }
                }
                if let Some(way) = way
                    && self.ladder.meet(&input, way)
                {
                    self.bonds.learn_early(&self.ladder);
                }
            }
            // What has not come as far as what it was made from is mended once or twice; what came further, as often
            // as if it were new.
            let depth = match further(way, from.as_ref()) {
                Ordering::Less => depth.max(DEPTH - 2),
                Ordering::Equal => depth,
                Ordering::Greater => depth.min(1),
            };
            if depth < DEPTH {
                self.repair(&input, wishes, depth, way);
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

    fn repair(&mut self, input: &ConcreteInput, wishes: &[Wish], depth: u8, way: Option<&Way>) {
        let mut random = Random::new(self.key, input.number);
        let most = match self.elites.is_empty() {
            true => BRANCHES_AT_FIRST,
            false => BRANCHES,
        };
        let mut made = Vec::new();
        if self.elites.is_empty() && random.chance(LEAST_CALL) {
            // What may be left away is refused as often as what may not, and each alone.
            let mut least = explore::least(input);
            for wish in wishes {
                let mut next = apply::repaired(&least, wish, 1, &mut random);
                if let Some(mended) = next.pop().filter(|_| random.chance(0.7)) {
                    least = mended;
                    break;
                }
            }
            made.extend((least != *input).then_some(least));
        }
        for wish in wishes {
            let room = most - made.len();
            made.extend(apply::repaired(input, wish, room.min(2), &mut random));
            if made.len() >= most {
                break;
            }
        }
        if self.elites.is_empty() && random.chance(0.4) {
            // Sizes that do not fit may be those that another tensor has.
            let about = wishes.iter().find_map(|wish| wish.about.as_deref());
            let layer = input.layer_arguments.as_ref().map_or(0, Vec::len);
            let mut places = 0..input.arguments.len() + layer;
            let at = places.find(|at| Some(apply::argument(input, *at).name.as_str()) == about);
            made.extend(at.and_then(|at| explore::like_another(input, at, &mut random)));
        }
        // A number that no argument has may be that of a part of one. Where something is accepted already, only what
        // nothing else is known for is tried so.
        if made.is_empty() || (self.elites.is_empty() && random.chance(0.5)) {
            let differences: Vec<i64> = wishes
                .iter()
                .filter_map(|wish| match wish.want {
                    Want::Number { from, to } => Some(to.saturating_sub(from)),
                    _ => None,
                })
                .collect();
            if !differences.is_empty() {
                let by = *random.pick(&differences);
                made.extend(apply::moved(input, by, &mut random));
            }
        }
        for input in made {
            self.queue.push(Queued {
                input,
                depth: depth + 1,
                from: way.cloned(),
            });
        }
    }
}
