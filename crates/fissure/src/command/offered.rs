//! What a library offers, kept in the user's cache by version: asking takes seconds, and the answer stays the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::Context;
use fissure_environment::Surroundings;
use fissure_execute::{WORKER, python_package};
use serde::{Serialize, de::DeserializeOwned};

/// Below the user's cache: one file per question and version of a library.
const CACHE: &str = "apis-3";

/// Which library, in which version and place.
pub(super) struct Library<'a> {
    pub name: &'a str,
    /// Names the version and the environment; only as a whole it tells them apart.
    pub reason: &'a str,
    /// It is a package of the user's own, which may change at any time: nothing is kept.
    pub own: bool,
}

impl Library<'_> {
    /// The answer to a question: what an earlier command kept, unless it is to be `fresh`, or what `ask` says.
    pub(super) fn kept<T: Serialize + DeserializeOwned>(
        &self,
        question: &str,
        fresh: bool,
        ask: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        if self.own {
            return ask();
        }
        let key = format!("{question} {} {} {:016x}", self.name, self.reason, asking());
        let key = fissure_triage::file_name_part(&key).into_owned();
        let folder = Surroundings::from_process()?.root.join(CACHE);
        let file = folder.join(format!("{key}.json"));
        if !fresh
            && let Ok(text) = std::fs::read(&file)
            && let Ok(answer) = serde_json::from_slice(&text)
        {
            return Ok(answer);
        }
        let answer = ask()?;
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("failed to make {}", folder.display()))?;
        std::fs::write(&file, serde_json::to_vec(&answer)?)
            .with_context(|| format!("failed to write {}", file.display()))?;
        Ok(answer)
    }
}

/// Tells versions of the scripts that ask apart: another one may answer otherwise.
fn asking() -> u64 {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    python_package(WORKER).hash(&mut hasher);
    hasher.finish()
}
