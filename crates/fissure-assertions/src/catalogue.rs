//! The functions that can be trained: `data/soft-assertions/functions.toml`, embedded.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::label::{Context, Precision};

const EMBEDDED: &str = include_str!("../../../data/soft-assertions/functions.toml");

/// Oracles that need nothing but the function.
pub const PLAIN_ORACLES: [&str; 3] = ["nonfinite", "gradient_nonfinite", "wider_float"];
/// All oracles, by the names of the scan.
pub const ORACLES: [&str; 7] = [
    "nonfinite",
    "range",
    "rewrite",
    "stable_algorithm",
    "other_framework",
    "wider_float",
    "gradient_nonfinite",
];

/// Bounds that the mathematical function does not reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A function with its oracles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trainable {
    pub name: String,
    pub context: Context,
    pub oracles: Vec<String>,
    #[serde(default)]
    pub torch: Option<String>,
    #[serde(default)]
    pub tensorflow: Option<String>,
    /// The call of a user's own function.
    #[serde(skip)]
    pub own: Option<String>,
    /// A Python file with oracles.
    #[serde(skip)]
    pub oracle_file: Option<String>,
    #[serde(default)]
    pub range: Option<Range>,
    #[serde(default)]
    pub rewrite: BTreeMap<String, String>,
    #[serde(default)]
    pub stable_algorithm: BTreeMap<String, String>,
    #[serde(default)]
    pub other_framework: BTreeMap<String, String>,
    #[serde(default)]
    pub domain: Vec<Vec<f64>>,
    #[serde(default)]
    pub moving: Option<Vec<usize>>,
    #[serde(default)]
    pub whole_numbers: bool,
    #[serde(default)]
    pub symmetric: bool,
    #[serde(default)]
    pub one_hot: bool,
    /// It adds: all elements moving up, or down, make it fail together.
    #[serde(default)]
    pub additive: bool,
    /// Results are about this large: smaller ones are compared with others as if they were.
    #[serde(default)]
    pub usual_size: Option<f64>,
    /// Samples of each label to train on, where the usual number is too few.
    #[serde(default)]
    pub samples: Option<usize>,
    /// The order of the elements of a row matters.
    #[serde(default)]
    pub ordered: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    function: Vec<Trainable>,
}

/// The functions that ship, in the order of the file.
pub fn catalogue() -> Vec<Trainable> {
    let catalogue: Catalogue = toml::from_str(EMBEDDED)
        .expect("the embedded list is valid: a test reads it from the same file");
    catalogue.function
}

impl Trainable {
    /// A function of the user, by its dotted name.
    pub fn own(
        name: &str,
        context: Context,
        oracles: Vec<String>,
        oracle_file: Option<String>,
    ) -> Trainable {
        Trainable {
            name: name.to_owned(),
            context,
            oracles,
            torch: None,
            tensorflow: None,
            own: Some(name.to_owned()),
            oracle_file,
            range: None,
            rewrite: BTreeMap::new(),
            stable_algorithm: BTreeMap::new(),
            other_framework: BTreeMap::new(),
            domain: Vec::new(),
            moving: None,
            whole_numbers: false,
            symmetric: false,
            one_hot: false,
            additive: false,
            usual_size: None,
            samples: None,
            // Unknown, so nothing is assumed.
            ordered: true,
        }
    }

    /// The call in a library, if it has one.
    pub fn call(&self, library: &str) -> Option<&str> {
        let call = match library {
            "torch" => &self.torch,
            "tensorflow" => &self.tensorflow,
            _ => &None,
        };
        call.as_deref().or(self.own.as_deref())
    }

    /// What the target's interpreter needs to know.
    pub fn plan(&self, library: &str, precisions: &[Precision]) -> Option<Value> {
        let references: BTreeMap<&str, &String> = [
            ("rewrite", &self.rewrite),
            ("stable_algorithm", &self.stable_algorithm),
            ("other_framework", &self.other_framework),
        ]
        .into_iter()
        .filter_map(|(oracle, formulas)| Some((oracle, formulas.get(library)?)))
        .collect();
        let dtypes: Vec<&str> = precisions
            .iter()
            .map(|precision| precision.name())
            .collect();
        Some(json!({
            "name": self.name,
            "context": self.context,
            "oracles": self.oracles,
            "call": self.call(library)?,
            "range": self.range.map(|range| [range.low, range.high]),
            "references": references,
            "oracle_file": self.oracle_file,
            "domain": self.domain,
            "moving": self.moving,
            "whole_numbers": self.whole_numbers,
            "symmetric": self.symmetric,
            "one_hot": self.one_hot,
            "additive": self.additive,
            "ordered": self.ordered,
            "usual_size": self.usual_size,
            "samples": self.samples,
            "dtypes": dtypes,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_list_is_valid_and_has_at_least_61_functions() {
        let catalogue: Catalogue = toml::from_str(EMBEDDED).expect("the list is valid");
        let mut names: Vec<&str> = catalogue
            .function
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert!(names.len() >= 61, "{}", names.len());
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "a function is listed twice");
        for function in &catalogue.function {
            let name = &function.name;
            assert!(
                function.torch.is_some() || function.tensorflow.is_some(),
                "{name} has no call"
            );
            for oracle in &function.oracles {
                assert!(ORACLES.contains(&oracle.as_str()), "{name}: {oracle}");
                let formulas = match oracle.as_str() {
                    "rewrite" => &function.rewrite,
                    "stable_algorithm" => &function.stable_algorithm,
                    "other_framework" => &function.other_framework,
                    "range" => {
                        assert!(function.range.is_some(), "{name} has no range");
                        continue;
                    }
                    _ => continue,
                };
                for library in ["torch", "tensorflow"] {
                    assert_eq!(
                        formulas.contains_key(library),
                        function.call(library).is_some(),
                        "{name}: {oracle} in {library}"
                    );
                }
            }
        }
    }
}
