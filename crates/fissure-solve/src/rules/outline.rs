//! The structure of an input: which alternative of each type, which rank, how many items.

use fissure_model::Dtype;
use fissure_rules::{Datum, DtypeSet, ElementFact, FactSet, Number, TensorFacts, Type};

use crate::rules::interval::Interval;

/// One way a parameter can be built, before its variables exist.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    Fixed(Datum),
    Int,
    Float,
    Bool,
    Dtype,
    Text,
    /// `empty` is decided where rules speak of elements.
    Tensor {
        rank: usize,
        empty: Option<bool>,
    },
    Items {
        tuple: bool,
        items: Vec<Choice>,
    },
}

/// A parameter with its variables.
#[derive(Clone, Debug)]
pub(crate) enum Outline {
    Fixed(Datum),
    Number(u16),
    Bool(u16),
    Dtype(u16),
    Text(u16),
    Tensor(TensorOutline),
    Items { tuple: bool, items: Vec<Outline> },
}

#[derive(Clone, Debug)]
pub(crate) struct TensorOutline {
    pub dims: Vec<u16>,
    pub dtype: u16,
    /// Smallest and largest element, where rules speak of elements and there are any.
    pub bounds: Option<(u16, u16)>,
    pub empty: Option<bool>,
    /// One variable for each fact that rules speak of.
    pub facts: Vec<(ElementFact, u16)>,
}

/// What a variable stands for decides which values are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A dimension of a tensor of this rank.
    Dimension(usize),
    Whole,
    Real,
    Element,
    /// One bit of a set.
    Option,
}

/// The variables of one outline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    pub domains: Vec<Interval>,
    pub masks: Vec<u64>,
    pub roles: Vec<Role>,
}

/// How far values may go.
#[derive(Clone, Debug)]
pub struct Limits {
    pub maximum_rank: usize,
    pub maximum_dimension: u64,
    pub maximum_length: usize,
    pub dtypes: DtypeSet,
    /// Whole numbers are drawn between minus this and this.
    pub maximum_number: i64,
}

impl Default for Limits {
    fn default() -> Self {
        let ordinary = Dtype::ALL.into_iter().filter(|dtype| {
            let quantized = matches!(
                dtype,
                Dtype::Qint8 | Dtype::Quint8 | Dtype::Qint16 | Dtype::Quint16 | Dtype::Qint32
            );
            dtype.size().is_some() && !quantized
        });
        Limits {
            maximum_rank: 5,
            maximum_dimension: 128,
            maximum_length: 5,
            dtypes: DtypeSet::of(ordinary),
            maximum_number: 1 << 31,
        }
    }
}

impl Limits {
    /// What most libraries compute with, in sizes that cost little: for rules that were learned
    /// with such inputs and do not forbid others.
    pub fn usual() -> Self {
        use Dtype::{
            Bfloat16, Bool, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32,
            Int64, Uint8,
        };
        Limits {
            maximum_dimension: 32,
            dtypes: DtypeSet::of([
                Bool, Uint8, Int8, Int16, Int32, Int64, Float16, Bfloat16, Float32, Float64,
                Complex64, Complex128,
            ]),
            ..Limits::default()
        }
    }

    /// The same in what a library has without being asked for more: JAX makes 64-bit tensors only
    /// in a mode of its own, and rules are learned without it.
    pub fn usual_of(api: Option<&str>) -> Self {
        use Dtype::{Bfloat16, Bool, Complex64, Float16, Float32, Int8, Int16, Int32, Uint8};
        let mut limits = Limits::usual();
        if api.is_some_and(|api| api.starts_with("jax.")) {
            limits.dtypes = DtypeSet::of([
                Bool, Uint8, Int8, Int16, Int32, Float16, Bfloat16, Float32, Complex64,
            ]);
        }
        limits
    }
}

/// What the rules ask of a parameter beyond its shape.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interest {
    pub elements: bool,
    /// Its value picks a dimension, an item or the end of a quantifier.
    pub index: bool,
    pub facts: Vec<ElementFact>,
}

