//! One conforming call.

use fissure_model::{
    AbstractArgument, AbstractInput, AbstractValue, Category, Dtype, Fill, FillScheme, Intent,
    Passing, Role, TensorKind, Value,
};

use crate::facts::facts_of;
use crate::kind::{Entry, KindPlan};
use crate::leaf::{For, closed, whole};
use crate::meaning::{Leaf, accepts_dtype};
use crate::passing::PassingPlan;
use crate::plan::{Include, LayerPlan, Plan, TensorSlots};
use crate::preference::{Preferences, SlotId};
use crate::random::Random;
use crate::shape::{SCHEMES, SIZES, Scheme, fill_scheme};
use crate::term::{Facts, Scope};

/// A draw that led nowhere: no value of this parameter fits what was drawn before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsatisfied {
    pub param: usize,
    pub category: Category,
}

impl Unsatisfied {
    /// All tensors together passed the limit of bytes.
    pub const TOO_LARGE: Unsatisfied = Unsatisfied {
        param: usize::MAX,
        category: Category::Shape,
    };
}

/// More entries than this in one list make no better test.
const MAX_ENTRIES: u64 = 4096;

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
    bytes: u64,
}

impl<'a> Call<'a> {
    pub fn begin(
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

    pub fn choose(&mut self, slot: SlotId) -> usize {
        self.preferences.choose(slot, self.random)
    }

    pub fn scope(&self) -> Scope<'_> {
        Scope {
            symbols: &self.symbols,
            facts: &self.facts,
        }
    }

