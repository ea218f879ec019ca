//! All structures that inputs of an API can have, in random order, those that break a rule left
//! out.

use std::collections::{BTreeMap, HashSet};

use fissure_model::Dtype;
use fissure_rules::{Datum, DtypeSet, ElementFact, FactSet, Operator, Type};

use crate::random::Random;
use crate::rules::BoundRule;
use crate::rules::atom::Calculation;
use crate::rules::flat::{Expr, Flat};
use crate::rules::interest::Asked;
use crate::rules::outline::{Choice, Interest, Limits, Outline, TensorOutline, Variables, choices};
use crate::rules::problem::Problem;
use crate::rules::specialise::{Specialiser, Unsupported};

/// Structures drawn in vain before there are said to be no more.
const ATTEMPTS: usize = 128;
/// Texts that no rule names, so that free texts occur.
const FREE_TEXTS: usize = 12;

pub(crate) struct Structures {
    choices: Vec<Vec<Choice>>,
    /// Positions of the choices of each alternative of a type, for each parameter: an alternative
    /// with many choices (lists of tensors) must not drown one with few (None, a number).
    alternatives: Vec<Vec<Vec<usize>>>,
    interests: Vec<Interest>,
    texts: Vec<Vec<String>>,
    limits: Limits,
    given: HashSet<Vec<u32>>,
    /// Rules that cannot become constraints.
    tested: Vec<usize>,
    exhausted: bool,
    /// Choices for a parameter that were compared with the rules so far.
    pub compared: u64,
}