/// Every way a parameter of the type can be built.
pub(crate) fn choices(of: &Type, interest: &Interest, limits: &Limits) -> Vec<Choice> {
    let mut found = Vec::new();
    for part in of.alternatives() {
        match part {
            Type::Tensor => found.extend(tensors(interest, limits.maximum_rank)),
            Type::Int if interest.index => {
                let farthest = limits.maximum_rank as i64;
                found.extend((-farthest - 1..=farthest).map(|at| Choice::Fixed(Datum::Int(at))));
            }
            Type::Int => found.push(Choice::Int),
            Type::Float => found.push(Choice::Float),
            Type::Bool => found.push(Choice::Bool),
            Type::Dtype => found.push(Choice::Dtype),
            Type::Str => found.push(Choice::Text),
            Type::None => found.push(Choice::Fixed(Datum::None)),
            Type::List(item) | Type::Tuple(item) => {
                let tuple = matches!(part, Type::Tuple(_));
                let item_limits = Limits {
                    maximum_rank: limits.maximum_rank.min(4),
                    ..limits.clone()
                };
                let plain = Interest {
                    index: false,
                    ..interest.clone()
                };
                for item in choices(item, &plain, &item_limits) {
                    for length in 0..=limits.maximum_length {
                        let list = Choice::Items {
                            tuple,
                            items: vec![item.clone(); length],
                        };
                        if !found.contains(&list) {
                            found.push(list);
                        }
                    }
                }
            }
            Type::Union(_) => {}
        }
    }
    found
}

fn tensors(interest: &Interest, maximum_rank: usize) -> Vec<Choice> {
    let mut found = Vec::new();
    for rank in 0..=maximum_rank {
        if !interest.elements {
            found.push(Choice::Tensor { rank, empty: None });
            continue;
        }
        found.push(Choice::Tensor {
            rank,
            empty: Some(false),
        });
        if rank > 0 {
            found.push(Choice::Tensor {
                rank,
                empty: Some(true),
            });
        }
    }
    found
}

impl Variables {
    fn add(&mut self, domain: Interval, mask: u64, role: Role) -> u16 {
        self.domains.push(domain);
        self.masks.push(mask);
        self.roles.push(role);
        (self.domains.len() - 1) as u16
    }

    fn option(&mut self, mask: u64) -> u16 {
        self.add(Interval::constant(0.0), mask, Role::Option)
    }

    /// Gives the choice its variables. `texts` is the number of texts the parameter chooses from.
    pub(super) fn build(
        &mut self,
        choice: &Choice,
        interest: &Interest,
        limits: &Limits,
        texts: usize,
    ) -> Outline {
        let farthest = limits.maximum_number as f64;
        match choice {
            Choice::Fixed(datum) => Outline::Fixed(datum.clone()),
            Choice::Int => {
                Outline::Number(self.add(Interval::whole(-farthest, farthest), 0, Role::Whole))
            }
            Choice::Float => {
                Outline::Number(self.add(Interval::real(-farthest, farthest), 0, Role::Real))
            }
            Choice::Bool => Outline::Bool(self.option(0b11)),
            Choice::Dtype => Outline::Dtype(self.option(limits.dtypes.0.into())),
            Choice::Text => Outline::Text(self.option((1u64 << texts.clamp(1, 63)) - 1)),
            Choice::Tensor { rank, empty } => {
                let least = if *empty == Some(false) { 1.0 } else { 0.0 };
                let domain = Interval::whole(least, limits.maximum_dimension as f64);
                let dims = (0..*rank)
                    .map(|_| self.add(domain, 0, Role::Dimension(*rank)))
                    .collect();
                let dtype = self.option(limits.dtypes.0.into());
                let bounds = (*empty == Some(false)).then(|| {
                    let range = Interval::whole(-farthest, farthest);
                    (
                        self.add(range, 0, Role::Element),
                        self.add(range, 0, Role::Element),
                    )
                });
                let facts = interest.facts.iter().map(|fact| (*fact, self.option(0b11)));
                Outline::Tensor(TensorOutline {
                    dims,
                    dtype,
                    bounds,
                    empty: *empty,
                    facts: facts.collect(),
                })
            }
            Choice::Items { tuple, items } => Outline::Items {
                tuple: *tuple,
                items: items
                    .iter()
                    .map(|item| self.build(item, interest, limits, texts))
                    .collect(),
            },
        }
    }
}

