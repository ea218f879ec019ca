//! Inputs from rules: a randomised sampler that propagates.
//!
//! The structure of an input (which alternative of a type, which rank, how many items) is decided
//! first; over one structure a rule is a handful of comparisons between whole numbers, with every
//! quantifier unrolled and every read outside the rank known to be false. Structures are compiled
//! once and kept. An input is then one randomised search ([`search`]) with propagation over
//! intervals with strides ([`interval`]), microseconds each, and no input is given twice.

mod atom;
pub mod exact;
mod flat;
mod input;
mod interest;
mod interval;
mod outline;
mod problem;
mod search;
mod specialise;
mod structure;
#[cfg(test)]
mod tests;
mod values;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use fissure_rules::{Answer, CheckedRule, Datum, Declaration, FactSet, Formula, Type};

pub use input::{Unfillable, abstract_value};
pub use outline::Limits;

use crate::random::Random;
use crate::rules::outline::{Role, Values};
use crate::rules::problem::Problem;
use crate::rules::search::Search;
use crate::rules::structure::Structures;

/// A rule said of the parameters of an API: `binding[i]` is the position of its parameter `i`.
#[derive(Clone, Debug)]
pub struct BoundRule {
    pub rule: CheckedRule,
    pub binding: Vec<usize>,
}

impl BoundRule {
    /// Binds a rule by the names of its parameters; `None` when the API lacks one of them.
    pub fn by_name(rule: CheckedRule, params: &[Declaration]) -> Option<Self> {
        let position = |name: &str| params.iter().position(|param| param.name == name);
        let binding: Option<Vec<usize>> = rule
            .params
            .iter()
            .map(|param| position(&param.name))
            .collect();
        Some(BoundRule {
            binding: binding?,
            rule,
        })
    }

    fn allows(&self, input: &[Datum]) -> bool {
        self.rule.answer(input, &self.binding) != Answer::Broken
    }
}

/// Decisions in one search before it starts again elsewhere.
const STEPS: usize = 256;
/// A structure that gave nothing so often in a row is given up.
const FRUITLESS: u32 = 192;
/// After so many in a row it draws from twice the range.
const WIDEN: u32 = 12;
/// Structures at the start, and how many there are before further ones become rare.
const FIRST: usize = 8;
const MANY: usize = 64;
/// What comparing one choice of a structure with one rule counts as, in constraints of a search
/// looked at; both take about the same time then.
const COMPARING: u64 = 16;

/// Draws inputs that satisfy all rules, each at most once. Same rules, same seed: same inputs.
pub struct RuleSampler {
    rules: Vec<BoundRule>,
    structures: Structures,
    compiled: Vec<Compiled>,
    /// Positions in `compiled` that still give inputs.
    alive: Vec<usize>,
    search: Search,
    random: Random,
    seen: HashSet<u64, BuildHasherDefault<AlreadyHashed>>,
}

/// What [`RuleSampler::sample_within`] came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    Input(Vec<Datum>),
    /// There is none that was not given before, or none that this sampler finds.
    Exhausted,
    /// The work was up; the next call goes on.
    Unfinished,
}

struct Compiled {
    problem: Problem,
    /// Searches in a row that gave no new input.
    fruitless: u32,
    /// How many times farther than comfortable values go: the near ones run out first.
    reach: f64,
}

impl RuleSampler {
    pub fn new(params: &[Declaration], rules: Vec<BoundRule>, limits: Limits, seed: u64) -> Self {
        let types: Vec<Type> = params.iter().map(|param| param.of.clone()).collect();
        let mut random = Random::new(Random::key(seed, "rules"), 0);
        let structures = Structures::new(&types, &rules, limits, &mut random);
        RuleSampler {
            rules,
            structures,
            compiled: Vec::new(),
            alive: Vec::new(),
            search: Search::default(),
            random,
            seen: HashSet::default(),
        }
    }

    /// Draws inputs that satisfy all rules but number `broken`, and break that one. `None` when it
    /// does not exist or speaks of no input of the API.
    pub fn breaking(
        params: &[Declaration],
        mut rules: Vec<BoundRule>,
        broken: usize,
        limits: Limits,
        seed: u64,
    ) -> Option<Self> {
        let rule = rules.get_mut(broken)?;
        // Where the rule is silent it cannot be broken, so arguments have the types it speaks of.
        let mut params = params.to_vec();
        for (spoken, position) in rule.rule.params.iter().zip(&rule.binding) {
            let param = params.get_mut(*position)?;
            let both = param.of.alternatives().iter().filter(|of| {
                let whole_as_float =
                    **of == Type::Int && spoken.of.alternatives().contains(&Type::Float);
                spoken.of.alternatives().contains(of) || whole_as_float
            });
            let both: Vec<Type> = both.cloned().collect();
            if both.is_empty() {
                return None;
            }
            param.of = Type::any_of(both);
        }
        let formula = std::mem::replace(&mut rule.rule.formula, Formula::Constant(true));
        rule.rule.formula = Formula::Not(Box::new(formula));
        Some(RuleSampler::new(&params, rules, limits, seed))
    }

