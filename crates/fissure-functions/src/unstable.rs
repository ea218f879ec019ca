//! Where functions fail: `data/functions/unstable`, for the scan and the soft assertions.

use std::collections::BTreeMap;
use std::fmt;

use fissure_model::Dtype;
use serde::{Deserialize, Serialize};

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
        let dtype = match self {
            Precision::F16 => Dtype::Float16,
            Precision::Bf16 => Dtype::Bfloat16,
            Precision::F32 => Dtype::Float32,
            Precision::F64 => return f64::MAX,
        };
        let exact = dtype.float_max().unwrap_or(f64::MAX);
        format!("{exact:.8e}").parse().unwrap_or(exact)
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
    Lengths,
    Positive,
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

impl Oracle {
    pub const ALL: [Oracle; 12] = [
        Oracle::Nonfinite,
        Oracle::Range,
        Oracle::Rewrite,
        Oracle::StableAlgorithm,
        Oracle::OtherFramework,
        Oracle::WiderFloat,
        Oracle::GradientNonfinite,
        Oracle::HiddenNonfinite,
        Oracle::AbsorbedEpsilon,
        Oracle::Cancellation,
        Oracle::Wraparound,
        Oracle::LowPrecision,
    ];

    /// One line for users.
    pub fn summary(self) -> &'static str {
        match self {
            Oracle::Nonfinite => "finite operands give NaN or Inf, which reaches the result",
            Oracle::Range => "a result lies outside of what the function can give",
            Oracle::Rewrite => "the same formula written stably gives something else",
            Oracle::StableAlgorithm => "a stable algorithm gives something else",
            Oracle::OtherFramework => "another library gives something else for the same operands",
            Oracle::WiderFloat => "the same computation in a wider type gives something else",
            Oracle::GradientNonfinite => "the result is finite, its gradient is not",
            Oracle::HiddenNonfinite => "NaN or Inf on the way, which a later operation hides",
            Oracle::AbsorbedEpsilon => {
                "a small number that is added for safety is lost in rounding"
            }
            Oracle::Cancellation => "a difference of nearly equal numbers leaves few digits",
            Oracle::Wraparound => "whole numbers leave the range of their type",
            Oracle::LowPrecision => "the line fails in a type of half precision",
        }
    }
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

/// Functions that fail alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unstable {
    pub name: String,
    pub family: Family,
    pub objective: Objective,
    /// Ordinary arithmetic fails by magnitude or cancellation alone, in every program: it is
    /// watched at run time but not announced as an unstable call site.
    #[serde(default)]
    pub arithmetic: bool,
    /// Canonical names.
    pub functions: Vec<String>,
    /// Further dotted names under which programs reach it.
    #[serde(default)]
    pub also: Vec<String>,
    #[serde(default)]
    pub operators: Vec<String>,
    pub arguments: Vec<String>,
    pub oracles: Vec<Oracle>,
    #[serde(default)]
    pub rewrites: Vec<String>,
    #[serde(default)]
    pub note: Option<String>,
    /// What its operands must satisfy, as a part of a sentence.
    #[serde(default)]
    pub needs: Option<String>,
    /// What steers a search toward its region unless it is asked for otherwise.
    #[serde(default)]
    pub steered: Steered,
    pub probe: String,
    pub regions: BTreeMap<Precision, Region>,
}

/// What steers a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Steered {
    /// The distance to its region.
    #[default]
    Analytic,
    /// The soft assertion that was learned: it needed fewer runs so in the ablation of
    /// docs/soft-assertions.md, and the region does not look through what comes before it.
    Learned,
}

impl Unstable {
    /// What is wrong with the entry by itself.
    pub(crate) fn problem(&self) -> Option<String> {
        for (missing, problem) in [
            (self.name.is_empty(), "has no name"),
            (
                self.functions.is_empty() && self.also.is_empty(),
                "names no function",
            ),
            (self.arguments.is_empty(), "names no argument that matters"),
            (self.oracles.is_empty(), "names no oracle"),
            (self.regions.is_empty(), "has no failure regions"),
        ] {
            if missing {
                return Some(problem.to_owned());
            }
        }
        for (precision, region) in &self.regions {
            for intervals in [&region.nonfinite, &region.gradient_nonfinite] {
                let mut end_of_previous = f64::NEG_INFINITY;
                for &[start, end] in intervals {
                    let limit = precision.maximum();
                    let ordered = start <= end && start > end_of_previous;
                    if !ordered || start < -limit || end > limit {
                        return Some(format!(
                            "the interval [{start:e}, {end:e}] of {precision:?} is not valid"
                        ));
                    }
                    end_of_previous = end;
                }
            }
        }
        None
    }
}
