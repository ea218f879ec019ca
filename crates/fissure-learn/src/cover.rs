//! The fewest and simplest rules that allow every accepted input and explain the rejected ones.
//!
//! A rule is a clause: at least one of a few statements holds. Statements are known by the inputs
//! that break them, so a clause is broken by the inputs that break all of its statements, and
//! whether it is worth keeping is a question about sets.

use fissure_solve::rules::BoundRule;

use crate::bits::Bits;
use crate::vocabulary::Vocabulary;

/// Rejected inputs that a clause of so many statements must explain to be believed.
const SUPPORT: [usize; 4] = [0, 2, 5, 9];
/// Accepted inputs that must need each statement of a clause of two.
const NEEDED: usize = 2;
/// Rejected inputs that are tried to be explained by clauses of two and three statements.
const ATTEMPTS: usize = 60;
const DEEP_ATTEMPTS: usize = 16;
/// Statements that clauses of three are begun with.
const BEGINNINGS: usize = 48;

/// A learned rule.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub text: String,
    pub rule: BoundRule,
}

/// Finds the clauses. `kinds[r]` is the kind of rejection number `r`: same words, same kind. A rule
/// may forbid `tolerance` accepted inputs, fewer than the rejected ones that nothing else explains.
pub(crate) fn cover(vocabulary: &Vocabulary, kinds: &[u32], tolerance: usize) -> Vec<Clause> {
    let mut search = Search {
        vocabulary,
        uncovered: Bits::full(kinds.len()),
        chosen: Vec::new(),
        tolerance: 0,
    };
    search.single();
    search.several(kinds);
    if tolerance > 0 {
        search.tolerance = tolerance;
        search.single();
        search.several(kinds);
    }
    search.finish()
}

struct Search<'a> {
    vocabulary: &'a Vocabulary,
    uncovered: Bits,
    chosen: Vec<Vec<usize>>,
    tolerance: usize,
}

