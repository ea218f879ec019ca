//! The failures of one run, merged while it runs.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeSet, HashMap};

use fissure_model::{Api, ConcreteInput, Execution, Finding, Outcome, Verdict};

use crate::complexity::complexity;
use crate::signature::{Signature, signature, signature_without_native};

/// What [`Collector::observe`] made of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Never seen in this run.
    New(Signature),
    /// Seen so often by now, this time included.
    Duplicate(u64),
    /// The failure of another API, with this signature, met through this one as well.
    Alias(Signature),
    /// The API has shown [`Collector::PER_API`] distinct failures already; only counted. A message
    /// that quotes random text would otherwise fill the disk with one bug.
    Suppressed,
}

/// The simplest input seen for a signature.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub verdict: Verdict,
    pub input: ConcreteInput,
    pub execution: Execution,
}

struct Entry {
    /// Path and title of the API that showed it first.
    api: String,
    title: String,
    count: u64,
    complexity: u64,
    /// `None` once it has been taken to be written.
    candidate: Option<Candidate>,
    /// Titles of other APIs that lead to it.
    aliases: BTreeSet<String>,
}

/// Whether a failure that two APIs lead to is told as the first one's: that of the shorter name, so
/// that it does not depend on which was met first.
pub(crate) fn owns_before(path: &str, other: &str) -> bool {
    (path.len(), path) < (other.len(), other)
}

/// Counts failures by signature and keeps, until it is taken, the simplest input of each.
///
/// Memory is bounded by the number of distinct failures, which is bounded per API; an input is held
/// only between its first sight and [`Collector::take`].
#[derive(Default)]
pub struct Collector {
    entries: HashMap<Signature, Entry>,
    /// The failure at each place of the library that is known well enough, whatever the API.
    places: HashMap<String, Signature>,
    /// The first failure with this signature but for native frames, which are not always to be had.
    bare: HashMap<Signature, Signature>,
    per_api: HashMap<String, usize>,
    suppressed: u64,
}

impl Collector {
    /// Distinct failures of one API that are told apart.
    pub const PER_API: usize = 50;

    pub fn new() -> Self {
        Self::default()
    }

    /// A failure that an earlier process has written: met again, it is a duplicate.
    pub fn know(&mut self, finding: &Finding) {
        let entry = Entry {
            api: finding.api.path.clone(),
            title: finding.api.title.clone(),
            count: 1,
            complexity: 0,
            candidate: None,
            aliases: finding.also_through.iter().cloned().collect(),
        };
        let signature = Signature::of_finding(finding);
        if let Some(place) = signature.place().filter(|_| !finding.is_note()) {
            self.places
                .entry(place)
                .or_insert_with(|| signature.clone());
        }
        let known = self.entries.insert(signature, entry);
        if known.is_none() {
            *self.per_api.entry(finding.api.path.clone()).or_default() += 1;
        }
    }

    pub fn observe(
        &mut self,
        api: &Api,
        verdict: &Verdict,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Observed {
        let signature = signature(api, verdict, execution);
        let candidate = || Candidate {
            verdict: verdict.clone(),
            input: input.clone(),
            execution: execution.clone(),
        };
        let bare = signature_without_native(api, verdict, execution);
        let crashed = matches!(execution.outcome, Outcome::Crash { .. });
        // A process that nobody could look into died of the failure that is known, if there is one.
        let signature = match self.bare.get(&bare) {
            Some(known) if crashed && execution.native_frames.is_empty() => known.clone(),
            _ => signature,
        };
        if let Some(entry) = self.entries.get_mut(&signature) {
            entry.count += 1;
            if entry.candidate.is_some() {
                let complexity = complexity(input);
                if complexity < entry.complexity {
                    entry.complexity = complexity;
                    entry.candidate = Some(candidate());
                }
            }
            return Observed::Duplicate(entry.count);
        }
        let place = signature.place();
        let mut aliases = BTreeSet::new();
        if let Some(known) = place.as_ref().and_then(|place| self.places.get(place))
            && let Some(entry) = self.entries.get_mut(known)
            && entry.api != api.path
        {
            if !owns_before(&api.path, &entry.api) {
                entry.count += 1;
                entry.aliases.insert(api.title.clone());
                return Observed::Alias(known.clone());
            }
            // From now on it is this one's.
            aliases.clone_from(&entry.aliases);
            aliases.insert(entry.title.clone());
        }
        let known = self.per_api.entry(api.path.clone()).or_default();
        if *known >= Self::PER_API {
            self.suppressed += 1;
            return Observed::Suppressed;
        }
        *known += 1;
        if let Some(place) = place {
            match self.places.entry(place) {
                Occupied(mut known) if !aliases.is_empty() => {
                    known.insert(signature.clone());
                }
                Occupied(_) => {}
                Vacant(free) => {
                    free.insert(signature.clone());
                }
            }
        }
        self.bare.entry(bare).or_insert_with(|| signature.clone());
        let entry = Entry {
            api: api.path.clone(),
            title: api.title.clone(),
            aliases,
            count: 1,
            complexity: complexity(input),
            candidate: Some(candidate()),
        };
        self.entries.insert(signature.clone(), entry);
        Observed::New(signature)
    }

    /// The simplest input seen so far; later ones are only counted. `None` for a signature that was
    /// never observed or was taken before.
    pub fn take(&mut self, signature: &Signature) -> Option<Candidate> {
        self.entries.get_mut(signature)?.candidate.take()
    }

    /// How often this failure was seen.
    pub fn count(&self, signature: &Signature) -> u64 {
        self.entries.get(signature).map_or(0, |entry| entry.count)
    }

    /// Titles of the other APIs through which this failure was met, sorted.
    pub fn aliases(&self, signature: &Signature) -> Vec<String> {
        self.entries
            .get(signature)
            .map(|entry| entry.aliases.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// Number of distinct failures.
    pub fn distinct(&self) -> usize {
        self.entries.len()
    }

    /// Failures that were only counted because their API had too many distinct ones.
    pub fn suppressed(&self) -> u64 {
        self.suppressed
    }
}
