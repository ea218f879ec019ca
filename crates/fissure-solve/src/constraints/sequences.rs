//! Lists, tuples and what they contain.

use fissure_model::{AbstractValue, Category, TensorKind, Value};

use crate::constraints::kinds::Entry;
use crate::constraints::meaning::Leaf;
use crate::constraints::preferences::SlotId;
use crate::constraints::priors::is_axis;
use crate::constraints::sample::{Call, Unsatisfied};
use crate::constraints::scalars::{For, whole};

/// More entries than this in one list make no better test.
const MAX_ENTRIES: u64 = 4096;

impl Call<'_> {
    pub(super) fn length(&mut self, slot: SlotId) -> u64 {
        match self.choose(slot) {
            7 => self.first_rank.unwrap_or(self.shared_shape.len()) as u64,
            length => length as u64,
        }
    }

    pub(super) fn sequence(
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
            // No entry, no shape: an empty list cannot have what the constraint asks of entries.
            let least = u64::from(
                *entry == Entry::Tensor
                    && !(compiled.shapes.is_empty() && compiled.ndims.is_empty()),
            );
            shape.push(self.length(param.length).max(least));
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

    pub(super) fn entries(
        &mut self,
        index: usize,
        entry: &Entry,
        count: u64,
    ) -> Result<Vec<AbstractValue>, Unsatisfied> {
        let alike = self.random.chance(0.6);
        let axes = is_axis(&self.plan.params[index].name);
        let rank = if axes { self.axis_rank(index) } else { 0 };
        let mut items: Vec<AbstractValue> = Vec::with_capacity(count as usize);
        for _ in 0..count {
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
            let known = |item: &AbstractValue| items.iter().any(|one| same_axis(one, item, rank));
            let repeated = *entry == Entry::Leaf(Leaf::Int) && known(&item);
            let item = if !repeated || (alike && !axes) {
                item
            } else if axes {
                self.free_axis(index, &items, rank).unwrap_or(item)
            } else {
                self.entry(index, entry)?
            };
            items.push(item);
        }
        Ok(items)
    }

    /// The rank of the tensor whose axes a parameter names.
    pub(super) fn axis_rank(&self, index: usize) -> i128 {
        let of = self.plan.params[index].compiled.soft.axis_of;
        match of.and_then(|of| self.facts[of].ndim) {
            Some(rank) => rank as i128,
            None => self.first_rank.unwrap_or(self.shared_shape.len()) as i128,
        }
    }

    /// An axis that the list does not name yet, as nearly every library insists.
    fn free_axis(
        &mut self,
        index: usize,
        items: &[AbstractValue],
        rank: i128,
    ) -> Option<AbstractValue> {
        let (lower, upper) = whole(self.interval(index, For::Leaf(Leaf::Int)))?;
        let free: Vec<AbstractValue> = (lower.max(-rank)..=upper.min(rank - 1))
            .map(|axis| AbstractValue::Literal(Value::Int(axis)))
            .filter(|axis| !items.iter().any(|item| same_axis(item, axis, rank)))
            .collect();
        (!free.is_empty()).then(|| self.random.pick(&free).clone())
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
}

/// Do two integers name the same axis? −1 is the last one.
fn same_axis(one: &AbstractValue, other: &AbstractValue, rank: i128) -> bool {
    match (one, other) {
        (AbstractValue::Literal(Value::Int(one)), AbstractValue::Literal(Value::Int(other))) => {
            one == other || (rank > 0 && (one - other).abs() == rank)
        }
        _ => one == other,
    }
}
