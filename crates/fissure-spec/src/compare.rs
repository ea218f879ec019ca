//! A spec held against what the installed library says about the same API.

use std::fmt;

use fissure_model::{Param, Role, Signature, SignatureParam, Spec, Value};
use serde::Serialize;

use crate::literal::{self, Expected};

/// Names at least this similar (Jaro–Winkler) are offered as the new name of a parameter.
const SIMILAR: f64 = 0.8;

/// One thing that the library confirms, contradicts or adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// The library has no such object.
    MissingApi {
        reason: String,
    },
    /// The object exists but cannot be called.
    NotCallable,
    /// The object exists, but the library does not tell its parameters.
    NoSignature,
    /// The file says layer, the library has a plain function.
    NotAClass,
    Confirmed {
        param: String,
    },
    /// The parameter is not declared, but `**kwargs` would take it.
    ThroughKeywords {
        param: String,
    },
    /// The library has no such parameter; `renamed` is what it may be called now.
    UnknownParam {
        param: String,
        renamed: Option<String>,
    },
    /// The library has a parameter that the file does not know.
    NewParam {
        param: String,
        required: bool,
    },
    /// Optional in the file, required by the library.
    NowRequired {
        param: String,
    },
    /// Required in the file, optional in the library.
    NowOptional {
        param: String,
        default: String,
    },
    DefaultDiffers {
        param: String,
        file: String,
        library: String,
    },
    /// Can be passed by position in the file, only by name in the library.
    NowKeywordOnly {
        param: String,
    },
}

impl Confirmation {
    /// One word for lists: `confirmed`, `not told`, `added` or `contradicted`.
    pub fn label(&self) -> &'static str {
        match self {
            Confirmation::Confirmed { .. } => "confirmed",
            Confirmation::ThroughKeywords { .. } | Confirmation::NoSignature => "not told",
            Confirmation::NewParam {
                required: false, ..
            } => "added",
            _ => "contradicted",
        }
    }
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Confirmation::MissingApi { reason } => write!(f, "missing in the library: {reason}"),
            Confirmation::NotCallable => f.write_str("the library's object cannot be called"),
            Confirmation::NoSignature => f.write_str("the library does not tell its parameters"),
            Confirmation::NotAClass => f.write_str("a layer in the file, no class in the library"),
            Confirmation::Confirmed { param } => write!(f, "{param}: confirmed"),
            Confirmation::ThroughKeywords { param } => {
                write!(f, "{param}: not declared, but taken by **kwargs")
            }
            Confirmation::UnknownParam {
                param,
                renamed: None,
            } => {
                write!(f, "{param}: unknown to the library")
            }
            Confirmation::UnknownParam {
                param,
                renamed: Some(renamed),
            } => {
                write!(
                    f,
                    "{param}: unknown to the library (renamed to `{renamed}`?)"
                )
            }
            Confirmation::NewParam { param, required } => {
                let role = if *required { "required" } else { "optional" };
                write!(f, "{param}: only in the library ({role})")
            }
            Confirmation::NowRequired { param } => {
                write!(f, "{param}: optional in the file, required by the library")
            }
            Confirmation::NowOptional { param, default } => {
                write!(
                    f,
                    "{param}: required in the file, optional in the library (default {default})"
                )
            }
            Confirmation::DefaultDiffers {
                param,
                file,
                library,
            } => {
                write!(
                    f,
                    "{param}: default {file} in the file, {library} in the library"
                )
            }
            Confirmation::NowKeywordOnly { param } => {
                write!(f, "{param}: keyword-only in the library")
            }
        }
    }
}

