//! Which constraints of a file the library contradicts, found by trials.
//!
//! An alternative is dropped where no input with it is accepted although others are; a whole list,
//! where inputs that break it are accepted far more often than those that keep it. What is broken and
//! accepted alone is only marked: much of Python takes what it never looks at. What is left is marked in the file and, where documentation said it, a bug of that.

use fissure_spec::{CONSTRAINT_KEYS, ExtractedFile, ExtractedParam};
use serde::Serialize;

use super::learn::{Learned, Observes, learn};

/// Share of conforming inputs that is good enough to leave a file alone.
const ENOUGH: f64 = 0.85;
/// Share from which on there is nothing to learn.
const LEARNED: f64 = 0.95;
/// What an added constraint may cost by the luck of the draw.
const LUCK: f64 = 0.1;
/// A list is dropped if what breaks it is accepted so much more often than what keeps it.
const GAIN: f64 = 0.4;
/// Share of broken inputs that are accepted, from which on it is worth telling.
const TOLD: f64 = 0.5;
/// Inputs of a sort before a list is judged by them.
const LEAST: usize = 6;
/// Inputs that break a list and are accepted, before that counts: one may have been luck.
const LEAST_ACCEPTED: usize = 3;
/// Trials of one file.
const TRIALS: usize = 60;

/// What came of the inputs of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Trial {
    pub tried: usize,
    pub accepted: usize,
    /// A call that was refused, with the words of the refusal.
    pub refused: Option<String>,
}

impl Trial {
    pub(super) fn rate(&self) -> f64 {
        self.accepted as f64 / self.tried.max(1) as f64
    }
}

/// Inputs that break one list of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Violation {
    pub param: String,
    pub key: &'static str,
    pub tried: usize,
    pub accepted: usize,
    /// A call that was accepted.
    pub call: Option<String>,
}

/// Asks the library about a file.
pub(super) trait Trials {
    /// Inputs that conform to the file; `None` if there are none.
    fn conforming(&mut self, file: &ExtractedFile) -> Option<Trial>;
    /// The same, where rejected inputs are also changed as their rejection asks.
    fn insisting(&mut self, file: &ExtractedFile) -> Option<Trial>;
    /// Inputs that the file without one list allows: those that give the parameter and keep the
    /// list, and those that break it.
    fn without(&mut self, file: &ExtractedFile, param: &str, key: &str) -> Option<[Trial; 2]>;
    /// Inputs that break one list each.
    fn violating(&mut self, file: &ExtractedFile) -> Vec<Violation>;
}

/// One contradiction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Contradiction {
    pub param: String,
    pub key: String,
    /// The alternative, or all of the list.
    pub values: Vec<String>,
    /// `dropped` or `marked`.
    pub done: &'static str,
    /// What the library did, with a call.
    pub evidence: String,
    /// What the file was extracted from, where it says.
    pub source: Option<String>,
    /// All or most inputs contradict it: of what was dropped none was accepted, of what was marked
    /// more than half was.
    pub often: bool,
}

/// What was found about one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Decision {
    /// Share of conforming inputs that were accepted, before and after.
    pub before: f64,
    pub after: f64,
    pub contradictions: Vec<Contradiction>,
    /// What the file did not say and the library showed.
    pub learned: Vec<Learned>,
}

impl Decision {
    /// Is the file another one now?
    pub(super) fn changes(&self) -> bool {
        !self.contradictions.is_empty() || !self.learned.is_empty()
    }
}

