//! The failures of one run, merged while it runs.

use std::collections::HashMap;

use fissure_model::{Api, ConcreteInput, Execution, Verdict};

use crate::complexity::complexity;
use crate::signature::{Signature, signature};

/// What [`Collector::observe`] made of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Never seen in this run.
    New(Signature),
    /// Seen so often by now, this time included.
    Duplicate(u64),
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
    count: u64,
    complexity: u64,
    /// `None` once it has been taken to be written.
    candidate: Option<Candidate>,
}

/// Counts failures by signature and keeps, until it is taken, the simplest input of each.
///
/// Memory is bounded by the number of distinct failures, which is bounded per API; an input is held
/// only between its first sight and [`Collector::take`].
#[derive(Default)]
pub struct Collector {
    entries: HashMap<Signature, Entry>,
    per_api: HashMap<String, usize>,
    suppressed: u64,
}

impl Collector {
    /// Distinct failures of one API that are told apart.
    pub const PER_API: usize = 50;

    pub fn new() -> Self {
        Self::default()
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
        let known = self.per_api.entry(api.path.clone()).or_default();
        if *known >= Self::PER_API {
            self.suppressed += 1;
            return Observed::Suppressed;
        }
        *known += 1;
        let entry = Entry {
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

    /// Number of distinct failures.
    pub fn distinct(&self) -> usize {
        self.entries.len()
    }

    /// Failures that were only counted because their API had too many distinct ones.
    pub fn suppressed(&self) -> u64 {
        self.suppressed
    }
}
