//! One value that breaks one category of its parameter's constraint, and values without any.
//!
//! These are proposals: whether exactly the wanted category is broken is for the checker to say,
//! and the caller tries again if not.

use fissure_model::{AbstractValue, Category, Dtype, Fill, FillScheme, TensorKind, Value};

use crate::constraints::meaning::{Leaf, accepts_dtype, accepts_leaf, containers_listed};
use crate::constraints::plan::{Include, ParamPlan, Plan};
use crate::constraints::sample::Call;
use crate::constraints::scalars::{For, whole};

/// The categories in which a parameter is constrained.
pub(crate) fn violable(param: &ParamPlan) -> Vec<Category> {
    if matches!(param.include, Include::Never) {
        return Vec::new();
    }
    let constraint = &param.compiled.constraint;
    if !constraint.enums.is_empty() {
        return vec![Category::Enum];
    }
    let mut categories = Vec::new();
    let mut add = |constrained: bool, category| {
        if constrained {
            categories.push(category);
        }
    };
    add(!constraint.dtypes.is_empty(), Category::Dtype);
    add(containers_listed(constraint), Category::Structure);
    add(!param.compiled.ndims.is_empty(), Category::Ndim);
    add(!param.compiled.shapes.is_empty(), Category::Shape);
    add(!param.compiled.ranges.is_empty(), Category::Range);
    categories
}

