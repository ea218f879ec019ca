//! The facade that the campaign drives: numbers in, inputs out, outcomes back.

mod boundary;
mod told;

use fissure_model::{ConcreteInput, Intent, Mode, Signature, Spec};
use fissure_solve::{Checker, PlanError, Random, arrays_serve};

use crate::alternative::Alternative;
use crate::by_keyword::ByKeyword;
use crate::ceilings::Ceilings;
use crate::construct::{arrays_for_tensors, concrete_input, hand_over};
use crate::coverage::MutatorCoverage;
use crate::havoc::Havoc;
use crate::options::{GenerateOptions, TensorsAs};
use crate::ordinary;
use crate::repair::{Repairs, Wish};
use crate::rules::RulesError;
use crate::source::{Source, break_constraint, has_dtypes, plan, required, source, tensor_bytes};
use crate::unspoken::Unspoken;
use crate::unusual;

/// Share of conforming inputs in [`Mode::Mixed`].
const CONFORMING: f64 = 0.6;
/// The same as long as nothing is accepted: what an input breaks says little before another is known to be whole.
const CONFORMING_AT_FIRST: f64 = 0.9;
/// Share of the other inputs that are accepted ones, changed, as soon as there are some.
const BROKEN_NEIGHBOURS: f64 = 0.35;
/// Share of those that would be drawn to break one thing, where nothing is certain: they break what nobody has said, too.
const BROKEN_NEIGHBOURS_OF_HINTS: f64 = 0.7;
/// Changes of a kept input that are tried before a fresh one is drawn.
const VARY_ATTEMPTS: u32 = 4;

/// Share of inputs with NumPy arrays in place of tensors, where the library takes them.
const ARRAYS: f64 = 0.15;
/// Before this number every violating input is one of them: code that mishandles an array often
/// does so only as long as nothing else has initialised what it relies on.
const ARRAYS_FIRST: u64 = 256;

