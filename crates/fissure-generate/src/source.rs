//! What inputs are drawn from: a constraint file, rules, or both.

use fissure_model::{ConcreteInput, Dtype, Intent, Mode, Role, Signature, Spec, Value};
use fissure_solve::{Checker, PlanOptions, Random, Solver};

use crate::construct::concrete_input;
use crate::forms::Forms;
use crate::generator::GenerateReason;
use crate::options::GenerateOptions;
use crate::proposers::Proposers;
use crate::rules::{self, RuleSource, RulesError};
use crate::unguided::types_only;

/// Draws before a violating input is given up for a conforming one.
const VIOLATE_ATTEMPTS: u32 = 48;
/// Draws at the start before a constraint file and rules are taken to have no input in common.
const COMMON_ATTEMPTS: u32 = 16;

/// What inputs are drawn from.
pub(crate) enum Source {
    Constraints(Box<Forms>),
    Rules(Box<RuleSource>),
    /// Inputs satisfy both; a violating one breaks one thing of one of them.
    Both(Box<Forms>, Box<RuleSource>, Proposers),
}

pub(crate) fn plan(options: &GenerateOptions) -> PlanOptions {
    PlanOptions {
        optional_ratio: options.optional_ratio,
        dtypes: options.dtypes.clone(),
        layer_call: options.layer_call,
        max_tensor_bytes: options.max_tensor_bytes,
    }
}

pub(crate) fn source(
    spec: &Spec,
    signature: Option<&Signature>,
    options: &GenerateOptions,
    key: [u8; 32],
    checker: &Checker,
) -> Result<Source, GenerateReason> {
    let file = match &spec.rules {
        Some(rules) => Some(rules::read(&rules.text, &rules.origin)?),
        None => None,
    };
    let limit = options.max_tensor_bytes;
    if options.unguided {
        let types = types_only(file, spec, signature);
        let rules = RuleSource::new(&types, signature, limit, key)?;
        return Ok(Source::Rules(Box::new(rules)));
    }
    let mut rules = match file {
        Some(mut file) => {
            if options.mode == Mode::Ignore {
                file.rules.clear();
            }
            Some(Box::new(RuleSource::new(&file, signature, limit, key)?))
        }
        None => None,
    };
    let mut random = Random::new(key, u64::MAX - 1);
    match (&mut rules, &options.break_rule) {
        (Some(rules), Some(name)) => rules.break_only(name, &mut random)?,
        (None, Some(name)) => {
            return Err(GenerateReason::Rules(RulesError::UnknownRule {
                name: name.clone(),
                known: Vec::new(),
            }));
        }
        (_, None) => {}
    }
    if let Some(rules) = rules.take_if(|_| spec.params.is_empty() || options.mode == Mode::Ignore) {
        return Ok(Source::Rules(rules));
    }
    let plan = plan(options);
    let mut forms = Box::new(Forms::new(spec, signature, &plan, key)?);
    let Some(mut rules) = rules else {
        return Ok(Source::Constraints(forms));
    };
    let mut proposers = Proposers::default();
    let common = (0..COMMON_ATTEMPTS).any(|_| {
        let input = proposers.common(0, forms.single(), &mut rules, checker, &mut random);
        input.is_some()
    });
    // Where they contradict each other the rules count: they were learned from the library, and a
    // constraint file may be of another version.
    Ok(if common {
        Source::Both(forms, rules, proposers)
    } else {
        Source::Rules(rules)
    })
}

pub(crate) fn break_constraint(
    number: u64,
    solver: &mut Solver,
    checker: &Checker,
    max_tensor_bytes: u64,
    random: &mut Random,
) -> Option<ConcreteInput> {
    for _ in 0..VIOLATE_ATTEMPTS {
        if !solver.can_violate() {
            return None;
        }
        let Some(proposal) = solver.violate(random) else {
            continue;
        };
        let input = concrete_input(number, proposal, random);
        let Intent::Violate { param, category } = &input.intent else {
            continue;
        };
        let exact = match checker.check(&input).as_slice() {
            [only] => only.param == *param && only.category == *category,
            _ => false,
        };
        let exact = exact && tensor_bytes(&input) <= max_tensor_bytes;
        solver.judge_violation(exact);
        if exact {
            return Some(input);
        }
    }
    None
}

/// Tensors have the element types that the user wants.
pub(crate) fn has_dtypes(input: &ConcreteInput, wanted: Option<&[Dtype]>) -> bool {
    let Some(wanted) = wanted else {
        return true;
    };
    let layer = input.layer_arguments.iter().flatten();
    let mut all = true;
    for argument in input.arguments.iter().chain(layer) {
        argument.value.walk(&mut |value| {
            if let Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor) =
                value
            {
                all &= wanted.contains(&tensor.dtype);
            }
        });
    }
    all
}

/// Bytes of all tensors of an input.
pub(crate) fn tensor_bytes(input: &ConcreteInput) -> u64 {
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

/// Parameters that the spec calls required, and the library too, where it says what it takes.
pub(crate) fn required(spec: &Spec, signature: Option<&Signature>) -> Vec<String> {
    if !spec.forms.is_empty() {
        return Vec::new();
    }
    let known = signature.and_then(|signature| signature.params.as_ref());
    let without_default = |name: &str| {
        let Some(known) = known else { return true };
        let mut same = known.iter().filter(|param| param.name == name);
        same.any(|param| param.default.is_none() && !param.kind.starts_with("var_"))
    };
    let params = spec.params.iter();
    params
        .filter(|param| param.role == Role::Required && without_default(&param.name))
        .map(|param| param.name.clone())
        .collect()
}
