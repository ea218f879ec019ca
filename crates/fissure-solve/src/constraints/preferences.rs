//! Which options of a choice lead to accepted inputs.
//!
//! Every open choice of an API (the dtype of a tensor, its rank, whether an optional parameter is
//! given, …) is a *slot* with a few weighted options. Feedback shifts the weights, and accepted
//! combinations are remembered and replayed with small changes, because choices often only work
//! together. A share of the inputs ignores all that was learned, so that nothing is lost for good.

use crate::random::Random;

/// A choice of one API. Options are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(pub usize);

/// What was chosen for one input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    /// In order.
    choices: Vec<(SlotId, u8)>,
    start: Start,
}

/// What the choices of an input start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Start {
    /// The untouched weights.
    #[default]
    Nothing,
    /// What was learned of each option.
    Weights,
    /// An accepted combination.
    Accepted,
}

/// Inputs that follow the untouched weights, at first and at least.
const EXPLORE: f64 = 0.12;
const LEAST_EXPLORE: f64 = 0.04;
/// Of the others, once there are accepted combinations: those that start from one.
const REPLAY: f64 = 0.7;
/// Of the choices of a replayed combination: those drawn anew at first, and the limits of that.
const RENEW: f64 = 0.12;
const LEAST_RENEW: f64 = 0.015;
const MOST_RENEW: f64 = 0.25;
/// How the share changes with each outcome: it settles where about 85 % are accepted, so that it is
/// as large as the API allows.
const AFTER_ACCEPTED: f64 = 1.01;
const AFTER_REFUSED: f64 = 0.945;
const ELITES: usize = 48;
/// Trials of an option that halve its weight while nothing is accepted.
const PATIENCE: f32 = 48.0;
/// Old evidence is halved when an option has this many trials: other choices have moved since.
const FADE: f32 = 256.0;

#[derive(Clone, Debug)]
struct Slot {
    base: Vec<f32>,
    tried: Vec<f32>,
    accepted: Vec<f32>,
    weights: Vec<f32>,
}

impl Slot {
    fn refresh(&mut self, option: usize, successes: bool) {
        let (tried, accepted) = (self.tried[option], self.accepted[option]);
        self.weights[option] = self.base[option]
            * if successes {
                let score = (accepted + 0.5) / (tried + 1.0);
                score * score
            } else {
                // Nothing was ever accepted: drift to what was tried least, but slowly, because
                // the first guess is still the best there is.
                PATIENCE / (PATIENCE + tried)
            };
    }
}

/// Collects the slots while a spec is compiled.
#[derive(Default)]
pub(crate) struct SlotBuilder {
    bases: Vec<Vec<f32>>,
}

impl SlotBuilder {
    /// A new slot; options with weight 0 are never taken.
    pub(super) fn slot(&mut self, weights: Vec<f32>) -> SlotId {
        debug_assert!(!weights.is_empty() && weights.len() < usize::from(NONE));
        self.bases.push(weights);
        SlotId(self.bases.len() - 1)
    }

    pub(super) fn finish(self) -> Preferences {
        let slots = self.bases.into_iter().map(|base| Slot {
            tried: vec![0.0; base.len()],
            accepted: vec![0.0; base.len()],
            weights: base.clone(),
            base,
        });
        let slots: Vec<Slot> = slots.collect();
        Preferences {
            forced: vec![NONE; slots.len()],
            slots,
            elites: Vec::new(),
            next_elite: 0,
            trace: Trace::default(),
            successes: false,
            renew: RENEW,
            explored: [1.0, 2.0],
            learned: [1.0, 2.0],
        }
    }
}

const NONE: u8 = u8::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Preferences {
    slots: Vec<Slot>,
    elites: Vec<Vec<(SlotId, u8)>>,
    next_elite: usize,
    forced: Vec<u8>,
    trace: Trace,
    /// Some input was accepted.
    successes: bool,
    /// Share of an accepted combination that is drawn anew.
    renew: f64,
    /// How many inputs were accepted, and how many there were: of those that follow the untouched
    /// weights, and of the others.
    explored: [f64; 2],
    learned: [f64; 2],
}

impl Preferences {
    /// Starts a new input. `learned` is off where feedback must play no role.
    pub(crate) fn begin(&mut self, random: &mut Random, learned: bool) {
        self.trace.choices.clear();
        self.forced.fill(NONE);
        self.trace.start = match !learned || random.chance(self.explore()) {
            true => Start::Nothing,
            false => Start::Weights,
        };
        if self.trace.start == Start::Weights && !self.elites.is_empty() && random.chance(REPLAY) {
            self.trace.start = Start::Accepted;
            let elite = random.index(self.elites.len());
            for &(slot, option) in &self.elites[elite] {
                let forced = &mut self.forced[slot.0];
                if *forced == NONE && !random.chance(self.renew) {
                    *forced = option;
                }
            }
        }
    }

