//! Changes that nobody wants to hear of again, and names that were changed: a TOML file.
//!
//! ```toml
//! [[change]]
//! api = "torch.linalg.*"
//! kind = "exception-class"       # left out: any kind
//! text = "LinAlgError"           # left out: any; a part of the line's detail
//! reason = "documented in the release notes of 2.15"
//!
//! [[rename]]
//! before = "torch.old"
//! after = "torch.new"
//! ```

use std::path::{Path, PathBuf};

use fissure_model::pattern_matches;
use serde::Deserialize;

use crate::behaviour::{Behaviour, Kind};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownChanges {
    #[serde(default, rename = "change")]
    pub changes: Vec<KnownChange>,
    #[serde(default, rename = "rename")]
    pub renames: Vec<Rename>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownChange {
    /// Title of an API; `*` matches any text.
    pub api: String,
    #[serde(default)]
    pub kind: Option<Kind>,
    #[serde(default)]
    pub text: Option<String>,
    pub reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    pub before: String,
    pub after: String,
}

#[derive(Debug, thiserror::Error)]
pub enum KnownChangesError {
    #[error("failed to read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {source}", path.display())]
    Format {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
}

impl KnownChanges {
    pub fn load(path: &Path) -> Result<KnownChanges, KnownChangesError> {
        let text = std::fs::read_to_string(path).map_err(|source| KnownChangesError::Read {
            path: path.to_owned(),
            source,
        })?;
        toml::from_str(&text).map_err(|source| KnownChangesError::Format {
            path: path.to_owned(),
            source: Box::new(source),
        })
    }

    /// Why a behaviour is known, if it is.
    pub fn reason(&self, behaviour: &Behaviour) -> Option<&str> {
        let fits = |known: &&KnownChange| {
            pattern_matches(&known.api, &behaviour.api.title)
                && known.kind.is_none_or(|kind| kind == behaviour.kind)
                && (known.text.as_ref()).is_none_or(|text| behaviour.detail.contains(text))
        };
        let known = self.changes.iter().find(fits)?;
        Some(&known.reason)
    }

    /// The name that an API has in the second version.
    pub fn renamed(&self, title: &str) -> Option<&str> {
        let rename = self.renames.iter().find(|it| it.before == title)?;
        Some(&rename.after)
    }
}