/// Repairs the file in place; `None` if no input can be made for it.
pub(super) fn decide(
    file: &mut ExtractedFile,
    trials: &mut (impl Trials + Observes),
) -> Option<Decision> {
    let first = trials.conforming(file)?;
    let mut decision = Decision {
        before: first.rate(),
        after: first.rate(),
        contradictions: Vec::new(),
        learned: Vec::new(),
    };
    let mut left = TRIALS;
    let lists = |file: &ExtractedFile| -> Vec<(String, &'static str)> {
        let each = file.constraints.iter();
        each.flat_map(|(name, param)| {
            let keys = CONSTRAINT_KEYS.into_iter();
            let keys = keys.filter(|key| param.lists.get(*key).is_some_and(|it| !it.is_empty()));
            keys.map(|key| (name.clone(), key)).collect::<Vec<_>>()
        })
        .collect()
    };
    for (param, key) in lists(file) {
        if decision.after >= ENOUGH || left == 0 {
            break;
        }
        left = left.saturating_sub(alternatives(file, &param, key, trials, &mut decision));
    }
    for (param, key) in lists(file) {
        if decision.after >= ENOUGH || left == 0 {
            break;
        }
        left -= 1;
        let Some([kept, broken]) = trials.without(file, &param, key) else {
            continue;
        };
        let enough = kept.tried >= LEAST && broken.accepted >= LEAST_ACCEPTED;
        if !enough || broken.rate() < kept.rate() + GAIN {
            continue;
        }
        let refused = kept.refused.as_deref().unwrap_or("refused");
        let evidence = format!(
            "{} of {} accepted that break it, {} of {} that keep it: {refused}",
            broken.accepted, broken.tried, kept.accepted, kept.tried
        );
        let values = file.constraints[&param].lists[key].clone();
        note(
            file,
            &mut decision,
            &param,
            key,
            values,
            "dropped",
            evidence,
        );
        if let Some(last) = decision.contradictions.last_mut() {
            last.often = kept.accepted == 0;
        }
        if let Some(now) = trials.conforming(file) {
            decision.after = now.rate();
        }
    }
    if decision.after < LEARNED {
        add_learned(file, trials, &mut decision);
    }
    for broken in trials.violating(file) {
        if broken.tried < LEAST || broken.accepted < LEAST_ACCEPTED {
            continue;
        }
        let call = broken.call.as_deref().unwrap_or_default();
        let share = broken.accepted as f64 / broken.tried as f64;
        let evidence = format!(
            "broken and accepted in {} of {} calls, such as {call}",
            broken.accepted, broken.tried
        );
        let values = match file.constraints.get(&broken.param) {
            Some(param) => param.lists.get(broken.key).cloned().unwrap_or_default(),
            None => continue,
        };
        if values.is_empty() {
            continue;
        }
        note(
            file,
            &mut decision,
            &broken.param,
            broken.key,
            values,
            "marked",
            evidence,
        );
        if let Some(last) = decision.contradictions.last_mut() {
            last.often = share >= TOLD;
        }
    }
    Some(decision)
}

/// Adds what the library shows, unless fewer inputs are accepted with it.
fn add_learned(
    file: &mut ExtractedFile,
    trials: &mut (impl Trials + Observes),
    decision: &mut Decision,
) {
    let before = file.clone();
    let mut learned = learn(file, trials);
    if learned.is_empty() {
        return;
    }
    let mut contradictions = Vec::new();
    for one in &mut learned {
        for gone in refuted(&before, one) {
            // As in `alternatives`: another argument may have been the reason.
            let mut only = before.clone();
            set(&mut only, &gone.param, &gone.key, gone.values.clone());
            let tied = tied(&only, &gone.key, &gone.values[0]);
            if works(&trials.insisting(&only))
                || tied.is_some_and(|it| works(&trials.insisting(&it)))
            {
                give_back(file, one, &gone.values);
            } else {
                contradictions.push(gone);
            }
        }
    }
    match trials.conforming(file) {
        Some(now) if now.rate() + LUCK >= decision.after => {
            decision.after = now.rate();
            decision.contradictions.extend(contradictions);
            decision.learned = learned;
        }
        _ => *file = before,
    }
}

/// Alternatives that are accepted after all stay in the list.
fn give_back(file: &mut ExtractedFile, learned: &mut Learned, values: &[String]) {
    learned.values.extend_from_slice(values);
    if let Some(param) = file.constraints.get_mut(&learned.param) {
        let list = param.lists.entry(learned.key.clone()).or_default();
        list.extend_from_slice(values);
    }
}

fn works(trial: &Option<Trial>) -> bool {
    trial.as_ref().is_some_and(|it| it.accepted > 0)
}

