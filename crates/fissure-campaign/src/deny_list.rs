//! Functions that random arguments must not reach in a default run.
//!
//! The list is data (`data/deny-list.toml`): a pattern and the reason it is there. `*` matches any
//! text. Workers are confined to a scratch folder and cut off the network anyway; the list is for
//! what a sandbox does not undo (starting programs, filling the scratch disk, waiting for peers)
//! and for machines whose kernel offers no sandbox.

use fissure_model::pattern_matches;
use serde::Deserialize;

const BUILT_IN: &str = include_str!("../../../data/deny-list.toml");

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    pattern: String,
    reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DenyList {
    deny: Vec<Entry>,
}

/// Why an API is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub pattern: String,
    pub reason: String,
}

impl DenyList {
    /// The list that ships with Fissure.
    pub fn built_in() -> Self {
        toml::from_str(BUILT_IN).expect("data/deny-list.toml is checked by a test")
    }

    pub fn check(&self, title: &str) -> Option<Denied> {
        self.deny
            .iter()
            .find(|entry| pattern_matches(&entry.pattern, title))
            .map(|entry| Denied {
                pattern: entry.pattern.clone(),
                reason: entry.reason.clone(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_list_is_valid_and_every_entry_has_a_reason() {
        let list = DenyList::built_in();
        assert!(!list.deny.is_empty());
        for entry in &list.deny {
            assert!(
                !entry.reason.trim().is_empty(),
                "{} has no reason",
                entry.pattern
            );
        }
    }

    #[test]
    fn harmless_functions_are_not_denied() {
        let list = DenyList::built_in();
        for title in [
            "torch.add",
            "torch.nn.functional.conv2d",
            "tf.gather",
            "torch.nn.Linear",
        ] {
            assert_eq!(list.check(title), None);
        }
        assert!(list.check("torch.hub.load").is_some());
    }
}
