//! Inputs from rules: those that satisfy all of them, and those that break exactly one.

use fissure_model::{AbstractInput, AbstractValue, ConcreteInput, Intent, Signature};
use fissure_rules::{Answer, Datum, Declaration, FactSet, Precedence, RuleFile, check, read_file};
use fissure_solve::Random;
use fissure_solve::rules::{BoundRule, Limits, RuleSampler, abstract_value, contradiction};

use crate::call_form::CallForm;
use crate::construct::concrete_input;
use crate::stream::Stream;

/// Draws before an input is given up.
const ATTEMPTS: u32 = 64;
/// Draws after which a rule that was never broken alone is left in peace.
const HOPELESS: u32 = 192;
/// Share of rule-breaking inputs for which rules are looked at that were never broken alone so far,
/// and the work of one look: a rule that follows from the others, or nearly, must not take the time
/// of all.
const EXPLORING: f64 = 0.25;
const LOOK: u64 = 10_000;
/// Looks for one input, and the work after which such a rule is left in peace.
const LOOKS: u32 = 4;
const HOPELESS_WORK: u64 = 1_000_000;

/// Why rules give no inputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    #[error("line {line} of the rules from {origin}: {message}")]
    Unreadable {
        origin: String,
        line: usize,
        message: String,
    },
    #[error("no input satisfies all rules; these contradict each other: {}", .0.join(", "))]
    Contradiction(Vec<String>),
    #[error("no input was found that satisfies the rules")]
    NoInput,
    #[error("there is no rule `{name}`; the rules are {}", .known.join(", "))]
    UnknownRule { name: String, known: Vec<String> },
    #[error("no input was found that breaks the rule `{0}` and no other")]
    Unbreakable(String),
}

/// A rule to break.
struct Breaking {
    rule: usize,
    /// Made when it is first needed.
    stream: Option<Stream>,
    draws: u32,
    exact: u32,
}

impl Breaking {
    /// Never broken alone, and not for want of trying.
    fn is_hopeless(&self) -> bool {
        let given_up = self
            .stream
            .as_ref()
            .is_none_or(|stream| stream.is_exhausted() || stream.sampler.work() >= HOPELESS_WORK);
        self.exact == 0 && (given_up || self.draws >= HOPELESS)
    }
}

/// Draws the inputs of one API from its rules.
pub(crate) struct RuleSource {
    form: CallForm,
    declarations: Vec<Declaration>,
    /// Of the rules.
    names: Vec<String>,
    rules: Vec<BoundRule>,
    limits: Limits,
    facts: FactSet,
    seed: u64,
    max_tensor_bytes: u64,
    conforming: Stream,
    breaking: Vec<Breaking>,
    /// An input for the rare case that a draw finds none.
    fallback: Option<ConcreteInput>,
}

/// Reads a rule file, all of it.
pub(crate) fn read(text: &str, origin: &str) -> Result<RuleFile, RulesError> {
    let (file, errors) = read_file(text, Precedence::Usual);
    match errors.first() {
        None => Ok(file),
        Some(error) => Err(RulesError::Unreadable {
            origin: origin.to_owned(),
            line: error.position(text).0,
            message: error.to_string(),
        }),
    }
}

impl RuleSource {
    /// The parameters that it speaks of.
    pub(crate) fn params(&self) -> Vec<&str> {
        self.form.params().collect()
    }

    pub(crate) fn new(
        file: &RuleFile,
        signature: Option<&Signature>,
        max_tensor_bytes: u64,
        key: [u8; 32],
    ) -> Result<RuleSource, RulesError> {
        let declarations = file.declarations();
        let mut names = Vec::new();
        let mut rules = Vec::new();
        for rule in &file.rules {
            // Reading has type-checked each rule; one about a parameter that the file does not
            // declare says nothing about its calls.
            let checked = check(&rule.rule).ok();
            if let Some(bound) =
                checked.and_then(|checked| BoundRule::by_name(checked, &declarations))
            {
                names.push(rule.name.clone());
                rules.push(bound);
            }
        }
        let mut random = Random::new(key, u64::MAX);
        let seed = random.bits();
        let mut limits = Limits::usual_of(file.api.as_deref());
        let sampler = |limits: &Limits| {
            Stream::new(RuleSampler::new(
                &declarations,
                rules.clone(),
                limits.clone(),
                seed,
            ))
        };
        let mut conforming = sampler(&limits);
        if conforming.first().is_none() {
            // Rules about the rarer dtypes, or about large sizes.
            limits = Limits::default();
            conforming = sampler(&limits);
            if conforming.first().is_none() {
                let against = contradiction(&declarations, &rules, &limits);
                let against = against.into_iter().map(|rule| names[rule].clone());
                return Err(RulesError::Contradiction(against.collect()));
            }
        }
        let mut source = RuleSource {
            form: CallForm::new(file, signature),
            breaking: (0..rules.len())
                .map(|rule| Breaking {
                    rule,
                    stream: None,
                    draws: 0,
                    exact: 0,
                })
                .collect(),
            facts: conforming.sampler.facts(),
            declarations,
            names,
            rules,
            limits,
            seed,
            max_tensor_bytes,
            conforming,
            fallback: None,
        };
        let first = (0..ATTEMPTS).find_map(|_| source.draw(0, &mut random));
        source.fallback = Some(first.ok_or(RulesError::NoInput)?);
        Ok(source)
    }

    /// From now on only this rule is broken.
    pub(crate) fn break_only(&mut self, name: &str, random: &mut Random) -> Result<(), RulesError> {
        let Some(wanted) = self.names.iter().position(|known| known == name) else {
            return Err(RulesError::UnknownRule {
                name: name.to_owned(),
                known: self.names.clone(),
            });
        };
        self.breaking.retain(|breaking| breaking.rule == wanted);
        while !self.breaking.is_empty() {
            if self.break_one(0, random).is_some() {
                return Ok(());
            }
        }
        Err(RulesError::Unbreakable(name.to_owned()))
    }

