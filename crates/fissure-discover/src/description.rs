//! What the worker says about a callable (`fissure_worker.discover.describe`).

use fissure_model::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// Everything that is known of one callable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Description {
    pub path: String,
    /// `function`, `class`, `method`, `operator`, `ufunc`, `module`.
    pub kind: String,
    /// How it is reached, where that is not its path.
    pub callable_path: Option<String>,
    /// The name of the same object for which rules may be known.
    pub aliases: Vec<String>,
    /// Construct first, then call.
    pub layer: bool,
    /// One per overload, the best known first.
    pub forms: Vec<FormDescription>,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FormDescription {
    /// `schema`, `registry`, `signature`, `stub`, `documentation`, `ufunc`.
    pub source: String,
    pub name: Option<String>,
    pub params: Vec<ParamDescription>,
    /// Of a layer: the parameters of the call on the object.
    pub call_params: Vec<ParamDescription>,
    pub relations: Vec<Relation>,
    /// Arguments go by name, whatever the kinds say.
    pub keyword_only_call: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParamDescription {
    pub name: String,
    /// As in Python's `inspect`, in lower case.
    pub kind: String,
    pub required: bool,
    /// Source text.
    pub default: Option<String>,
    /// Alternatives.
    pub types: Vec<TypeDescription>,
    pub evidence: Vec<Evidence>,
}

/// Where a statement comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    pub source: String,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TypeDescription {
    pub sort: String,
    pub of: Option<Box<TypeDescription>>,
    pub length: Option<usize>,
    pub min_length: Option<usize>,
    pub dtypes: Option<Vec<String>>,
    pub ndim: Option<Vec<u32>>,
    pub min_ndim: Option<u32>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub min_open: bool,
    pub max_open: bool,
    pub choices: Vec<Json>,
    /// In the grammar of constraint files: `[batch,channels,...]`.
    pub shape: Option<String>,
    /// Alternatives to `shape`.
    pub shapes: Vec<String>,
    /// Of an object: the class to construct, by its path.
    pub instance: Option<String>,
    /// Of an object: ready ones, tried when they were described.
    #[serde(deserialize_with = "readable")]
    pub values: Vec<Value>,
}

/// Values that are not understood are left out.
fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
    let values = Vec::<Json>::deserialize(deserializer)?;
    let read = |value| serde_json::from_value(value).ok();
    Ok(values.into_iter().filter_map(read).collect())
}

/// What holds between parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Relation {
    /// `same_dtype`, `same_shape`, `same_length`, `broadcastable`.
    pub kind: String,
    pub params: Vec<String>,
}

impl FormDescription {
    /// Stated by the library for machines, not by prose or by a guess.
    pub fn is_exact(&self) -> bool {
        matches!(
            self.source.as_str(),
            "schema" | "registry" | "signature" | "ufunc"
        )
    }
}

impl Description {
    /// Reads the worker's answer. Unknown keys are left alone, null stands for absent.
    pub fn from_json(answer: &[u8]) -> Result<Description, serde_json::Error> {
        lenient(answer)
    }
}

/// Reads what Python wrote: null stands for absent.
pub(crate) fn lenient<T: DeserializeOwned>(answer: &[u8]) -> Result<T, serde_json::Error> {
    let mut value: Json = serde_json::from_slice(answer)?;
    drop_nulls(&mut value);
    serde_json::from_value(value)
}

/// Python writes null where a key has nothing to say; serde's defaults want it absent.
fn drop_nulls(value: &mut Json) {
    match value {
        Json::Object(entries) => {
            entries.retain(|_, entry| !entry.is_null());
            entries.values_mut().for_each(drop_nulls);
        }
        Json::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
