//! One conforming call.

use fissure_model::{
    AbstractArgument, AbstractInput, AbstractValue, Category, Dtype, Intent, Passing, Role, Value,
};

use crate::constraints::expressions::{Facts, Scope};
use crate::constraints::facts::facts_of_abstract;
use crate::constraints::kinds::KindPlan;
use crate::constraints::meaning::Leaf;
use crate::constraints::passing::PassingPlan;
use crate::constraints::plan::{Include, Plan};
use crate::constraints::preferences::{Preferences, SlotId};
use crate::constraints::shapes::{SCHEMES, SIZES, Scheme};
use crate::random::Random;

/// Inputs up to this size are drawn freely.
const ORDINARY_BYTES: u64 = 128 << 10;
/// Larger ones are kept this often: a few of them find what only large tensors show, more would
/// cost the time of thousands of small ones.
const LARGE_SHARE: f64 = 0.1;

/// A draw that led nowhere: no value of this parameter fits what was drawn before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsatisfied {
    pub param: usize,
    pub category: Category,
}

impl Unsatisfied {
    /// All tensors together passed the limit of bytes.
    pub(super) const TOO_LARGE: Unsatisfied = Unsatisfied {
        param: usize::MAX,
        category: Category::Shape,
    };
}

/// The state of one call while it is drawn.
pub(crate) struct Call<'a> {
    pub plan: &'a Plan,
    pub preferences: &'a mut Preferences,
    pub random: &'a mut Random,
    pub symbols: Vec<Option<f64>>,
    pub facts: Vec<Facts>,
    /// The dtype that tensors have unless they choose otherwise.
    pub dtype: Dtype,
    pub scheme: Scheme,
    /// The shape that tensors share under [`Scheme::Same`].
    pub shared_shape: Vec<u64>,
    /// The size of square tensors.
    pub size: u64,
    /// The rank of the first tensor of the call.
    pub first_rank: Option<usize>,
    /// Only small sizes, because an earlier draw was too large.
    pub small: bool,
    /// Bytes of all tensors so far.
    pub bytes: u64,
}

impl<'a> Call<'a> {
    pub(super) fn begin(
        plan: &'a Plan,
        preferences: &'a mut Preferences,
        random: &'a mut Random,
        small: bool,
    ) -> Self {
        let mut call = Call {
            plan,
            preferences,
            random,
            symbols: vec![None; plan.symbols],
            facts: plan
                .params
                .iter()
                .map(|param| param.default_facts.clone())
                .collect(),
            dtype: Dtype::Float32,
            scheme: Scheme::Same,
            shared_shape: Vec::new(),
            size: 1,
            first_rank: None,
            small,
            bytes: 0,
        };
        let dtype = call.choose(plan.call.dtype);
        call.dtype = plan
            .dtypes
            .get(dtype)
            .map_or(Dtype::Float32, |(dtype, _)| *dtype);
        call.scheme = SCHEMES[call.choose(plan.call.scheme)];
        let rank = call.choose(plan.call.rank);
        let size = SIZES[call.choose(plan.call.size)].0;
        call.size = if small { size.min(4) } else { size };
        call.shared_shape = if call.scheme == Scheme::Square {
            vec![call.size; rank]
        } else {
            (0..rank).map(|_| call.dim()).collect()
        };
        call
    }

    pub(super) fn choose(&mut self, slot: SlotId) -> usize {
        self.preferences.choose(slot, self.random)
    }

