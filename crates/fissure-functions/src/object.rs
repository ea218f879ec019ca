//! What rejections miss in an argument, and the call that makes it: `data/functions/objects.toml`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// What it is; several of one name are alternatives. Nothing: what is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Dotted path of what is called.
    pub call: String,
    /// What of the argument the call is given; nothing: the object is made without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// Further arguments, in the words of a finding's input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<serde_json::Value>,
    /// Parts of messages, in small letters, of which one is enough.
    pub said: Vec<String>,
}

impl Object {
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.call)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Given {
    /// The argument itself.
    Tensor,
    /// A list of it, twice.
    Tensors,
}
