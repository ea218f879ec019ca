//! The names of registered functions in JAX and TensorFlow.
//!
//! These libraries mostly call a function what NumPy or PyTorch calls it; the rest is listed here.

/// Modules whose functions are looked up by their last name.
const MODULES: &[&str] = &[
    "jax.numpy.linalg.",
    "jax.numpy.",
    "jax.nn.",
    "jax.lax.",
    "jax.scipy.special.",
    "tensorflow.compat.v1.math.",
    "tensorflow.compat.v1.nn.",
    "tensorflow.compat.v1.linalg.",
    "tensorflow.compat.v1.",
    "tensorflow.math.",
    "tensorflow.nn.",
    "tensorflow.linalg.",
    "tensorflow.",
];

const RENAMED: &[(&str, &str)] = &[
    ("reduce_sum", "sum"),
    ("reduce_mean", "mean"),
    ("reduce_max", "max"),
    ("reduce_min", "min"),
    ("reduce_prod", "prod"),
    ("reduce_logsumexp", "logsumexp"),
    ("reduce_std", "std"),
    ("reduce_variance", "var"),
    ("reduce_euclidean_norm", "norm"),
    ("l2_normalize", "normalize"),
    ("truediv", "div"),
    ("realdiv", "div"),
    ("log_sigmoid", "logsigmoid"),
    ("logistic", "sigmoid"),
    ("expit", "sigmoid"),
    ("inv", "inverse"),
    ("pinv", "pinverse"),
    ("softmax_cross_entropy_with_logits", "cross_entropy"),
    ("sparse_softmax_cross_entropy_with_logits", "cross_entropy"),
    (
        "sigmoid_cross_entropy_with_logits",
        "binary_cross_entropy_with_logits",
    ),
    ("moments", "var"),
];

/// The short name of a dotted name of JAX or TensorFlow, as the registry's other libraries have it;
/// nothing for other libraries.
pub fn short_name(dotted: &str) -> Option<&str> {
    let name = MODULES
        .iter()
        .find_map(|module| dotted.strip_prefix(module))
        .filter(|name| !name.contains('.'))?;
    let renamed = RENAMED.iter().find(|(there, _)| *there == name);
    Some(renamed.map_or(name, |&(_, here)| here))
}