    pub(super) fn scope(&self) -> Scope<'_> {
        Scope {
            symbols: &self.symbols,
            facts: &self.facts,
        }
    }

    /// Draws all parameters. `forced` is given even if it is optional.
    pub(super) fn draw(&mut self, forced: Option<usize>) -> Result<AbstractInput, Unsatisfied> {
        let plan = self.plan;
        let by_position = self.choose(plan.call.passing) == 1;
        let mut drawn: Vec<Vec<AbstractValue>> = plan.params.iter().map(|_| Vec::new()).collect();
        for &index in &plan.order {
            let param = &plan.params[index];
            let included = match param.include {
                Include::Always => true,
                Include::Never => false,
                Include::Sometimes(slot) => self.choose(slot) == 1,
            } || forced == Some(index);
            if !included {
                continue;
            }
            let count = if param.role == Role::VarPositional {
                let least = usize::from(forced == Some(index));
                self.choose(param.star).max(least)
            } else {
                1
            };
            for position in 0..count {
                let value = self.value(index)?;
                if position == 0 {
                    self.facts[index] = facts_of_abstract(&value);
                }
                drawn[index].push(value);
            }
        }
        let layer = match &plan.layer {
            Some(layer) => Some(self.layer_inputs(layer)),
            None if plan.order.iter().any(|index| *index >= plan.own) => Some(Vec::new()),
            None => None,
        };
        let large = self.bytes > ORDINARY_BYTES && !self.small && !self.random.chance(LARGE_SHARE);
        if large || self.bytes > plan.max_tensor_bytes {
            return Err(Unsatisfied::TOO_LARGE);
        }
        let mut arguments = Vec::with_capacity(plan.own);
        let mut layer_arguments = layer;
        for (index, (param, values)) in plan.params.iter().zip(drawn).enumerate() {
            let passing = match param.passing {
                PassingPlan::Fixed(passing) => passing,
                PassingPlan::Open if by_position => Passing::Positional,
                PassingPlan::Open | PassingPlan::Impossible => Passing::Keyword,
            };
            let target = if index < plan.own {
                &mut arguments
            } else {
                layer_arguments.get_or_insert_with(Vec::new)
            };
            target.extend(values.into_iter().map(|value| AbstractArgument {
                name: param.name.clone(),
                passing,
                value,
            }));
        }
        // Python wants positional arguments first.
        if arguments
            .iter()
            .any(|a: &AbstractArgument| a.passing == Passing::Positional)
        {
            arguments.sort_by_key(|argument| argument.passing == Passing::Keyword);
        }
        Ok(AbstractInput {
            arguments,
            layer_arguments,
            intent: Intent::Conform,
        })
    }

    fn value(&mut self, index: usize) -> Result<AbstractValue, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let kind = &param.kinds[self.choose(param.kind)];
        Ok(match kind {
            KindPlan::Enumeration => {
                let option = self.choose(param.enumeration);
                AbstractValue::Literal(param.compiled.constraint.enums[option].clone())
            }
            KindPlan::Leaf(leaf) => {
                let exempt = *leaf == Leaf::Dtype;
                if !exempt && !self.bind_rank(index, 0) {
                    return Err(Unsatisfied {
                        param: index,
                        category: Category::Ndim,
                    });
                }
                if !exempt && !param.compiled.shapes.is_empty() {
                    let shape = self.constrained_shape(index, 0)?;
                    if !shape.is_empty() {
                        return Err(Unsatisfied {
                            param: index,
                            category: Category::Shape,
                        });
                    }
                }
                AbstractValue::Literal(self.leaf(index, *leaf)?)
            }
            KindPlan::Objects(values) => {
                let option = self.choose(param.object);
                AbstractValue::Literal(values[option % values.len()].clone())
            }
            KindPlan::Tensor(kind) => self.tensor(index, Some(*kind))?,
            KindPlan::NdArray => self.tensor(index, None)?,
            KindPlan::Sequence { tuple, entry } => self.sequence(index, *tuple, entry)?,
            KindPlan::NamedTuple { names, entry } => {
                let items = self.entries(index, entry, *names as u64)?;
                AbstractValue::Tuple(items)
            }
            KindPlan::Dict { key, entry } => {
                let length = self.length(param.length).min(4);
                let entries = self.entries(index, entry, length)?;
                let pairs = entries.into_iter().enumerate().map(|(position, entry)| {
                    let key = match key {
                        Leaf::Text => Value::Text(char::from(b'a' + position as u8).to_string()),
                        _ => Value::Int(position as i128),
                    };
                    (AbstractValue::Literal(key), entry)
                });
                AbstractValue::Dict(pairs.collect())
            }
        })
    }
}
