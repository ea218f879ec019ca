//! What a file does not say and the library shows: constraints that all accepted inputs keep and without
//! which nothing is accepted.
//!
//! Candidates are constraints in the notation of the file (`candidates.rs`). One is believed where the
//! inputs that break it are all refused, and are too many to have been refused by chance; of several
//! that explain a refusal the weakest is taken, then the trials go on with the narrower file. So each
//! added line has its counterexamples, and none is a guess from names. A library checks one thing after
//! another: where too little is accepted to learn from, the words of one refusal are explained alone
//! (`words.rs`).

mod candidates;
mod links;
mod words;

use fissure_model::ConcreteInput;
use fissure_spec::ExtractedFile;
use serde::Serialize;

use candidates::{Candidate, candidates, doubts, value_of};

/// Constraints that are added to one file.
const MOST: usize = 8;
/// Share of accepted inputs that leaves nothing to learn.
const ENOUGH: f64 = 0.95;
/// Accepted inputs that keep a candidate, at the least.
const LEAST_INSIDE: usize = 2;
/// Refused inputs that break a candidate, at the least.
const LEAST_OUTSIDE: usize = 4;
/// How likely the refusals may be chance.
const CHANCE: f64 = 0.002;
/// Values that are asked about alone.
const MOST_ASKED: usize = 12;

/// An input and what the library said to it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub input: ConcreteInput,
    /// `None`: accepted. Otherwise the call with the words of the refusal.
    pub refused: Option<String>,
    /// The words alone, without the values in them.
    pub words: Option<String>,
}

/// What learning asks: inputs of a file with their outcomes, and whether an input keeps one.
pub(super) trait Observes {
    /// `whole`: enough to learn from; otherwise a few more about one thing.
    fn observe(&mut self, file: &ExtractedFile, whole: bool) -> Vec<Seen>;
    /// Which of the inputs break this file; `None` if it cannot be read.
    fn breaks(&self, file: &ExtractedFile, seen: &[Seen]) -> Option<Vec<bool>>;
}

/// One constraint that was added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Learned {
    pub param: String,
    pub key: String,
    pub values: Vec<String>,
    /// Shapes of other parameters that say what its sizes have to do with theirs.
    pub also: Vec<(String, String)>,
    /// What the library did, with a call.
    pub evidence: String,
}

/// Adds to the file what the library shows; gives what was added.
pub(super) fn learn(file: &mut ExtractedFile, library: &mut impl Observes) -> Vec<Learned> {
    let mut learned: Vec<Learned> = Vec::new();
    let mut seen = library.observe(file, true);
    let mut asked = 0;
    let mut unexplained = Vec::new();
    for _ in 0..MOST {
        let accepted = seen.iter().filter(|one| one.refused.is_none()).count();
        if accepted as f64 >= ENOUGH * seen.len() as f64 {
            break;
        }
        // What was refused each time, but not often enough, is asked about again.
        for doubt in doubts(file, &seen) {
            if asked == MOST_ASKED {
                break;
            }
            asked += 1;
            let mut only = file.clone();
            set(&mut only, &doubt);
            seen.extend(library.observe(&only, false));
        }
        seen = keeping(file, seen, library);
        let by_outcome = best(file, &seen, library, &learned);
        let Some(found) =
            by_outcome.or_else(|| words::best(file, &seen, library, &learned, &mut unexplained))
        else {
            break;
        };
        add(file, &found);
        learned.retain(|one| one.param != found.param || one.key != found.key);
        learned.push(found);
        // What kept all that was added is still evidence.
        seen.extend(library.observe(file, true));
        seen = keeping(file, seen, library);
    }
    learned
}

/// The inputs that keep the file as it is now.
fn keeping(file: &ExtractedFile, seen: Vec<Seen>, library: &impl Observes) -> Vec<Seen> {
    let Some(broken) = library.breaks(file, &seen) else {
        return Vec::new();
    };
    let kept = seen.into_iter().zip(broken).filter(|(_, broken)| !broken);
    kept.map(|(one, _)| one).collect()
}

/// The candidate that explains most refusals; of each family the weakest that is believed.
fn best(
    file: &ExtractedFile,
    seen: &[Seen],
    library: &impl Observes,
    learned: &[Learned],
) -> Option<Learned> {
    let mut best: Option<(usize, Learned)> = None;
    for family in candidates(file, seen, learned) {
        for candidate in family {
            let Some((outside, found)) = believed(file, seen, library, &candidate) else {
                continue;
            };
            if best.as_ref().is_none_or(|(most, _)| outside > *most) {
                best = Some((outside, found));
            }
            break;
        }
    }
    best.map(|(_, found)| found)
}

fn believed(
    file: &ExtractedFile,
    seen: &[Seen],
    library: &impl Observes,
    candidate: &Candidate,
) -> Option<(usize, Learned)> {
    let mut narrower = file.clone();
    set(&mut narrower, candidate);
    let broken = library.breaks(&narrower, seen)?;
    let mut outside = 0;
    let mut inside = [0, 0];
    let mut counterexample: Option<&str> = None;
    for (one, broken) in seen.iter().zip(&broken) {
        match (&one.refused, broken) {
            // An accepted input breaks it: it does not hold.
            (None, true) => return None,
            (Some(call), true) => {
                outside += 1;
                if counterexample.is_none_or(|known| call.len() < known.len()) {
                    counterexample = Some(call);
                }
            }
            (None, false) if candidate.given && value_of(&candidate.param, one).is_none() => {}
            (refused, false) => {
                inside[0] += usize::from(refused.is_none());
                inside[1] += 1;
            }
        }
    }
    let [accepted, tried] = inside;
    let rate = accepted as f64 / tried.max(1) as f64;
    let by_chance = (1.0 - rate).powi(i32::try_from(outside).unwrap_or(i32::MAX));
    if outside < LEAST_OUTSIDE || accepted < LEAST_INSIDE || by_chance > CHANCE {
        return None;
    }
    let evidence = format!(
        "0 of {outside} accepted that break it, {accepted} of {tried} that keep it: {}",
        counterexample.unwrap_or("refused")
    );
    let found = Learned {
        param: candidate.param.clone(),
        key: candidate.key.to_owned(),
        values: candidate.values.clone(),
        also: candidate.also.clone(),
        evidence,
    };
    Some((outside, found))
}

fn set(file: &mut ExtractedFile, candidate: &Candidate) {
    if let Some(param) = file.constraints.get_mut(&candidate.param) {
        let values = candidate.values.clone();
        param.lists.insert(candidate.key.to_owned(), values);
    }
    for (name, shape) in &candidate.also {
        if let Some(param) = file.constraints.get_mut(name) {
            param
                .lists
                .insert("shape".to_owned(), vec![shape.to_owned()]);
        }
    }
}

/// Writes a learned constraint into the file, with its evidence.
fn add(file: &mut ExtractedFile, learned: &Learned) {
    let also = learned.also.iter();
    let others = also.map(|(name, shape)| (name, "shape", vec![shape.clone()]));
    let own = (&learned.param, learned.key.as_str(), learned.values.clone());
    for (name, key, values) in std::iter::once(own).chain(others) {
        let Some(param) = file.constraints.get_mut(name) else {
            continue;
        };
        let start = format!("added {key} ");
        param.evidence.retain(|line| !line.starts_with(&start));
        // Not `KEY VALUE`: see `note` in `decide.rs`.
        param.evidence.push(format!(
            "{start}{} | 1.00 | behaviour: {}",
            values.join(", "),
            learned.evidence
        ));
        param.lists.insert(key.to_owned(), values);
    }
}

#[cfg(test)]
mod tests;
