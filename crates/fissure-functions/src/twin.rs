//! The same function in several libraries, each as an expression; `data/functions/twins.toml` explains it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    pub torch: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numpy: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensorflow: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jax: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moderate: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nonempty: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_dtype: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
}
