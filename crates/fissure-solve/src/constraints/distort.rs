//! Values of another rank or shape, and values of any sort.

use fissure_model::{AbstractValue, Dtype, Fill, FillScheme, TensorKind, Value};

use crate::constraints::meaning::Leaf;
use crate::constraints::sample::Call;

impl Call<'_> {
    pub(super) fn other_rank(&mut self, value: AbstractValue) -> AbstractValue {
        match value {
            AbstractValue::Tensor {
                kind,
                dtype,
                shape,
                fill,
            } => {
                let shape = self.reranked(shape);
                AbstractValue::Tensor {
                    kind,
                    dtype,
                    shape,
                    fill,
                }
            }
            AbstractValue::NdArray { dtype, shape, fill } => {
                let shape = self.reranked(shape);
                AbstractValue::NdArray { dtype, shape, fill }
            }
            AbstractValue::List(items) if self.random.chance(0.5) => {
                AbstractValue::List(vec![AbstractValue::List(items)])
            }
            AbstractValue::Tuple(items) if self.random.chance(0.5) => {
                AbstractValue::Tuple(vec![AbstractValue::Tuple(items)])
            }
            AbstractValue::List(items) => AbstractValue::List(
                items
                    .into_iter()
                    .map(|item| self.other_rank(item))
                    .collect(),
            ),
            AbstractValue::Tuple(items) => AbstractValue::Tuple(
                items
                    .into_iter()
                    .map(|item| self.other_rank(item))
                    .collect(),
            ),
            AbstractValue::Literal(value) => {
                let fill = Fill {
                    lower: Some(1.0),
                    upper: Some(1.0),
                    scheme: FillScheme::Ones,
                };
                let dtype = Leaf::of(&value)
                    .and_then(Leaf::dtype)
                    .filter(|d| d.size().is_some());
                match (self.random.index(3), dtype) {
                    (0, Some(dtype)) => AbstractValue::Tensor {
                        kind: TensorKind::Dense,
                        dtype,
                        shape: self.reranked(Vec::new()),
                        fill,
                    },
                    (1, _) => AbstractValue::Tuple(vec![AbstractValue::Literal(value)]),
                    _ => AbstractValue::List(vec![AbstractValue::Literal(value)]),
                }
            }
            other => other,
        }
    }

    fn reranked(&mut self, mut shape: Vec<u64>) -> Vec<u64> {
        let rank = self.random.index(7);
        shape.truncate(rank);
        while shape.len() < rank {
            let size = 1 + self.random.below(3);
            shape.push(size);
        }
        shape
    }

    pub(super) fn other_shape(&mut self, value: AbstractValue) -> AbstractValue {
        match value {
            AbstractValue::Tensor {
                kind,
                dtype,
                shape,
                fill,
            } => {
                let shape = self.reshaped(shape);
                AbstractValue::Tensor {
                    kind,
                    dtype,
                    shape,
                    fill,
                }
            }
            AbstractValue::NdArray { dtype, shape, fill } => {
                let shape = self.reshaped(shape);
                AbstractValue::NdArray { dtype, shape, fill }
            }
            AbstractValue::List(items) => AbstractValue::List(self.resized(items)),
            AbstractValue::Tuple(items) => AbstractValue::Tuple(self.resized(items)),
            other => self.other_rank(other),
        }
    }

    fn resized(&mut self, mut items: Vec<AbstractValue>) -> Vec<AbstractValue> {
        let tensors = items
            .iter()
            .any(|item| matches!(item, AbstractValue::Tensor { .. }));
        if tensors {
            return items
                .into_iter()
                .map(|item| self.other_shape(item))
                .collect();
        }
        if self.random.chance(0.5) || items.is_empty() {
            let last = items.last().cloned();
            items.push(last.unwrap_or(AbstractValue::Literal(Value::Int(1))));
        } else {
            items.pop();
        }
        items
    }

    fn reshaped(&mut self, mut shape: Vec<u64>) -> Vec<u64> {
        match self.random.index(4) {
            0 => self.reranked(shape),
            1 if !shape.is_empty() => {
                for size in &mut shape {
                    *size += 1 + self.random.below(3);
                }
                shape
            }
            _ if !shape.is_empty() => {
                let at = self.random.index(shape.len());
                shape[at] = if self.random.chance(0.3) {
                    shape[at].saturating_sub(1)
                } else {
                    shape[at] + 1 + self.random.below(4)
                };
                shape
            }
            _ => self.reranked(shape),
        }
    }

    /// Any value at all: what a parameter gets when constraints are switched off.
    pub(super) fn anything(&mut self) -> AbstractValue {
        let literal = AbstractValue::Literal;
        match self.random.index(12) {
            0 | 1 => literal(Value::Int(self.random.between(-8, 16))),
            2 => literal(Value::Float(self.random.unit() * 20.0 - 10.0)),
            3 => literal(Value::Bool(self.random.chance(0.5))),
            4 => literal(Value::Text(
                self.random
                    .pick(&crate::constraints::priors::WORDS)
                    .to_string(),
            )),
            5 => literal(Value::None),
            6 => {
                let count = self.random.index(5);
                let items = (0..count).map(|_| self.random.between(-2, 8));
                let items = items
                    .map(|item| AbstractValue::Literal(Value::Int(item)))
                    .collect();
                if self.random.chance(0.5) {
                    AbstractValue::List(items)
                } else {
                    AbstractValue::Tuple(items)
                }
            }
            7 => {
                let at = self.random.index(self.plan.dtypes.len().max(1));
                literal(
                    self.plan
                        .dtypes
                        .get(at)
                        .map_or(Value::None, |(d, _)| Value::Dtype(*d)),
                )
            }
            _ => {
                let at = self.random.index(self.plan.dtypes.len().max(1));
                let dtype = self
                    .plan
                    .dtypes
                    .get(at)
                    .map_or(Dtype::Float32, |(dtype, _)| *dtype);
                let rank = self.random.index(5);
                let shape = (0..rank).map(|_| self.dim().min(33)).collect();
                let fill = Fill::default();
                AbstractValue::Tensor {
                    kind: TensorKind::Dense,
                    dtype,
                    shape,
                    fill,
                }
            }
        }
    }
}
