//! One call with everything decided but the elements of its tensors.

use serde::{Deserialize, Serialize};

use crate::{Dtype, Intent, Passing, TensorKind, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbstractInput {
    pub arguments: Vec<AbstractArgument>,
    /// For a layer: the arguments of the call on the constructed object.
    pub layer_arguments: Option<Vec<AbstractArgument>>,
    pub intent: Intent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbstractArgument {
    pub name: String,
    pub passing: Passing,
    pub value: AbstractValue,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbstractValue {
    /// Already concrete: numbers, text, dtypes, None.
    Literal(Value),
    Tensor {
        kind: TensorKind,
        dtype: Dtype,
        shape: Vec<u64>,
        fill: Fill,
    },
    NdArray {
        dtype: Dtype,
        shape: Vec<u64>,
        fill: Fill,
    },
    List(Vec<AbstractValue>),
    Tuple(Vec<AbstractValue>),
    Dict(Vec<(AbstractValue, AbstractValue)>),
}

/// Which elements a tensor may get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// Smallest allowed element, if bounded.
    pub lower: Option<f64>,
    /// Largest allowed element, if bounded.
    pub upper: Option<f64>,
    pub scheme: FillScheme,
}

/// What sort of numbers a tensor holds, within its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillScheme {
    /// A tester's mix: small numbers of both signs, some boundaries.
    #[default]
    Mixed,
    /// From 0 to 1.
    Unit,
    /// Above 0.
    Positive,
    /// Whole numbers from 0, below this bound.
    Index(u64),
    /// Up to the upper bound, which occurs: other parameters were chosen to fit it.
    Peak,
    Zeros,
    Ones,
    /// Identity matrices in the last two dimensions.
    Identity,
    /// 0, 1, 2, … each once, in any order.
    Permutation,
    /// No element twice.
    Distinct,
    /// One 1 in each row of the last dimension, and 0 elsewhere.
    OneHot,
    /// Never falling along the last dimension.
    Rising,
}