impl Structures {
    pub(super) fn new(
        types: &[Type],
        rules: &[BoundRule],
        limits: Limits,
        random: &mut Random,
    ) -> Self {
        let count = types.len();
        let mut interests = vec![Interest::default(); count];
        let mut texts: Vec<Vec<String>> = vec![Vec::new(); count];
        let mut alphabets: Vec<Vec<String>> = vec![Vec::new(); count];
        for bound in rules {
            let mut asked = Asked::of(bound);
            for (position, param) in bound.binding.iter().enumerate() {
                let interest = &mut interests[*param];
                interest.elements |= asked.interests[position].elements;
                interest.index |= asked.interests[position].index;
                for fact in &asked.interests[position].facts {
                    if !interest.facts.contains(fact) {
                        interest.facts.push(*fact);
                    }
                }
                texts[*param].append(&mut asked.texts[position]);
                alphabets[*param].append(&mut asked.alphabets[position]);
            }
        }
        for (texts, alphabets) in texts.iter_mut().zip(&alphabets) {
            texts.sort();
            texts.dedup();
            texts.truncate(63 - FREE_TEXTS);
            for _ in 0..FREE_TEXTS {
                let text = free_text(alphabets, random);
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        let mut structures = Structures {
            choices: types
                .iter()
                .zip(&interests)
                .map(|(of, interest)| choices(of, interest, &limits))
                .collect(),
            alternatives: Vec::new(),
            interests,
            texts,
            limits,
            given: HashSet::new(),
            tested: Vec::new(),
            exhausted: false,
            compared: 0,
        };
        structures.keep_possible(rules);
        structures.alternatives = structures
            .choices
            .iter()
            .map(|choices| by_alternative(choices))
            .collect();
        structures
    }

    pub(super) fn texts(&self, param: usize) -> &[String] {
        &self.texts[param]
    }

    pub(super) fn facts(&self) -> FactSet {
        let asked = self.interests.iter();
        FactSet::of(asked.flat_map(|interest| interest.facts.iter().copied()))
    }

    pub(super) fn tested(&self) -> &[usize] {
        &self.tested
    }

    /// Leaves out what a rule about one parameter alone excludes.
    fn keep_possible(&mut self, rules: &[BoundRule]) {
        for rule in rules {
            let mut params = rule.binding.clone();
            params.dedup();
            let [param] = params[..] else {
                continue;
            };
            let kept = self.choices[param].iter().filter(|choice| {
                let mut variables = Variables::default();
                let outline = self.build(&mut variables, param, choice);
                let outlines = vec![&outline; rule.binding.len()];
                match self.specialised(&variables, outlines, rule) {
                    Ok(Flat::Constant(possible)) => possible,
                    Ok(_) | Err(Unsupported) => true,
                }
            });
            self.choices[param] = kept.cloned().collect();
        }
    }

    fn build(&self, variables: &mut Variables, param: usize, choice: &Choice) -> Outline {
        let texts = self.texts[param].len();
        variables.build(choice, &self.interests[param], &self.limits, texts)
    }

    fn specialised(
        &self,
        variables: &Variables,
        outlines: Vec<&Outline>,
        rule: &BoundRule,
    ) -> Result<Flat, Unsupported> {
        let texts = rule
            .binding
            .iter()
            .map(|param| self.texts[*param].as_slice());
        Specialiser::new(variables, outlines, texts.collect()).rule(&rule.rule)
    }

    /// A structure not given before, with all its constraints; `None` when no more are found.
    pub(super) fn next(&mut self, rules: &[BoundRule], random: &mut Random) -> Option<Problem> {
        if self.exhausted || self.choices.iter().any(Vec::is_empty) {
            return None;
        }
        for _ in 0..ATTEMPTS {
            if let Some(problem) = self.attempt(rules, random) {
                return Some(problem);
            }
        }
        self.exhausted = true;
        None
    }

    /// Decides one parameter after the other, each checked against the rules that speak of it and
    /// of what is decided; a choice that breaks one is replaced by another.
    fn attempt(&mut self, rules: &[BoundRule], random: &mut Random) -> Option<Problem> {
        let count = self.choices.len();
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, random.index(last + 1));
        }
        let mut variables = Variables::default();
        let mut outlines: Vec<Option<Outline>> = vec![None; count];
        let mut key = vec![0u32; count];
        let mut constraints: Vec<Flat> = Vec::new();
        let mut tested = Vec::new();
        for param in order {
            if self.choices[param].is_empty() {
                return None;
            }
            let alternative = random.index(self.alternatives[param].len());
            let start = *random.pick(&self.alternatives[param][alternative]);
            let mut decided = false;
            for offset in 0..self.choices[param].len() {
                let position = (start + offset) % self.choices[param].len();
                self.compared += 1;
                let before = variables.clone();
                let outline = self.build(&mut variables, param, &self.choices[param][position]);
                outlines[param] = Some(outline);
                if let Some(found) =
                    self.constraints(&variables, &outlines, rules, param, &mut tested)
                {
                    constraints.extend(found);
                    key[param] = position as u32;
                    decided = true;
                    break;
                }
                variables = before;
                outlines[param] = None;
            }
            if !decided {
                return None;
            }
        }
        for rule in tested {
            if !self.tested.contains(&rule) {
                self.tested.push(rule);
            }
        }
        if !self.given.insert(key) {
            return None;
        }
        let outlines: Vec<Outline> = outlines.into_iter().flatten().collect();
        for outline in &outlines {
            constraints.extend(own_constraints(outline, &variables));
        }
        Some(Problem::new(outlines, variables, constraints))
    }

    /// What the rules say that `param` completes; `None` when one of them cannot hold.
    fn constraints(
        &self,
        variables: &Variables,
        outlines: &[Option<Outline>],
        rules: &[BoundRule],
        param: usize,
        tested: &mut Vec<usize>,
    ) -> Option<Vec<Flat>> {
        let mut found = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            if !rule.binding.contains(&param) {
                continue;
            }
            let decided: Option<Vec<&Outline>> = rule
                .binding
                .iter()
                .map(|param| outlines[*param].as_ref())
                .collect();
            let Some(decided) = decided else {
                continue;
            };
            match self.specialised(variables, decided, rule) {
                Ok(Flat::Constant(true)) => {}
                Ok(Flat::Constant(false)) => return None,
                Ok(flat) => found.push(flat),
                Err(Unsupported) => tested.push(number),
            }
        }
        Some(found)
    }
}

/// Positions of the choices of each alternative.
fn by_alternative(choices: &[Choice]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (position, choice) in choices.iter().enumerate() {
        let alternative = match choice {
            Choice::Fixed(Datum::None) => 0,
            Choice::Fixed(_) | Choice::Int => 1,
            Choice::Float => 2,
            Choice::Bool => 3,
            Choice::Dtype => 4,
            Choice::Text => 5,
            Choice::Tensor { .. } => 6,
            Choice::Items { tuple: false, .. } => 7,
            Choice::Items { tuple: true, .. } => 8,
        };
        groups.entry(alternative).or_default().push(position);
    }
    groups.into_values().collect()
}

