//! A spec prepared for sampling: every open choice is a slot, every name an index.

use fissure_model::{Dtype, Element, Param, Role, Signature, Spec, Structure, Value};

use crate::constraints::compiled::{CompiledParam, CompiledSpec};
use crate::constraints::expressions::{Facts, Term};
use crate::constraints::facts::facts_of;
use crate::constraints::kinds::{KindPlan, kinds_of};
use crate::constraints::meaning::accepts_dtype;
use crate::constraints::passing::{PassingPlan, layer_passing, passing_of};
use crate::constraints::preferences::{Preferences, SlotBuilder, SlotId};
use crate::constraints::priors::{
    RARE, WORDS, float_weights, include_factor, int_weights, is_channel, layer_inputs,
    length_weights, library_dtypes, named_dtypes, rank_weights,
};

/// What the user asked of the sampler.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Probability that an optional parameter is given.
    pub optional_ratio: f64,
    /// Only these element types, where given.
    pub dtypes: Option<Vec<Dtype>>,
    /// Construct a layer and call it, too.
    pub layer_call: bool,
    /// Bytes of all tensors of one input together.
    pub max_tensor_bytes: u64,
}

/// A spec that cannot be sampled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("parameters depend on each other in a circle: {}", .0.join(" → "))]
    Cycle(Vec<String>),
    #[error("no value satisfies the {category} constraint of parameter `{param}`")]
    Unsatisfiable { param: String, category: String },
    #[error("every input is larger than the limit of {limit} bytes")]
    TooLarge { limit: u64 },
}

pub(crate) struct Plan {
    pub params: Vec<ParamPlan>,
    /// How many of them belong to the constructor or function; the rest to the layer's call.
    pub own: usize,
    pub order: Vec<usize>,
    pub symbols: usize,
    pub call: CallSlots,
    pub layer: Option<LayerPlan>,
    pub max_tensor_bytes: u64,
    /// Every dtype of the library that may be used, with weights.
    pub dtypes: Vec<(Dtype, f32)>,
    /// What a parameter that is a dtype may be: every one that the library has a name for.
    pub dtype_objects: Vec<(Dtype, f32)>,
}

/// Choices that concern all parameters of a call.
pub(crate) struct CallSlots {
    pub dtype: SlotId,
    /// [`crate::constraints::shapes::Scheme`]
    pub scheme: SlotId,
    pub rank: SlotId,
    /// [`crate::constraints::shapes::SIZES`]
    pub size: SlotId,
    /// By name or by position, where the library does not say.
    pub passing: SlotId,
}

/// A layer whose call the spec does not describe: one to four tensors.
pub(crate) struct LayerPlan {
    pub count: SlotId,
    pub inputs: Vec<TensorSlots>,
    /// The parameter that sets the number of channels.
    pub channel: Option<usize>,
}

pub(crate) enum Include {
    Always,
    Never,
    Sometimes(SlotId),
}

pub(crate) struct ParamPlan {
    pub name: String,
    pub role: Role,
    pub include: Include,
    pub passing: PassingPlan,
    pub compiled: CompiledParam,
    pub kind: SlotId,
    pub kinds: Vec<KindPlan>,
    pub tensor: TensorSlots,
    pub int: SlotId,
    pub float: SlotId,
    pub boolean: SlotId,
    pub text: SlotId,
    pub texts: Vec<String>,
    pub dtype_object: SlotId,
    pub length: SlotId,
    /// How many arguments a star parameter gets.
    pub star: SlotId,
    pub alternative: SlotId,
    pub enumeration: SlotId,
    pub object: SlotId,
    pub default: Option<Value>,
    /// What others read while the parameter is left away.
    pub default_facts: Facts,
    /// Another parameter's expression reads this value or its largest element.
    pub read_by_others: bool,
}

pub(crate) struct TensorSlots {
    /// Those that the constraint allows whatever the other parameters are.
    pub dtypes: Vec<Dtype>,
    /// The dtype of the call first, then `dtypes`.
    pub dtype: SlotId,
    pub rank: SlotId,
    /// [`crate::constraints::shapes::Form`]
    pub form: SlotId,
    /// [`crate::constraints::shapes::FILLS`]
    pub fill: SlotId,
}

