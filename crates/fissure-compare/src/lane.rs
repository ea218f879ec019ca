//! One API in both versions: draw, run, compare, try again what differs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use fissure_generate::Generator;
use fissure_model::{Api, ConcreteInput, Execution, Intent, Oracle, Outcome, Value};

use crate::behaviour::{Behaviour, Change, Kind};
use crate::difference::difference;
use crate::excuse::judged;
use crate::observation::{CLOSELY, MEASURE, OBSERVE};
use crate::report::Counts;
use crate::scaled::{SCALES, scaled};
use crate::side::Side;
use crate::speed;

/// Inputs of one kind of difference that are tried again before it is believed to be explained.
const TRIES: u32 = 6;
/// Inputs that end their process or hang, after which an API is left.
const ENDED: u32 = 12;
/// Accepted inputs that are run once more at other scales.
const SCALED: usize = 6;
/// Rounds of measurements that must all show a change of time or memory.
const ROUNDS: usize = 3;

/// Both versions, and what their workers are asked.
pub(crate) struct Sides {
    pub before: Side,
    pub after: Side,
    /// Held alone by who measures, together by everybody else.
    quiet: RwLock<()>,
    observe: Arc<[Oracle]>,
    closely: Arc<[Oracle]>,
    measure: Arc<[Oracle]>,
}

type Both = Vec<(Execution, Execution)>;

impl Sides {
    pub(crate) fn new(before: Side, after: Side) -> Sides {
        let names = |names: &[&str]| names.iter().copied().map(Oracle::from).collect();
        Sides {
            before,
            after,
            quiet: RwLock::new(()),
            observe: names(&[OBSERVE]),
            closely: names(&[OBSERVE, CLOSELY]),
            measure: names(&[MEASURE]),
        }
    }

    /// Why one of them cannot go on.
    pub(crate) fn failure(&self) -> Option<String> {
        (self.before.pool().failure()).or_else(|| self.after.pool().failure())
    }

    /// The inputs in both at once.
    fn run(&self, apis: &Apis, modules: &Arc<[Oracle]>, inputs: &[ConcreteInput]) -> Both {
        let _shared = self.quiet.read().unwrap_or_else(PoisonError::into_inner);
        let first = self.before.submit(&apis.before, modules, inputs.to_vec());
        let second = self.after.submit(&apis.after, modules, inputs.to_vec());
        let first = first.recv().unwrap_or_default();
        let second = second.recv().unwrap_or_default();
        first.into_iter().zip(second).collect()
    }

    /// One after the other, with nothing else under way. Threads of the one that ran first may still spin while the
    /// other runs, so rounds take turns in who is first.
    fn run_alone(
        &self,
        apis: &Apis,
        input: &ConcreteInput,
        after_first: bool,
    ) -> Option<(Execution, Execution)> {
        let _alone = self.quiet.write().unwrap_or_else(PoisonError::into_inner);
        let measured = |side: &Side, api: &Arc<Api>| {
            let answer = side.submit(api, &self.measure, vec![input.clone()]);
            answer.recv().ok()?.pop()
        };
        if after_first {
            let after = measured(&self.after, &apis.after)?;
            return Some((measured(&self.before, &apis.before)?, after));
        }
        let before = measured(&self.before, &apis.before)?;
        Some((before, measured(&self.after, &apis.after)?))
    }

    /// For making inputs small.
    pub(crate) fn closely(&self, apis: &Apis, inputs: &[ConcreteInput]) -> Both {
        self.run(apis, &self.closely, inputs)
    }
}

/// The API in each version: its name may be another.
#[derive(Clone, Debug)]
pub(crate) struct Apis {
    pub before: Arc<Api>,
    pub after: Arc<Api>,
}

enum Inputs {
    Drawn(Box<Generator>),
    Saved(VecDeque<ConcreteInput>),
}

#[derive(Default)]
struct Tracked {
    tries: u32,
    inputs: u64,
    confirmed: Option<(Change, ConcreteInput)>,
}

/// An input that the versions differ in, and what each of them did.
struct Suspect {
    key: (Kind, String),
    input: ConcreteInput,
    before: Execution,
    after: Execution,
}

impl Suspect {
    /// Does one of the versions give another result when it is asked again? Addresses and counters do.
    fn is_unsteady(&self, before: &Execution, after: &Execution) -> bool {
        let accepted = |it: &Execution| matches!(it.outcome, Outcome::Accepted { .. });
        let differs = |first: &Execution, second: &Execution| {
            accepted(first) && accepted(second) && difference(first, second).is_some()
        };
        differs(&self.before, before) || differs(&self.after, after)
    }
}

pub(crate) struct Lane {
    pub apis: Apis,
    inputs: Inputs,
    next: u64,
    max_inputs: u64,
    tracked: BTreeMap<(Kind, String), Tracked>,
    longest: Option<((bool, Duration), ConcreteInput)>,
    measured: Vec<(Change, ConcreteInput)>,
    /// Accepted in both, to be tried at other scales.
    accepted: Vec<ConcreteInput>,
    ended: u32,
    done: bool,
    pub counts: Counts,
}