    /// The next input, one argument for each parameter; `None` when no further one is found.
    pub fn sample(&mut self) -> Option<Vec<Datum>> {
        match self.sample_within(u64::MAX) {
            Drawn::Input(input) => Some(input),
            Drawn::Exhausted | Drawn::Unfinished => None,
        }
    }

    /// Work done so far: the same for the same seed on every machine.
    pub fn work(&self) -> u64 {
        self.search.work + COMPARING * self.rules.len() as u64 * self.structures.compared
    }

    /// The next input, if it is found before the sampler has done so much work in all.
    pub fn sample_within(&mut self, work: u64) -> Drawn {
        loop {
            if self.work() >= work {
                return Drawn::Unfinished;
            }
            if !self.discover() {
                continue;
            }
            if self.alive.is_empty() {
                return Drawn::Exhausted;
            }
            let at = self.choose();
            match self.draw(self.alive[at]) {
                Some(input) => return Drawn::Input(input),
                None => {
                    let compiled = &mut self.compiled[self.alive[at]];
                    compiled.fruitless += 1;
                    if compiled.fruitless.is_multiple_of(WIDEN) {
                        compiled.reach *= 2.0;
                    }
                    if compiled.fruitless >= FRUITLESS {
                        self.alive.swap_remove(at);
                    }
                }
            }
        }
    }

    /// Inputs that were given may be given again from now on: what was given takes memory.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// Facts that rules ask of the elements of tensors.
    pub fn facts(&self) -> FactSet {
        self.structures.facts()
    }

    /// Number of structures that give inputs so far.
    pub fn structures(&self) -> usize {
        self.alive.len()
    }

    /// Compiles one more structure if there are few for what was given; `false`: there may be need
    /// of another. Most APIs of a campaign get few inputs, so not all are made at the start.
    fn discover(&mut self) -> bool {
        let given = self.seen.len();
        let wanted = (FIRST + given / 2).min(MANY + given / 64);
        if self.compiled.len() >= wanted && !self.alive.is_empty() {
            return true;
        }
        let Some(mut problem) = self.structures.next(&self.rules, &mut self.random) else {
            return true;
        };
        if self.search.prepare(&mut problem) {
            self.alive.push(self.compiled.len());
        }
        self.compiled.push(Compiled {
            problem,
            fruitless: 0,
            reach: 1.0,
        });
        false
    }

    /// Of two structures the one that last gave something.
    fn choose(&mut self) -> usize {
        let mut pick = || self.random.index(self.alive.len());
        let (one, other) = (pick(), pick());
        let fruitless = |at: usize| self.compiled[self.alive[at]].fruitless;
        if fruitless(other) < fruitless(one) {
            other
        } else {
            one
        }
    }

    fn draw(&mut self, structure: usize) -> Option<Vec<Datum>> {
        let compiled = &mut self.compiled[structure];
        let (problem, reach) = (&compiled.problem, compiled.reach);
        if !self.search.run(problem, &mut self.random, STEPS, reach) {
            return None;
        }
        let variables = &compiled.problem.variables;
        let hash = fingerprint(structure, &self.search, &variables.roles);
        if self.seen.contains(&hash) {
            return None;
        }
        let values = Values {
            domains: &self.search.domains,
            masks: &self.search.masks,
            roles: &variables.roles,
        };
        let outlines = compiled.problem.outlines.iter().enumerate();
        let input: Vec<Datum> = outlines
            .map(|(param, outline)| values.datum(outline, self.structures.texts(param)))
            .collect();
        let mut tested = self.structures.tested().iter();
        if !tested.all(|rule| self.rules[*rule].allows(&input)) {
            return None;
        }
        debug_assert!(
            self.rules.iter().all(|rule| rule.allows(&input)),
            "the sampler broke a rule: {input:?}"
        );
        compiled.fruitless = 0;
        self.seen.insert(hash);
        Some(input)
    }
}

/// Rules that cannot hold together: without any one of them the others have an input. Empty when
/// all together have one.
///
/// The sampler finds inputs, it does not prove that there are none: where a contradiction lies in
/// what it searches only by chance, a solver gives the exact answer.
pub fn contradiction(params: &[Declaration], rules: &[BoundRule], limits: &Limits) -> Vec<usize> {
    let possible = |kept: &[usize]| {
        let rules = kept.iter().map(|rule| rules[*rule].clone()).collect();
        let mut sampler = RuleSampler::new(params, rules, limits.clone(), 0);
        sampler.sample().is_some()
    };
    let mut kept: Vec<usize> = (0..rules.len()).collect();
    if possible(&kept) {
        return Vec::new();
    }
    let mut at = 0;
    while at < kept.len() {
        let candidate = kept.remove(at);
        if possible(&kept) {
            kept.insert(at, candidate);
            at += 1;
        }
    }
    kept
}

/// One number for the structure and all values: equal for equal inputs of one structure.
fn fingerprint(structure: usize, search: &Search, roles: &[Role]) -> u64 {
    let mut hash = structure as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for (slot, role) in roles.iter().enumerate() {
        let value = match role {
            Role::Option => search.masks[slot],
            // Plus 0, because -0 is the same value.
            _ => (search.domains[slot].low + 0.0).to_bits(),
        };
        hash = (hash ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    hash
}

/// The key is a hash already.
#[derive(Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
