//! What the user can ask of generation.

use fissure_model::{Dtype, Mode};

/// Settings of a [`Generator`](crate::Generator).
#[derive(Clone, Debug, PartialEq)]
pub struct GenerateOptions {
    pub mode: Mode,
    /// Probability that an optional parameter is given.
    pub optional_ratio: f64,
    /// Probability that an input gets a boundary case.
    pub mutate_ratio: f64,
    /// Prefer boundary cases that a parameter has not had yet.
    pub guided_mutation: bool,
    /// NaN, ±Inf, −0.0 and subnormals are among the boundary cases.
    pub special_values: bool,
    /// Bytes of all tensors of one input together.
    pub max_tensor_bytes: u64,
    /// Call the object of a layer after constructing it.
    pub layer_call: bool,
    /// Only these element types, where given.
    pub dtypes: Option<Vec<Dtype>>,
    pub tensors_as: TensorsAs,
    /// Break this rule in every violating input.
    pub break_rule: Option<String>,
    /// Neither constraints nor rules are looked at, only the types of the parameters: what
    /// guidance is compared with.
    pub unguided: bool,
    /// Rejected inputs are changed as the rejection asks, and tried again.
    pub repair: bool,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        GenerateOptions {
            mode: Mode::Mixed,
            optional_ratio: 0.6,
            mutate_ratio: 0.2,
            guided_mutation: false,
            special_values: false,
            max_tensor_bytes: 64 << 20,
            layer_call: true,
            dtypes: None,
            tensors_as: TensorsAs::Usual,
            break_rule: None,
            unguided: false,
            repair: true,
        }
    }
}

/// What a tensor is handed over as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TensorsAs {
    /// As users do: a tensor of the library, and now and then a NumPy array where the library
    /// takes arrays in place of its tensors.
    #[default]
    Usual,
    /// Always a tensor of the library.
    Tensor,
    /// A NumPy array; types that NumPy lacks stay tensors.
    NdArray,
    /// Nested lists of numbers; tensors of more than a few thousand elements stay tensors.
    List,
}
