//! Inputs by the words of their rejection.
//!
//! A library checks one thing after the other, so an input that is refused for another reason than
//! all before it has come further, whether or not the reason is understood. Neighbours of such
//! inputs are tried as long as nothing is accepted.

use fissure_model::ConcreteInput;
use fissure_solve::Random;

/// Reasons that are remembered.
const REASONS: usize = 48;
/// Inputs kept of one reason.
const INPUTS: usize = 4;

#[derive(Default)]
pub(super) struct Stages {
    known: Vec<Stage>,
}

struct Stage {
    reason: u64,
    /// The argument that it is about, where that is known.
    about: Option<String>,
    inputs: Vec<ConcreteInput>,
    met: usize,
    tried: f32,
}

impl Stages {
    /// An input was refused for this reason.
    pub(super) fn meet(&mut self, reason: u64, about: Option<&str>, input: &ConcreteInput) {
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
            inputs: vec![input.clone()],
            met: 1,
            tried: 0.0,
        });
    }

    /// An input to go on from, and the argument that its rejection is about: reasons that were met late and rarely, and
    /// tried little, first.
    pub(super) fn pick(&mut self, random: &mut Random) -> Option<(&ConcreteInput, Option<&str>)> {
        if self.known.is_empty() {
            return None;
        }
        let weight = |(at, stage): (usize, &Stage)| {
            (1.0 + at as f32) / (1.0 + stage.tried) / (1.0 + (stage.met as f32).sqrt())
        };
        let weights: Vec<f32> = self.known.iter().enumerate().map(weight).collect();
        let stage = &mut self.known[random.weighted(&weights)];
        stage.tried += 1.0;
        Some((random.pick(&stage.inputs), stage.about.as_deref()))
    }
}
