//! Whether specs have inputs at all, before time is spent on them.

use std::collections::HashSet;

use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{Mode, Spec};

/// Inputs drawn from each spec.
const DRAWN: u64 = 32;

/// What a spec gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    pub title: String,
    /// Distinct inputs among those drawn, or why there are none.
    pub distinct: Result<usize, String>,
}

/// Draws a few conforming inputs from a spec.
pub fn solve(spec: &Spec, options: &GenerateOptions, seed: u64) -> Solved {
    let options = GenerateOptions {
        mode: Mode::Conform,
        mutate_ratio: 0.0,
        ..options.clone()
    };
    let distinct = match Generator::new(spec, None, options, seed) {
        Ok(mut generator) => {
            let drawn: HashSet<String> = (0..DRAWN)
                .map(|number| generator.generate(number).summary())
                .collect();
            Ok(drawn.len())
        }
        Err(error) => Err(error.reason.to_string()),
    };
    Solved {
        title: spec.api.title.clone(),
        distinct,
    }
}
