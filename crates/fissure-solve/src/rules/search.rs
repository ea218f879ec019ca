//! The randomised search: decide between alternatives, then give values, and propagate after each
//! decision. A dead end takes back the last decision, not the whole input.

use crate::random::Random;
use crate::rules::atom::{Known, Scratch};
use crate::rules::interval::Interval;
use crate::rules::outline::Role;
use crate::rules::problem::{Group, Problem};
use crate::rules::values;

/// Values tried for one variable before the decision above it is taken back.
const TRIES: usize = 8;

/// The state of a search; kept between searches so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Search {
    pub domains: Vec<Interval>,
    pub masks: Vec<u64>,
    active: Vec<bool>,
    /// Atoms in the order of their activation, and clauses in the order of their discovery.
    activated: Vec<u32>,
    pending: Vec<u32>,
    queue: Vec<u32>,
    queued: Vec<bool>,
    changed: Vec<u16>,
    order: Vec<u16>,
    saved_domains: Vec<Interval>,
    saved_masks: Vec<u64>,
    scratch: Scratch,
    steps: usize,
    reach: f64,
    /// Constraints looked at so far, in all searches.
    pub work: u64,
    /// A constraint was not looked at although one of its variables had changed.
    skipped: bool,
}

/// Where a decision can be taken back to.
struct Mark {
    activated: usize,
    pending: usize,
    saved: usize,
}

impl Search {
    /// Propagates everything that holds without a decision; `false` when the structure has no
    /// input at all. The domains of the problem are narrowed for all later searches.
    pub(super) fn prepare(&mut self, problem: &mut Problem) -> bool {
        self.begin(problem);
        let root = std::mem::take(&mut problem.root);
        let possible = self.enter(problem, &root);
        problem.root = root;
        problem.unsure = self.skipped;
        if possible {
            problem.variables.domains.clone_from(&self.domains);
            problem.variables.masks.clone_from(&self.masks);
        }
        possible
    }

    /// Looks for one input; the values are in `domains` and `masks` when it is found. Gives up
    /// after `steps` decisions. `reach` widens the range that values are drawn from.
    pub(super) fn run(
        &mut self,
        problem: &Problem,
        random: &mut Random,
        steps: usize,
        reach: f64,
    ) -> bool {
        self.begin(problem);
        self.steps = steps;
        self.reach = reach;
        for atom in &problem.root.atoms {
            // They are propagated already; from now on they are woken by what changes.
            self.active[*atom as usize] = true;
            self.activated.push(*atom);
        }
        self.pending.extend(&problem.root.clauses);
        let (first, rest) = self.order.split_at_mut(problem.leading);
        shuffle(first, random);
        shuffle(rest, random);
        self.decide(problem, random, 0)
    }

    fn begin(&mut self, problem: &Problem) {
        self.domains.clone_from(&problem.variables.domains);
        self.masks.clone_from(&problem.variables.masks);
        self.order.clone_from(&problem.order);
        self.active.clear();
        self.active.resize(problem.atoms.len(), false);
        self.queued.clear();
        self.queued.resize(problem.atoms.len(), false);
        self.activated.clear();
        self.pending.clear();
        self.queue.clear();
        self.saved_domains.clear();
        self.saved_masks.clear();
        self.skipped = problem.unsure;
    }

    /// Activates the group and propagates.
    fn enter(&mut self, problem: &Problem, group: &Group) -> bool {
        for atom in &group.atoms {
            self.active[*atom as usize] = true;
            self.activated.push(*atom);
            self.enqueue(*atom);
        }
        self.pending.extend(&group.clauses);
        self.propagate(problem)
    }

    fn enqueue(&mut self, atom: u32) {
        if !self.queued[atom as usize] {
            self.queued[atom as usize] = true;
            self.queue.push(atom);
        }
    }

    fn propagate(&mut self, problem: &Problem) -> bool {
        // Two constraints can narrow each other by tiny steps for ever; what is not looked at then
        // is looked at when all values are there.
        let mut left = 64 + 16 * self.domains.len();
        while let Some(atom) = self.queue.pop() {
            self.queued[atom as usize] = false;
            self.work += 1;
            left = left.saturating_sub(1);
            if left == 0 {
                self.skipped = true;
            }
            if !self.active[atom as usize] || left == 0 {
                continue;
            }
            self.changed.clear();
            let possible = problem.narrow(
                atom,
                &mut self.domains,
                &mut self.masks,
                &mut self.scratch,
                &mut self.changed,
            );
            if !possible {
                for atom in self.queue.drain(..) {
                    self.queued[atom as usize] = false;
                }
                return false;
            }
            for at in 0..self.changed.len() {
                self.wake(problem, self.changed[at]);
            }
        }
        true
    }

    fn wake(&mut self, problem: &Problem, variable: u16) {
        for atom in &problem.watchers[usize::from(variable)] {
            if self.active[*atom as usize] {
                self.enqueue(*atom);
            }
        }
    }

    fn mark(&mut self) -> Mark {
        let saved = self.saved_domains.len();
        self.saved_domains.extend_from_slice(&self.domains);
        self.saved_masks.extend_from_slice(&self.masks);
        Mark {
            activated: self.activated.len(),
            pending: self.pending.len(),
            saved,
        }
    }

