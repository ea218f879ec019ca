//! The last resort: rules that forbid a few accepted inputs where most of what is drawn is rejected.
//!
//! Some conditions have no words here (the sum of a tensor's elements, the shape of a diagonal).
//! Rules that allow everything accepted then allow much that is rejected. What they allow is drawn,
//! and statements are looked for that the rejected draws break: small steps down a decision tree.
//! What a step costs is counted on the seeds and their neighbours, which look like what people
//! write, not on draws.

use fissure_rules::{Answer, Datum};

use crate::bits::Bits;
use crate::cover::Clause;
use crate::error::LearnError;
use crate::learner::Learner;
use crate::spec::CallSampler;

/// Inputs drawn before each step.
const DRAWN: usize = 300;
const STEPS: usize = 16;
/// The accepted share of draws that is good enough.
const ENOUGH: f64 = 0.98;
/// Below this share of accepted draws, more of what is accepted may be forbidden.
const POOR: f64 = 0.93;
/// The share of seeds and neighbours that stays allowed, and that of poor rules.
const ALLOWED: [f64; 2] = [0.95, 0.7];
/// What a point of recall is worth in points of precision.
const EXCHANGE: f64 = 0.5;
/// Rejected draws that a statement must explain to be believed.
const SUPPORT: usize = 4;
/// Statements that clauses of two are made of.
const PAIRED: usize = 160;
/// Share of the time after which no step is begun.
const TIME: f64 = 1.25;

/// Draws that the present rules allow, and what the library said to them.
#[derive(Default)]
struct Draws {
    accepted: Bits,
    rejected: Bits,
    /// Of each statement, the draws that break it.
    broken: Vec<Bits>,
}

impl Draws {
    fn share(&self) -> f64 {
        let accepted = self.accepted.count();
        accepted as f64 / (accepted + self.rejected.count()).max(1) as f64
    }
}

/// A clause that could be added, and how much better the rules would be.
struct Step {
    worth: f64,
    atoms: Vec<usize>,
}