impl Plan {
    pub(crate) fn new(
        spec: &Spec,
        signature: Option<&Signature>,
        options: &PlanOptions,
    ) -> Result<(Plan, Preferences), PlanError> {
        let cycle = |cycle: fissure_spec::Cycle| PlanError::Cycle(cycle.names);
        let own = spec.params.len();
        let mut order = fissure_spec::generation_order(spec).map_err(cycle)?;
        let layer_called = spec.api.layer && options.layer_call;
        if layer_called {
            let layer = fissure_spec::layer_generation_order(spec).map_err(cycle)?;
            order.extend(layer.into_iter().map(|index| own + index));
        }
        let compiled = CompiledSpec::new(spec);
        let dtypes: Vec<(Dtype, f32)> = match &options.dtypes {
            None => library_dtypes(spec.api.tensor_library()).to_vec(),
            Some(only) => {
                let known = library_dtypes(spec.api.tensor_library());
                let weight = |dtype: &Dtype| {
                    known
                        .iter()
                        .find(|(known, _)| known == dtype)
                        .map_or(0.5, |(_, weight)| *weight)
                };
                only.iter()
                    .filter(|dtype| dtype.size().is_some())
                    .map(|dtype| (*dtype, weight(dtype)))
                    .collect()
            }
        };
        let dtype_objects = match &options.dtypes {
            None => named_dtypes(spec.api.tensor_library()),
            Some(_) => dtypes.clone(),
        };
        let mut slots = SlotBuilder::default();
        let call = CallSlots {
            dtype: slots.slot(weights_or_one(&dtypes)),
            scheme: slots.slot(crate::constraints::shapes::SCHEME_WEIGHTS.to_vec()),
            rank: slots.slot(rank_weights(&spec.api.title)),
            size: slots.slot(
                crate::constraints::shapes::SIZES
                    .iter()
                    .map(|(_, weight)| *weight)
                    .collect(),
            ),
            passing: slots.slot(vec![0.7, 0.3]),
        };
        let read = read_params(&compiled);
        let symbols = compiled.symbols;
        let all: Vec<&Param> = spec.params.iter().chain(&spec.layer_params).collect();
        let mut params = Vec::with_capacity(all.len());
        for (index, (param, compiled)) in all.iter().zip(compiled.params).enumerate() {
            let passing = if index < own {
                passing_of(spec, index, signature)
            } else {
                layer_passing(param)
            };
            let plan = ParamPlan::new(
                spec,
                param,
                compiled,
                passing,
                options,
                &dtypes,
                &dtype_objects,
                read[index],
                symbols,
                &mut slots,
            )?;
            params.push(plan);
        }
        let layer = (layer_called && spec.layer_params.is_empty()).then(|| LayerPlan {
            count: slots.slot(layer_inputs(&spec.api.title)),
            inputs: (0..4)
                .map(|_| TensorSlots::new(&spec.api.title, &dtypes, &[], &mut slots))
                .collect(),
            channel: spec.params.iter().position(|param| is_channel(&param.name)),
        });
        let plan = Plan {
            params,
            own,
            order,
            symbols,
            call,
            layer,
            max_tensor_bytes: options.max_tensor_bytes,
            dtypes,
            dtype_objects,
        };
        Ok((plan, slots.finish()))
    }
}

fn weights_or_one(dtypes: &[(Dtype, f32)]) -> Vec<f32> {
    if dtypes.is_empty() {
        vec![1.0]
    } else {
        dtypes.iter().map(|(_, weight)| *weight).collect()
    }
}

/// Types that a list names outright, each for a reason of its own, at most.
const SHORT_LIST: usize = 8;

