//! The unknowns of a query: every parameter with all its alternatives at once.

use std::collections::HashMap;

use fissure_model::Dtype;
use fissure_rules::{Datum, ElementFact, FactSet, Number as Value, TensorFacts, Type};

use super::text::{all, any, equal, integer};
use crate::rules::outline::Limits;

/// One value of the input.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    /// The unknown that says which alternative it is.
    pub kind: String,
    pub alternatives: Vec<(Type, Alternative)>,
}

#[derive(Clone, Debug)]
pub(super) enum Alternative {
    None,
    /// Of sort Int or Real, as the type says.
    Number(String),
    Bool(String),
    Dtype(String),
    Text(String),
    Tensor(TensorSymbol),
    Items {
        length: String,
        items: Vec<Symbol>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct TensorSymbol {
    pub rank: String,
    pub dims: Vec<String>,
    pub dtype: String,
    pub low: String,
    pub high: String,
    pub facts: Vec<(ElementFact, String)>,
}

/// Unknowns with their sorts, and what holds of them by themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Declarations {
    pub unknowns: Vec<(String, &'static str)>,
    pub facts: Vec<String>,
}

impl Declarations {
    fn unknown(&mut self, name: String, sort: &'static str) -> String {
        self.unknowns.push((name.clone(), sort));
        name
    }

    fn within(&mut self, name: &str, low: usize, high: usize) {
        self.facts.push(format!("(<= {low} {name} {high})"));
    }

    /// The symbol of a parameter; `texts` is the number of texts it can be.
    pub(super) fn symbol(
        &mut self,
        name: &str,
        of: &Type,
        texts: usize,
        limits: &Limits,
    ) -> Symbol {
        let kind = self.unknown(format!("{name}.kind"), "Int");
        self.within(&kind, 0, of.alternatives().len() - 1);
        let mut alternatives = Vec::new();
        for (position, part) in of.alternatives().iter().enumerate() {
            let own = format!("{name}.{position}");
            let alternative = match part {
                Type::None | Type::Union(_) => Alternative::None,
                Type::Int => Alternative::Number(self.unknown(own, "Int")),
                Type::Float => Alternative::Number(self.unknown(own, "Real")),
                Type::Bool => Alternative::Bool(self.unknown(own, "Bool")),
                Type::Dtype => Alternative::Dtype(self.dtype(own, limits)),
                Type::Str => {
                    let text = self.unknown(own, "Int");
                    self.within(&text, 0, texts.saturating_sub(1));
                    Alternative::Text(text)
                }
                Type::Tensor => Alternative::Tensor(self.tensor(&own, limits)),
                Type::List(item) | Type::Tuple(item) => {
                    let length = self.unknown(format!("{own}.len"), "Int");
                    self.within(&length, 0, limits.maximum_length);
                    let items = (0..limits.maximum_length)
                        .map(|at| self.symbol(&format!("{own}.{at}"), item, texts, limits))
                        .collect();
                    Alternative::Items { length, items }
                }
            };
            alternatives.push((part.clone(), alternative));
        }
        Symbol { kind, alternatives }
    }

    fn dtype(&mut self, name: String, limits: &Limits) -> String {
        let name = self.unknown(name, "Int");
        let allowed = limits.dtypes.iter();
        self.facts.push(any(
            allowed.map(|dtype| equal(&name, &(dtype as u32).to_string()))
        ));
        name
    }

    fn tensor(&mut self, name: &str, limits: &Limits) -> TensorSymbol {
        let rank = self.unknown(format!("{name}.rank"), "Int");
        self.within(&rank, 0, limits.maximum_rank);
        let dims: Vec<String> = (0..limits.maximum_rank)
            .map(|at| self.unknown(format!("{name}.d{at}"), "Int"))
            .collect();
        for dim in &dims {
            self.facts.push(format!("(<= 0 {dim})"));
        }
        let dtype = self.dtype(format!("{name}.dtype"), limits);
        let low = self.unknown(format!("{name}.low"), "Int");
        let high = self.unknown(format!("{name}.high"), "Int");
        self.facts.push(format!("(<= {low} {high})"));
        let facts = ElementFact::ALL
            .map(|fact| (fact, self.unknown(format!("{name}.{fact:?}"), "Bool")))
            .to_vec();
        TensorSymbol {
            rank,
            dims,
            dtype,
            low,
            high,
            facts,
        }
    }
}

impl Symbol {
    /// Each alternative with the condition that it is this one.
    pub(super) fn cases(&self) -> impl Iterator<Item = (String, &Type, &Alternative)> {
        let single = self.alternatives.len() == 1;
        self.alternatives
            .iter()
            .enumerate()
            .map(move |(position, (of, alternative))| {
                let condition = if single {
                    "true".to_owned()
                } else {
                    equal(&self.kind, &position.to_string())
                };
                (condition, of, alternative)
            })
    }

    /// The unknowns that decide the value in a solution; all others could be anything.
    pub(super) fn decisive<'a>(
        &'a self,
        solution: &HashMap<String, f64>,
        names: &mut Vec<&'a String>,
    ) {
        let value = |name: &str| solution.get(name).copied().unwrap_or(0.0) as usize;
        names.push(&self.kind);
        match self.alternatives.get(value(&self.kind)) {
            None | Some((_, Alternative::None)) => {}
            Some((
                _,
                Alternative::Number(name)
                | Alternative::Bool(name)
                | Alternative::Dtype(name)
                | Alternative::Text(name),
            )) => names.push(name),
            Some((_, Alternative::Tensor(tensor))) => {
                names.extend([&tensor.rank, &tensor.dtype]);
                names.extend(tensor.dims.iter().take(value(&tensor.rank)));
            }
            Some((_, Alternative::Items { length, items })) => {
                names.push(length);
                for item in items.iter().take(value(length)) {
                    item.decisive(solution, names);
                }
            }
        }
    }

    /// The value in a solution.
    pub(super) fn datum(&self, solution: &HashMap<String, f64>, texts: &[String]) -> Datum {
        let value = |name: &str| solution.get(name).copied().unwrap_or(0.0);
        let kind = value(&self.kind) as usize;
        let Some((of, alternative)) = self.alternatives.get(kind) else {
            return Datum::None;
        };
        let dtype = |name: &str| {
            let number = value(name) as usize;
            Dtype::ALL.get(number).copied().unwrap_or(Dtype::Float32)
        };
        match alternative {
            Alternative::None => Datum::None,
            Alternative::Number(name) if *of == Type::Int => Datum::Int(value(name) as i64),
            Alternative::Number(name) => Datum::Float(value(name)),
            Alternative::Bool(name) => Datum::Bool(value(name) != 0.0),
            Alternative::Dtype(name) => Datum::Dtype(dtype(name)),
            Alternative::Text(name) => Datum::Text(
                texts
                    .get(value(name) as usize)
                    .cloned()
                    .unwrap_or_else(String::new),
            ),
            Alternative::Tensor(tensor) => {
                let rank = value(&tensor.rank) as usize;
                let shape: Vec<u64> = tensor
                    .dims
                    .iter()
                    .take(rank)
                    .map(|d| value(d) as u64)
                    .collect();
                let mut facts = TensorFacts::new(dtype(&tensor.dtype), shape);
                if !facts.shape.contains(&0) {
                    let bound = |name: &str| Value::Int(value(name) as i64);
                    facts.bounds = Some((bound(&tensor.low), bound(&tensor.high)));
                }
                let holding = tensor.facts.iter().filter(|(_, name)| value(name) != 0.0);
                facts.facts = FactSet::of(holding.map(|(fact, _)| *fact));
                Datum::Tensor(facts)
            }
            Alternative::Items { length, items } => {
                let count = value(length) as usize;
                let items = items
                    .iter()
                    .take(count)
                    .map(|item| item.datum(solution, texts))
                    .collect();
                if matches!(of, Type::Tuple(_)) {
                    Datum::Tuple(items)
                } else {
                    Datum::List(items)
                }
            }
        }
    }
}

impl TensorSymbol {
    /// At least one element.
    pub(super) fn is_filled(&self) -> String {
        all(self.dims.iter().enumerate().map(|(at, dim)| {
            let outside = format!("(<= {} {})", self.rank, integer(at as i64));
            any([outside, format!("(< 0 {dim})")])
        }))
    }
}