impl Learner<'_> {
    /// Adds clauses until enough of what is drawn is accepted, as long as they cost little.
    pub(crate) fn tighten(&mut self, mut clauses: Vec<Clause>) -> Result<Vec<Clause>, LearnError> {
        self.runner.limit = Some((self.budget.clone(), TIME));
        let mut draws = Draws {
            broken: vec![Bits::default(); self.vocabulary.atoms.len()],
            ..Draws::default()
        };
        let mut pool = Bits::default();
        self.vocabulary.observe(&self.accepted, &self.rejected);
        for input in &self.accepted[..self.explored] {
            pool.push(!clauses.iter().any(|clause| breaks(clause, input)));
        }
        for step in 0..STEPS {
            self.draw_more(&mut draws, &clauses, step)?;
            if draws.share() >= ENOUGH || self.budget.spent() >= TIME {
                break;
            }
            let Some(found) = self.step(&draws, &pool) else {
                break;
            };
            let Some((text, rule)) = self.vocabulary.either(&found.atoms) else {
                break;
            };
            let atoms = &self.vocabulary.atoms;
            pool.remove(&all(&found.atoms, |atom| &atoms[atom].broken_accepted));
            let gone = all(&found.atoms, |atom| &draws.broken[atom]);
            draws.accepted.remove(&gone);
            draws.rejected.remove(&gone);
            clauses.push(Clause { text, rule });
        }
        Ok(clauses)
    }

    fn draw_more(
        &mut self,
        draws: &mut Draws,
        clauses: &[Clause],
        step: usize,
    ) -> Result<(), LearnError> {
        let rules = clauses.iter().map(|clause| clause.rule.clone()).collect();
        let seed = self.seed.wrapping_add(5000 + step as u64);
        let mut sampler = CallSampler::new(&self.vocabulary.params, rules, seed);
        let calls = sampler.take(&self.params, DRAWN);
        let (accepted, known) = self.ask(&calls)?;
        if known < calls.len() {
            // The time is over: what has no answer counts neither way.
            return Ok(());
        }
        for (call, accepted) in calls.iter().zip(accepted) {
            let data = self.params.data(call);
            for (atom, broken) in self.vocabulary.atoms.iter().zip(&mut draws.broken) {
                let answer = atom.rule.rule.answer(&data, &atom.rule.binding);
                broken.push(answer == Answer::Broken);
            }
            draws.accepted.push(accepted);
            draws.rejected.push(!accepted);
        }
        Ok(())
    }

    /// The clause of one or two statements that makes the rules best.
    fn step(&self, draws: &Draws, pool: &Bits) -> Option<Step> {
        let mut best: Option<Step> = None;
        let mut consider = |atoms: &[usize], drawn: &Bits, accepted: &Bits| {
            let worth = self.gain(draws, pool, drawn, accepted, atoms);
            if let Some(worth) = worth
                && best.as_ref().is_none_or(|best| worth > best.worth)
                && self.vocabulary.either(atoms).is_some()
            {
                let atoms = atoms.to_vec();
                best = Some(Step { worth, atoms });
            }
        };
        let mut useful: Vec<(f64, usize)> = Vec::new();
        for (number, atom) in self.vocabulary.atoms.iter().enumerate() {
            let drawn = &draws.broken[number];
            let bad = drawn.common(&draws.rejected);
            if bad < SUPPORT {
                continue;
            }
            let good = drawn.common(&draws.accepted);
            useful.push(((bad * bad) as f64 / (bad + good) as f64, number));
            consider(&[number], drawn, &atom.broken_accepted);
        }
        useful.sort_by(|a, b| b.0.total_cmp(&a.0));
        useful.truncate(PAIRED);
        for (position, (_, first)) in useful.iter().enumerate() {
            for (_, second) in &useful[..position] {
                let pair = [*first, *second];
                let accepted = all(&pair, |atom| &self.vocabulary.atoms[atom].broken_accepted);
                let drawn = all(&pair, |atom| &draws.broken[atom]);
                consider(&pair, &drawn, &accepted);
            }
        }
        best
    }

    /// What forbidding these draws and these accepted inputs is worth; `None` if it is no gain.
    fn gain(
        &self,
        draws: &Draws,
        pool: &Bits,
        drawn: &Bits,
        accepted: &Bits,
        atoms: &[usize],
    ) -> Option<f64> {
        let bad = drawn.common(&draws.rejected);
        if bad < SUPPORT {
            return None;
        }
        let kept = draws.accepted.count() - drawn.common(&draws.accepted);
        let wrong = draws.rejected.count() - bad;
        if kept * 10 < draws.accepted.count() {
            return None;
        }
        let lost = accepted.common(pool);
        let before = draws.share();
        let allowed = (pool.count() - lost) as f64 / self.explored.max(1) as f64;
        if lost > 0 && allowed < ALLOWED[usize::from(before < POOR)] {
            return None;
        }
        let after = kept as f64 / (kept + wrong).max(1) as f64;
        let cost: u32 = atoms
            .iter()
            .map(|atom| self.vocabulary.atoms[*atom].cost)
            .sum();
        let lost = lost as f64 / self.explored.max(1) as f64;
        let worth = after - before - EXCHANGE * lost - 0.0005 * f64::from(cost);
        (worth > 0.0).then_some(worth)
    }
}

/// What breaks all of the statements breaks their clause.
fn all<'b>(atoms: &[usize], broken: impl Fn(usize) -> &'b Bits) -> Bits {
    let mut parts = atoms.iter().map(|atom| broken(*atom));
    let first = parts.next().cloned().unwrap_or_default();
    parts.fold(first, |both, part| both.and(part))
}

fn breaks(clause: &Clause, input: &[Datum]) -> bool {
    clause.rule.rule.answer(input, &clause.rule.binding) == Answer::Broken
}
