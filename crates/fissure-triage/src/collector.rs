//! The failures of one run, merged while it runs.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeSet, HashMap};

use fissure_model::{Api, ConcreteInput, Execution, Finding, Oracle, Outcome, Verdict};

use crate::cause;
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

/// Which input of a failure is kept: of those in the earliest part of the sequence that shows it, the
/// simplest. The order in which they come back does not matter, so a run that was interrupted keeps
/// the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    part: u64,
    complexity: u64,
    number: u64,
}

struct Entry {
    /// Path and title of the API that showed it first.
    api: String,
    title: String,
    count: u64,
    rank: Rank,
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
    /// The failure of each cause that is known well enough, whatever the API ([`crate::cause`]).
    causes: HashMap<String, Signature>,
    /// Memory faults of each API, the first one first.
    faults: HashMap<String, Vec<Signature>>,
    /// APIs that corrupt the heap: their memory faults are one failure.
    corrupting: BTreeSet<String>,
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
            rank: Rank::default(),
            candidate: None,
            aliases: finding.also_through.iter().cloned().collect(),
        };
        let signature = Signature::of_finding(finding);
        if cause::speaks_for_others(finding) {
            for key in cause::keys_of(finding) {
                self.causes.entry(key).or_insert_with(|| signature.clone());
            }
        }
        if !finding.is_note() && cause::is_memory_fault(&finding.verdict, &finding.execution) {
            let faults = self.faults.entry(finding.api.path.clone()).or_default();
            faults.push(signature.clone());
        }
        let known = self.entries.insert(signature, entry);
        if known.is_none() {
            *self.per_api.entry(finding.api.path.clone()).or_default() += 1;
        }
    }

    /// Takes a failure. `part`: the part of the sequence that its input belongs to.
    pub fn observe(
        &mut self,
        api: &Api,
        verdict: &Verdict,
        input: &ConcreteInput,
        execution: &Execution,
        part: u64,
    ) -> Observed {
        let rank = || Rank {
            part,
            complexity: complexity(input),
            number: input.number,
        };
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
            if entry.candidate.is_some() && entry.api == api.path {
                let rank = rank();
                if rank < entry.rank {
                    entry.rank = rank;
                    entry.candidate = Some(candidate());
                }
            }
            return Observed::Duplicate(entry.count);
        }
        if let Some(known) = self.fault(api, verdict, execution, &signature)
            && let Some(entry) = self.entries.get_mut(&known)
        {
            entry.count += 1;
            return Observed::Duplicate(entry.count);
        }
        let keys = cause::keys(api, &signature, &[]);
        let mut aliases = BTreeSet::new();
        if let Some(known) = keys.iter().find_map(|key| self.causes.get(key))
            && let Some(entry) = self.entries.get_mut(known)
        {
            if entry.api == api.path {
                // Another oracle, or another of its variants, told the same.
                entry.count += 1;
                return Observed::Duplicate(entry.count);
            }
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
        for key in keys {
            match self.causes.entry(key) {
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
            rank: rank(),
            candidate: Some(candidate()),
        };
        self.entries.insert(signature.clone(), entry);
        Observed::New(signature)
    }

    /// The earlier memory fault of the API that this one is, if the API corrupts the heap: such a
    /// process dies somewhere else each time.
    fn fault(
        &mut self,
        api: &Api,
        verdict: &Verdict,
        execution: &Execution,
        signature: &Signature,
    ) -> Option<Signature> {
        if verdict.note || !cause::is_memory_fault(verdict, execution) {
            return None;
        }
        let faults = self.faults.entry(api.path.clone()).or_default();
        if cause::is_corrupted(verdict, execution) || faults.len() + 1 >= cause::FAULTS {
            self.corrupting.insert(api.path.clone());
        }
        let first = faults.first().cloned();
        faults.push(signature.clone());
        first.filter(|_| self.corrupting.contains(&api.path))
    }

    /// The small input of a failure makes other oracles report, too (oracle, detail): what they
    /// tell of the API from now on is the same.
    pub fn also(&mut self, api: &Api, signature: &Signature, reports: &[(Oracle, String)]) {
        for key in cause::keys(api, signature, reports) {
            self.causes.entry(key).or_insert_with(|| signature.clone());
        }
    }

    /// The simplest input seen so far; later ones are only counted. `None` for a signature that was
    /// never observed or was taken before.
    pub fn take(&mut self, signature: &Signature) -> Option<Candidate> {
        self.entries.get_mut(signature)?.candidate.take()
    }

    /// The part of the sequence that the kept input belongs to, while it has not been taken.
    pub fn part(&self, signature: &Signature) -> Option<u64> {
        let entry = self.entries.get(signature)?;
        entry.candidate.as_ref().map(|_| entry.rank.part)
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