impl Search<'_> {
    fn broken_rejected(&self, atoms: &[usize]) -> Bits {
        let mut parts = atoms
            .iter()
            .map(|atom| &self.vocabulary.atoms[*atom].broken_rejected);
        let first = parts.next().cloned().unwrap_or_default();
        parts.fold(first, |both, part| both.and(part))
    }

    fn choose(&mut self, atoms: Vec<usize>) {
        let broken = self.broken_rejected(&atoms);
        self.uncovered.remove(&broken);
        self.chosen.push(atoms);
    }

    /// Each forbidden accepted input outweighs an explained one.
    fn worth(&self, gain: usize, loss: usize, cost: u32) -> f64 {
        (gain as f64 - 1.5 * loss as f64) / (1.0 + 0.25 * f64::from(cost))
    }

    /// Statements that no accepted input breaks.
    fn single(&mut self) {
        let atoms = &self.vocabulary.atoms;
        let candidates: Vec<usize> = (0..atoms.len())
            .filter(|atom| atoms[*atom].broken_accepted.count() <= self.tolerance)
            .collect();
        loop {
            let best = candidates
                .iter()
                .map(|atom| {
                    let gain = atoms[*atom].broken_rejected.common(&self.uncovered);
                    (gain, *atom)
                })
                .filter(|(gain, _)| *gain >= SUPPORT[1])
                .map(|(gain, atom)| {
                    let loss = atoms[atom].broken_accepted.count();
                    (self.worth(gain, loss, atoms[atom].cost), atom)
                })
                .filter(|(worth, _)| *worth > 0.0)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, atom)) = best else {
                return;
            };
            self.choose(vec![atom]);
        }
    }

    /// Two or three statements, sought for one rejected input after the other: those of the most
    /// frequent kinds first.
    fn several(&mut self, kinds: &[u32]) {
        let mut frequency = vec![0usize; kinds.iter().max().map_or(0, |most| *most as usize + 1)];
        for rejected in self.uncovered.iter() {
            frequency[kinds[rejected] as usize] += 1;
        }
        let mut order: Vec<usize> = self.uncovered.iter().collect();
        order.sort_by_key(|rejected| std::cmp::Reverse(frequency[kinds[*rejected] as usize]));
        // One of each kind before the second of any.
        let mut turn = vec![0usize; frequency.len()];
        let mut ranked: Vec<(usize, usize)> = Vec::new();
        for rejected in order {
            let kind = kinds[rejected] as usize;
            ranked.push((turn[kind], rejected));
            turn[kind] += 1;
        }
        ranked.sort_by_key(|(turn, _)| *turn);
        let (mut attempts, mut deep) = (0, 0);
        for (_, rejected) in ranked {
            if !self.uncovered.contains(rejected) {
                continue;
            }
            attempts += 1;
            if attempts > ATTEMPTS {
                return;
            }
            if let Some(pair) = self.pair(rejected) {
                self.choose(pair);
            } else if deep < DEEP_ATTEMPTS {
                deep += 1;
                if let Some(triple) = self.triple(rejected) {
                    self.choose(triple);
                }
            }
        }
    }

    /// Statements that the rejected input breaks, those that explain most others first.
    fn broken_by(&self, rejected: usize) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = self
            .vocabulary
            .atoms
            .iter()
            .enumerate()
            .filter(|(_, atom)| atom.broken_rejected.contains(rejected))
            .map(|(number, atom)| (atom.broken_rejected.common(&self.uncovered), number))
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        found
    }

    fn pair(&self, rejected: usize) -> Option<Vec<usize>> {
        let atoms = &self.vocabulary.atoms;
        let found = self.broken_by(rejected);
        let mut best: Option<(f64, Vec<usize>)> = None;
        for (position, (most, first)) in found.iter().enumerate() {
            let limit = best.as_ref().map_or(0.0, |(worth, _)| *worth);
            if *most < SUPPORT[2] || self.worth(*most, 0, 0) <= limit {
                break;
            }
            let a = &atoms[*first];
            if a.broken_accepted.count() < NEEDED {
                continue;
            }
            let explained = a.broken_rejected.and(&self.uncovered);
            for (_, second) in &found[..position] {
                let b = &atoms[*second];
                if b.broken_accepted.count() < NEEDED
                    || !a
                        .broken_accepted
                        .shares_at_most(&b.broken_accepted, self.tolerance)
                {
                    continue;
                }
                let gain = explained.common(&b.broken_rejected);
                let loss = a.broken_accepted.common(&b.broken_accepted);
                let worth = self.worth(gain, loss, a.cost + b.cost);
                if gain >= SUPPORT[2]
                    && worth > 0.0
                    && best.as_ref().is_none_or(|(best, _)| worth > *best)
                    && self.vocabulary.either(&[*first, *second]).is_some()
                {
                    best = Some((worth, vec![*first, *second]));
                }
            }
        }
        best.map(|(_, atoms)| atoms)
    }

    fn triple(&self, rejected: usize) -> Option<Vec<usize>> {
        let atoms = &self.vocabulary.atoms;
        let found = self.broken_by(rejected);
        let beginnings: Vec<usize> = found
            .iter()
            .filter(|(most, atom)| *most >= SUPPORT[3] && atoms[*atom].cost <= 2)
            .take(BEGINNINGS)
            .map(|(_, atom)| *atom)
            .collect();
        let mut best: Option<(f64, Vec<usize>)> = None;
        for (position, first) in beginnings.iter().enumerate() {
            for second in &beginnings[..position] {
                let (a, b) = (&atoms[*first], &atoms[*second]);
                let open = a.broken_accepted.and(&b.broken_accepted);
                let explained = self
                    .broken_rejected(&[*first, *second])
                    .and(&self.uncovered);
                let limit = best.as_ref().map_or(0.0, |(worth, _)| *worth);
                let most = explained.count();
                if most < SUPPORT[3]
                    || self.worth(most, 0, a.cost + b.cost) <= limit
                    || open.count() < NEEDED
                {
                    continue;
                }
                for (_, third) in &found {
                    let c = &atoms[*third];
                    if !c.broken_accepted.shares_at_most(&open, self.tolerance) {
                        continue;
                    }
                    let gain = explained.common(&c.broken_rejected);
                    let loss = open.common(&c.broken_accepted);
                    let worth = self.worth(gain, loss, a.cost + b.cost + c.cost + 2);
                    let parts = [*first, *second, *third];
                    if gain >= SUPPORT[3]
                        && worth > 0.0
                        && best.as_ref().is_none_or(|(best, _)| worth > *best)
                        && self.vocabulary.either(&parts).is_some()
                    {
                        best = Some((worth, parts.to_vec()));
                    }
                }
            }
        }
        best.map(|(_, atoms)| atoms)
    }

    /// Drops what the rest explains too, and makes rules of the others.
    fn finish(self) -> Vec<Clause> {
        let broken: Vec<Bits> = self
            .chosen
            .iter()
            .map(|atoms| self.broken_rejected(atoms))
            .collect();
        let mut kept = vec![true; broken.len()];
        for candidate in (0..broken.len()).rev() {
            let mut alone = broken[candidate].clone();
            for (other, explained) in broken.iter().enumerate() {
                if other != candidate && kept[other] {
                    alone.remove(explained);
                }
            }
            kept[candidate] = !alone.is_empty();
        }
        let mut clauses = Vec::new();
        for (number, atoms) in self.chosen.iter().enumerate() {
            if kept[number]
                && let Some((text, rule)) = self.vocabulary.either(atoms)
            {
                clauses.push(Clause { text, rule });
            }
        }
        clauses
    }
}
