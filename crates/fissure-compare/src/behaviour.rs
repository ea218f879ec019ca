//! What changed, one line for each behaviour.

use std::collections::BTreeMap;
use std::fmt;

use fissure_model::{Api, ConcreteInput};
use serde::{Deserialize, Serialize};

/// In what two versions differ, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The process ends in one version and not in the other.
    Crash,
    /// Other numbers, beyond rounding.
    Values,
    /// Further from the result in `float64` than before, or nearer.
    Accuracy,
    Shape,
    Dtype,
    /// Another type of result, or other containers around it.
    Structure,
    /// Accepted in one version, refused in the other.
    Acceptance,
    /// Refused in both, with another class of exception.
    ExceptionClass,
    /// More than twice the processor time, or half.
    Speed,
    /// More than twice the memory, or half.
    Memory,
    /// The name is gone.
    Removed,
}

impl Kind {
    pub const ALL: [Kind; 11] = [
        Kind::Crash,
        Kind::Values,
        Kind::Accuracy,
        Kind::Shape,
        Kind::Dtype,
        Kind::Structure,
        Kind::Acceptance,
        Kind::ExceptionClass,
        Kind::Speed,
        Kind::Memory,
        Kind::Removed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Crash => "crash",
            Kind::Values => "values",
            Kind::Accuracy => "accuracy",
            Kind::Shape => "shape",
            Kind::Dtype => "dtype",
            Kind::Structure => "structure",
            Kind::Acceptance => "acceptance",
            Kind::ExceptionClass => "exception-class",
            Kind::Speed => "speed",
            Kind::Memory => "memory",
            Kind::Removed => "removed",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// One difference between two runs of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub kind: Kind,
    /// Without numbers of this one input: differences of one API, kind and detail are one behaviour.
    pub detail: String,
    /// What each version did, in a few words.
    pub before: String,
    pub after: String,
    /// The part of the result that differs.
    pub path: String,
}

/// What changed in one API, met through any number of inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Behaviour {
    pub api: Api,
    pub kind: Kind,
    pub detail: String,
    pub before: String,
    pub after: String,
    /// The call that shows it, in one line.
    pub call: String,
    /// Inputs that showed it.
    pub inputs: u64,
    /// Titles of further APIs in which the same changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The file that prints both, below the folder of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Why it is silenced, where a file of known changes says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The input, unless the change is one of a whole function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<ConcreteInput>>,
}

/// The same change in several APIs becomes one behaviour of the one with the shortest name. Numbers of one API
/// (values, speed, memory, accuracy, crashes) stay by themselves: their causes differ.
pub(crate) fn fold(behaviours: Vec<Behaviour>) -> Vec<Behaviour> {
    let mut groups: BTreeMap<(Kind, String, usize), Vec<Behaviour>> = BTreeMap::new();
    for (at, one) in behaviours.into_iter().enumerate() {
        let shared = matches!(
            one.kind,
            Kind::Acceptance | Kind::ExceptionClass | Kind::Structure
        );
        let key = (
            one.kind,
            without_names(&one.detail, &one.api.title),
            if shared { 0 } else { at + 1 },
        );
        groups.entry(key).or_default().push(one);
    }
    let mut folded: Vec<Behaviour> = groups
        .into_values()
        .filter_map(|mut group| {
            group.sort_by(|a, b| {
                (a.api.title.len(), &a.api.title).cmp(&(b.api.title.len(), &b.api.title))
            });
            let mut members = group.into_iter();
            let mut first = members.next()?;
            for other in members {
                first.inputs += other.inputs;
                if other.api.title != first.api.title && !first.also.contains(&other.api.title) {
                    first.also.push(other.api.title);
                }
            }
            Some(first)
        })
        .collect();
    folded
        .sort_by(|a, b| (a.kind, &a.api.title, &a.detail).cmp(&(b.kind, &b.api.title, &b.detail)));
    folded
}

/// A detail without the name of the API, and without the operator's name that many messages begin with: `linalg.inv:`,
/// `amax():`.
fn without_names(detail: &str, title: &str) -> String {
    let last = title.rsplit('.').next().unwrap_or(title);
    // Two letters are part of too many words.
    let last = if last.len() > 2 { last } else { title };
    let is_label = |word: &&str| word.ends_with(':') && word.contains(['.', '(', '_']);
    let words = detail.split(' ').filter(|word| !is_label(word));
    words
        .collect::<Vec<_>>()
        .join(" ")
        .replace(last, "<function>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behaviour(title: &str, kind: Kind, detail: &str) -> Behaviour {
        Behaviour {
            api: Api {
                title: title.into(),
                ..Api::default()
            },
            kind,
            detail: detail.into(),
            before: String::new(),
            after: String::new(),
            call: String::new(),
            inputs: 1,
            also: Vec::new(),
            script: None,
            known: None,
            input: None,
        }
    }

    #[test]
    fn one_message_in_many_functions_is_one_behaviour_and_wrong_numbers_are_not() {
        let folded = fold(vec![
            behaviour(
                "m.sort",
                Kind::Acceptance,
                "accepted → TypeError: sort(): no",
            ),
            behaviour(
                "m.argsort",
                Kind::Acceptance,
                "accepted → TypeError: argsort(): no",
            ),
            behaviour("m.sort", Kind::Values, "float32"),
            behaviour("m.argsort", Kind::Values, "float32"),
        ]);
        assert_eq!(folded.len(), 3);
        let shared = folded.iter().find(|it| it.kind == Kind::Acceptance);
        assert_eq!(
            shared.map(|it| it.also.clone()),
            Some(vec!["m.argsort".to_owned()])
        );
    }
}
