//! The learned soft assertions of a scan: which functions they steer, and their answers.

use std::collections::BTreeMap;
use std::path::Path;

use fissure_assertions::{
    OwnAssertion, Precision, SoftAssertion, load_project, load_shipped, shipped,
};
use fissure_functions::{Steered, functions};
use serde_json::{Value, json};

use super::ScanError;
use super::event::Question;

/// What gives the search its directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steering {
    /// Per function the one that was measured to be better.
    #[default]
    Best,
    Learned,
    Analytic,
    /// The gradient of the function's output alone.
    Output,
    Random,
}

impl Steering {
    fn name(self) -> &'static str {
        match self {
            Steering::Best => "best",
            Steering::Learned => "learned",
            Steering::Analytic => "analytic",
            Steering::Output => "output",
            Steering::Random => "random",
        }
    }
}

/// Whether the learned soft assertion of a function of torch steers by default. A project's own functions are always
/// steered by theirs.
fn is_learned_by_default(function: &str) -> bool {
    let mut entries = functions().unstable().iter();
    entries.any(|entry| entry.name == function && entry.steered == Steered::Learned)
}

/// The models that this scan may ask.
#[derive(Debug)]
pub struct Models {
    steering: Steering,
    /// Of torch, and the project's own.
    models: BTreeMap<String, SoftAssertion>,
    tensorflow: BTreeMap<String, SoftAssertion>,
    own: Vec<OwnAssertion>,
}

impl Models {
    /// Loads what the steering needs. A model that does not load is an error.
    pub fn load(steering: Steering, project: &Path) -> Result<Models, ScanError> {
        let own = load_project(project)?;
        let mut models = BTreeMap::new();
        let mut tensorflow = BTreeMap::new();
        for (library, function) in shipped() {
            let of_torch = library == "torch";
            let wanted = match steering {
                Steering::Learned => true,
                Steering::Best => of_torch && is_learned_by_default(&function),
                Steering::Analytic | Steering::Output | Steering::Random => false,
            };
            if wanted && let Some(model) = load_shipped(&library, &function) {
                let known = if of_torch {
                    &mut models
                } else {
                    &mut tensorflow
                };
                known.insert(function, model?);
            }
        }
        for entry in &own {
            models.insert(entry.function.clone(), entry.assertion.clone());
        }
        Ok(Models {
            steering,
            models,
            tensorflow,
            own,
        })
    }

    /// For the plan: models of one value as their steps, the others by name.
    pub fn to_json(&self) -> Value {
        let own: Vec<Value> = self
            .own
            .iter()
            .map(|entry| json!({"function": entry.function, "oracle_file": entry.oracle_file}))
            .collect();
        json!({
            "mode": self.steering.name(),
            "models": described(&self.models),
            "tensorflow": described(&self.tensorflow),
            "own": own,
        })
    }

    /// The labels of an operand's elements: -1, 0 or 1 each; null where there is no answer.
    pub fn answer(&self, question: &Question) -> Value {
        let operands: Vec<&[f64]> = question.operands.iter().map(Vec::as_slice).collect();
        let known = if question.library == "tensorflow" {
            &self.tensorflow
        } else {
            &self.models
        };
        let labels = known
            .get(&question.function)
            .zip(Precision::from_name(&question.dtype))
            .and_then(|(model, precision)| {
                model
                    .labels(precision, &operands, question.operand, question.width)
                    .ok()
            });
        let signs: Option<Vec<i8>> =
            labels.map(|labels| labels.iter().map(|label| label.sign()).collect());
        json!({ "labels": signs })
    }
}

fn described(models: &BTreeMap<String, SoftAssertion>) -> Value {
    let entries = models.iter().map(|(name, model)| {
        let steps: serde_json::Map<String, Value> = model
            .precisions()
            .map(|precision| (precision.to_string(), steps(model, precision)))
            .collect();
        let entry = json!({
            "context": model.header().context,
            // Only what is better is loaded when the better one is to steer.
            "best": true,
            "steps": steps,
        });
        (name.clone(), entry)
    });
    Value::Object(entries.collect())
}

/// (start, end, label) of each interval; null for a model that has to be asked.
fn steps(model: &SoftAssertion, precision: Precision) -> Value {
    let Some(steps) = model.steps(precision) else {
        return Value::Null;
    };
    let limit = f64::MAX;
    steps
        .intervals()
        .map(|(start, end, label)| json!([start.max(-limit), end.min(limit), label]))
        .collect()
}
