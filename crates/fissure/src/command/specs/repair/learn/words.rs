//! Constraints that explain the words of one refusal.
//!
//! A library checks one thing after another and says what it was. A constraint explains a check if every
//! input that was refused in these words breaks it and no accepted one does; what is refused in other
//! words may do either, as another check may come first. Whether it does is then tried: new inputs that
//! keep it are not refused in these words any more. That needs no accepted input, so that it also works
//! where several things must be right at once.

use std::collections::BTreeMap;

use fissure_spec::ExtractedFile;

use super::candidates::{Candidate, candidates};
use super::{CHANCE, Learned, Observes, Seen, links, set};

/// Share of the inputs that are refused in the same words, from which on they are explained.
const SHARE: f64 = 0.08;
/// Inputs that are refused in these words, at the least.
const LEAST: usize = 4;
/// Constraints that are tried for the same words.
const TRIED: usize = 12;
/// Words of one round.
const MOST: usize = 4;
/// What is left of the words where the constraint holds, at the most.
const LEFT: f64 = 0.25;
/// Share of accepted inputs that a constraint may cost by luck.
const LUCK: f64 = 0.05;

/// The constraint that explains the commonest words that one explains; words that none does are
/// remembered.
pub(super) fn best(
    file: &ExtractedFile,
    seen: &[Seen],
    library: &mut impl Observes,
    learned: &[Learned],
    unexplained: &mut Vec<String>,
) -> Option<Learned> {
    for words in common(seen, unexplained) {
        match explained(file, seen, library, learned, &words) {
            Some(found) => return Some(found),
            None => unexplained.push(words),
        }
    }
    None
}

/// The commonest words of refusals.
fn common(seen: &[Seen], unexplained: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for words in seen.iter().filter_map(|one| one.words.as_deref()) {
        *counts.entry(words).or_default() += 1;
    }
    let least = LEAST.max((SHARE * seen.len() as f64) as usize);
    let mut counts: Vec<(&str, usize)> = counts
        .into_iter()
        .filter(|(words, count)| *count >= least && !unexplained.iter().any(|it| it == words))
        .collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let each = counts.into_iter().take(MOST);
    each.map(|(words, _)| words.to_owned()).collect()
}

fn explained(
    file: &ExtractedFile,
    seen: &[Seen],
    library: &mut impl Observes,
    learned: &[Learned],
    words: &str,
) -> Option<Learned> {
    let is_said = |one: &Seen| one.words.as_deref() == Some(words);
    // What was refused otherwise has passed this check, or was refused by one before it.
    let mut passed = seen.to_vec();
    for one in &mut passed {
        if !is_said(one) {
            one.refused = None;
        }
    }
    let decided: Vec<Seen> = seen
        .iter()
        .filter(|one| one.refused.is_none() || is_said(one))
        .cloned()
        .collect();
    let mut families = candidates(file, &passed, learned);
    families.extend(candidates(file, &decided, learned));
    families.extend(links::candidates(file, seen));
    let mut possible: Vec<(usize, Candidate)> = Vec::new();
    for candidate in families.into_iter().flatten() {
        if possible.iter().any(|(_, known)| *known == candidate) {
            continue;
        }
        if let Some(breaking) = is_possible(file, seen, library, &candidate, words) {
            possible.push((breaking, candidate));
        }
    }
    // The weakest first.
    possible.sort_by_key(|(breaking, _)| *breaking);
    let mut each = possible.into_iter().take(TRIED);
    each.find_map(|(_, candidate)| confirmed(file, seen, library, candidate, words))
}

/// How many inputs break the candidate, if those that were refused in these words all do, and no accepted
/// one does.
fn is_possible(
    file: &ExtractedFile,
    seen: &[Seen],
    library: &impl Observes,
    candidate: &Candidate,
    words: &str,
) -> Option<usize> {
    let mut narrower = file.clone();
    set(&mut narrower, candidate);
    let broken = library.breaks(&narrower, seen)?;
    let mut breaking = 0;
    for (one, broken) in seen.iter().zip(&broken) {
        let is_said = one.words.as_deref() == Some(words);
        if (one.refused.is_none() && *broken) || (is_said && !broken) {
            return None;
        }
        breaking += usize::from(*broken);
    }
    Some(breaking)
}

/// New inputs that keep the candidate are the evidence: the words are gone, or nearly, and no fewer are
/// accepted.
fn confirmed(
    file: &ExtractedFile,
    seen: &[Seen],
    library: &mut impl Observes,
    candidate: Candidate,
    words: &str,
) -> Option<Learned> {
    let is_said = |one: &&Seen| one.words.as_deref() == Some(words);
    let is_accepted = |one: &&Seen| one.refused.is_none();
    let share = |count: usize, seen: &[Seen]| count as f64 / seen.len().max(1) as f64;
    let said = seen.iter().filter(is_said).count();
    let before = share(said, seen);
    let mut narrower = file.clone();
    set(&mut narrower, &candidate);
    let after = library.observe(&narrower, false);
    let still = after.iter().filter(is_said).count();
    let by_chance = (1.0 - before).powi(i32::try_from(after.len()).unwrap_or(i32::MAX));
    let accepted = |seen: &[Seen]| share(seen.iter().filter(is_accepted).count(), seen);
    if after.is_empty()
        || share(still, &after) > LEFT * before
        || by_chance > CHANCE
        || accepted(&after) + LUCK < accepted(seen)
    {
        return None;
    }
    let calls = seen.iter().filter(is_said);
    let calls = calls.filter_map(|one| one.refused.as_deref());
    let evidence = format!(
        "refused in the same words: {said} of {} calls before, {still} of {} that keep it: {}",
        seen.len(),
        after.len(),
        calls.min_by_key(|call| call.len()).unwrap_or("refused")
    );
    Some(Learned {
        param: candidate.param,
        key: candidate.key.to_owned(),
        values: candidate.values,
        also: candidate.also,
        evidence,
    })
}
