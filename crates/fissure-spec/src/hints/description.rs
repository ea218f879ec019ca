//! Descriptions in prose: "non-negative", "of the same shape as input", "1-D tensor".

use fissure_model::{Param, ShapeTerm, Spec};

use super::ParamHints;
use super::phrase::at_least;

/// Reads a description into `hints`, for fields that the stated type leaves open.
pub(super) fn read(text: &str, spec: &Spec, param: &Param, hints: &mut ParamHints) {
    let text = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('`', "");
    let lower = text.to_lowercase();
    if hints.range.is_none() {
        if lower.contains("non-negative") || lower.contains("nonnegative") {
            hints.range = Some(at_least(0.0));
        } else if lower.contains("positive integer") || lower.contains("must be positive") {
            hints.range = Some(at_least(1.0));
        }
    }
    for phrase in ["same shape as ", "same size as "] {
        let Some((_, rest)) = lower.split_once(phrase) else {
            continue;
        };
        let rest = rest.strip_prefix("the ").unwrap_or(rest);
        let word: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if word != param.name && spec.params.iter().any(|other| other.name == word) {
            hints.shapes.push(ShapeTerm::SameAs(word));
        }
    }
}
