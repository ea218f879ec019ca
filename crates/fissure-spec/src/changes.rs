//! What changed between two sets of constraint files: in what a library says it accepts.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::extracted::{CONSTRAINT_KEYS, ExtractedFile, ExtractedParam};

/// One difference between two versions of an API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    ApiAdded,
    ApiRemoved,
    ParamAdded {
        param: String,
        required: bool,
    },
    ParamRemoved {
        param: String,
    },
    /// Required now and optional before, or the other way round.
    Required {
        param: String,
        required: bool,
    },
    Default {
        param: String,
        before: Option<String>,
        after: Option<String>,
    },
    Constraint {
        param: String,
        key: &'static str,
        before: Vec<String>,
        after: Vec<String>,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[String]| {
            if values.is_empty() {
                "anything".to_owned()
            } else {
                values.join(" | ")
            }
        };
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        match self {
            Change::ApiAdded => write!(out, "new"),
            Change::ApiRemoved => write!(out, "gone"),
            Change::ParamAdded { param, required } => {
                let how = if *required { "required" } else { "optional" };
                write!(out, "{param}: new, {how}")
            }
            Change::ParamRemoved { param } => write!(out, "{param}: gone"),
            Change::Required { param, required } => {
                let how = if *required { "required" } else { "optional" };
                write!(out, "{param}: now {how}")
            }
            Change::Default {
                param,
                before,
                after,
            } => write!(out, "{param}: default {} -> {}", word(before), word(after)),
            Change::Constraint {
                param,
                key,
                before,
                after,
            } => write!(out, "{param}: {key} {} -> {}", list(before), list(after)),
        }
    }
}

/// The changes of each API, by title; titles without changes are left out.
pub fn changes(
    before: &BTreeMap<String, ExtractedFile>,
    after: &BTreeMap<String, ExtractedFile>,
) -> BTreeMap<String, Vec<Change>> {
    let mut found = BTreeMap::new();
    for (title, old) in before {
        let list = match after.get(title) {
            Some(new) => of_api(old, new),
            None => vec![Change::ApiRemoved],
        };
        if !list.is_empty() {
            found.insert(title.clone(), list);
        }
    }
    for title in after.keys().filter(|title| !before.contains_key(*title)) {
        found.insert(title.clone(), vec![Change::ApiAdded]);
    }
    found
}

fn of_api(old: &ExtractedFile, new: &ExtractedFile) -> Vec<Change> {
    let mut found = Vec::new();
    let nothing = ExtractedParam::default();
    for (param, is) in &new.constraints {
        let required = is_required(new, param);
        let Some(was) = old.constraints.get(param) else {
            found.push(Change::ParamAdded {
                param: param.clone(),
                required,
            });
            continue;
        };
        if is_required(old, param) != required {
            found.push(Change::Required {
                param: param.clone(),
                required,
            });
        } else if was.default != is.default {
            found.push(Change::Default {
                param: param.clone(),
                before: was.default.clone(),
                after: is.default.clone(),
            });
        }
        for key in CONSTRAINT_KEYS {
            let before = sorted(was, key);
            let after = sorted(is, key);
            if before != after {
                found.push(Change::Constraint {
                    param: param.clone(),
                    key,
                    before,
                    after,
                });
            }
        }
    }
    for param in old.constraints.keys() {
        if new.constraints.get(param).unwrap_or(&nothing) == &nothing
            && !new.constraints.contains_key(param)
        {
            found.push(Change::ParamRemoved {
                param: param.clone(),
            });
        }
    }
    found
}

fn is_required(file: &ExtractedFile, param: &str) -> bool {
    let required = file.inputs.get("required").into_iter().flatten();
    let layer = file.inputs.get("layer").into_iter().flatten();
    required.chain(layer).any(|name| name == param)
}

fn sorted(param: &ExtractedParam, key: &str) -> Vec<String> {
    let mut values = param.lists.get(key).cloned().unwrap_or_default();
    values.sort();
    values
}