impl Lane {
    pub(crate) fn drawn(apis: Apis, generator: Box<Generator>, max_inputs: u64) -> Lane {
        Lane::new(apis, Inputs::Drawn(generator), max_inputs)
    }

    pub(crate) fn saved(apis: Apis, inputs: Vec<ConcreteInput>) -> Lane {
        Lane::new(apis, Inputs::Saved(inputs.into()), u64::MAX)
    }

    fn new(apis: Apis, inputs: Inputs, max_inputs: u64) -> Lane {
        Lane {
            apis,
            inputs,
            next: 0,
            max_inputs,
            tracked: BTreeMap::new(),
            longest: None,
            measured: Vec::new(),
            accepted: Vec::new(),
            ended: 0,
            done: false,
            counts: Counts {
                apis: 1,
                ..Counts::default()
            },
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Runs up to `count` further inputs; says what was found for the first time.
    pub(crate) fn turn(&mut self, sides: &Sides, count: u64) -> Vec<Behaviour> {
        let inputs = self.draw(count);
        if inputs.is_empty() {
            self.done = true;
            return Vec::new();
        }
        let ran = sides.run(&self.apis, &sides.observe, &inputs);
        // Fewer than were asked for: the pool cannot go on.
        self.done |= ran.len() < inputs.len() || self.next >= self.max_inputs;
        for (input, (before, after)) in inputs.iter().zip(&ran) {
            self.observe(input, before, after);
        }
        self.looked_at(sides, &inputs, &ran)
    }

    /// The inputs that were accepted so far once more, with smaller numbers.
    pub(crate) fn scaled_turn(&mut self, sides: &Sides) -> Vec<Behaviour> {
        let accepted = std::mem::take(&mut self.accepted);
        let inputs: Vec<ConcreteInput> = (accepted.iter())
            .flat_map(|input| SCALES.map(|power| scaled(input, power)))
            .flatten()
            .collect();
        if inputs.is_empty() || self.ended >= ENDED {
            return Vec::new();
        }
        let ran = sides.run(&self.apis, &sides.observe, &inputs);
        self.looked_at(sides, &inputs, &ran)
    }

    /// Counts what ran, and tries again what differs.
    fn looked_at(
        &mut self,
        sides: &Sides,
        inputs: &[ConcreteInput],
        ran: &[(Execution, Execution)],
    ) -> Vec<Behaviour> {
        let mut suspects = Vec::new();
        for (input, (before, after)) in inputs.iter().zip(ran) {
            self.counts.inputs += 1;
            self.ended += u32::from(ended(before)) + u32::from(ended(after));
            let Some(change) = difference(before, after) else {
                continue;
            };
            let key = (change.kind, change.detail);
            let tracked = self.tracked.entry(key.clone()).or_default();
            tracked.inputs += 1;
            if tracked.confirmed.is_none() && tracked.tries < TRIES {
                tracked.tries += 1;
                suspects.push(Suspect {
                    key,
                    input: input.clone(),
                    before: before.clone(),
                    after: after.clone(),
                });
            }
        }
        if self.ended >= ENDED {
            self.done = true;
        }
        self.confirm(sides, suspects)
    }

    fn draw(&mut self, count: u64) -> Vec<ConcreteInput> {
        let count = count.min(self.max_inputs.saturating_sub(self.next));
        let first = self.next;
        self.next += count;
        match &mut self.inputs {
            Inputs::Drawn(generator) => (first..first + count)
                .map(|number| generator.generate(number))
                .collect(),
            Inputs::Saved(left) => {
                let count = left.len().min(count as usize);
                left.drain(..count).collect()
            }
        }
    }

    /// Notes an accepted input, and tells the generator what the first version said.
    fn observe(&mut self, input: &ConcreteInput, before: &Execution, after: &Execution) {
        let accepted = |it: &Execution| matches!(it.outcome, Outcome::Accepted { .. });
        if accepted(before) && accepted(after) {
            self.counts.accepted += 1;
            // One with a tensor that can be made longer shows more.
            let taken = (has_dimension(input), before.duration.min(after.duration));
            if self
                .longest
                .as_ref()
                .is_none_or(|(longest, _)| taken > *longest)
            {
                self.longest = Some((taken, input.clone()));
            }
            // Saved inputs are run as they are.
            let drawn = matches!(self.inputs, Inputs::Drawn(_));
            if drawn && self.accepted.len() < SCALED && scaled(input, SCALES[0]).is_some() {
                self.accepted.push(input.clone());
            }
        }
        let Inputs::Drawn(generator) = &mut self.inputs else {
            return;
        };
        let wishes = match &before.outcome {
            Outcome::Rejected(exception)
                if !matches!(
                    input.intent,
                    Intent::Violate { .. } | Intent::BreakRule { .. }
                ) =>
            {
                fissure_generate::wishes(exception, input)
            }
            _ => Vec::new(),
        };
        generator.observe_reason(input.number, accepted(before), &wishes);
    }

    /// Runs what differed again, by itself and with a closer look.
    fn confirm(&mut self, sides: &Sides, suspects: Vec<Suspect>) -> Vec<Behaviour> {
        if suspects.is_empty() {
            return Vec::new();
        }
        let inputs: Vec<ConcreteInput> = suspects.iter().map(|it| it.input.clone()).collect();
        let ran = sides.closely(&self.apis, &inputs);
        let mut found = Vec::new();
        for (suspect, (before, after)) in suspects.into_iter().zip(&ran) {
            let again = difference(before, after).filter(|it| it.kind == suspect.key.0);
            let left = again
                .filter(|_| !suspect.is_unsteady(before, after))
                .and_then(|change| judged(change, before, after));
            let Some(tracked) = self.tracked.get_mut(&suspect.key) else {
                continue;
            };
            let Some(change) = left else {
                self.counts.explained += 1;
                continue;
            };
            if tracked.confirmed.is_none() {
                let input = suspect.input;
                found.push(behaviour(&self.apis, &change, tracked.inputs, &input));
                tracked.confirmed = Some((change, input));
            }
        }
        found
    }

    /// Time and memory of the input that took longest.
    pub(crate) fn measure(&mut self, sides: &Sides) -> Vec<Behaviour> {
        let Some((_, input)) = self.longest.take() else {
            return Vec::new();
        };
        self.counts.measured = 1;
        let at_once = sides.run(&self.apis, &sides.measure, std::slice::from_ref(&input));
        if speed::changes(&at_once).is_empty() {
            return Vec::new();
        }
        let changes = self.in_all_rounds(sides, &input);
        let told = changes
            .iter()
            .map(|it| behaviour(&self.apis, it, 1, &input));
        let told = told.collect();
        self.measured = changes.into_iter().map(|it| (it, input.clone())).collect();
        told
    }

    /// What changed in each of several rounds.
    fn in_all_rounds(&self, sides: &Sides, input: &ConcreteInput) -> Vec<Change> {
        // A worker that is new pays for every page that it touches first.
        sides.run_alone(&self.apis, input, false);
        let mut rounds = Vec::new();
        for round in 0..ROUNDS {
            rounds.extend(sides.run_alone(&self.apis, input, round % 2 == 1));
            if speed::changes(&rounds).is_empty() {
                return Vec::new();
            }
        }
        speed::changes(&rounds)
    }

    /// Measures once more what seemed to take another time or memory: what a busy machine does to one moment it
    /// seldom does to another.
    pub(crate) fn measure_again(&mut self, sides: &Sides) {
        let Some((_, input)) = self.measured.first().cloned() else {
            return;
        };
        let again = self.in_all_rounds(sides, &input);
        let before = self.measured.len();
        self.measured.retain(|(change, _)| {
            let same = |it: &Change| (it.kind, &it.detail) == (change.kind, &change.detail);
            again.iter().any(same)
        });
        self.counts.explained += (before - self.measured.len()) as u64;
    }

    /// Everything that was confirmed.
    pub(crate) fn behaviours(&self) -> Vec<Behaviour> {
        let mut found: BTreeMap<(Kind, String), Behaviour> = BTreeMap::new();
        for tracked in self.tracked.values() {
            let Some((change, input)) = &tracked.confirmed else {
                continue;
            };
            let one = behaviour(&self.apis, change, tracked.inputs, input);
            // What was told apart by a first look may be the same by a closer one.
            found
                .entry((one.kind, one.detail.clone()))
                .and_modify(|known| known.inputs += one.inputs)
                .or_insert(one);
        }
        let measured = self.measured.iter();
        let measured = measured.map(|(change, input)| behaviour(&self.apis, change, 1, input));
        found.into_values().chain(measured).collect()
    }
}

/// Not as calls should end.
fn ended(execution: &Execution) -> bool {
    !matches!(
        execution.outcome,
        Outcome::Accepted { .. } | Outcome::Rejected(_) | Outcome::NotBuilt(_)
    )
}

fn behaviour(apis: &Apis, change: &Change, inputs: u64, input: &ConcreteInput) -> Behaviour {
    Behaviour {
        api: (*apis.before).clone(),
        kind: change.kind,
        detail: change.detail.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        call: call_text(&apis.before, input),
        inputs,
        also: Vec::new(),
        script: None,
        known: None,
        input: Some(Box::new(input.clone())),
    }
}

fn has_dimension(input: &ConcreteInput) -> bool {
    let mut found = false;
    let layer = input.layer_arguments.iter().flatten();
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::NdArray(tensor) = value {
                found |= !tensor.shape.is_empty() && tensor.elements() != Some(0);
            }
        });
    }
    found
}

/// The call in one line, as the script makes it.
pub(crate) fn call_text(api: &Api, input: &ConcreteInput) -> String {
    let script = fissure_triage::script_for_input(api, input);
    let body = script.split("def call():\n").nth(1).unwrap_or_default();
    let body = body.split("\n\nprint(call())").next().unwrap_or_default();
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    let text = lines.join(" ").replace("return ", "");
    match text.char_indices().nth(160) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
