//! What a tester knows from names alone: weights for the first guess, before any feedback.
//!
//! Nothing here is a rule; every option with a weight above zero is still drawn, and feedback
//! soon outweighs these numbers.

use fissure_functions::{functions, spatial_word, words};
use fissure_model::{Dtype, Value};

/// How a plain integer is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntScheme {
    Default,
    Zero,
    One,
    Two,
    Three,
    /// 1 to 8.
    Small,
    /// The size that the square tensors of this call have.
    Size,
    /// An axis of the tensor.
    Axis,
    /// −8 to −1.
    Negative,
    /// 9 to 64.
    Medium,
    /// −8 to 16.
    Any,
    /// Neighbours of powers of two and of the limits of dtypes.
    Boundary,
    /// Far beyond every limit of memory.
    Huge,
}

pub(crate) const INT_SCHEMES: [IntScheme; 13] = [
    IntScheme::Default,
    IntScheme::Zero,
    IntScheme::One,
    IntScheme::Two,
    IntScheme::Three,
    IntScheme::Small,
    IntScheme::Size,
    IntScheme::Axis,
    IntScheme::Negative,
    IntScheme::Medium,
    IntScheme::Any,
    IntScheme::Boundary,
    IntScheme::Huge,
];

/// How a plain float is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatScheme {
    Default,
    /// From 0 to 1.
    Unit,
    /// 0.5, 1, 2, −1, …
    Simple,
    /// −10 to 10.
    Wide,
    /// Small and positive, as a tolerance is.
    Tiny,
    Zero,
    Boundary,
}

pub(crate) const FLOAT_SCHEMES: [FloatScheme; 7] = [
    FloatScheme::Default,
    FloatScheme::Unit,
    FloatScheme::Simple,
    FloatScheme::Wide,
    FloatScheme::Tiny,
    FloatScheme::Zero,
    FloatScheme::Boundary,
];

pub(crate) fn is_axis(name: &str) -> bool {
    matches!(
        name,
        "dim"
            | "axis"
            | "dims"
            | "axes"
            | "dim0"
            | "dim1"
            | "dim2"
            | "start_dim"
            | "end_dim"
            | "dimension"
            | "batch_dim"
            | "axis1"
            | "axis2"
            | "ch_axis"
            | "reduction_indices"
    )
}

/// Sizes that must agree with a dimension of the input.
pub(crate) fn is_channel(name: &str) -> bool {
    matches!(
        name,
        "in_channels"
            | "num_features"
            | "in_features"
            | "num_channels"
            | "input_size"
            | "embedding_dim"
            | "d_model"
            | "embed_dim"
            | "normalized_shape"
            | "in1_features"
            | "in2_features"
            | "num_parameters"
            | "hidden_size"
    )
}

/// `num_samples`, `target_height`, `crop_size`: how many or how large.
fn is_count(name: &str) -> bool {
    const ENDINGS: [&str; 9] = [
        "_height", "_width", "_size", "_length", "_count", "_factor", "_axis", "_rank", "_depth",
    ];
    name.starts_with("num_")
        || matches!(
            name,
            "height" | "width" | "units" | "filters" | "depth" | "count" | "rank"
        )
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// What a name says about a value where neither constraint nor documentation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSays {
    Tensor,
    Int,
    Float,
    Text,
    Nothing,
}

pub(crate) fn name_says(name: &str, layer: bool) -> NameSays {
    if is_axis(name) || is_channel(name) {
        return NameSays::Int;
    }
    match name {
        "input" | "other" | "weight" | "target" | "mat" | "mat1" | "mat2" | "vec" | "tensor"
        | "x" | "y" | "x1" | "x2" | "input1" | "input2" | "input3" | "grid" | "mask" | "index"
        | "running_mean" | "running_var" | "log_probs" | "src" | "tgt" | "query" | "key"
            if !layer =>
        {
            NameSays::Tensor
        }
        "kernel_size" | "stride" | "padding" | "dilation" | "groups" | "n" | "m" | "k"
        | "out_channels" | "out_features" | "num_embeddings" | "num_classes" | "num_layers"
        | "size" | "output_size" | "steps" | "nhead" | "num_heads" | "num_groups" | "seed"
        | "upscale_factor" | "output_padding" | "padding_idx" | "ignore_index" | "blank" => {
            NameSays::Int
        }
        "p" | "eps" | "epsilon" | "momentum" | "alpha" | "beta" | "lambd" | "margin" | "lower"
        | "upper" | "negative_slope" | "std" | "mean" | "rtol" | "atol" | "tol" | "dropout"
        | "threshold" | "scale" | "lr" => NameSays::Float,
        "mode" | "reduction" | "padding_mode" | "name" | "path" | "filename" | "url"
        | "equation" | "f" => NameSays::Text,
        name if is_count(name) => NameSays::Int,
        _ => NameSays::Nothing,
    }
}