/// What the library says to each part of the spec, in the order of its parameters; then what only
/// the library has.
pub fn compare(spec: &Spec, signature: &Signature) -> Vec<Confirmation> {
    if let Some(reason) = &signature.missing {
        return vec![Confirmation::MissingApi {
            reason: reason.clone(),
        }];
    }
    let mut found = Vec::new();
    if !signature.callable {
        found.push(Confirmation::NotCallable);
    }
    if spec.api.layer && !signature.is_class {
        found.push(Confirmation::NotAClass);
    }
    let Some(declared) = &signature.params else {
        found.push(Confirmation::NoSignature);
        return found;
    };
    let news: Vec<(usize, &SignatureParam)> = declared
        .iter()
        .enumerate()
        .filter(|(_, param)| !is_star(param))
        .filter(|(_, param)| !spec.params.iter().any(|known| known.name == param.name))
        .collect();
    let takes_keywords = declared.iter().any(|param| param.kind == "var_keyword");
    let mut renamed_to = Vec::new();
    for (position, param) in spec.params.iter().enumerate() {
        if matches!(param.role, Role::VarPositional | Role::VarKeyword) {
            continue;
        }
        match declared.iter().find(|declared| declared.name == param.name) {
            Some(declared) => compare_param(spec, param, declared, &mut found),
            None if takes_keywords => {
                found.push(Confirmation::ThroughKeywords {
                    param: param.name.clone(),
                });
            }
            None => {
                let renamed = new_name(param, position, &news);
                renamed_to.extend(renamed.clone());
                found.push(Confirmation::UnknownParam {
                    param: param.name.clone(),
                    renamed,
                });
            }
        }
    }
    for (_, param) in news
        .iter()
        .filter(|(_, param)| !renamed_to.contains(&param.name))
    {
        let required = param.default.is_none();
        found.push(Confirmation::NewParam {
            param: param.name.clone(),
            required,
        });
    }
    found
}

fn is_star(param: &SignatureParam) -> bool {
    matches!(param.kind.as_str(), "var_positional" | "var_keyword")
}

/// The most similar new name; failing that, for a parameter that every call gives by position, the
/// new name at the same position.
fn new_name(param: &Param, position: usize, news: &[(usize, &SignatureParam)]) -> Option<String> {
    let scored = news
        .iter()
        .map(|(_, new)| (strsim::jaro_winkler(&param.name, &new.name), new));
    let best = scored.max_by(|left, right| left.0.total_cmp(&right.0));
    match best {
        Some((score, new)) if score >= SIMILAR => Some(new.name.clone()),
        _ if param.role == Role::Required => news
            .iter()
            .find(|(at, _)| *at == position)
            .map(|(_, new)| new.name.clone()),
        _ => None,
    }
}

fn compare_param(
    spec: &Spec,
    param: &Param,
    declared: &SignatureParam,
    found: &mut Vec<Confirmation>,
) {
    let before = found.len();
    let name = || param.name.clone();
    match (&declared.default, param.role) {
        (None, Role::Required) => {}
        (None, _) => found.push(Confirmation::NowRequired { param: name() }),
        (Some(default), Role::Required) => {
            found.push(Confirmation::NowOptional {
                param: name(),
                default: default.clone(),
            });
        }
        (Some(library), _) => {
            if let Some(file) = &param.default_text
                && !same_default(spec, param, file, library)
            {
                found.push(Confirmation::DefaultDiffers {
                    param: name(),
                    file: file.clone(),
                    library: library.clone(),
                });
            }
        }
    }
    if declared.kind == "keyword_only" && param.role != Role::KeywordOnly {
        found.push(Confirmation::NowKeywordOnly { param: name() });
    }
    if found.len() == before {
        found.push(Confirmation::Confirmed { param: name() });
    }
}

/// Defaults are compared as values: `1`, `1.0` and `'mean'`, `mean` are the same.
fn same_default(spec: &Spec, param: &Param, file: &str, library: &str) -> bool {
    // Markers such as `_Null` stand for "whatever the library does".
    if param.default.is_none() {
        return true;
    }
    let expected = Expected::of(&param.constraint.dtypes);
    let library_value = literal::default_value(library, &spec.api.package, expected);
    let number = |value: &Option<Value>| match value {
        Some(Value::Int(number)) => Some(*number as f64),
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    };
    let plain = |text: &str| text.replace([' ', '\'', '"'], "");
    match (number(&param.default), number(&library_value)) {
        (Some(left), Some(right)) => left == right || (left.is_nan() && right.is_nan()),
        _ => param.default == library_value || plain(file) == plain(library),
    }
}
