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

/// What was chosen for one input, in order.
pub(crate) type Trace = Vec<(SlotId, u8)>;

/// Inputs that follow the untouched weights.
const EXPLORE: f64 = 0.12;
/// Of the others, once there are accepted combinations: those that start from one.
const REPLAY: f64 = 0.7;
/// Of the choices of a replayed combination: those drawn anew.
const RENEW: f64 = 0.12;
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
            explore: false,
            trace: Trace::new(),
            successes: false,
        }
    }
}

const NONE: u8 = u8::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Preferences {
    slots: Vec<Slot>,
    elites: Vec<Trace>,
    next_elite: usize,
    forced: Vec<u8>,
    explore: bool,
    trace: Trace,
    /// Some input was accepted.
    successes: bool,
}

impl Preferences {
    /// Starts a new input. `learned` is off where feedback must play no role.
    pub(crate) fn begin(&mut self, random: &mut Random, learned: bool) {
        self.trace.clear();
        self.forced.fill(NONE);
        self.explore = !learned || random.chance(EXPLORE);
        if !self.explore && !self.elites.is_empty() && random.chance(REPLAY) {
            let elite = random.index(self.elites.len());
            for &(slot, option) in &self.elites[elite] {
                let forced = &mut self.forced[slot.0];
                if *forced == NONE && !random.chance(RENEW) {
                    *forced = option;
                }
            }
        }
    }

    pub(crate) fn choose(&mut self, slot: SlotId, random: &mut Random) -> usize {
        let index = slot.0;
        let forced = self.forced[index];
        let option = if forced != NONE {
            usize::from(forced)
        } else if self.explore {
            random.weighted(&self.slots[index].base)
        } else {
            random.weighted(&self.slots[index].weights)
        };
        self.trace.push((slot, option as u8));
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
            preferences.learn(vec![(slot, 0)], false);
        }
    }
}