/// The values that a search found.
pub(crate) struct Values<'a> {
    pub domains: &'a [Interval],
    pub masks: &'a [u64],
    pub roles: &'a [Role],
}

impl Values<'_> {
    fn number(&self, variable: u16) -> f64 {
        self.domains[usize::from(variable)].low
    }

    fn option(&self, variable: u16) -> usize {
        self.masks[usize::from(variable)].trailing_zeros() as usize
    }

    fn dtype(&self, variable: u16) -> Dtype {
        Dtype::ALL[self.option(variable).min(Dtype::ALL.len() - 1)]
    }

    /// The argument with these values.
    pub(super) fn datum(&self, outline: &Outline, texts: &[String]) -> Datum {
        match outline {
            Outline::Fixed(datum) => datum.clone(),
            Outline::Number(variable) => {
                let value = self.number(*variable);
                match self.roles[usize::from(*variable)] {
                    Role::Real => Datum::Float(value),
                    _ => Datum::Int(value as i64),
                }
            }
            Outline::Bool(variable) => Datum::Bool(self.option(*variable) == 1),
            Outline::Dtype(variable) => Datum::Dtype(self.dtype(*variable)),
            Outline::Text(variable) => Datum::Text(
                texts
                    .get(self.option(*variable))
                    .cloned()
                    .unwrap_or_else(String::new),
            ),
            Outline::Tensor(tensor) => {
                let shape: Vec<u64> = tensor
                    .dims
                    .iter()
                    .map(|dim| self.number(*dim) as u64)
                    .collect();
                let square = matches!(shape[..], [.., height, width] if height == width);
                let mut facts = TensorFacts::new(self.dtype(tensor.dtype), shape);
                facts.bounds = tensor.bounds.map(|(low, high)| {
                    let number = |variable| Number::Int(self.number(variable) as i64);
                    (number(low), number(high))
                });
                // A choice that rules leave open may say more than the shape allows.
                let holding = tensor.facts.iter().filter(|(fact, variable)| {
                    self.option(*variable) == 1 && (square || !fact.is_of_square_matrices())
                });
                facts.facts = FactSet::of(holding.map(|(fact, _)| *fact));
                Datum::Tensor(facts)
            }
            Outline::Items { tuple, items } => {
                let items = items.iter().map(|item| self.datum(item, texts)).collect();
                if *tuple {
                    Datum::Tuple(items)
                } else {
                    Datum::List(items)
                }
            }
        }
    }
}

impl Outline {
    /// Will the argument be of this type?
    pub(super) fn is(&self, of: &Type, roles: &[Role]) -> bool {
        match (of, self) {
            (Type::Union(parts), _) => parts.iter().any(|part| self.is(part, roles)),
            (_, Outline::Fixed(datum)) => datum.is(of),
            (Type::Int, Outline::Number(variable)) => roles[usize::from(*variable)] != Role::Real,
            (Type::Float, Outline::Number(_))
            | (Type::Bool, Outline::Bool(_))
            | (Type::Dtype, Outline::Dtype(_))
            | (Type::Str, Outline::Text(_))
            | (Type::Tensor, Outline::Tensor(_)) => true,
            (
                Type::List(of),
                Outline::Items {
                    tuple: false,
                    items,
                },
            )
            | (Type::Tuple(of), Outline::Items { tuple: true, items }) => {
                items.iter().all(|item| item.is(of, roles))
            }
            _ => false,
        }
    }
}
