//! Inputs that satisfy a constraint file and rules both.

use fissure_model::ConcreteInput;
use fissure_solve::{Checker, Random, Solver};

use crate::construct::concrete_input;
use crate::rules::RuleSource;

/// Proposals of one side for one input, at most.
const ATTEMPTS: u64 = 56;
/// Proposals for each input on average, and before the first. Where the two have so little in
/// common, the rules decide alone in between: they say more.
const PROPOSALS: u64 = 8;
const ADVANCE: u64 = 512;

/// Rules and file propose inputs to each other, first the one whose proposals are accepted more
/// often.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Proposers {
    asked: u64,
    rules: Record,
    file: Record,
}

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    proposed: u64,
    accepted: u64,
}

impl Record {
    fn rate(self) -> f64 {
        (self.accepted + 1) as f64 / (self.proposed + 1) as f64
    }
}

impl Proposers {
    /// An input that satisfies both; `None` when none of the proposals does.
    pub(crate) fn common(
        &mut self,
        number: u64,
        solver: &mut Solver,
        rules: &mut RuleSource,
        checker: &Checker,
        random: &mut Random,
    ) -> Option<ConcreteInput> {
        self.asked += 1;
        let rules_first = self.rules.rate() >= self.file.rate();
        for rules_propose in [rules_first, !rules_first] {
            for _ in 0..ATTEMPTS {
                let proposed = self.rules.proposed + self.file.proposed;
                if proposed >= ADVANCE + PROPOSALS * self.asked {
                    return None;
                }
                let (record, input) = if rules_propose {
                    let input = rules.propose(number, random);
                    let input = input.filter(|input| checker.check(input).is_empty());
                    (&mut self.rules, input)
                } else {
                    let proposal = solver.conform(number, random);
                    solver.forget(number);
                    let input = concrete_input(number, proposal, random);
                    (
                        &mut self.file,
                        Some(input).filter(|input| rules.allows(input)),
                    )
                };
                record.proposed += 1;
                if input.is_some() {
                    record.accepted += 1;
                    return input;
                }
            }
        }
        None
    }
}
