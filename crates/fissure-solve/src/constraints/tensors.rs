//! Tensors: dtype, shape, what they are filled with.

use fissure_model::{
    AbstractArgument, AbstractValue, Category, Dtype, Fill, FillScheme, Passing, TensorKind,
};

use crate::constraints::meaning::accepts_dtype;
use crate::constraints::plan::{LayerPlan, TensorSlots};
use crate::constraints::sample::{Call, Unsatisfied};
use crate::constraints::scalars::{For, closed, whole};
use crate::constraints::shapes::{Scheme, fill_scheme};

impl Call<'_> {
    /// A tensor of the library, or an array when `kind` is `None`.
    pub(super) fn tensor(
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
            let lower = fill.lower.unwrap_or(fill.upper.unwrap_or(0.0).min(0.0));
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

    pub(super) fn count(&mut self, dtype: Dtype, shape: &[u64]) {
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

    /// The tensors that the object of a layer is called with.
    pub(super) fn layer_inputs(&mut self, layer: &LayerPlan) -> Vec<AbstractArgument> {
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