    /// How many inputs follow the untouched weights: the fewer, the less comes of it.
    fn explore(&self) -> f64 {
        let rate = |[accepted, all]: [f64; 2]| accepted / all;
        let worth = rate(self.explored) / rate(self.learned);
        (EXPLORE * worth).clamp(LEAST_EXPLORE, EXPLORE)
    }

    pub(crate) fn choose(&mut self, slot: SlotId, random: &mut Random) -> usize {
        let index = slot.0;
        let forced = self.forced[index];
        let option = if forced != NONE {
            usize::from(forced)
        } else if self.trace.start == Start::Nothing {
            random.weighted(&self.slots[index].base)
        } else {
            random.weighted(&self.slots[index].weights)
        };
        self.trace.choices.push((slot, option as u8));
        option
    }

    /// The choices since [`Preferences::begin`].
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    pub(crate) fn learn(&mut self, trace: Trace, accepted: bool) {
        if accepted && !self.successes {
            self.successes = true;
            for slot in &mut self.slots {
                (0..slot.base.len()).for_each(|option| slot.refresh(option, true));
            }
        }
        let one = f64::from(u8::from(accepted));
        let counted = match trace.start {
            Start::Nothing => &mut self.explored,
            Start::Weights | Start::Accepted => &mut self.learned,
        };
        counted[0] += one;
        counted[1] += 1.0;
        if trace.start == Start::Accepted {
            let factor = match accepted {
                true => AFTER_ACCEPTED,
                false => AFTER_REFUSED,
            };
            self.renew = (self.renew * factor).clamp(LEAST_RENEW, MOST_RENEW);
        }
        let trace = trace.choices;
        for &(slot, option) in &trace {
            let slot = &mut self.slots[slot.0];
            let option = usize::from(option);
            slot.tried[option] += 1.0;
            if accepted {
                slot.accepted[option] += 1.0;
            }
            if slot.tried[option] >= FADE {
                slot.tried[option] *= 0.5;
                slot.accepted[option] *= 0.5;
            }
            slot.refresh(option, self.successes);
        }
        if accepted && !self.elites.contains(&trace) {
            if self.elites.len() < ELITES {
                self.elites.push(trace);
            } else {
                self.elites[self.next_elite] = trace;
                self.next_elite = (self.next_elite + 1) % ELITES;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(accept: impl Fn(usize, usize) -> bool, inputs: u64) -> (Vec<(usize, usize)>, f64) {
        let mut builder = SlotBuilder::default();
        let (a, b) = (builder.slot(vec![1.0; 8]), builder.slot(vec![1.0; 8]));
        let mut preferences = builder.finish();
        let mut drawn = Vec::new();
        let mut accepted = 0;
        for number in 0..inputs {
            let mut random = Random::new(Random::key(1, "t"), number);
            preferences.begin(&mut random, true);
            let pair = (
                preferences.choose(a, &mut random),
                preferences.choose(b, &mut random),
            );
            let trace = preferences.trace().clone();
            let good = accept(pair.0, pair.1);
            accepted += u32::from(good);
            preferences.learn(trace, good);
            drawn.push(pair);
        }
        (drawn, f64::from(accepted) / inputs as f64)
    }

    #[test]
    fn options_that_only_work_together_are_found() {
        // One pair in eight is good; drawing each option for itself would stay near 12 %.
        let (_, rate) = run(|a, b| a == b, 2000);
        assert!(rate > 0.5, "{rate}");
    }

    #[test]
    fn every_option_is_still_tried_after_learning() {
        let (drawn, rate) = run(|a, b| a == 3 && b == 5, 4000);
        assert!(rate > 0.4, "{rate}");
        for option in 0..8 {
            assert!(drawn[2000..].iter().any(|pair| pair.0 == option));
        }
    }

    #[test]
    fn without_learning_the_weights_stay_as_they_were() {
        let mut builder = SlotBuilder::default();
        let slot = builder.slot(vec![1.0, 0.0]);
        let mut preferences = builder.finish();
        for number in 0..100 {
            let mut random = Random::new(Random::key(1, "t"), number);
            preferences.begin(&mut random, false);
            assert_eq!(preferences.choose(slot, &mut random), 0);
            let trace = preferences.trace().clone();
            preferences.learn(trace, false);
        }
    }
}
