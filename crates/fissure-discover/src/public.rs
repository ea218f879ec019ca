//! Every public callable of a library (`fissure_worker.discover.list_public`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::description::Description;

/// One public callable, under its shortest name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublicName {
    pub path: String,
    /// Other public names of the same object.
    pub aliases: Vec<String>,
    pub kind: String,
    pub layer: bool,
    /// Why it cannot be fuzzed.
    pub left_out: Option<String>,
}

/// The answer of the discovery script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// By package.
    pub version: BTreeMap<String, String>,
    pub public: BTreeMap<String, Vec<PublicName>>,
    pub descriptions: BTreeMap<String, Description>,
    pub problems: Vec<String>,
}

impl Answer {
    pub fn from_json(answer: &[u8]) -> Result<Answer, serde_json::Error> {
        crate::description::lenient(answer)
    }
}

/// What the discovery script is asked.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Question<'a> {
    /// Where the answer goes.
    pub file: String,
    pub list: Vec<&'a str>,
    pub describe: Vec<&'a str>,
    pub imports: Vec<&'a str>,
}