/// Weights of [`INT_SCHEMES`].
pub(crate) fn int_weights(name: &str, default: Option<&Value>) -> Vec<f32> {
    // default zero one two three small size axis negative medium any boundary huge
    let mut weights: [f32; 13] = if is_axis(name) {
        [
            2.0, 2.0, 1.0, 0.3, 0.1, 0.1, 0.1, 10.0, 0.3, 0.02, 0.2, 0.1, 0.05,
        ]
    } else if is_channel(name) {
        [
            0.5, 0.05, 0.5, 0.5, 0.5, 0.5, 8.0, 0.1, 0.05, 0.2, 0.1, 0.05, 0.03,
        ]
    } else {
        match name {
            "kernel_size" | "kernel" => [
                1.0, 0.05, 4.0, 3.0, 2.0, 0.4, 0.8, 0.1, 0.05, 0.1, 0.1, 0.1, 0.05,
            ],
            "stride" | "strides" | "dilation" | "dilations" | "step" | "num_layers" | "r" => [
                1.0, 0.1, 5.0, 3.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.2, 0.2, 0.2, 0.1,
            ],
            "padding" | "pad" | "output_padding" => [
                2.0, 6.0, 2.0, 0.4, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.15, 0.05,
            ],
            "groups" | "nhead" | "num_heads" | "blank" => [
                3.0, 0.2, 6.0, 0.5, 0.2, 0.2, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05,
            ],
            "out_channels" | "out_features" | "num_embeddings" | "num_classes" | "size" | "n"
            | "m" | "output_size" | "steps" | "window_length" | "chunks" | "sections" | "k"
            | "num_samples" | "bins" | "n_fft" => [
                1.0, 0.3, 2.0, 2.0, 2.0, 4.0, 2.0, 0.1, 0.1, 1.0, 0.3, 0.15, 0.05,
            ],
            _ => [
                2.0, 1.2, 2.0, 1.5, 1.0, 3.0, 1.5, 0.6, 0.5, 0.5, 1.5, 0.25, 0.08,
            ],
        }
    };
    if !matches!(default, Some(Value::Int(_) | Value::Float(_))) {
        weights[0] = 0.0;
    }
    weights.to_vec()
}

/// Weights of [`FLOAT_SCHEMES`].
pub(crate) fn float_weights(name: &str, default: Option<&Value>) -> Vec<f32> {
    // default unit simple wide tiny zero boundary
    let mut weights: [f32; 7] = match name {
        "p" | "dropout" | "momentum" | "rate" | "keep_prob" | "alpha" | "negative_slope" => {
            [3.0, 6.0, 1.5, 0.5, 0.3, 0.6, 0.15]
        }
        name if name.starts_with("eps") || name.ends_with("tol") || name == "epsilon" => {
            [3.0, 0.5, 0.3, 0.2, 6.0, 0.3, 0.15]
        }
        _ => [3.0, 2.0, 3.0, 3.0, 0.5, 0.7, 0.3],
    };
    if !matches!(default, Some(Value::Float(_) | Value::Int(_))) {
        weights[0] = 0.0;
    }
    weights.to_vec()
}

/// How likely an optional parameter is given, as a factor on the user's ratio.
pub(crate) fn include_factor(name: &str, deprecated: bool, output: bool) -> f32 {
    match name {
        _ if output => 0.1,
        _ if deprecated => 0.15,
        "out" | "names" | "name" => 0.1,
        "device" | "layout" | "generator" | "memory_format" | "pin_memory" | "group"
        | "async_op" | "ctx" => 0.3,
        "size_average" | "reduce" | "dtype" => 0.4,
        _ => 1.0,
    }
}

/// The number of spatial dimensions of a function: 2 for `avg_pool2d`.
pub(crate) fn spatial(title: &str) -> Option<usize> {
    functions()
        .find(title)
        .and_then(|function| function.spatial)
        .or_else(|| spatial_word(title))
        .filter(|&count| count > 0)
}

/// Weights of the ranks 0 to 5.
pub(crate) fn rank_weights(title: &str) -> Vec<f32> {
    let mut weights = vec![0.15, 1.0, 1.4, 1.2, 0.8, 0.25];
    if let Some(count) = spatial(title) {
        weights[count + 2] += 5.0;
        weights[count + 1] += 1.5;
    }
    if let Some(rank) = functions().find(title).and_then(|it| it.operand_rank) {
        weights[rank] += 4.0;
    }
    weights
}

/// Weights of list lengths 0 to 6, then "as long as the tensor has dimensions".
pub(crate) fn length_weights(title: &str, name: &str, default: Option<&Value>) -> Vec<f32> {
    // Of several axes two are soon the same, which every library refuses.
    let mut weights = if is_axis(name) {
        vec![0.2, 4.0, 2.0, 0.6, 0.2, 0.05, 0.05, 0.2]
    } else {
        vec![0.15, 1.2, 2.0, 1.2, 0.8, 0.2, 0.4, 0.8]
    };
    if let Some(count) = spatial(title) {
        weights[count] += 6.0;
        if name == "padding" && pads(title) {
            weights[2 * count] += 10.0;
        }
    }
    if let Some(Value::List(items) | Value::Tuple(items)) = default
        && let Some(weight) = weights.get_mut(items.len())
    {
        *weight += 4.0;
    }
    weights
}

