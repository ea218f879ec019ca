//! The registry of unstable functions.
//!
//! The data is `data/unstable-functions.toml`, embedded into the program; the head of that file
//! explains its fields. Everything else asks the registry by the name a program wrote (a resolved
//! dotted name, a method, an operator) and gets the one canonical function behind it.

pub(crate) mod elsewhere;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

const EMBEDDED: &str = include_str!("../../../data/unstable-functions.toml");

/// Why a registry file is refused.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("failed to read the registry of unstable functions: {0}")]
    Syntax(#[from] toml::de::Error),
    #[error("registry function `{function}`: {problem}")]
    Invalid { function: String, problem: String },
}

/// A floating-point type with failure regions of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    F16,
    Bf16,
    F32,
    F64,
}

impl Precision {
    pub const ALL: [Precision; 4] = [
        Precision::F16,
        Precision::Bf16,
        Precision::F32,
        Precision::F64,
    ];

    /// The largest finite value, rounded to the nine digits of the registry file (which may lie a
    /// little above the exact one).
    pub fn maximum(self) -> f64 {
        match self {
            Precision::F16 => 65504.0,
            Precision::Bf16 => 3.389_531_39e38,
            Precision::F32 => 3.402_823_47e38,
            Precision::F64 => f64::MAX,
        }
    }
}

/// What group of operations a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Elementwise,
    Reduction,
    Loss,
    Normalisation,
    #[serde(rename = "linear algebra")]
    LinearAlgebra,
    Distance,
    Distribution,
    Cast,
}

/// The quantity that a soft assertion drives towards failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    Interval,
    Power,
    Ratio,
    Origin,
    Magnitude,
    Cancellation,
    Norm,
    Spread,
    Gap,
    Mask,
    Count,
    Matmul,
    Conditioning,
    Spectrum,
    Cast,
}

/// An oracle that can see a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oracle {
    Nonfinite,
    Range,
    Rewrite,
    StableAlgorithm,
    OtherFramework,
    WiderFloat,
    GradientNonfinite,
    HiddenNonfinite,
    AbsorbedEpsilon,
    Cancellation,
    Wraparound,
    LowPrecision,
}

impl fmt::Display for Oracle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Oracle::Nonfinite => "nonfinite",
            Oracle::Range => "range",
            Oracle::Rewrite => "rewrite",
            Oracle::StableAlgorithm => "stable_algorithm",
            Oracle::OtherFramework => "other_framework",
            Oracle::WiderFloat => "wider_float",
            Oracle::GradientNonfinite => "gradient_nonfinite",
            Oracle::HiddenNonfinite => "hidden_nonfinite",
            Oracle::AbsorbedEpsilon => "absorbed_epsilon",
            Oracle::Cancellation => "cancellation",
            Oracle::Wraparound => "wraparound",
            Oracle::LowPrecision => "low_precision",
        })
    }
}

/// The mathematical range of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MathematicalRange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Where the probe of a function fails in one precision; closed intervals, ascending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub nonfinite: Vec<[f64; 2]>,
    pub gradient_nonfinite: Vec<[f64; 2]>,
    /// Narrow intervals (poles) that the file leaves out.
    #[serde(default)]
    pub omitted: usize,
}

/// One unstable function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub name: String,
    pub family: Family,
    pub objective: Objective,
    #[serde(default)]
    arithmetic: bool,
    pub torch: Vec<String>,
    #[serde(default)]
    pub modules: Vec<String>,
    #[serde(default)]
    pub numpy: Vec<String>,
    #[serde(default)]
    pub operators: Vec<String>,
    pub arguments: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<MathematicalRange>,
    pub oracles: Vec<Oracle>,
    #[serde(default)]
    pub rewrites: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub probe: String,
    pub regions: BTreeMap<Precision, Region>,
}

impl Function {
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegistryFile {
    function: Vec<Function>,
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
        Registry::from_toml(EMBEDDED)
            .expect("the embedded registry is valid: a test loads it from the same file")
    }

    /// Reads and validates a registry file.
    pub fn from_toml(text: &str) -> Result<Registry, RegistryError> {
        let file: RegistryFile = toml::from_str(text)?;
        for function in &file.function {
            validate(function)?;
        }
        let mut registry = Registry {
            functions: Vec::new(),
            by_alias: HashMap::new(),
            by_method: HashMap::new(),
            by_operator: HashMap::new(),
            by_short_name: HashMap::new(),
        };
        for function in file.function {
            registry.insert(function)?;
        }
        Ok(registry)
    }

    fn insert(&mut self, function: Function) -> Result<(), RegistryError> {
        let index = self.functions.len();
        let refuse = |problem: String| RegistryError::Invalid {
            function: function.name.clone(),
            problem,
        };
        if self
            .functions
            .iter()
            .any(|other| other.name == function.name)
        {
            return Err(refuse("is listed twice".to_owned()));
        }
        for alias in function.aliases() {
            if let Some(other) = self.by_alias.insert(alias.to_owned(), index) {
                let other = &self.functions[other].name;
                return Err(refuse(format!(
                    "the name `{alias}` already belongs to `{other}`"
                )));
            }
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
            if self.by_operator.insert(operator.clone(), index).is_some() {
                return Err(refuse(format!("the operator `{operator}` is taken")));
            }
        }
        // A canonical name always means itself.
        self.by_short_name.insert(function.name.clone(), index);
        self.functions.push(function);
        Ok(())
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

fn validate(function: &Function) -> Result<(), RegistryError> {
    let refuse = |problem: String| {
        Err(RegistryError::Invalid {
            function: function.name.clone(),
            problem,
        })
    };
    if function.name.is_empty() {
        return refuse("has no name".to_owned());
    }
    if function.torch.is_empty() {
        return refuse("has no torch name".to_owned());
    }
    if function.arguments.is_empty() {
        return refuse("names no argument that matters".to_owned());
    }
    if function.oracles.is_empty() {
        return refuse("names no oracle".to_owned());
    }
    if function.regions.is_empty() {
        return refuse("has no failure regions".to_owned());
    }
    for (alias, prefix) in function
        .torch
        .iter()
        .chain(&function.modules)
        .map(|alias| (alias, "torch."))
        .chain(function.numpy.iter().map(|alias| (alias, "numpy.")))
    {
        if !alias.starts_with(prefix) {
            return refuse(format!("the name `{alias}` does not start with `{prefix}`"));
        }
    }
    if let Some(MathematicalRange {
        low: Some(low),
        high: Some(high),
    }) = function.range
        && low >= high
    {
        return refuse(format!("the range [{low}, {high}] is empty"));
    }
    for (precision, region) in &function.regions {
        for intervals in [&region.nonfinite, &region.gradient_nonfinite] {
            let mut end_of_previous = f64::NEG_INFINITY;
            for &[start, end] in intervals {
                let limit = precision.maximum();
                let ordered = start <= end && start > end_of_previous;
                if !ordered || start < -limit || end > limit {
                    return refuse(format!(
                        "the interval [{start:e}, {end:e}] of {precision:?} is not valid"
                    ));
                }
                end_of_previous = end;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
