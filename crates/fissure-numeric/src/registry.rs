//! The registry of unstable functions.
//!
//! The data is the table of functions (`data/functions`), whose README explains its fields. Everything else asks the registry by the name a program wrote (a resolved
//! dotted name, a method, an operator) and gets the one canonical function behind it.

pub(crate) mod elsewhere;

use std::collections::{BTreeMap, HashMap};

pub use fissure_functions::{Family, Objective, Oracle, Precision, Region};
use fissure_functions::{Unstable, functions};
use serde::Serialize;

/// The mathematical range of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MathematicalRange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// One unstable function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Function {
    pub name: String,
    pub family: Family,
    pub objective: Objective,
    arithmetic: bool,
    pub torch: Vec<String>,
    pub modules: Vec<String>,
    pub numpy: Vec<String>,
    pub operators: Vec<String>,
    pub arguments: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<MathematicalRange>,
    pub oracles: Vec<Oracle>,
    pub rewrites: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub probe: String,
    pub regions: BTreeMap<Precision, Region>,
}

impl Function {
    /// An entry of the table, with the names and the range of the functions that it speaks of.
    fn new(entry: &Unstable) -> Function {
        let table = functions();
        let members: Vec<_> = entry
            .functions
            .iter()
            .filter_map(|it| table.get(it))
            .collect();
        let also = |root: &str| -> Vec<String> {
            let of_library = entry.also.iter().filter(|name| name.starts_with(root));
            of_library.cloned().collect()
        };
        let modules = members.iter().flat_map(|it| it.modules.iter().cloned());
        let range = table.get(&entry.name).and_then(|it| it.range.as_ref());
        Function {
            name: entry.name.clone(),
            family: entry.family,
            objective: entry.objective,
            arithmetic: entry.arithmetic,
            torch: (members.iter().flat_map(|it| it.torch_names()))
                .chain(also("torch."))
                .collect(),
            modules: modules.collect(),
            numpy: (members.iter().flat_map(|it| it.numpy.iter().cloned()))
                .chain(also("numpy."))
                .collect(),
            operators: entry.operators.clone(),
            arguments: entry.arguments.clone(),
            range: range.map(|range| MathematicalRange {
                low: range.low,
                high: range.high,
            }),
            oracles: entry.oracles.clone(),
            rewrites: entry.rewrites.clone(),
            note: entry.note.clone(),
            probe: entry.probe.clone(),
            regions: entry.regions.clone(),
        }
    }

    /// Every dotted name under which programs call it.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.torch
            .iter()
            .chain(&self.modules)
            .chain(&self.numpy)
            .map(String::as_str)
    }

    /// Ordinary arithmetic fails by magnitude or cancellation alone, in every program: it is
    /// watched at run time but not announced as an unstable call site.
    pub fn is_arithmetic(&self) -> bool {
        self.arithmetic
    }
}

/// All unstable functions and the ways to look one up.
#[derive(Clone, Debug)]
pub struct Registry {
    functions: Vec<Function>,
    by_alias: HashMap<String, usize>,
    by_method: HashMap<String, usize>,
    by_operator: HashMap<String, usize>,
    by_short_name: HashMap<String, usize>,
}

impl Registry {
    /// The registry that ships with the program.
    pub fn embedded() -> Registry {
        let mut registry = Registry {
            functions: Vec::new(),
            by_alias: HashMap::new(),
            by_method: HashMap::new(),
            by_operator: HashMap::new(),
            by_short_name: HashMap::new(),
        };
        for entry in functions().unstable() {
            registry.insert(Function::new(entry));
        }
        registry
    }

    /// The table has checked that no function is in two entries; of further names the first counts.
    fn insert(&mut self, function: Function) {
        let index = self.functions.len();
        for alias in function.aliases() {
            self.by_alias.entry(alias.to_owned()).or_insert(index);
            if let Some(method) = method_name(alias) {
                self.by_method.entry(method.to_owned()).or_insert(index);
            }
            // `log_prob` alone does not say of which distribution.
            if function.family != Family::Distribution {
                self.by_short_name
                    .entry(short_name(alias).to_owned())
                    .or_insert(index);
            }
        }
        for operator in &function.operators {
            self.by_operator.entry(operator.clone()).or_insert(index);
        }
        // A canonical name always means itself.
        self.by_short_name.insert(function.name.clone(), index);
        self.functions.push(function);
    }

    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// By canonical name.
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// By resolved dotted name, as in `torch.nn.functional.softmax`.
    pub fn lookup(&self, dotted: &str) -> Option<&Function> {
        self.by_alias
            .get(dotted)
            .map(|&index| &self.functions[index])
            .or_else(|| self.by_short_name(elsewhere::short_name(dotted)?))
    }

    /// By the name of a method whose receiver's type is not known, as in `x.log()`.
    pub fn method(&self, name: &str) -> Option<&Function> {
        self.by_method
            .get(name)
            .map(|&index| &self.functions[index])
    }

    /// By a Python operator, as in `/`.
    pub fn operator(&self, symbol: &str) -> Option<&Function> {
        self.by_operator
            .get(symbol)
            .map(|&index| &self.functions[index])
    }

    /// By the last part of any alias or a canonical name, with or without the trailing underscore
    /// of an in-place form: the names that a running library reports (`mm`, `astype`, `log_`).
    pub fn by_short_name(&self, name: &str) -> Option<&Function> {
        self.by_short_name
            .get(name)
            .or_else(|| self.by_short_name.get(name.trim_end_matches('_')))
            .map(|&index| &self.functions[index])
    }

    /// The registry as JSON for the Python runtime: an object from canonical name to function.
    pub fn to_json(&self) -> serde_json::Value {
        let entries = self.functions.iter().map(|function| {
            let value = serde_json::to_value(function)
                .expect("a function is strings and finite numbers, which JSON can hold");
            (function.name.clone(), value)
        });
        serde_json::Value::Object(entries.collect())
    }
}

fn short_name(alias: &str) -> &str {
    alias.rsplit('.').next().unwrap_or(alias)
}

fn method_name(alias: &str) -> Option<&str> {
    alias
        .strip_prefix("torch.Tensor.")
        .or_else(|| alias.strip_prefix("numpy.ndarray."))
        .filter(|name| !name.starts_with("__"))
}

#[cfg(test)]
mod tests;
