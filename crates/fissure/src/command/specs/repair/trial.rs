//! Trials of a file: inputs are made from it, and the library is asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use fissure_execute::{Batch, Event, Pool};
use fissure_generate::{GenerateOptions, Generator, wishes};
use fissure_model::{
    Api, Category, ConcreteInput, Exception, Execution, Intent, Mode, Outcome, Signature, Spec,
    Value,
};
use fissure_solve::Checker;
use fissure_spec::ExtractedFile;

use super::decide::{Trial, Trials, Violation};
use super::learn::{Observes, Seen};

/// Inputs of one trial, and how many before the next are drawn by what came of them.
const INPUTS: usize = 32;
const STEP: usize = 8;
/// Inputs that break something.
const VIOLATING: u64 = 120;
/// Inputs to learn from that no outcome steered: they show what is refused, too.
const UNSTEERED: u64 = 64;
/// Fewer than one accepted input among so many are few.
const FEW: usize = 8;
/// Letters of a call or a message in a line of evidence.
const LETTERS: usize = 160;

/// The trials of one API in one library.
pub(super) struct Asked<'a> {
    pub pool: &'a Pool,
    pub signature: Signature,
    pub seed: u64,
    pub stop: &'a AtomicBool,
    pub id: u64,
    /// Why asking ended.
    pub failure: Option<anyhow::Error>,
}

impl Asked<'_> {
    fn generator(&self, spec: &Spec, mode: Mode, repair: bool) -> Option<Generator> {
        let options = GenerateOptions {
            mode,
            mutate_ratio: 0.0,
            repair,
            dtypes: self.pool.info().only_dtypes().map(<[_]>::to_vec),
            ..GenerateOptions::default()
        };
        Generator::new(spec, Some(&self.signature), options, self.seed).ok()
    }

    /// Conforming inputs, steered by their outcomes as a run steers them.
    fn steered(&mut self, spec: &Spec) -> Option<Vec<(ConcreteInput, Execution)>> {
        self.steered_by(spec, false)
    }

    /// The same; with `words` rejected inputs are changed as their rejection asks, too.
    fn steered_by(&mut self, spec: &Spec, words: bool) -> Option<Vec<(ConcreteInput, Execution)>> {
        let mut made = self.generator(spec, Mode::Conform, words)?;
        let mut all = Vec::new();
        while all.len() < INPUTS {
            let first = all.len() as u64;
            let inputs = (first..first + STEP as u64).map(|number| made.generate(number));
            let inputs = inputs.collect();
            let ran = self.run(&spec.api, inputs);
            if ran.is_empty() {
                return None;
            }
            for (input, execution) in &ran {
                let asked = match &execution.outcome {
                    Outcome::Rejected(exception) if words => wishes(exception, input),
                    _ => Vec::new(),
                };
                let accepted = matches!(execution.outcome, Outcome::Accepted { .. });
                made.observe_reason(input.number, accepted, &asked);
            }
            all.extend(ran);
        }
        Some(all)
    }

    fn run(&mut self, api: &Api, inputs: Vec<ConcreteInput>) -> Vec<(ConcreteInput, Execution)> {
        if inputs.is_empty() || self.failure.is_some() || self.stop.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.id += 1;
        self.pool.submit(Batch {
            id: self.id,
            api: Arc::new(api.clone()),
            check_nan: false,
            oracles: Arc::default(),
            inputs: inputs.clone(),
            abandoned: Arc::default(),
            slow_calls: None,
        });
        loop {
            match self.pool.events().recv() {
                Ok(Event::Done { executions, .. }) => {
                    return inputs.into_iter().zip(executions).collect();
                }
                // Told again with the batch.
                Ok(Event::Abnormal { .. }) => {}
                Err(_) => {
                    let reason = self.pool.failure();
                    let reason = reason.unwrap_or_else(|| "the workers ended".to_owned());
                    self.failure = Some(anyhow!("failed to ask the library: {reason}"));
                    return Vec::new();
                }
            }
        }
    }
}

impl Trials for Asked<'_> {
    fn conforming(&mut self, file: &ExtractedFile) -> Option<Trial> {
        let spec = spec_of(file)?;
        let mut trial = Trial::default();
        for (input, execution) in self.steered(&spec)? {
            count(&mut trial, &spec.api, &input, &execution);
        }
        (trial.tried > 0).then_some(trial)
    }

    fn insisting(&mut self, file: &ExtractedFile) -> Option<Trial> {
        let spec = spec_of(file)?;
        let checker = Checker::new(&spec);
        let mut trial = Trial::default();
        for (input, execution) in self.steered_by(&spec, true)? {
            if checker.check(&input).is_empty() {
                count(&mut trial, &spec.api, &input, &execution);
            }
        }
        Some(trial)
    }

    fn without(&mut self, file: &ExtractedFile, param: &str, key: &str) -> Option<[Trial; 2]> {
        let checker = Checker::new(&spec_of(file)?);
        let mut other = file.clone();
        other.constraints.get_mut(param)?.lists.remove(key);
        let spec = spec_of(&other)?;
        let [mut kept, mut broken] = [Trial::default(), Trial::default()];
        let bare = param.trim_start_matches('*');
        for (input, execution) in self.steered(&spec)? {
            let layer = input.layer_arguments.iter().flatten();
            let mut given = input.arguments.iter().chain(layer);
            if !given.any(|argument| argument.name == bare) {
                continue;
            }
            let breaks = checker.check(&input).iter().any(|it| it.param == bare);
            let of = if breaks { &mut broken } else { &mut kept };
            count(of, &spec.api, &input, &execution);
        }
        Some([kept, broken])
    }

    fn violating(&mut self, file: &ExtractedFile) -> Vec<Violation> {
        let Some(spec) = spec_of(file) else {
            return Vec::new();
        };
        let Some(mut made) = self.generator(&spec, Mode::Violate, false) else {
            return Vec::new();
        };
        let mut inputs: Vec<_> = (0..VIOLATING).map(|number| made.generate(number)).collect();
        inputs.retain(says_something);
        let mut found: BTreeMap<(String, &'static str), Violation> = BTreeMap::new();
        for (input, execution) in self.run(&spec.api, inputs) {
            let Intent::Violate { param, category } = &input.intent else {
                continue;
            };
            let accepted = match &execution.outcome {
                Outcome::Accepted { .. } => true,
                Outcome::Rejected(_) => false,
                _ => continue,
            };
            let key = category.key();
            let of = found
                .entry((param.clone(), key))
                .or_insert_with(|| Violation {
                    param: param.clone(),
                    key,
                    tried: 0,
                    accepted: 0,
                    call: None,
                });
            of.tried += 1;
            if accepted {
                of.accepted += 1;
                // The shortest says most.
                let call = call_text(&spec.api, &input);
                if of
                    .call
                    .as_ref()
                    .is_none_or(|known| known.len() > call.len())
                {
                    of.call = Some(call);
                }
            }
        }
        found.into_values().collect()
    }
}