impl Call<'_> {
    /// `value`, changed so that `category` is likely broken and the rest is not.
    pub(super) fn broken(
        &mut self,
        index: usize,
        category: Category,
        value: AbstractValue,
    ) -> Option<AbstractValue> {
        match category {
            Category::Enum => self.outside_enum(index),
            Category::Dtype => self.other_dtype(index, value),
            Category::Structure => Some(self.other_container(&value)),
            Category::Ndim => Some(self.other_rank(value)),
            Category::Shape => Some(self.other_shape(value)),
            Category::Range => self.out_of_range(index, value),
        }
    }

    /// A value of a sort that no list of flags holds: half of them with several elements,
    /// which code that only asks whether a flag is set has no answer for.
    fn other_sort(&mut self) -> AbstractValue {
        let literal = AbstractValue::Literal;
        match self.random.index(8) {
            0 => literal(Value::Text("none of these".into())),
            1 => literal(Value::Int(self.random.between(-8, 16))),
            2 => literal(Value::Dtype(self.dtype)),
            3 => {
                let items = vec![literal(Value::Int(1)), literal(Value::Int(0))];
                AbstractValue::List(items)
            }
            sort => {
                let dtype = if sort < 6 { Dtype::Bool } else { self.dtype };
                let rank = 1 + self.random.index(2);
                AbstractValue::Tensor {
                    kind: TensorKind::Dense,
                    dtype,
                    shape: (0..rank).map(|_| 2 + self.random.below(2)).collect(),
                    fill: Fill::default(),
                }
            }
        }
    }

    fn outside_enum(&mut self, index: usize) -> Option<AbstractValue> {
        let plan = self.plan;
        let entries = &plan.params[index].compiled.constraint.enums;
        let numbers: Option<Vec<i128>> = entries
            .iter()
            .map(|entry| {
                if let Value::Int(value) = entry {
                    Some(*value)
                } else {
                    None
                }
            })
            .collect();
        if let Some(numbers) = numbers {
            let (least, most) = (numbers.iter().min()?, numbers.iter().max()?);
            let value = if self.random.chance(0.5) {
                least - 1
            } else {
                most + 1
            };
            return Some(AbstractValue::Literal(Value::Int(value)));
        }
        let texts: Vec<&String> = entries
            .iter()
            .filter_map(|entry| {
                if let Value::Text(text) = entry {
                    Some(text)
                } else {
                    None
                }
            })
            .collect();
        if texts.is_empty() {
            return Some(self.other_sort());
        }
        let mut letters: Vec<char> = self.random.pick(&texts).chars().collect();
        let at = self.random.index(letters.len() + 1);
        let letter = char::from(b'a' + self.random.below(26) as u8);
        match self.random.index(3) {
            0 if at < letters.len() => letters[at] = letter,
            1 if at < letters.len() => {
                letters.remove(at);
            }
            _ => letters.insert(at, letter),
        }
        Some(AbstractValue::Literal(Value::Text(
            letters.into_iter().collect(),
        )))
    }

    fn other_dtype(&mut self, index: usize, value: AbstractValue) -> Option<AbstractValue> {
        let plan = self.plan;
        let compiled = &plan.params[index].compiled;
        let terms = &compiled.constraint.dtypes;
        let facts = &self.facts;
        let tensor: Vec<Dtype> =
            plan.dtypes
                .iter()
                .map(|(dtype, _)| *dtype)
                .filter(|dtype| {
                    !terms.iter().enumerate().any(|(at, term)| {
                        accepts_dtype(term, *dtype, compiled.dtype_facts(at, facts))
                    })
                })
                .collect();
        let plain: Vec<Value> = [
            Value::Int(1),
            Value::Float(1.5),
            Value::Bool(true),
            Value::Text("text".into()),
            Value::Complex { re: 1.0, im: 1.0 },
        ]
        .into_iter()
        .filter(|value| {
            let leaf = Leaf::of(value);
            leaf.is_some_and(|leaf| {
                !terms
                    .iter()
                    .enumerate()
                    .any(|(at, term)| accepts_leaf(term, leaf, compiled.dtype_facts(at, facts)))
            })
        })
        .collect();
        let tensor = (!tensor.is_empty()).then(|| *self.random.pick(&tensor));
        let plain = (!plain.is_empty()).then(|| self.random.pick(&plain).clone());
        change(value, &mut |value| match value {
            AbstractValue::Tensor {
                kind, shape, fill, ..
            } => Some(AbstractValue::Tensor {
                kind,
                dtype: tensor?,
                shape,
                fill: Fill {
                    scheme: FillScheme::Index(2),
                    ..fill
                },
            }),
            AbstractValue::NdArray { shape, fill, .. } => Some(AbstractValue::NdArray {
                dtype: tensor?,
                shape,
                fill: Fill {
                    scheme: FillScheme::Index(2),
                    ..fill
                },
            }),
            _ => plain.clone().map(AbstractValue::Literal),
        })
    }

    fn other_container(&mut self, value: &AbstractValue) -> AbstractValue {
        let entry = first_leaf(value);
        let literal = || AbstractValue::Literal(entry.clone());
        let dtype = first_dtype(value).unwrap_or(self.dtype);
        let shape = match value {
            AbstractValue::Tensor { shape, .. } | AbstractValue::NdArray { shape, .. } => {
                shape.clone()
            }
            AbstractValue::Literal(_) => Vec::new(),
            _ => vec![2],
        };
        let fill = Fill {
            lower: Some(1.0),
            upper: Some(1.0),
            scheme: FillScheme::Ones,
        };
        match self.random.index(9) {
            0 | 1 => literal(),
            2 => AbstractValue::List(vec![literal(), literal()]),
            3 => AbstractValue::Tuple(vec![literal(), literal()]),
            4 => AbstractValue::List(vec![literal()]),
            5 => AbstractValue::Tuple(vec![literal()]),
            6 => {
                let key = AbstractValue::Literal(Value::Text("a".into()));
                AbstractValue::Dict(vec![(key, literal())])
            }
            7 => AbstractValue::NdArray { dtype, shape, fill },
            _ => AbstractValue::Tensor {
                kind: TensorKind::Dense,
                dtype,
                shape,
                fill,
            },
        }
    }

    fn out_of_range(&mut self, index: usize, value: AbstractValue) -> Option<AbstractValue> {
        let leaf = first_leaf(&value);
        let holder = match first_dtype(&value) {
            Some(dtype) => For::Tensor(dtype),
            None => For::Leaf(Leaf::of(&leaf)?),
        };
        let interval = self.interval(index, holder);
        let is_float = match holder {
            For::Tensor(dtype) => !dtype.is_integer() && dtype != Dtype::Bool,
            For::Leaf(leaf) => leaf == Leaf::Float,
        };
        let step = if self.random.chance(0.5) {
            1.0
        } else {
            self.random.below(8) as f64 + 1.0
        };
        let (lower, upper) = if is_float {
            (interval.lower, interval.upper)
        } else {
            let (lower, upper) = whole(interval)?;
            (lower as f64, upper as f64)
        };
        let mut beyond = Vec::new();
        if interval.lower > f64::NEG_INFINITY {
            beyond.push(lower - step);
            if is_float && !interval.lower_closed {
                beyond.push(lower);
            }
        }
        if interval.upper < f64::INFINITY {
            beyond.push(upper + step);
            if is_float && !interval.upper_closed {
                beyond.push(upper);
            }
        }
        if beyond.is_empty() {
            return None;
        }
        let number = *self.random.pick(&beyond);
        let fill = Fill {
            lower: Some(number),
            upper: Some(number),
            scheme: FillScheme::Mixed,
        };
        change(value, &mut |value| match value {
            AbstractValue::Tensor {
                kind, dtype, shape, ..
            } => Some(AbstractValue::Tensor {
                kind,
                dtype,
                shape,
                fill,
            }),
            AbstractValue::NdArray { dtype, shape, .. } => {
                Some(AbstractValue::NdArray { dtype, shape, fill })
            }
            AbstractValue::Literal(Value::Int(_)) => {
                Some(AbstractValue::Literal(Value::Int(number as i128)))
            }
            AbstractValue::Literal(Value::Float(_)) => {
                Some(AbstractValue::Literal(Value::Float(number)))
            }
            _ => None,
        })
    }
}