impl TensorSlots {
    fn new(
        title: &str,
        library: &[(Dtype, f32)],
        allowed: &[Dtype],
        slots: &mut SlotBuilder,
    ) -> Self {
        let dtypes: Vec<Dtype> = if allowed.is_empty() {
            library.iter().map(|(dtype, _)| *dtype).collect()
        } else {
            allowed.to_vec()
        };
        let is_usual = |dtype: &Dtype| library.iter().any(|(known, _)| known == dtype);
        // A type that stands alone or beside its like is meant; one of a list of everything is hardly ever used.
        let unusual = match dtypes.iter().any(is_usual) && dtypes.len() > SHORT_LIST {
            true => RARE,
            false => 0.5,
        };
        let weight = |dtype: &Dtype| {
            library
                .iter()
                .find(|(known, _)| known == dtype)
                .map_or(unusual, |(_, weight)| *weight)
        };
        let own: Vec<f32> = dtypes.iter().map(weight).collect();
        let total: f32 = own.iter().sum();
        let mut weights = vec![total.max(1.0) * 3.0];
        weights.extend(own);
        TensorSlots {
            dtypes,
            dtype: slots.slot(weights),
            rank: slots.slot(rank_weights(title)),
            form: slots.slot(crate::constraints::shapes::FORM_WEIGHTS.to_vec()),
            fill: slots.slot(crate::constraints::shapes::FILL_WEIGHTS.to_vec()),
        }
    }
}

impl ParamPlan {
    #[expect(
        clippy::too_many_arguments,
        reason = "called once, from the plan being built"
    )]
    fn new(
        spec: &Spec,
        param: &Param,
        compiled: CompiledParam,
        passing: PassingPlan,
        options: &PlanOptions,
        library: &[(Dtype, f32)],
        dtype_objects: &[(Dtype, f32)],
        read_by_others: bool,
        symbols: usize,
        slots: &mut SlotBuilder,
    ) -> Result<Self, PlanError> {
        let title = &spec.api.title;
        let constraint = &param.constraint;
        let allowed = allowed_dtypes(&compiled, library, options.dtypes.as_deref());
        let restricted = !constraint.dtypes.is_empty() || !compiled.hints.dtypes.is_empty();
        let tensors_possible = !restricted || !allowed.is_empty();
        let weighted = kinds_of(spec, param, &compiled, tensors_possible, symbols);
        let required = param.role == Role::Required;
        if weighted.is_empty() && required {
            return Err(PlanError::Unsatisfiable {
                param: param.name.clone(),
                category: "dtype".into(),
            });
        }
        let usable = !weighted.is_empty()
            && !matches!(passing, PassingPlan::Impossible)
            && param.role != Role::VarKeyword;
        let include = if required || param.role == Role::VarPositional && usable {
            Include::Always
        } else if !usable {
            Include::Never
        } else {
            let factor = include_factor(&param.name, param.deprecated, compiled.hints.output);
            let ratio = options.optional_ratio.clamp(0.0, 1.0) as f32 * factor;
            Include::Sometimes(slots.slot(vec![1.0 - ratio, ratio]))
        };
        let default = param.default.clone();
        let mut texts: Vec<String> = Vec::new();
        let mut text_weights = Vec::new();
        let mut add_text = |text: &str, weight: f32| {
            if !texts.iter().any(|known| known == text) {
                texts.push(text.to_owned());
                text_weights.push(weight);
            }
        };
        for choice in default.iter().chain(&compiled.hints.choices) {
            if let Value::Text(text) = choice {
                add_text(text, 6.0);
            }
        }
        let known = default.iter().chain(&compiled.hints.choices);
        let known = known
            .filter(|value| matches!(value, Value::Text(_)))
            .count();
        for word in WORDS {
            add_text(word, if known > 0 { 0.05 } else { 0.4 });
        }
        // The last option: random letters.
        text_weights.push(if known > 0 { 0.3 } else { 0.8 });
        let enums = constraint.enums.len().clamp(1, 200);
        let (kinds, kind_weights): (Vec<KindPlan>, Vec<f32>) = weighted.into_iter().unzip();
        let objects = kinds
            .iter()
            .map(|kind| {
                if let KindPlan::Objects(values) = kind {
                    values.len()
                } else {
                    0
                }
            })
            .max();
        Ok(ParamPlan {
            name: param.name.clone(),
            role: param.role,
            include,
            passing,
            kind: slots.slot(if kind_weights.is_empty() {
                vec![1.0]
            } else {
                kind_weights
            }),
            kinds,
            tensor: TensorSlots::new(title, library, &allowed, slots),
            int: slots.slot(int_weights(&param.name, default.as_ref())),
            float: slots.slot(float_weights(&param.name, default.as_ref())),
            boolean: slots.slot(vec![1.0, 1.0]),
            text: slots.slot(text_weights),
            texts,
            dtype_object: slots.slot(weights_or_one(dtype_objects)),
            length: slots.slot(length_weights_with_hint(title, param, &compiled)),
            star: slots.slot(star_weights(spec)),
            alternative: slots.slot(vec![1.0; compiled.shapes.len().clamp(1, 200)]),
            enumeration: slots.slot(vec![1.0; enums]),
            object: slots.slot(vec![1.0; objects.unwrap_or(1).max(1)]),
            default_facts: default
                .as_ref()
                .map(|v| facts_of(v, true))
                .unwrap_or_default(),
            default,
            read_by_others,
            compiled,
        })
    }
}

