//! Rules from what is known, inputs from the rules, and back: until the library agrees.

use std::collections::HashMap;

use fissure_rules::Answer;

use crate::cover::{Clause, cover};
use crate::error::LearnError;
use crate::learner::Learner;
use crate::spec::CallSampler;
use crate::templates;

/// Inputs drawn from the rules in each round.
const SAMPLES: usize = 240;
/// Inputs that break one rule, in each round in which the rule is new.
const CHALLENGES: usize = 10;
const ROUNDS: usize = 24;
/// Share of accepted samples at which exact rules are good.
const ENOUGH: f64 = 0.99;
/// Rules that forbid accepted inputs are allowed when exact ones do not reach this.
const TOLERATE_BELOW: f64 = 0.975;
/// Shares of the accepted inputs that a rule may forbid, one after the other: first none. What an
/// API accepts beyond the words of rules costs a little recall, not the use of all other inputs.
const TOLERANCES: [f64; 6] = [0.0, 0.01, 0.03, 0.08, 0.16, 0.35];
/// Rounds without progress before more is tolerated: exact rules get more of them.
const PATIENCE: [usize; 6] = [4, 2, 2, 2, 2, 3];
/// Share of the time that exact rules have for themselves.
const EXACT_TIME: f64 = 0.45;

/// Rules that were tried out.
struct Candidate {
    clauses: Vec<Clause>,
    worth: f64,
}

impl Learner<'_> {
    /// Learns, draws from what was learned, breaks each rule, and learns again from the answers.
    pub(crate) fn refine(&mut self) -> Result<(Vec<Clause>, usize), LearnError> {
        let mut challenged: HashMap<String, usize> = HashMap::new();
        let mut best: Option<Candidate> = None;
        let (mut stage, mut stalled, mut reached) = (0, 0, 0.0);
        for round in 0..ROUNDS {
            templates::fit(&mut self.vocabulary, &self.accepted);
            self.vocabulary.observe(&self.accepted, &self.rejected);
            let tolerance = (self.accepted.len() as f64 * TOLERANCES[stage]) as usize;
            let clauses = cover(&self.vocabulary, &self.kinds, tolerance);
            let (share, drawn) = self.draw(&clauses, round)?;
            let wrong = self.challenge(&clauses, &mut challenged, round)?;
            let enough = match stage {
                0 => share >= ENOUGH && wrong == 0,
                _ => share >= TOLERATE_BELOW,
            };
            let worth = self.worth(share, &clauses);
            let better = best
                .as_ref()
                .is_none_or(|before| worth >= before.worth - 0.005);
            // Rules that could not be tried out are better than none.
            if best.is_none() || (drawn > 0 && (better || enough)) {
                best = Some(Candidate { clauses, worth });
            }
            let spent = self.budget.spent();
            if (enough && drawn > 0) || spent >= 1.0 {
                return Ok((found(best), round + 1));
            }
            stalled = if share > reached + 0.01 {
                0
            } else {
                stalled + 1
            };
            reached = share.max(reached);
            if stalled >= PATIENCE[stage] || spent > due(stage) {
                if share >= TOLERATE_BELOW || stage + 1 == TOLERANCES.len() {
                    return Ok((found(best), round + 1));
                }
                (stage, stalled) = (stage + 1, 0);
            }
        }
        Ok((found(best), ROUNDS))
    }

    /// Accepted draws are good, forbidden inputs are bad, and rules whose draws are rejected too
    /// often are of little use however much they allow.
    fn worth(&self, share: f64, clauses: &[Clause]) -> f64 {
        let forbidden = self.accepted.iter().filter(|input| {
            clauses.iter().any(|clause| {
                clause.rule.rule.answer(input, &clause.rule.binding) == Answer::Broken
            })
        });
        let forbidden = forbidden.count() as f64 / self.accepted.len().max(1) as f64;
        share.min(0.985) - 0.5 * forbidden - 3.0 * (0.93 - share).max(0.0)
    }

    /// The accepted share of inputs that satisfy all rules, and their number.
    fn draw(&mut self, clauses: &[Clause], round: usize) -> Result<(f64, usize), LearnError> {
        let rules = clauses.iter().map(|clause| clause.rule.clone()).collect();
        let seed = self.seed.wrapping_add(1000 + round as u64);
        let mut sampler = CallSampler::new(&self.vocabulary.params, rules, seed);
        let calls = sampler.take(&self.params, SAMPLES);
        let (accepted, known) = self.ask(&calls)?;
        let good = accepted.iter().filter(|accepted| **accepted).count();
        let share = if known == 0 {
            0.0
        } else {
            good as f64 / known as f64
        };
        Ok((share, known))
    }

    /// Breaks each rule that was not broken before; gives how many rules were wrong.
    fn challenge(
        &mut self,
        clauses: &[Clause],
        challenged: &mut HashMap<String, usize>,
        round: usize,
    ) -> Result<usize, LearnError> {
        let rules: Vec<_> = clauses.iter().map(|clause| clause.rule.clone()).collect();
        let mut wrong = 0;
        for (number, clause) in clauses.iter().enumerate() {
            let times = challenged.entry(clause.text.clone()).or_insert(0);
            *times += 1;
            if *times > 2 || self.budget.spent() >= 1.0 {
                continue;
            }
            let seed = self.seed.wrapping_add((round * 1000 + number) as u64);
            let sampler =
                CallSampler::breaking(&self.vocabulary.params, rules.clone(), number, seed);
            let Some(mut sampler) = sampler else { continue };
            let calls = sampler.take(&self.params, CHALLENGES);
            let (accepted, _) = self.ask(&calls)?;
            wrong += usize::from(accepted.contains(&true));
        }
        Ok(wrong)
    }
}

/// The share of the time after which a stage gives way to the next.
fn due(stage: usize) -> f64 {
    let rest = (1.0 - EXACT_TIME) / TOLERANCES.len() as f64;
    EXACT_TIME + rest * stage as f64
}

fn found(best: Option<Candidate>) -> Vec<Clause> {
    best.map_or_else(Vec::new, |best| best.clauses)
}
