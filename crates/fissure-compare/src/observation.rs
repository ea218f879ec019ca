//! What the worker says of one call, as `oracles/observe.py`, `observe_closely.py` and `measure.py` write it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fissure_model::Execution;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Names of the modules, as a batch names oracles.
pub(crate) const OBSERVE: &str = "observe";
pub(crate) const CLOSELY: &str = "observe-closely";
pub(crate) const MEASURE: &str = "measure";

/// A result and its parts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Observation {
    /// Containers: `tuple(*, *)`.
    pub structure: String,
    pub leaves: Vec<Leaf>,
    /// What the table of functions leaves open: `indices`, `ambiguous`.
    #[serde(default)]
    pub open: Vec<String>,
    /// Not a function of the arguments.
    #[serde(default)]
    pub random: bool,
}

/// One tensor or plain value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Leaf {
    pub path: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub dtype: Option<String>,
    pub shape: Option<Vec<u64>>,
    /// A plain value that is not a number with rounding.
    pub text: Option<String>,
    /// `float`, `complex` (real and imaginary parts in turn) or `integer`.
    pub kind: Option<String>,
    /// In base64, eight bytes each; of large tensors some at even distances.
    pub elements: Option<String>,
}

impl Leaf {
    /// Elements with rounding; empty where there are none.
    pub(crate) fn floats(&self) -> Vec<f64> {
        match self.kind.as_deref() {
            Some("float" | "complex") => words(self.elements.as_deref())
                .into_iter()
                .map(f64::from_ne_bytes)
                .collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn integers(&self) -> Vec<i64> {
        match self.kind.as_deref() {
            Some("integer") => words(self.elements.as_deref())
                .into_iter()
                .map(i64::from_ne_bytes)
                .collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn is_complex(&self) -> bool {
        self.kind.as_deref() == Some("complex")
    }
}

fn words(text: Option<&str>) -> Vec<[u8; 8]> {
    let bytes = text.and_then(|text| BASE64_STANDARD.decode(text).ok());
    let bytes = bytes.unwrap_or_default();
    let (words, _) = bytes.as_chunks::<8>();
    words.to_vec()
}

/// What decides whether a difference is rounding.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct CloseLook {
    /// The result in `float64`.
    pub wide: Option<Observation>,
    /// Results for inputs moved in their last digits.
    pub moved: Vec<Observation>,
    /// A moved input is refused.
    pub unsteady: bool,
    /// The input holds neither NaN nor infinities.
    pub finite: bool,
    pub elementwise: bool,
    /// The result depends on uninitialised memory.
    pub fresh: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Measured {
    /// Of one call as it is.
    pub nanoseconds: Option<u64>,
    pub longer: Option<Longer>,
    /// Bytes that the longer call takes at most.
    pub peak: Option<i64>,
}

/// The call with a first dimension so many times as long.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Longer {
    pub factor: u64,
    pub nanoseconds: u64,
}

/// What one of the modules said of an execution; `None` when it did not come to it.
pub(crate) fn answer<T: DeserializeOwned>(execution: &Execution, module: &str) -> Option<T> {
    let report = execution
        .reports
        .iter()
        .find(|it| it.oracle.as_str() == module)?;
    serde_json::from_str(&report.observed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back_as_they_were() {
        let bytes: Vec<u8> = [1.5_f64, f64::NAN, -0.0]
            .iter()
            .flat_map(|value| value.to_ne_bytes())
            .collect();
        let leaf = Leaf {
            kind: Some("float".into()),
            elements: Some(BASE64_STANDARD.encode(bytes)),
            ..Leaf::default()
        };
        let floats = leaf.floats();
        assert_eq!(floats[0], 1.5);
        assert!(floats[1].is_nan());
        assert!(floats[2].is_sign_negative());
        assert!(leaf.integers().is_empty());
    }
}