/// Alternatives that the file listed and that what was learned leaves out.
fn refuted(before: &ExtractedFile, learned: &Learned) -> Vec<Contradiction> {
    let Some(param) = before.constraints.get(&learned.param) else {
        return Vec::new();
    };
    let listed = param.lists.get(&learned.key).into_iter().flatten();
    if !listed.clone().any(|value| learned.values.contains(value)) {
        // Another notation, not fewer of the same.
        return Vec::new();
    }
    let gone = listed.filter(|value| !learned.values.contains(value));
    gone.map(|value| Contradiction {
        param: learned.param.clone(),
        key: learned.key.clone(),
        values: vec![value.clone()],
        done: "dropped",
        evidence: learned.evidence.clone(),
        source: source_of(param, &learned.key, std::slice::from_ref(value)),
        often: true,
    })
    .collect()
}

/// What the evidence names as the source of one of the values.
fn source_of(param: &ExtractedParam, key: &str, values: &[String]) -> Option<String> {
    param.evidence.iter().find_map(|line| {
        let mut parts = line.splitn(3, " | ");
        let (of, value) = parts.next()?.split_once(' ')?;
        let said = parts.nth(1)?;
        (of == key && values.iter().any(|it| it == value)).then(|| said.to_owned())
    })
}

/// Drops alternatives with which nothing is accepted; gives the number of trials.
fn alternatives(
    file: &mut ExtractedFile,
    param: &str,
    key: &'static str,
    trials: &mut impl Trials,
    decision: &mut Decision,
) -> usize {
    let values = file.constraints[param].lists[key].clone();
    if values.len() < 2 {
        return 0;
    }
    let mut tried = Vec::new();
    for value in &values {
        let mut only = file.clone();
        set(&mut only, param, key, vec![value.clone()]);
        tried.push((value, trials.conforming(&only)));
    }
    if !tried.iter().any(|(_, trial)| works(trial)) {
        return tried.len();
    }
    for (value, trial) in &tried {
        let Some(trial) = trial.as_ref().filter(|it| it.accepted == 0 && it.tried > 0) else {
            continue;
        };
        // Another argument may have been the reason: then it is not this alternative.
        let mut only = file.clone();
        set(&mut only, param, key, vec![(*value).clone()]);
        let tied = tied(&only, key, value);
        if works(&trials.insisting(&only)) || tied.is_some_and(|it| works(&trials.conforming(&it)))
        {
            continue;
        }
        let refused = trial.refused.as_deref().unwrap_or("refused");
        let evidence = format!("0 of {} accepted: {refused}", trial.tried);
        let gone = vec![(*value).clone()];
        note(file, decision, param, key, gone, "dropped", evidence);
    }
    if let Some(now) = trials.conforming(file) {
        decision.after = now.rate();
    }
    tried.len() + 1
}

/// The file in which every tensor has the same element type, where that is what is asked about.
fn tied(only: &ExtractedFile, key: &str, value: &str) -> Option<ExtractedFile> {
    let mut file = only.clone();
    let tensors = file.constraints.values_mut();
    for param in tensors.filter(|it| it.lists.contains_key("tensor_t")) {
        param
            .lists
            .insert("dtype".to_owned(), vec![value.to_owned()]);
    }
    (key == "dtype").then_some(file)
}

/// Writes down a contradiction, in the file too.
fn note(
    file: &mut ExtractedFile,
    decision: &mut Decision,
    param: &str,
    key: &'static str,
    values: Vec<String>,
    done: &'static str,
    evidence: String,
) {
    let Some(entry) = file.constraints.get_mut(param) else {
        return;
    };
    let source = source_of(entry, key, &values);
    if done == "dropped" {
        if let Some(list) = entry.lists.get_mut(key) {
            list.retain(|value| !values.contains(value));
        }
        entry.lists.retain(|_, list| !list.is_empty());
    }
    // Not `KEY VALUE`: what the library said stays what it said, so that `--update` keeps the repair.
    let line = format!(
        "{done} {key} {} | 1.00 | behaviour: {evidence}",
        values.join(", ")
    );
    entry.evidence.push(line);
    decision.contradictions.push(Contradiction {
        param: param.to_owned(),
        key: key.to_owned(),
        values,
        done,
        evidence,
        source,
        often: true,
    });
}

fn set(file: &mut ExtractedFile, param: &str, key: &str, values: Vec<String>) {
    if let Some(param) = file.constraints.get_mut(param) {
        param.lists.insert(key.to_owned(), values);
    }
}

#[cfg(test)]
mod tests;