    /// An input that satisfies all rules.
    pub(crate) fn conform(&mut self, number: u64, random: &mut Random) -> ConcreteInput {
        let drawn = self.draw(number, random);
        let fallback = || self.fallback.clone();
        let mut input = drawn
            .or_else(fallback)
            .expect("a source without a first input is an error");
        input.number = number;
        input
    }

    /// An input that satisfies all rules; `None` when no draw does.
    fn draw(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        (0..ATTEMPTS).find_map(|_| self.propose(number, random))
    }

    /// One draw of an input that satisfies all rules; `None` when its elements could not be made
    /// to.
    pub(crate) fn propose(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        let data = self.conforming.next(random)?;
        let input = self.concrete(number, &data, Intent::Conform, random)?;
        self.allows(&input).then_some(input)
    }

    /// An input that breaks one rule and satisfies all others; `None` when no draw does.
    pub(crate) fn break_one(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        let mut looks = 0;
        for _ in 0..ATTEMPTS {
            let at = self.rule_to_break(looks < LOOKS && random.chance(EXPLORING), random)?;
            let proven = self.breaking[at].exact > 0;
            let stream = self.stream(at);
            let data = match stream {
                Some(stream) if proven => stream.next(random),
                Some(stream) => stream.look(LOOK),
                None => None,
            };
            let Some(data) = data else {
                if self.breaking[at].is_hopeless() {
                    self.breaking.swap_remove(at);
                }
                looks += 1;
                if looks >= LOOKS && !self.breaking.iter().any(|breaking| breaking.exact > 0) {
                    return None;
                }
                continue;
            };
            let broken = self.breaking[at].rule;
            let intent = Intent::BreakRule {
                rule: self.names[broken].clone(),
            };
            let input = self
                .concrete(number, &data, intent, random)
                .filter(|input| self.breaks_only(broken, input));
            let breaking = &mut self.breaking[at];
            breaking.draws += 1;
            breaking.exact += u32::from(input.is_some());
            if input.is_some() {
                return input;
            }
            if breaking.is_hopeless() {
                self.breaking.swap_remove(at);
            }
        }
        None
    }

    /// One of the rules that were broken before, or one of the others; `None` when none is left.
    fn rule_to_break(&self, explore: bool, random: &mut Random) -> Option<usize> {
        let choose = |proven: bool, random: &mut Random| {
            let is = |at: &usize| (self.breaking[*at].exact > 0) == proven;
            let count = (0..self.breaking.len()).filter(is).count();
            let at = random.index(count);
            (0..self.breaking.len()).filter(is).nth(at)
        };
        choose(!explore, random).or_else(|| choose(explore, random))
    }

    /// The arguments have the declared types and satisfy all rules.
    pub(crate) fn allows(&self, input: &ConcreteInput) -> bool {
        let data = self.form.data(input, self.facts);
        let typed = data.iter().zip(&self.declarations);
        typed
            .clone()
            .all(|(datum, declaration)| datum.is(&declaration.of))
            && self.broken(&data).next().is_none()
    }

    fn breaks_only(&self, rule: usize, input: &ConcreteInput) -> bool {
        let data = self.form.data(input, self.facts);
        let mut broken = self.broken(&data);
        broken.next() == Some(rule) && broken.next().is_none()
    }

    fn broken(&self, data: &[Datum]) -> impl Iterator<Item = usize> {
        (0..self.rules.len()).filter(|rule| {
            let rule = &self.rules[*rule];
            rule.rule.answer(data, &rule.binding) == Answer::Broken
        })
    }

    fn stream(&mut self, at: usize) -> Option<&mut Stream> {
        let breaking = &mut self.breaking[at];
        if breaking.stream.is_none() {
            let rule = breaking.rule;
            let seed = self.seed.wrapping_add(1 + rule as u64);
            let rules = self.rules.clone();
            let limits = self.limits.clone();
            let sampler = RuleSampler::breaking(&self.declarations, rules, rule, limits, seed)?;
            breaking.stream = Some(Stream::new(sampler));
        }
        breaking.stream.as_mut()
    }

    fn concrete(
        &self,
        number: u64,
        data: &[Datum],
        intent: Intent,
        random: &mut Random,
    ) -> Option<ConcreteInput> {
        // A fact that no fill gives: another input may do without it.
        let values: Result<Vec<AbstractValue>, _> = data.iter().map(abstract_value).collect();
        let input: AbstractInput = self.form.input(values.ok()?, intent)?;
        if bytes(&input) > self.max_tensor_bytes {
            return None;
        }
        Some(concrete_input(number, input, random))
    }
}

/// Bytes of all tensors of an input.
fn bytes(input: &AbstractInput) -> u64 {
    fn of(value: &AbstractValue) -> u64 {
        match value {
            AbstractValue::Tensor { dtype, shape, .. }
            | AbstractValue::NdArray { dtype, shape, .. } => {
                let size = dtype.size().unwrap_or(1) as u64;
                shape
                    .iter()
                    .fold(size, |bytes, dim| bytes.saturating_mul(*dim))
            }
            AbstractValue::List(items) | AbstractValue::Tuple(items) => {
                items.iter().map(of).fold(0, u64::saturating_add)
            }
            AbstractValue::Literal(_) | AbstractValue::Dict(_) => 0,
        }
    }
    let layer = input.layer_arguments.iter().flatten();
    let all = input.arguments.iter().chain(layer);
    all.map(|argument| of(&argument.value))
        .fold(0, u64::saturating_add)
}
