//! The facade that the campaign drives: numbers in, inputs out, outcomes back.

use fissure_model::{ConcreteInput, Intent, Mode, Signature, Spec, Value};
use fissure_solve::{Checker, PlanError, PlanOptions, Random, Solver, arrays_serve};

use crate::construct::{arrays_for_tensors, concrete_input, hand_over};
use crate::coverage::MutatorCoverage;
use crate::mutate::{mutate, put_special_value};
use crate::options::{GenerateOptions, TensorsAs};

/// Draws before a violating input is given up for a conforming one.
const VIOLATE_ATTEMPTS: u32 = 48;
/// Share of conforming inputs in [`Mode::Mixed`].
const CONFORMING: f64 = 0.6;
/// Share of inputs that get a special value when asked for, besides those by the mutators.
const SPECIAL: f64 = 0.25;

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
    pub reason: PlanError,
}

/// Makes the inputs of one API.
///
/// Same seed, spec, options and outcomes told to [`Generator::observe`] at the same points: the
/// same inputs, byte for byte.
pub struct Generator {
    solver: Solver,
    checker: Checker,
    options: GenerateOptions,
    key: [u8; 32],
    coverage: MutatorCoverage,
    arrays_serve: bool,
}

impl Generator {
    pub fn new(
        spec: &Spec,
        signature: Option<&Signature>,
        options: GenerateOptions,
        seed: u64,
    ) -> Result<Generator, GenerateError> {
        let key = Random::key(seed, &spec.api.title);
        let plan = PlanOptions {
            optional_ratio: options.optional_ratio,
            dtypes: options.dtypes.clone(),
            layer_call: options.layer_call,
            max_tensor_bytes: options.max_tensor_bytes,
        };
        let solver = Solver::new(spec, signature, &plan, key).map_err(|reason| GenerateError {
            title: spec.api.title.clone(),
            reason,
        })?;
        let names = spec
            .params
            .iter()
            .chain(&spec.layer_params)
            .map(|param| param.name.clone());
        Ok(Generator {
            solver,
            checker: Checker::new(spec),
            coverage: MutatorCoverage::new(names),
            options,
            key,
            arrays_serve: arrays_serve(&spec.api.package),
        })
    }

    /// The input with this number; call with 0, 1, 2, … in order.
    pub fn generate(&mut self, number: u64) -> ConcreteInput {
        let mut random = Random::new(self.key, number);
        let violating = match self.options.mode {
            Mode::Conform | Mode::Ignore => false,
            Mode::Violate => true,
            Mode::Mixed => !random.chance(CONFORMING),
        };
        let mut input = if self.options.mode == Mode::Ignore {
            let ignoring = self.solver.ignore(self.options.optional_ratio, &mut random);
            concrete_input(number, ignoring, &mut random)
        } else {
            let violated = if violating {
                self.violate(number, &mut random)
            } else {
                None
            };
            violated.unwrap_or_else(|| {
                let conforming = self.solver.conform(number, &mut random);
                concrete_input(number, conforming, &mut random)
            })
        };
        // A boundary case would break more than the one thing that is to be broken.
        if !matches!(input.intent, Intent::Violate { .. }) {
            self.put_boundary_cases(&mut input, &mut random);
        }
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

    /// Tells whether the library accepted an input. To be called in the order of the numbers and
    /// at a point of the sequence that does not depend on timing; numbers may be left out.
    pub fn observe(&mut self, number: u64, accepted: bool) {
        self.solver.observe(number, accepted);
    }

    /// Which boundary cases were used on which parameter.
    pub fn coverage(&self) -> &MutatorCoverage {
        &self.coverage
    }

    fn violate(&mut self, number: u64, random: &mut Random) -> Option<ConcreteInput> {
        for _ in 0..VIOLATE_ATTEMPTS {
            if !self.solver.can_violate() {
                return None;
            }
            let Some(proposal) = self.solver.violate(random) else {
                continue;
            };
            let input = concrete_input(number, proposal, random);
            let Intent::Violate { param, category } = &input.intent else {
                continue;
            };
            let exact = match self.checker.check(&input).as_slice() {
                [only] => only.param == *param && only.category == *category,
                _ => false,
            };
            let exact = exact && tensor_bytes(&input) <= self.options.max_tensor_bytes;
            self.solver.judge_violation(exact);
            if exact {
                return Some(input);
            }
        }
        None
    }

    fn put_boundary_cases(&mut self, input: &mut ConcreteInput, random: &mut Random) {
        let options = &self.options;
        if random.chance(options.mutate_ratio) {
            mutate(
                input,
                &self.checker,
                options.guided_mutation,
                options.special_values,
                &mut self.coverage,
                random,
            );
        }
        if options.special_values && random.chance(SPECIAL) {
            put_special_value(input, &self.checker, &mut self.coverage, random);
        }
        if !input.mutations.is_empty() {
            // The outcome now says little about the choices.
            self.solver.forget(input.number);
        }
    }
}

/// Bytes of all tensors of an input.
fn tensor_bytes(input: &ConcreteInput) -> u64 {
    let layer = input.layer_arguments.iter().flatten();
    let mut total = 0_u64;
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) =
                value
            {
                total = total.saturating_add(tensor.byte_len().unwrap_or(u64::MAX));
            }
        });
    }
    total
}
