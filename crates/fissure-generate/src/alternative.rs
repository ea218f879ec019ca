//! What the library itself says, where a file or rules are of another version.
//!
//! As long as inputs made from the file or the rules are mostly refused, a share of the inputs is
//! drawn from the library's own word instead: the larger, the better it does.

use std::collections::VecDeque;

use fissure_model::{ConcreteInput, Signature, Spec};
use fissure_solve::{PlanError, PlanOptions, Random};

use crate::construct::concrete_input;
use crate::forms::Forms;

/// Share of the inputs that either side keeps.
const LEAST: f64 = 0.1;
/// Inputs whose outcome is awaited.
const REMEMBERED: usize = 4096;

pub(crate) struct Alternative {
    forms: Forms,
    waiting: VecDeque<u64>,
    tried: f64,
    accepted: f64,
}

impl Alternative {
    pub(crate) fn new(
        spec: &Spec,
        signature: Option<&Signature>,
        plan: &PlanOptions,
        key: [u8; 32],
    ) -> Result<Self, PlanError> {
        Ok(Alternative {
            forms: Forms::new(spec, signature, plan, key)?,
            waiting: VecDeque::new(),
            tried: 0.0,
            accepted: 0.0,
        })
    }

    /// An input, if it is its turn beside a source of which `rate` is accepted.
    pub(crate) fn draw(
        &mut self,
        number: u64,
        rate: f64,
        random: &mut Random,
    ) -> Option<ConcreteInput> {
        let own = (self.accepted + 1.0) / (self.tried + 2.0);
        let share = (own / (own + rate)).clamp(LEAST, 1.0 - LEAST);
        if !random.chance(share) {
            return None;
        }
        let drawn = self.forms.conform(number, random);
        if self.waiting.len() == REMEMBERED {
            self.waiting.pop_front();
        }
        self.waiting.push_back(number);
        Some(concrete_input(number, drawn, random))
    }

    /// The outcome of this input, the last one drawn, will not be learned from.
    pub(crate) fn forget(&mut self, number: u64) {
        if self.waiting.pop_back_if(|last| *last == number).is_some() {
            self.forms.forget(number);
        }
    }

    /// Tells the outcome of an input, of this source or another, in the order of the numbers.
    pub(crate) fn observe(&mut self, number: u64, accepted: bool) {
        while self.waiting.pop_front_if(|first| *first < number).is_some() {}
        if self
            .waiting
            .pop_front_if(|first| *first == number)
            .is_some()
        {
            self.tried += 1.0;
            self.accepted += f64::from(u8::from(accepted));
            self.forms.observe(number, accepted);
        }
    }
}