/// Weights of 0 to 4 arguments. Beside required parameters a star parameter often only takes what
/// is left over, and documentation that says `*args` may mean the parameters themselves.
fn star_weights(spec: &Spec) -> Vec<f32> {
    let others = spec.params.iter().any(|param| param.role == Role::Required);
    vec![if others { 4.0 } else { 0.2 }, 2.0, 2.0, 1.0, 0.3]
}

fn length_weights_with_hint(title: &str, param: &Param, compiled: &CompiledParam) -> Vec<f32> {
    let mut weights = length_weights(title, &param.name, param.default.as_ref());
    if let Some(length) = compiled.hints.length
        && let Some(weight) = weights.get_mut(length)
    {
        *weight += 8.0;
    }
    if let Some(least) = compiled.hints.least_length {
        // Shorter ones are refused; one now and then, to see how.
        let shorter = least.min(weights.len() - 1);
        weights[..shorter].iter_mut().for_each(|it| *it *= 0.02);
        weights[shorter] += 1.0;
    }
    weights
}

/// Element types that the constraint allows whatever other parameters are; for a constraint
/// without any, those that the documentation names.
fn allowed_dtypes(
    compiled: &CompiledParam,
    library: &[(Dtype, f32)],
    only: Option<&[Dtype]>,
) -> Vec<Dtype> {
    let terms = if compiled.constraint.dtypes.is_empty() {
        &compiled.hints.dtypes
    } else {
        &compiled.constraint.dtypes
    };
    // A type named outright is used even if it is not among the usual ones (`qint8`).
    Dtype::ALL
        .into_iter()
        .filter(|dtype| dtype.size().is_some())
        .filter(|dtype| only.is_none_or(|only| only.contains(dtype)))
        .filter(|dtype| {
            let usual = library.iter().any(|(known, _)| known == dtype);
            terms.iter().any(|term| match term {
                fissure_model::DtypeTerm::Exact(exact) => exact == dtype,
                term => usual && accepts_dtype(term, *dtype, None),
            })
        })
        .collect()
}

/// Which parameters are read by number in an expression.
pub(crate) fn read_params(compiled: &CompiledSpec) -> Vec<bool> {
    fn visit(term: &Term, read: &mut [bool]) {
        match term {
            Term::Value(param) | Term::Maximum(param) => read[*param] = true,
            Term::Negate(inner) => visit(inner, read),
            Term::Binary(left, _, right) => {
                visit(left, read);
                visit(right, read);
            }
            _ => {}
        }
    }
    use crate::constraints::compiled::{CompiledDim, CompiledShape};
    let mut read = vec![false; compiled.params.len()];
    for param in &compiled.params {
        for compared in &param.ndims {
            visit(&compared.1, &mut read);
        }
        for shape in &param.shapes {
            if let CompiledShape::Dims(dims) = shape {
                for dim in dims {
                    if let CompiledDim::Is(compared) = dim {
                        visit(&compared.1, &mut read);
                    }
                }
            }
        }
        for range in &param.ranges {
            visit(&range.lower.0, &mut read);
            visit(&range.upper.0, &mut read);
        }
    }
    read
}

/// What a structure says about its entries.
pub(crate) fn element_of(structure: &Structure) -> Option<&Element> {
    match structure {
        Structure::List(element)
        | Structure::Tuple(element)
        | Structure::NamedTuple(_, element)
        | Structure::Sequence(element)
        | Structure::NdArray(element) => element.as_ref(),
        Structure::Dict(_, value) => value.as_ref(),
    }
}