    fn take_back(&mut self, mark: &Mark) {
        let saved = mark.saved..mark.saved + self.domains.len();
        self.domains
            .copy_from_slice(&self.saved_domains[saved.clone()]);
        self.masks.copy_from_slice(&self.saved_masks[saved]);
        for atom in self.activated.drain(mark.activated..) {
            self.active[atom as usize] = false;
        }
        self.pending.truncate(mark.pending);
    }

    fn forget(&mut self, mark: &Mark) {
        self.saved_domains.truncate(mark.saved);
        self.saved_masks.truncate(mark.saved);
    }

    /// Decides the clauses from number `clause` on, then the values.
    fn decide(&mut self, problem: &Problem, random: &mut Random, mut clause: usize) -> bool {
        while clause < self.pending.len() {
            let options = &problem.clauses[self.pending[clause] as usize];
            clause += 1;
            let mut open = [0u16; 64];
            let mut count = 0;
            let mut satisfied = false;
            for (position, option) in options.iter().enumerate().take(open.len()) {
                self.work += 1;
                match problem.known(option, &self.domains, &self.masks, &mut self.scratch) {
                    Known::True => {
                        satisfied = true;
                        break;
                    }
                    Known::Open => {
                        open[count] = position as u16;
                        count += 1;
                    }
                    Known::False => {}
                }
            }
            if satisfied {
                continue;
            }
            if count == 0 {
                return false;
            }
            // A forced option needs no way back.
            if count == 1 {
                if !self.enter(problem, &options[usize::from(open[0])]) {
                    return false;
                }
                continue;
            }
            if self.steps == 0 {
                return false;
            }
            self.steps -= 1;
            shuffle(&mut open[..count], random);
            let mark = self.mark();
            for option in &open[..count] {
                if self.enter(problem, &options[usize::from(*option)])
                    && self.decide(problem, random, clause)
                {
                    return true;
                }
                self.take_back(&mark);
                if self.steps == 0 {
                    break;
                }
            }
            self.forget(&mark);
            return false;
        }
        self.assign(problem, random, 0)
    }

    /// Gives values to the variables from number `at` of the order on.
    fn assign(&mut self, problem: &Problem, random: &mut Random, mut at: usize) -> bool {
        while at < self.order.len() {
            let variable = self.order[at];
            let slot = usize::from(variable);
            at += 1;
            if problem.is_option(variable) {
                if self.masks[slot].count_ones() <= 1 {
                    continue;
                }
            } else if self.domains[slot].is_fixed() {
                continue;
            }
            // What nothing speaks of needs no way back either.
            if problem.watchers[slot].is_empty() {
                self.draw(problem, random, variable);
                continue;
            }
            if self.steps == 0 {
                return false;
            }
            self.steps -= 1;
            let mark = self.mark();
            for attempt in 0..TRIES {
                let drawn = self.draw(problem, random, variable);
                self.wake(problem, variable);
                if self.propagate(problem) && self.assign(problem, random, at) {
                    return true;
                }
                self.take_back(&mark);
                if self.steps == 0 || !self.exclude(variable, drawn, problem) {
                    break;
                }
                // The excluded value stays excluded for the tries that follow.
                if attempt + 1 < TRIES {
                    let n = self.domains.len();
                    self.saved_domains[mark.saved..][..n].copy_from_slice(&self.domains);
                    self.saved_masks[mark.saved..][..n].copy_from_slice(&self.masks);
                }
            }
            self.forget(&mark);
            return false;
        }
        !self.skipped || self.holds(problem)
    }

    /// Every constraint holds of the values.
    fn holds(&mut self, problem: &Problem) -> bool {
        self.activated.iter().all(|atom| {
            let known = problem.known_atom(*atom, &self.domains, &self.masks, &mut self.scratch);
            known != Known::False
        })
    }

    /// Fixes the variable at a random value; returns it.
    fn draw(&mut self, problem: &Problem, random: &mut Random, variable: u16) -> f64 {
        let slot = usize::from(variable);
        match problem.variables.roles[slot] {
            Role::Option => {
                let mask = self.masks[slot];
                let mut skip = random.below(mask.count_ones().into());
                let mut rest = mask;
                while skip > 0 {
                    rest &= rest - 1;
                    skip -= 1;
                }
                let bit = rest & rest.wrapping_neg();
                self.masks[slot] = bit;
                f64::from(bit.trailing_zeros())
            }
            role => {
                let value = values::draw(self.domains[slot], role, self.reach, random);
                self.domains[slot].low = value;
                self.domains[slot].high = value;
                value
            }
        }
    }

    /// Takes a value that led nowhere out of the variable; `false` when none is left.
    fn exclude(&mut self, variable: u16, value: f64, problem: &Problem) -> bool {
        let slot = usize::from(variable);
        if problem.is_option(variable) {
            self.masks[slot] &= !(1 << value as u32);
            return self.masks[slot] != 0;
        }
        let domain = &mut self.domains[slot];
        if domain.step > 0.0 {
            if value == domain.low {
                domain.low += domain.step;
            } else if value == domain.high {
                domain.high -= domain.step;
            }
        }
        !domain.is_empty()
    }
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.index(last + 1));
    }
}