/// What holds of a tensor by itself.
fn own_constraints(outline: &Outline, variables: &Variables) -> Vec<Flat> {
    match outline {
        Outline::Tensor(tensor) => tensor_constraints(tensor, variables),
        Outline::Items { items, .. } => items
            .iter()
            .flat_map(|item| own_constraints(item, variables))
            .collect(),
        _ => Vec::new(),
    }
}

fn tensor_constraints(tensor: &TensorOutline, variables: &Variables) -> Vec<Flat> {
    let domains = &variables.domains;
    let mut found = Vec::new();
    let compare = |operator, a: Expr, b: Expr| Flat::compare(operator, a, b, domains);
    if tensor.empty == Some(true) {
        let empty = tensor
            .dims
            .iter()
            .map(|dim| compare(Operator::Equal, Expr::Variable(*dim), Expr::Constant(0.0)));
        found.push(Flat::any(empty));
    }
    let Some((low, high)) = tensor.bounds else {
        return found;
    };
    let (low, high) = (Expr::Variable(low), Expr::Variable(high));
    found.push(compare(Operator::LessOrEqual, low.clone(), high.clone()));
    // The dtype's own limits, for those that small numbers can pass.
    let possible = variables.masks[usize::from(tensor.dtype)];
    let within = |dtypes: &[Dtype], least: f64, largest: f64| {
        let others = !u64::from(DtypeSet::of(dtypes.iter().copied()).0);
        Flat::any([
            Flat::member(tensor.dtype, others, possible),
            Flat::all([
                compare(Operator::GreaterOrEqual, low.clone(), Expr::Constant(least)),
                compare(Operator::LessOrEqual, high.clone(), Expr::Constant(largest)),
            ]),
        ])
    };
    found.push(within(&[Dtype::Bool], 0.0, 1.0));
    found.push(within(&[Dtype::Uint8], 0.0, 255.0));
    found.push(within(&[Dtype::Int8], -128.0, 127.0));
    found.push(within(
        &[Dtype::Uint16, Dtype::Uint32, Dtype::Uint64],
        0.0,
        65535.0,
    ));
    found.push(within(&[Dtype::Int16, Dtype::Float16], -32768.0, 32767.0));
    let permuted = tensor
        .facts
        .iter()
        .find(|(fact, _)| *fact == ElementFact::Permutation);
    if let Some((_, variable)) = permuted {
        let dims = tensor.dims.iter().map(|dim| Expr::Variable(*dim));
        let size = dims.fold(Expr::Constant(1.0), |a, b| {
            Expr::binary(Calculation::Multiply, a, b)
        });
        let last = Expr::binary(Calculation::Subtract, size, Expr::Constant(1.0));
        found.push(Flat::any([
            Flat::member(*variable, 0b01, 0b11),
            Flat::all([
                compare(Operator::Equal, low, Expr::Constant(0.0)),
                compare(Operator::Equal, high, last),
            ]),
        ]));
    }
    found
}

/// The texts that rules compare each parameter with, and one that they do not.
pub(crate) fn named_texts(params: usize, rules: &[BoundRule]) -> Vec<Vec<String>> {
    let mut texts: Vec<Vec<String>> = vec![Vec::new(); params];
    for bound in rules {
        let mut asked = Asked::of(bound);
        for (position, param) in bound.binding.iter().enumerate() {
            texts[*param].append(&mut asked.texts[position]);
        }
    }
    for texts in &mut texts {
        texts.sort();
        texts.dedup();
        let other = (0..).map(|number| format!("other{number}"));
        texts.extend(
            other
                .filter(|text| !texts.contains(text))
                .take(1)
                .collect::<Vec<_>>(),
        );
    }
    texts
}

/// A short text of the allowed characters.
fn free_text(alphabets: &[String], random: &mut Random) -> String {
    let allowed: Vec<char> = match alphabets.first() {
        Some(first) => first
            .chars()
            .filter(|c| alphabets.iter().all(|alphabet| alphabet.contains(*c)))
            .collect(),
        None => "abcxyz_0".chars().collect(),
    };
    if allowed.is_empty() {
        return String::new();
    }
    let length = random.index(9);
    (0..length).map(|_| *random.pick(&allowed)).collect()
}
