//! Inputs by the words of their rejection.
//!
//! A library checks one thing after the other, so an input that is refused for another reason than
//! all before it has come further, whether or not the reason is understood. Neighbours of such
//! inputs are tried as long as nothing is accepted, most often of those that are known to have come furthest.

use std::cmp::Ordering;

use fissure_model::ConcreteInput;
use fissure_solve::Random;

use super::way::{Way, further};

/// Reasons that are remembered.
const REASONS: usize = 48;
/// Inputs kept of one reason.
const INPUTS: usize = 4;
/// How often a reason is taken that others came further than.
const BEHIND: f32 = 0.1;

#[derive(Default)]
pub(super) struct Stages {
    known: Vec<Stage>,
}

struct Stage {
    reason: u64,
    /// The argument that it is about, where that is known.
    about: Option<String>,
    way: Option<Way>,
    inputs: Vec<ConcreteInput>,
    met: usize,
    tried: f32,
}

impl Stages {
    /// An input was refused for this reason, after it had come so far.
    pub(super) fn meet(
        &mut self,
        reason: u64,
        about: Option<&str>,
        way: Option<&Way>,
        input: &ConcreteInput,
    ) {
        if let Some(stage) = self.known.iter_mut().find(|stage| stage.reason == reason) {
            stage.met += 1;
            stage.about = about.map(str::to_owned);
            if stage.inputs.len() < INPUTS {
                stage.inputs.push(input.clone());
            } else {
                stage.inputs[stage.met % INPUTS] = input.clone();
            }
            return;
        }
        if self.known.len() == REASONS {
            // What was tried most has shown what it leads to.
            let most = (0..REASONS)
                .max_by(|one, other| self.known[*one].tried.total_cmp(&self.known[*other].tried));
            self.known.remove(most.unwrap_or_default());
        }
        self.known.push(Stage {
            reason,
            about: about.map(str::to_owned),
            way: way.cloned(),
            inputs: vec![input.clone()],
            met: 1,
            tried: 0.0,
        });
    }

    /// An input to go on from, the argument that its rejection is about, and how far it came: reasons that were met
    /// late and rarely, and tried little, first.
    pub(super) fn pick(
        &mut self,
        random: &mut Random,
    ) -> Option<(&ConcreteInput, Option<&str>, Option<&Way>)> {
        if self.known.is_empty() {
            return None;
        }
        let is_behind = |stage: &Stage| {
            let mut others = self.known.iter();
            others.any(|other| further(other.way.as_ref(), stage.way.as_ref()) == Ordering::Greater)
        };
        let weight = |(at, stage): (usize, &Stage)| {
            let behind = if is_behind(stage) { BEHIND } else { 1.0 };
            behind * (1.0 + at as f32) / (1.0 + stage.tried) / (1.0 + (stage.met as f32).sqrt())
        };
        let weights: Vec<f32> = self.known.iter().enumerate().map(weight).collect();
        let stage = &mut self.known[random.weighted(&weights)];
        stage.tried += 1.0;
        let input = random.pick(&stage.inputs);
        Some((input, stage.about.as_deref(), stage.way.as_ref()))
    }
}