/// Why an API cannot be generated for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot generate inputs for `{title}`: {reason}")]
pub struct GenerateError {
    pub title: String,
    pub reason: GenerateReason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateReason {
    #[error(transparent)]
    Constraints(#[from] PlanError),
    #[error(transparent)]
    Rules(#[from] RulesError),
}

/// Makes the inputs of one API.
///
/// Same seed, spec, options and outcomes told to [`Generator::observe`] at the same points: the
/// same inputs, byte for byte.
pub struct Generator {
    source: Source,
    checker: Checker,
    options: GenerateOptions,
    key: [u8; 32],
    coverage: MutatorCoverage,
    arrays_serve: bool,
    left_aside: bool,
    repairs: Option<Repairs>,
    /// What the library says, where a file or rules do not hold for this version.
    alternative: Option<Alternative>,
    /// Parameters that rules say nothing of.
    unspoken: Unspoken,
    /// Numbers that made calls too long.
    ceilings: Ceilings,
    by_keyword: ByKeyword,
    /// The library has been asked, whether or not it said anything.
    asked: bool,
    /// Library of the tensors.
    library: String,
    /// What the spec says is likely, not certain.
    hints_only: bool,
    /// Parameters without which there is no call.
    required: Vec<String>,
}

impl Generator {
    pub fn new(
        spec: &Spec,
        signature: Option<&Signature>,
        options: GenerateOptions,
        seed: u64,
    ) -> Result<Generator, GenerateError> {
        let key = Random::key(seed, &spec.api.title);
        let checker = Checker::new(spec);
        let source =
            source(spec, signature, &options, key, &checker).map_err(|reason| GenerateError {
                title: spec.api.title.clone(),
                reason,
            })?;
        let names = spec
            .params
            .iter()
            .chain(&spec.layer_params)
            .map(|param| param.name.clone());
        let unspoken = match &source {
            Source::Constraints(_) => Unspoken::default(),
            Source::Rules(rules) | Source::Both(_, rules, _) => {
                Unspoken::new(signature, &rules.params())
            }
        };
        Ok(Generator {
            // Where there are rules, they say whether an array will do.
            arrays_serve: matches!(source, Source::Constraints(_))
                && arrays_serve(spec.api.tensor_library()),
            left_aside: matches!(source, Source::Rules(_))
                && !(spec.params.is_empty() || options.unguided || options.mode == Mode::Ignore),
            library: spec.api.tensor_library().to_owned(),
            hints_only: spec.params.iter().any(|param| param.hints.is_some()),
            required: required(spec, signature),
            source,
            checker,
            coverage: MutatorCoverage::new(names),
            // A user who wants constraints broken or left alone does not want them mended.
            repairs: (options.repair
                && !options.unguided
                && matches!(options.mode, Mode::Mixed | Mode::Conform))
            .then(|| Repairs::new(key, &spec.examples, options.mode == Mode::Conform)),
            alternative: None,
            unspoken,
            ceilings: Ceilings::default(),
            by_keyword: ByKeyword::default(),
            asked: spec.params.iter().any(|param| param.hints.is_some()),
            options,
            key,
        })
    }

    /// Most of what a file or rules allow is refused, and the library has not been asked what it
    /// takes. Changes only when outcomes are told.
    pub fn asks_the_library(&self) -> bool {
        let doubted = |repairs: &Repairs| repairs.is_stale() || repairs.is_fruitless();
        !self.asked && self.repairs.as_ref().is_some_and(doubted)
    }

    /// The library's answer: a spec from its own word, if it has one to give.
    pub fn hear_the_library(&mut self, answer: Option<(&Spec, &Signature)>) {
        self.asked = true;
        let Some((spec, signature)) = answer else {
            return;
        };
        let mut key = self.key;
        // A stream of its own.
        key[2] ^= 0x96;
        let plan = plan(&self.options);
        self.alternative = Alternative::new(spec, Some(signature), &plan, key).ok();
        // A file may ask for what the library no longer has.
        self.required = required(spec, Some(signature));
        if let Some(repairs) = &mut self.repairs {
            repairs.add_examples(&spec.examples);
        }
    }

    /// The spec has constraints and rules without an input in common, and the rules are used.
    pub fn left_constraints_aside(&self) -> bool {
        self.left_aside
    }

    /// The input with this number; call with 0, 1, 2, … in order.
    pub fn generate(&mut self, number: u64) -> ConcreteInput {
        let mut random = Random::new(self.key, number);
        let violating = match self.options.mode {
            Mode::Conform | Mode::Ignore => false,
            Mode::Violate => true,
            Mode::Mixed if self.is_searching() => !random.chance(CONFORMING_AT_FIRST),
            Mode::Mixed => !random.chance(CONFORMING),
        };
        let violated = if violating && !self.options.unguided {
            self.violating(number, &mut random)
        } else {
            None
        };
        let mut input = match violated {
            Some(input) => input,
            None => {
                let other = self.repaired(number, &mut random);
                let other = other.or_else(|| self.said_by_library(number, &mut random));
                other.unwrap_or_else(|| {
                    let drawn = self.conform(number, &mut random);
                    let drawn = self.alike(drawn, &mut random);
                    self.tied_or_as_drawn(number, drawn, &mut random)
                })
            }
        };
        // A boundary case would break more than the one thing that is to be broken.
        if matches!(input.intent, Intent::Conform | Intent::Ignore) {
            self.put_boundary_cases(&mut input, &mut random);
            let is_plain = self.options.mode == Mode::Mixed && !self.options.unguided;
            if is_plain && self.unspoken.give(&mut input, &mut random) {
                self.forget(number);
            }
            let any_form = is_plain
                && self.options.dtypes.is_none()
                && self.options.tensors_as == TensorsAs::Usual;
            let most = self.options.max_tensor_bytes;
            if any_form && unusual::hand_over(&mut input, &self.library, most, &mut random) {
                self.forget(number);
                if let Source::Constraints(forms) = &mut self.source {
                    forms.forget(number);
                }
            }
            self.keep_below_ceilings(&mut input, &mut random);
        }
        self.by_keyword.pass(&mut input, &mut random);
        let arrays = match input.intent {
            Intent::Violate { .. } if number < ARRAYS_FIRST => 1.0,
            _ => ARRAYS,
        };
        match self.options.tensors_as {
            TensorsAs::Usual if self.arrays_serve && random.chance(arrays) => {
                arrays_for_tensors(&mut input);
            }
            form => hand_over(&mut input, form),
        }
        input
    }

    /// An input that would take too long is made small, where that breaks nothing.
    fn keep_below_ceilings(&mut self, input: &mut ConcreteInput, random: &mut Random) {
        let mut small = input.clone();
        let Some(param) = self.ceilings.keep_below(&mut small, random) else {
            return;
        };
        small.mutations.retain(|mutation| mutation.param != param);
        if input.intent == Intent::Ignore || self.allows(&small) {
            self.forget(input.number);
            *input = small;
        }
    }

    /// An accepted input, changed without regard to what is known. A drawn input that breaks one thing is often
    /// refused for another one; of this, everything else is known to be right.
    fn broken_neighbour(
        &mut self,
        number: u64,
        share: f64,
        random: &mut Random,
    ) -> Option<ConcreteInput> {
        if self.options.mode != Mode::Mixed || !random.chance(share) {
            return None;
        }
        let (kept, other) = self.repairs.as_ref()?.two_accepted(random)?;
        let input = self.vary(number, &kept, &other)?;
        Some(ConcreteInput {
            intent: Intent::Ignore,
            ..input
        })
    }

    /// A neighbour of an input that is worth more of the kind, in place of a fresh one; `other` is another such
    /// input. `None` where the user wants only inputs that conform, and none was found.
    pub fn vary(
        &mut self,
        number: u64,
        kept: &ConcreteInput,
        other: &ConcreteInput,
    ) -> Option<ConcreteInput> {
        let mut key = self.key;
        // A stream of its own.
        key[1] ^= 0xc3;
        let mut random = Random::new(key, number);
        for _ in 0..VARY_ATTEMPTS {
            let havoc = Havoc {
                other,
                dtypes: self.options.dtypes.as_deref(),
                library: &self.library,
            };
            let mut input = ConcreteInput {
                number,
                intent: Intent::Conform,
                mutations: Vec::new(),
                ..havoc.changed(kept, &mut random)
            };
            if tensor_bytes(&input) > self.options.max_tensor_bytes {
                continue;
            }
            if !self.allows(&input) {
                if self.options.mode == Mode::Conform && !self.hints_only {
                    continue;
                }
                input.intent = Intent::Ignore;
            }
            return Some(input);
        }
        None
    }

    /// An input from elsewhere as one of this sequence.
    pub fn adopt(&self, number: u64, input: ConcreteInput) -> ConcreteInput {
        let mut input = ConcreteInput {
            number,
            intent: Intent::Conform,
            mutations: Vec::new(),
            ..input
        };
        if !self.allows(&input) {
            input.intent = Intent::Ignore;
        }
        input
    }

    /// The input breaks nothing of what is known.
    fn allows(&self, input: &ConcreteInput) -> bool {
        match &self.source {
            Source::Constraints(_) => self.checker.check(input).is_empty(),
            Source::Rules(rules) | Source::Both(_, rules, _) => rules.allows(input),
        }
    }

    /// Tells whether the library accepted an input. To be called in the order of the numbers and
    /// at a point of the sequence that does not depend on timing; numbers may be left out.
    pub fn observe(&mut self, number: u64, accepted: bool) {
        self.observe_reason(number, accepted, &[]);
    }

    /// The same, with what the rejection asks for.
    pub fn observe_reason(&mut self, number: u64, accepted: bool, wishes: &[Wish]) {
        self.ceilings.learn(wishes);
        self.by_keyword.learn(wishes);
        if let Some(repairs) = &mut self.repairs {
            repairs.observe(number, accepted, wishes);
        }
        if let Some(alternative) = &mut self.alternative {
            alternative.observe(number, accepted);
        }
        if let Source::Constraints(forms) | Source::Both(forms, ..) = &mut self.source {
            forms.observe(number, accepted);
        }
    }

    /// Of inputs made from hints some have run, and none was accepted.
    fn is_searching(&self) -> bool {
        let fruitless = |repairs: &Repairs| repairs.is_fruitless();
        self.hints_only && self.repairs.as_ref().is_some_and(fruitless)
    }

    /// Which boundary cases were used on which parameter.
    pub fn coverage(&self) -> &MutatorCoverage {
        &self.coverage
    }

    /// An input that a rejection led to. One that breaks what a file or rules say is only taken
    /// where next to nothing that they allow is accepted.
    fn repaired(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        let repairs = self.repairs.as_ref()?;
        let stale = repairs.is_stale() || repairs.is_fruitless() || self.alternative.is_some();
        let only_stale = !matches!(self.source, Source::Constraints(_));
        if only_stale && !stale {
            return None;
        }
        let mut repairs = self.repairs.take()?;
        let judge = |input: &ConcreteInput| {
            let fits = tensor_bytes(input) <= self.options.max_tensor_bytes;
            let whole = self.required.iter().all(|name| {
                let mut given = input.arguments.iter();
                given.any(|argument| argument.name == *name)
            });
            (fits && whole && has_dtypes(input, self.options.dtypes.as_deref())).then(|| match self
                .allows(input)
            {
                true => Intent::Conform,
                false => Intent::Ignore,
            })
        };
        let may_break = self.hints_only || stale;
        let input = repairs.propose(number, may_break, &judge, random);
        self.repairs = Some(repairs);
        input
    }

    /// A drawn input, now and then with tensors that are alike.
    fn alike(&self, drawn: ConcreteInput, random: &mut Random) -> ConcreteInput {
        if drawn.intent != Intent::Conform {
            return drawn;
        }
        let allowed = |input: &ConcreteInput| {
            let fits = tensor_bytes(input) <= self.options.max_tensor_bytes;
            fits && has_dtypes(input, self.options.dtypes.as_deref()) && self.allows(input)
        };
        ordinary::alike(&drawn, random, allowed).unwrap_or(drawn)
    }

    /// An input drawn from what the library says, as long as the file or the rules are doubted.
    fn said_by_library(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        let alternative = self.alternative.as_mut()?;
        let rate = self.repairs.as_ref()?.rate();
        let mut input = alternative.draw(number, rate, random)?;
        input.intent = match self.allows(&input) {
            true => Intent::Conform,
            false => Intent::Ignore,
        };
        self.repairs.as_mut()?.remember(number, &input, 1);
        Some(input)
    }

    /// The outcome of the last input says little about what it was made of.
    fn forget(&mut self, number: u64) {
        if let Some(repairs) = &mut self.repairs {
            repairs.forget(number);
        }
        if let Some(alternative) = &mut self.alternative {
            alternative.forget(number);
        }
    }

    fn conform(&mut self, number: u64, random: &mut Random) -> ConcreteInput {
        let ignoring = self.options.mode == Mode::Ignore;
        let mut input = match &mut self.source {
            Source::Constraints(solver) if ignoring => {
                let ignoring = solver.ignore(self.options.optional_ratio, random);
                concrete_input(number, ignoring, random)
            }
            Source::Constraints(solver) => {
                let conforming = solver.conform(number, random);
                concrete_input(number, conforming, random)
            }
            Source::Rules(rules) => rules.conform(number, random),
            Source::Both(solver, rules, proposers) => {
                let common =
                    proposers.common(number, solver.single(), rules, &self.checker, random);
                common.unwrap_or_else(|| rules.conform(number, random))
            }
        };
        if ignoring || self.options.unguided {
            input.intent = Intent::Ignore;
        }
        input
    }

    /// An input that breaks something.
    fn violating(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        if let Some(near) = self.broken_neighbour(number, BROKEN_NEIGHBOURS, random) {
            return Some(near);
        }
        let drawn = self.violate(number, random)?;
        let near = match self.hints_only {
            true => self.broken_neighbour(number, BROKEN_NEIGHBOURS_OF_HINTS, random),
            false => None,
        };
        near.or(Some(drawn))
    }

    fn violate(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        let only_rule = self.options.break_rule.is_some();
        match &mut self.source {
            Source::Rules(rules) => rules.break_one(number, random),
            Source::Both(_, rules, _) if only_rule || random.chance(0.5) => {
                rules.break_one(number, random)
            }
            Source::Constraints(solver) | Source::Both(solver, ..) => {
                let limit = self.options.max_tensor_bytes;
                let (solver, checker) = solver.violable(random)?;
                break_constraint(number, solver, checker, limit, random)
            }
        }
    }
}
