//! Classes of failures that the maintainers of a library collect in one place: `data/known-issues.toml`, whose head
//! explains the fields.

use std::sync::OnceLock;

use fissure_model::{Finding, Interest};
use serde::Deserialize;
use toml::value::Datetime;

const FILE: &str = include_str!("../../../data/known-issues.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    issue: Vec<Umbrella>,
}

/// One such class.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Umbrella {
    library: String,
    class: Option<Interest>,
    prefix: Option<String>,
    pub link: String,
    date: Datetime,
    says: String,
}

impl Umbrella {
    /// What the maintainers have said of failures like this one.
    pub fn of(finding: &Finding) -> Option<&'static Umbrella> {
        let interest = finding.interest();
        all().iter().find(|one| {
            one.library == finding.api.package
                && one.class.is_none_or(|class| class == interest)
                && one
                    .prefix
                    .as_ref()
                    .is_none_or(|prefix| finding.api.title.starts_with(prefix))
        })
    }

    /// As a sentence.
    pub fn sentence(&self) -> String {
        format!(
            "The maintainers {} ({}, {}).",
            self.says, self.link, self.date
        )
    }
}

fn all() -> &'static [Umbrella] {
    static ALL: OnceLock<Vec<Umbrella>> = OnceLock::new();
    ALL.get_or_init(|| {
        let file: File = toml::from_str(FILE).expect("a test reads the file that ships");
        file.issue
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_that_ships_names_a_class_or_a_prefix_and_has_a_date() {
        assert!(!all().is_empty());
        for one in all() {
            assert!(one.class.is_some() || one.prefix.is_some(), "{one:?}");
            assert!(one.date.date.is_some(), "{one:?}");
            assert!(one.link.starts_with("https://"), "{one:?}");
        }
    }
}