impl Observes for Asked<'_> {
    fn observe(&mut self, file: &ExtractedFile, whole: bool) -> Vec<Seen> {
        let Some(spec) = spec_of(file) else {
            return Vec::new();
        };
        let Some(mut made) = self.generator(&spec, Mode::Conform, false) else {
            return Vec::new();
        };
        // Other numbers than those of the steered inputs.
        let unsteered = if whole { UNSTEERED } else { UNSTEERED / 2 };
        let numbers = 1000..1000 + unsteered;
        let inputs = numbers.map(|number| made.generate(number)).collect();
        let mut all = self.run(&spec.api, inputs);
        if whole {
            all.extend(self.steered(&spec).unwrap_or_default());
            let accepted = all.iter().filter(|(_, execution)| is_accepted(execution));
            if accepted.count() * FEW < all.len() {
                // What is accepted has to be found first; what breaks the file is not learned from.
                let checker = Checker::new(&spec);
                let asked = self.steered_by(&spec, true).unwrap_or_default();
                let conforming = asked.into_iter();
                all.extend(conforming.filter(|(input, _)| checker.check(input).is_empty()));
            }
        }
        let each = all.into_iter().filter_map(|(input, execution)| {
            let refused = match &execution.outcome {
                Outcome::Accepted { .. } => None,
                Outcome::Rejected(exception) => Some(exception),
                _ => return None,
            };
            Some(Seen {
                refused: refused.map(|exception| refusal(&spec.api, &input, exception)),
                words: refused.map(words),
                input,
            })
        });
        each.collect()
    }

    fn breaks(&self, file: &ExtractedFile, seen: &[Seen]) -> Option<Vec<bool>> {
        let checker = Checker::new(&spec_of(file)?);
        let each = seen.iter().map(|one| !checker.check(&one.input).is_empty());
        Some(each.collect())
    }
}

fn is_accepted(execution: &Execution) -> bool {
    matches!(execution.outcome, Outcome::Accepted { .. })
}

/// The call with the words of its refusal.
fn refusal(api: &Api, input: &ConcreteInput, exception: &Exception) -> String {
    let said = exception.message.lines().next().unwrap_or_default();
    let call = call_text(api, input);
    format!("{call}: {}: {}", exception.class, cut(said))
}

/// What the refusals of one check have in common.
fn words(exception: &Exception) -> String {
    let said = exception.message.lines().next().unwrap_or_default();
    fissure_triage::mask(&format!("{}: {said}", exception.class))
}

fn count(trial: &mut Trial, api: &Api, input: &ConcreteInput, execution: &Execution) {
    match &execution.outcome {
        Outcome::Accepted { .. } => trial.accepted += 1,
        Outcome::Rejected(exception) => {
            trial
                .refused
                .get_or_insert_with(|| refusal(api, input, exception));
        }
        // What ends a process or never ends is for `fissure fuzz`: no evidence.
        _ => return,
    }
    trial.tried += 1;
}

/// Python itself takes a boolean for a whole number and a whole number for a float: that it is
/// accepted contradicts nobody.
fn says_something(input: &ConcreteInput) -> bool {
    let Intent::Violate { param, category } = &input.intent else {
        return false;
    };
    let layer = input.layer_arguments.iter().flatten();
    let mut given = input.arguments.iter().chain(layer);
    let plain = given.any(|argument| {
        argument.name == *param && matches!(argument.value, Value::Bool(_) | Value::Int(_))
    });
    *category != Category::Dtype || !plain
}

fn spec_of(file: &ExtractedFile) -> Option<Spec> {
    let loaded = fissure_spec::load_text(Path::new(&file.title), &file.to_yaml());
    loaded.ok().map(|loaded| loaded.spec)
}

/// The call in one line, as a finding's script makes it.
fn call_text(api: &Api, input: &ConcreteInput) -> String {
    let script = fissure_triage::script_for_input(api, input);
    let body = script.split("def call():\n").nth(1).unwrap_or_default();
    let body = body.split("\n\nprint(call())").next().unwrap_or_default();
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    cut(&lines.join(" ").replace("return ", ""))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