    /// Draws all parameters. `forced` is given even if it is optional.
    pub fn draw(&mut self, forced: Option<usize>) -> Result<AbstractInput, Unsatisfied> {
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
                1 + self.random.index(3)
            } else {
                1
            };
            for position in 0..count {
                let value = self.value(index)?;
                if position == 0 {
                    self.facts[index] = self.facts_of_abstract(&value);
                }
                drawn[index].push(value);
            }
        }
        let layer = match &plan.layer {
            Some(layer) => Some(self.layer_inputs(layer)),
            None if plan.order.iter().any(|index| *index >= plan.own) => Some(Vec::new()),
            None => None,
        };
        if self.bytes > plan.max_tensor_bytes {
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

    /// A tensor of the library, or an array when `kind` is `None`.
    fn tensor(
        &mut self,
        index: usize,
        kind: Option<TensorKind>,
    ) -> Result<AbstractValue, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let dtype = self.tensor_dtype(index)?;
        let shape = self.tensor_shape(index)?;
        let mut fill = self.fill(index, dtype, &param.tensor)?;
        if param.read_by_others && fill.scheme != FillScheme::Peak {
            let lower = fill.lower.unwrap_or(0.0);
            let peak = (lower + self.random.below(8) as f64).min(fill.upper.unwrap_or(f64::MAX));
            let peak = if dtype == Dtype::Bool {
                peak.min(1.0)
            } else {
                peak
            };
            let peak = peak.floor().max(lower);
            fill = Fill {
                lower: Some(lower),
                upper: Some(peak),
                scheme: FillScheme::Peak,
            };
        }
        self.count(dtype, &shape);
        self.first_rank.get_or_insert(shape.len());
        Ok(match kind {
            Some(kind) => AbstractValue::Tensor {
                kind,
                dtype,
                shape,
                fill,
            },
            None => AbstractValue::NdArray { dtype, shape, fill },
        })
    }

    fn count(&mut self, dtype: Dtype, shape: &[u64]) {
        let size = dtype.size().unwrap_or(1) as u64;
        let bytes = shape
            .iter()
            .try_fold(size, |product, dim| product.checked_mul(*dim));
        self.bytes = self.bytes.saturating_add(bytes.unwrap_or(u64::MAX));
    }

    fn tensor_dtype(&mut self, index: usize) -> Result<Dtype, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let compiled = &param.compiled;
        let terms = &compiled.constraint.dtypes;
        if compiled.dtype_sources.iter().any(Option::is_some) {
            // Depends on other parameters: filter anew.
            let facts = &self.facts;
            let fits = |dtype: &Dtype| {
                terms
                    .iter()
                    .enumerate()
                    .any(|(at, term)| accepts_dtype(term, *dtype, compiled.dtype_facts(at, facts)))
            };
            let usable = plan.dtypes.iter().map(|(dtype, _)| *dtype);
            let sources = compiled.dtype_sources.iter().flatten();
            let followed = sources.filter_map(|source| facts[*source].dtype);
            let possible: Vec<Dtype> = usable.chain(followed).filter(fits).collect();
            if possible.contains(&self.dtype) {
                return Ok(self.dtype);
            }
            if possible.is_empty() {
                return Err(Unsatisfied {
                    param: index,
                    category: Category::Dtype,
                });
            }
            return Ok(*self.random.pick(&possible));
        }
        Ok(self.slot_dtype(&param.tensor))
    }

    fn slot_dtype(&mut self, slots: &TensorSlots) -> Dtype {
        let option = self.choose(slots.dtype);
        if option == 0 {
            if slots.dtypes.contains(&self.dtype) || slots.dtypes.is_empty() {
                return self.dtype;
            }
            return *self.random.pick(&slots.dtypes);
        }
        slots.dtypes[option - 1]
    }

    fn fill(
        &mut self,
        index: usize,
        dtype: Dtype,
        slots: &TensorSlots,
    ) -> Result<Fill, Unsatisfied> {
        let scheme = fill_scheme(self.choose(slots.fill), self.size);
        let interval = self.interval(index, For::Tensor(dtype));
        let failed = Unsatisfied {
            param: index,
            category: Category::Range,
        };
        let (mut lower, mut upper) = (None, None);
        if interval.lower > f64::NEG_INFINITY || interval.upper < f64::INFINITY {
            if let Some((least, most)) = dtype.integer_limits() {
                let (from, to) = whole(interval).ok_or(failed)?;
                let (from, to) = (from.max(least), to.min(most));
                if from > to {
                    return Err(failed);
                }
                lower = (interval.lower > f64::NEG_INFINITY).then_some(from as f64);
                upper = (interval.upper < f64::INFINITY).then_some(to as f64);
            } else {
                (lower, upper) = closed(interval).ok_or(failed)?;
                let most = dtype.float_max().unwrap_or(f64::MAX);
                if lower.is_some_and(|lower| lower > most) || upper.is_some_and(|u| u < -most) {
                    return Err(failed);
                }
            }
        }
        Ok(Fill {
            lower,
            upper,
            scheme,
        })
    }

    fn length(&mut self, slot: SlotId) -> u64 {
        match self.choose(slot) {
            7 => self.first_rank.unwrap_or(self.shared_shape.len()) as u64,
            length => length as u64,
        }
    }

    fn sequence(
        &mut self,
        index: usize,
        tuple: bool,
        entry: &Entry,
    ) -> Result<AbstractValue, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let compiled = &param.compiled;
        let mut shape = Vec::new();
        if let Entry::Leaf(_) = entry {
            if !compiled.shapes.is_empty() {
                shape = self.constrained_shape(index, 1)?;
            } else if self.bind_rank(index, 1)
                || !compiled.constraint.structures.is_empty() && self.bind_rank(index, 0)
            {
                // A flat list, whose length is drawn below.
            } else {
                let rank = self.constrained_rank(index, 1)?;
                shape = (0..rank).map(|_| 1 + self.random.below(3)).collect();
            }
        }
        if shape.is_empty() {
            shape.push(self.length(param.length));
        }
        let entries = shape
            .iter()
            .try_fold(1_u64, |product, dim| product.checked_mul(*dim));
        // Nested lists cannot have entries inside nothing.
        let lost = shape.iter().rev().skip(1).any(|size| *size == 0);
        if lost || entries.is_none_or(|entries| entries > MAX_ENTRIES) {
            return Err(Unsatisfied {
                param: index,
                category: Category::Shape,
            });
        }
        self.nested(index, tuple, entry, &shape)
    }

    fn nested(
        &mut self,
        index: usize,
        tuple: bool,
        entry: &Entry,
        shape: &[u64],
    ) -> Result<AbstractValue, Unsatisfied> {
        let items = match shape {
            [] | [_] => self.entries(index, entry, shape.first().copied().unwrap_or(0))?,
            [count, inner @ ..] => (0..*count)
                .map(|_| self.nested(index, tuple, entry, inner))
                .collect::<Result<_, _>>()?,
        };
        Ok(if tuple {
            AbstractValue::Tuple(items)
        } else {
            AbstractValue::List(items)
        })
    }

    fn entries(
        &mut self,
        index: usize,
        entry: &Entry,
        count: u64,
    ) -> Result<Vec<AbstractValue>, Unsatisfied> {
        let alike = self.random.chance(0.6);
        let mut items: Vec<AbstractValue> = Vec::with_capacity(count as usize);
        for position in 0..count {
            // Axes must differ, sizes are often equal.
            let item = match (entry, items.first()) {
                (Entry::Tensor, Some(first)) if alike => {
                    let first = first.clone();
                    if let AbstractValue::Tensor { dtype, shape, .. } = &first {
                        self.count(*dtype, shape);
                    }
                    first
                }
                _ => self.entry(index, entry)?,
            };
            let repeated = position > 0
                && items.iter().any(|known| known == &item)
                && matches!(entry, Entry::Leaf(Leaf::Int));
            items.push(if repeated && !alike {
                self.entry(index, entry)?
            } else {
                item
            });
        }
        Ok(items)
    }

    fn entry(&mut self, index: usize, entry: &Entry) -> Result<AbstractValue, Unsatisfied> {
        Ok(match entry {
            Entry::Leaf(leaf) => AbstractValue::Literal(self.leaf(index, *leaf)?),
            Entry::Tensor => {
                let tensors = &self.plan.params[index].compiled.constraint.tensors;
                let kind = tensors.first().copied().unwrap_or(TensorKind::Dense);
                self.tensor(index, Some(kind))?
            }
            Entry::NdArray => self.tensor(index, None)?,
            Entry::Shape => {
                let rank = self.random.index(5);
                let size = |call: &mut Self| AbstractValue::Literal(Value::Int(call.dim().into()));
                AbstractValue::List((0..rank).map(|_| size(self)).collect())
            }
            Entry::Sequence { tuple, entry } => {
                let length = 1 + self.random.below(3);
                let items = self.entries(index, entry, length)?;
                if *tuple {
                    AbstractValue::Tuple(items)
                } else {
                    AbstractValue::List(items)
                }
            }
        })
    }

    fn facts_of_abstract(&self, value: &AbstractValue) -> Facts {
        match value {
            AbstractValue::Literal(value) => facts_of(value, true),
            AbstractValue::Tensor {
                dtype, shape, fill, ..
            }
            | AbstractValue::NdArray { dtype, shape, fill } => {
                let known = fill.scheme == FillScheme::Peak && !dtype.is_complex();
                let peak = fill.upper.filter(|_| known);
                let empty = shape.contains(&0);
                Facts {
                    value: peak.filter(|_| shape.is_empty()),
                    length: shape.first().map(|size| *size as f64),
                    ndim: Some(shape.len() as f64),
                    maximum: peak.filter(|_| !empty),
                    dtype: Some(*dtype),
                    plain: false,
                    shape: Some(shape.clone()),
                }
            }
            AbstractValue::List(items) | AbstractValue::Tuple(items) => {
                let inner: Vec<Facts> = items
                    .iter()
                    .map(|item| self.facts_of_abstract(item))
                    .collect();
                let holds_tensors = items
                    .iter()
                    .any(|item| matches!(item, AbstractValue::Tensor { .. }));
                let regular = !holds_tensors
                    && inner.iter().all(|facts| facts.shape.is_some())
                    && inner.windows(2).all(|pair| pair[0].shape == pair[1].shape);
                let shape = if holds_tensors {
                    Some(vec![items.len() as u64])
                } else {
                    regular.then(|| {
                        let mut shape = vec![items.len() as u64];
                        shape.extend(
                            inner
                                .first()
                                .and_then(|f| f.shape.clone())
                                .unwrap_or_default(),
                        );
                        shape
                    })
                };
                let first = inner.first();
                Facts {
                    value: None,
                    length: Some(items.len() as f64),
                    ndim: shape.as_ref().map(|shape| shape.len() as f64),
                    maximum: inner
                        .iter()
                        .filter_map(|facts| facts.maximum)
                        .reduce(f64::max),
                    dtype: first.and_then(|facts| facts.dtype),
                    plain: first.is_some_and(|facts| facts.plain),
                    shape,
                }
            }
            AbstractValue::Dict(_) => Facts::default(),
        }
    }

    /// The tensors that the object of a layer is called with.
    fn layer_inputs(&mut self, layer: &LayerPlan) -> Vec<AbstractArgument> {
        let count = 1 + self.choose(layer.count);
        let channels = layer.channel.and_then(|param| {
            let facts = &self.facts[param];
            let size = facts.value?;
            (0.0..=4096.0).contains(&size).then_some(size as u64)
        });
        let mut arguments = Vec::with_capacity(count);
        for (position, slots) in layer.inputs.iter().take(count).enumerate() {
            let dtype = self.slot_dtype(slots);
            let mut shape = self.free_shape(slots, None);
            if let Some(channels) = channels
                && self.scheme != Scheme::Square
            {
                // Channels come second, features last; the first tensor shares either place.
                let at = if self.random.chance(0.5) {
                    1
                } else {
                    shape.len().saturating_sub(1)
                };
                if let Some(size) = shape.get_mut(at) {
                    *size = channels;
                }
            }
            if position == 0 {
                self.shared_shape.clone_from(&shape);
            }
            self.count(dtype, &shape);
            let scheme = fill_scheme(self.choose(slots.fill), self.size);
            arguments.push(AbstractArgument {
                name: ["input", "target", "third", "fourth"][position].to_owned(),
                passing: Passing::Positional,
                value: AbstractValue::Tensor {
                    kind: TensorKind::Dense,
                    dtype,
                    shape,
                    fill: Fill {
                        lower: None,
                        upper: None,
                        scheme,
                    },
                },
            });
        }
        arguments
    }
}