/// Applies `to` to every tensor and plain value inside; `None` if it fails for one.
fn change(
    value: AbstractValue,
    to: &mut impl FnMut(AbstractValue) -> Option<AbstractValue>,
) -> Option<AbstractValue> {
    Some(match value {
        AbstractValue::List(items) if !items.is_empty() => AbstractValue::List(
            items
                .into_iter()
                .map(|item| change(item, to))
                .collect::<Option<_>>()?,
        ),
        AbstractValue::Tuple(items) if !items.is_empty() => AbstractValue::Tuple(
            items
                .into_iter()
                .map(|item| change(item, to))
                .collect::<Option<_>>()?,
        ),
        AbstractValue::Dict(pairs) if !pairs.is_empty() => AbstractValue::Dict(
            pairs
                .into_iter()
                .map(|(key, entry)| Some((key, change(entry, to)?)))
                .collect::<Option<_>>()?,
        ),
        AbstractValue::List(_) | AbstractValue::Tuple(_) | AbstractValue::Dict(_) => return None,
        other => to(other)?,
    })
}

fn first_leaf(value: &AbstractValue) -> Value {
    match value {
        AbstractValue::Literal(value) => value.clone(),
        AbstractValue::Tensor { dtype, .. } | AbstractValue::NdArray { dtype, .. } => {
            if *dtype == Dtype::Bool {
                Value::Bool(true)
            } else if dtype.is_float() {
                Value::Float(1.0)
            } else if dtype.is_complex() {
                Value::Complex { re: 1.0, im: 0.0 }
            } else {
                Value::Int(1)
            }
        }
        AbstractValue::List(items) | AbstractValue::Tuple(items) => {
            items.first().map_or(Value::Int(1), first_leaf)
        }
        AbstractValue::Dict(pairs) => pairs.first().map_or(Value::Int(1), |(_, v)| first_leaf(v)),
    }
}

fn first_dtype(value: &AbstractValue) -> Option<Dtype> {
    match value {
        AbstractValue::Tensor { dtype, .. } | AbstractValue::NdArray { dtype, .. } => Some(*dtype),
        AbstractValue::List(items) | AbstractValue::Tuple(items) => {
            items.first().and_then(first_dtype)
        }
        AbstractValue::Dict(pairs) => pairs.first().and_then(|(_, value)| first_dtype(value)),
        AbstractValue::Literal(_) => None,
    }
}

/// All `(parameter, category)` pairs of the plan that can be broken.
pub(crate) fn all_violable(plan: &Plan) -> Vec<(usize, Category)> {
    plan.order
        .iter()
        .flat_map(|index| {
            violable(&plan.params[*index])
                .into_iter()
                .map(|category| (*index, category))
        })
        .collect()
}