/// Whether a word of the name says that it pads: `ReflectionPad2d`, `ZeroPadding2D`, not `Spade2d`.
fn pads(title: &str) -> bool {
    words(title).iter().any(|word| {
        let stem = word.strip_suffix('d').unwrap_or(word);
        let stem = stem.trim_end_matches(|it: char| it.is_ascii_digit());
        matches!(stem, "pad" | "padding") || word == "pad"
    })
}

/// How many tensors the object of a layer class is called with, as weights of 1 to 4.
pub(crate) fn layer_inputs(title: &str) -> Vec<f32> {
    let known = functions().find(title).and_then(|it| it.called_with);
    let ends_in_loss = || words(title).last().is_some_and(|word| word == "loss");
    match known.or_else(|| ends_in_loss().then_some(2)) {
        Some(2) => vec![0.3, 6.0, 0.2, 0.1],
        Some(3) if words(title).last().is_some_and(|word| word == "loss") => {
            vec![0.1, 0.3, 6.0, 0.1]
        }
        Some(3) => vec![0.1, 0.1, 6.0, 0.1],
        Some(4) => vec![0.1, 0.1, 0.2, 6.0],
        _ => vec![6.0, 0.5, 0.2, 0.1],
    }
}

/// The dtypes a library can make tensors of, with the weight of a first guess.
pub(crate) fn library_dtypes(package: &str) -> &'static [(Dtype, f32)] {
    match package {
        "torch" => &[
            (Dtype::Float32, 12.0),
            (Dtype::Float64, 2.0),
            (Dtype::Int64, 2.0),
            (Dtype::Int32, 0.8),
            (Dtype::Bool, 0.6),
            (Dtype::Uint8, 0.4),
            (Dtype::Int8, 0.3),
            (Dtype::Int16, 0.3),
            (Dtype::Float16, 0.4),
            (Dtype::Bfloat16, 0.4),
            (Dtype::Complex64, 0.4),
            (Dtype::Complex128, 0.2),
        ],
        "mxnet" => &[
            (Dtype::Float32, 12.0),
            (Dtype::Float64, 2.0),
            (Dtype::Int64, 1.0),
            (Dtype::Int32, 1.5),
            (Dtype::Uint8, 0.4),
            (Dtype::Int8, 0.4),
            (Dtype::Float16, 0.6),
            (Dtype::Bool, 0.2),
        ],
        _ => &[
            (Dtype::Float32, 12.0),
            (Dtype::Float64, 2.0),
            (Dtype::Int64, 1.5),
            (Dtype::Int32, 2.0),
            (Dtype::Bool, 0.6),
            (Dtype::Uint8, 0.4),
            (Dtype::Uint16, 0.2),
            (Dtype::Uint32, 0.2),
            (Dtype::Uint64, 0.2),
            (Dtype::Int8, 0.3),
            (Dtype::Int16, 0.3),
            (Dtype::Float16, 0.5),
            (Dtype::Bfloat16, 0.3),
            (Dtype::Complex64, 0.4),
            (Dtype::Complex128, 0.2),
        ],
    }
}

/// Weight of a dtype that hardly any tensor has, among others.
pub(crate) const RARE: f32 = 0.15;

/// Every dtype that a library has a name for, with the weight of a first guess: also those that no plain data have
/// (quantised ones, handles of resources and variants).
pub(crate) fn named_dtypes(package: &str) -> Vec<(Dtype, f32)> {
    let mut named = library_dtypes(package).to_vec();
    let known = |dtype: Dtype| match package {
        "tensorflow" => true,
        "torch" => !matches!(
            dtype,
            Dtype::Qint16 | Dtype::Quint16 | Dtype::String | Dtype::Resource | Dtype::Variant
        ),
        "jax" => dtype.size().is_some() && !dtype.name().starts_with('q'),
        _ => false,
    };
    for dtype in Dtype::ALL.into_iter().filter(|dtype| known(*dtype)) {
        if !named.iter().any(|(other, _)| *other == dtype) {
            named.push((dtype, RARE));
        }
    }
    named
}

/// These turn NumPy arrays into their own tensors wherever a tensor is documented, and their users
/// rely on it.
pub fn arrays_serve(package: &str) -> bool {
    matches!(package, "tensorflow" | "jax")
}

/// Words that string parameters of these libraries take.
pub(crate) const WORDS: [&str; 10] = [
    "mean", "sum", "none", "zeros", "nearest", "linear", "relu", "cpu", "same", "constant",
];
