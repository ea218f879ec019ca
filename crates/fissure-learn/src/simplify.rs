//! Rules that the others imply say nothing: a solver finds them.

use std::path::Path;
use std::time::{Duration, Instant};

use fissure_rules::Declaration;
use fissure_solve::rules::exact::{ExactError, ExactSolver, Exactly};
use fissure_solve::rules::{BoundRule, Limits};

use crate::cover::Clause;

/// For one question.
const MILLISECONDS: u32 = 300;
/// For all questions about one API.
const TIME: Duration = Duration::from_secs(4);

/// The clauses without those that others imply, the last ones first: they explain the fewest
/// inputs. What the solver cannot say within its time stays.
pub(crate) fn without_implied(
    program: &Path,
    params: &[Declaration],
    mut clauses: Vec<Clause>,
) -> Vec<Clause> {
    let begin = Instant::now();
    let mut at = clauses.len();
    while at > 0 && clauses.len() > 1 && begin.elapsed() < TIME {
        at -= 1;
        if is_implied(program, params, &clauses, at) {
            clauses.remove(at);
        }
    }
    clauses
}

fn is_implied(program: &Path, params: &[Declaration], clauses: &[Clause], at: usize) -> bool {
    // Rules that have no translation cannot help; the one in question stands last.
    let mut rules: Vec<BoundRule> = Vec::new();
    rules.extend(
        (0..clauses.len())
            .filter(|other| *other != at)
            .map(|other| clauses[other].rule.clone()),
    );
    rules.push(clauses[at].rule.clone());
    loop {
        let last = rules.len() - 1;
        match ExactSolver::new(program, params, &rules, &Limits::usual(), MILLISECONDS) {
            Ok(mut solver) => return matches!(solver.implied(last), Ok(Exactly::Yes(()))),
            Err(ExactError::Untranslatable { rule }) if rule != last => {
                rules.remove(rule);
            }
            Err(_) => return false,
        }
    }
}
