//! One sampler per overload, and which of them to ask.
//!
//! Overloads are tried in turn until one is accepted; then those that are accepted more often are
//! asked more often, and none is given up for good.

use std::collections::VecDeque;

use fissure_model::{AbstractInput, Form, Signature, Spec};
use fissure_solve::{Checker, PlanError, PlanOptions, Random, Solver};

/// Least share of the weight of the best that an overload keeps.
const FLOOR: f32 = 0.05;
/// Inputs whose overload is remembered until their outcome is known.
const REMEMBERED: usize = 16_384;

struct Overload {
    solver: Solver,
    checker: Checker,
    tried: f32,
    accepted: f32,
}

/// The samplers of all overloads of one API; usually one.
pub(crate) struct Forms {
    overloads: Vec<Overload>,
    /// Which overload the waiting inputs are of.
    waiting: VecDeque<(u64, usize)>,
    /// Which overload the last draw was of.
    last: usize,
}

impl Forms {
    /// Overloads that cannot be sampled are left out, unless none can.
    pub(crate) fn new(
        spec: &Spec,
        signature: Option<&Signature>,
        plan: &PlanOptions,
        key: [u8; 32],
    ) -> Result<Forms, PlanError> {
        let mut overloads = Vec::new();
        let mut failure = None;
        let single;
        let all: &[Spec] = if spec.forms.is_empty() {
            std::slice::from_ref(spec)
        } else {
            single = separate(spec);
            &single
        };
        for one in all {
            match Solver::new(one, signature, plan, key) {
                Ok(solver) => overloads.push(Overload {
                    solver,
                    checker: Checker::new(one),
                    tried: 0.0,
                    accepted: 0.0,
                }),
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        match failure {
            Some(error) if overloads.is_empty() => Err(error),
            _ => Ok(Forms {
                overloads,
                waiting: VecDeque::new(),
                last: 0,
            }),
        }
    }

    fn choose(&mut self, random: &mut Random) -> usize {
        self.last = if self.overloads.len() == 1 {
            0
        } else {
            let scores: Vec<f32> = self.overloads.iter().map(score).collect();
            let best = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            let weights: Vec<f32> = scores.iter().map(|one| one.max(best * FLOOR)).collect();
            random.weighted(&weights)
        };
        self.last
    }

    pub(crate) fn conform(&mut self, number: u64, random: &mut Random) -> AbstractInput {
        let at = self.choose(random);
        if self.overloads.len() > 1 {
            if self.waiting.len() == REMEMBERED {
                self.waiting.pop_front();
            }
            self.waiting.push_back((number, at));
        }
        self.overloads[at].solver.conform(number, random)
    }

    pub(crate) fn ignore(&mut self, optional_ratio: f64, random: &mut Random) -> AbstractInput {
        let at = self.choose(random);
        self.overloads[at].solver.ignore(optional_ratio, random)
    }

    /// The sampler and the checker of an overload that can be broken on purpose.
    pub(crate) fn violable(&mut self, random: &mut Random) -> Option<(&mut Solver, &Checker)> {
        let at = self.choose(random);
        let at = if self.overloads[at].solver.can_violate() {
            at
        } else {
            let mut all = self.overloads.iter();
            all.position(|overload| overload.solver.can_violate())?
        };
        let overload = &mut self.overloads[at];
        Some((&mut overload.solver, &overload.checker))
    }

    /// The checker of the overload that the last input is of.
    pub(crate) fn checker(&self) -> &Checker {
        &self.overloads[self.last].checker
    }

    pub(crate) fn forget(&mut self, number: u64) {
        self.waiting.pop_back_if(|(waiting, _)| *waiting == number);
        self.overloads[self.last].solver.forget(number);
    }

    pub(crate) fn observe(&mut self, number: u64, accepted: bool) {
        if self.overloads.len() == 1 {
            return self.overloads[0].solver.observe(number, accepted);
        }
        while let Some((waiting, at)) = self.waiting.front().copied() {
            if waiting > number {
                return;
            }
            self.waiting.pop_front();
            if waiting == number {
                let overload = &mut self.overloads[at];
                overload.tried += 1.0;
                overload.accepted += f32::from(u8::from(accepted));
                overload.solver.observe(number, accepted);
                return;
            }
        }
    }

    /// The only sampler, where there is one.
    pub(crate) fn single(&mut self) -> &mut Solver {
        &mut self.overloads[0].solver
    }
}

/// Squared, so that an overload which takes half as much is asked a quarter as often.
fn score(overload: &Overload) -> f32 {
    let rate = (overload.accepted + 0.5) / (overload.tried + 1.0);
    rate * rate
}

/// Every overload as a spec of its own.
fn separate(spec: &Spec) -> Vec<Spec> {
    let first = Form {
        params: spec.params.clone(),
        layer_params: spec.layer_params.clone(),
    };
    std::iter::once(&first)
        .chain(&spec.forms)
        .map(|form| Spec {
            params: form.params.clone(),
            layer_params: form.layer_params.clone(),
            forms: Vec::new(),
            ..spec.clone()
        })
        .collect()
}
