//! One structure with all its constraints, laid out for the search.

use crate::rules::atom::{Known, Node, Scratch};
use crate::rules::flat::{Atom, Flat};
use crate::rules::interval::Interval;
use crate::rules::outline::{Outline, Role, Variables};

/// Constraints that hold together: atoms, and choices between groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub atoms: Vec<u32>,
    pub clauses: Vec<u32>,
}

pub(crate) struct Problem {
    pub outlines: Vec<Outline>,
    pub variables: Variables,
    pub atoms: Vec<Atom>,
    /// Of each clause at least one group holds.
    pub clauses: Vec<Vec<Group>>,
    pub root: Group,
    /// The atoms that speak of each variable.
    pub watchers: Vec<Vec<u32>>,
    /// Variables in the order in which they get their values: those that others are calculated
    /// from by division and multiplication first.
    pub order: Vec<u16>,
    /// How many variables at the start of `order` belong to the first class.
    pub leading: usize,
    /// Not every constraint that holds without a decision was looked at.
    pub unsure: bool,
}

impl Problem {
    pub(super) fn new(
        outlines: Vec<Outline>,
        variables: Variables,
        constraints: Vec<Flat>,
    ) -> Self {
        let count = variables.domains.len();
        let mut problem = Problem {
            outlines,
            variables,
            atoms: Vec::new(),
            clauses: Vec::new(),
            root: Group::default(),
            watchers: vec![Vec::new(); count],
            order: Vec::new(),
            leading: 0,
            unsure: false,
        };
        problem.root = problem.group(Flat::all(constraints));
        let mut leads = vec![false; count];
        for atom in &problem.atoms {
            if let Atom::Compare(comparison) = atom {
                mark_leading(&comparison.nodes, &mut leads);
            }
        }
        let all = 0..count as u16;
        let (first, rest): (Vec<u16>, Vec<u16>) =
            all.partition(|variable| leads[usize::from(*variable)]);
        problem.leading = first.len();
        problem.order = first.into_iter().chain(rest).collect();
        problem
    }

    fn group(&mut self, flat: Flat) -> Group {
        let mut group = Group::default();
        let parts = match flat {
            Flat::Constant(true) => Vec::new(),
            Flat::All(parts) => parts,
            other => vec![other],
        };
        for part in parts {
            match part {
                Flat::Atom(atom) => {
                    let id = self.atoms.len() as u32;
                    self.watch(&atom, id);
                    self.atoms.push(atom);
                    group.atoms.push(id);
                }
                Flat::Any(options) => {
                    let options = options
                        .into_iter()
                        .map(|option| self.group(option))
                        .collect();
                    self.clauses.push(options);
                    group.clauses.push(self.clauses.len() as u32 - 1);
                }
                Flat::All(inner) => {
                    let inner = self.group(Flat::All(inner));
                    group.atoms.extend(inner.atoms);
                    group.clauses.extend(inner.clauses);
                }
                Flat::Constant(true) => {}
                // A choice between nothing.
                Flat::Constant(false) => {
                    self.clauses.push(Vec::new());
                    group.clauses.push(self.clauses.len() as u32 - 1);
                }
            }
        }
        group
    }

    fn watch(&mut self, atom: &Atom, id: u32) {
        let mut add = |variable: u16| {
            let watchers = &mut self.watchers[usize::from(variable)];
            if watchers.last() != Some(&id) {
                watchers.push(id);
            }
        };
        match atom {
            Atom::Compare(comparison) => {
                for node in &comparison.nodes {
                    if let Node::Variable(variable) = node {
                        add(*variable);
                    }
                }
            }
            Atom::In(variable, _) => add(*variable),
            Atom::Same(a, b) | Atom::Different(a, b) => {
                add(*a);
                add(*b);
            }
        }
    }

    pub(super) fn is_option(&self, variable: u16) -> bool {
        self.variables.roles[usize::from(variable)] == Role::Option
    }

    /// Is the group already decided?
    pub(super) fn known(
        &self,
        group: &Group,
        domains: &[Interval],
        masks: &[u64],
        scratch: &mut Scratch,
    ) -> Known {
        let mut result = Known::True;
        for atom in &group.atoms {
            match self.known_atom(*atom, domains, masks, scratch) {
                Known::False => return Known::False,
                Known::Open => result = Known::Open,
                Known::True => {}
            }
        }
        if group.clauses.is_empty() {
            result
        } else {
            Known::Open
        }
    }

    pub(super) fn known_atom(
        &self,
        atom: u32,
        domains: &[Interval],
        masks: &[u64],
        scratch: &mut Scratch,
    ) -> Known {
        let mask = |variable: u16| masks[usize::from(variable)];
        match &self.atoms[atom as usize] {
            Atom::Compare(comparison) => comparison.known(domains, scratch),
            Atom::In(variable, bits) => match mask(*variable) & bits {
                0 => Known::False,
                both if both == mask(*variable) => Known::True,
                _ => Known::Open,
            },
            Atom::Same(a, b) => match mask(*a) & mask(*b) {
                0 => Known::False,
                both if both == mask(*a) && both == mask(*b) && both.count_ones() == 1 => {
                    Known::True
                }
                _ => Known::Open,
            },
            Atom::Different(a, b) => match mask(*a) & mask(*b) {
                0 => Known::True,
                both if both == mask(*a) && both == mask(*b) && both.count_ones() == 1 => {
                    Known::False
                }
                _ => Known::Open,
            },
        }
    }

    /// Narrows to what the atom allows; `false` when nothing is left.
    pub(super) fn narrow(
        &self,
        atom: u32,
        domains: &mut [Interval],
        masks: &mut [u64],
        scratch: &mut Scratch,
        changed: &mut Vec<u16>,
    ) -> bool {
        let mut keep = |variable: u16, bits: u64| {
            let mask = &mut masks[usize::from(variable)];
            if *mask & bits != *mask {
                *mask &= bits;
                changed.push(variable);
            }
            *mask != 0
        };
        match &self.atoms[atom as usize] {
            Atom::Compare(comparison) => comparison.narrow(domains, scratch, changed),
            Atom::In(variable, bits) => keep(*variable, *bits),
            Atom::Same(a, b) => {
                let both = masks[usize::from(*a)] & masks[usize::from(*b)];
                let mut keep = |variable: u16| {
                    let mask = &mut masks[usize::from(variable)];
                    if *mask != both {
                        *mask = both;
                        changed.push(variable);
                    }
                };
                keep(*a);
                keep(*b);
                both != 0
            }
            Atom::Different(a, b) => {
                for (fixed, other) in [(*a, *b), (*b, *a)] {
                    let bit = masks[usize::from(fixed)];
                    let mask = &mut masks[usize::from(other)];
                    if bit.count_ones() == 1 && *mask & bit != 0 {
                        *mask &= !bit;
                        changed.push(other);
                        if *mask == 0 {
                            return false;
                        }
                    }
                }
                true
            }
        }
    }
}

/// Divisors and factors lead: once they have values, what depends on them follows exactly.
fn mark_leading(nodes: &[Node], leads: &mut [bool]) {
    use crate::rules::atom::Calculation::{Divide, FloorDivide, Modulo, Multiply};
    let mut mark = |at: u16| {
        if let Node::Variable(variable) = nodes[usize::from(at)] {
            leads[usize::from(variable)] = true;
        }
    };
    for node in nodes {
        match *node {
            Node::Binary(Divide | FloorDivide | Modulo, _, divisor) => mark(divisor),
            Node::Binary(Multiply, left, right) => {
                mark(left);
                mark(right);
            }
            _ => {}
        }
    }
}
