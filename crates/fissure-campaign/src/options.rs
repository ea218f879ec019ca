//! What a run is asked to do, once the command line has been understood.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fissure_generate::GenerateOptions;
use fissure_model::Oracle;

use crate::index::ApiIndex;
use crate::{Corpus, JudgingOptions};

#[derive(Clone, Debug)]
pub struct RunOptions {
    pub seed: u64,
    /// Workers of the pool.
    pub workers: usize,
    pub generate: GenerateOptions,
    /// Look for NaN in the results of APIs whose spec asks for it.
    pub check_nan: bool,
    /// Inputs per API; `None` runs until the time is up or the user stops it.
    pub max_inputs: Option<u64>,
    /// Wall-clock time per API.
    pub max_time: Option<Duration>,
    /// When APIs run without end: what one of them gets before the next has its turn.
    pub turn: Option<Duration>,
    /// An API that hangs (or exhausts memory) this often is left: the rest of its inputs would
    /// mostly wait for the watchdog.
    pub max_hangs: u64,
    /// Keep every input, not only those that fail.
    pub save: bool,
    /// Write a plain Python script for each kept input.
    pub scripts: bool,
    /// The oracles whose verdicts count.
    pub oracles: Vec<Oracle>,
    /// What the specs say is taken for what the library documents: an input accepted or rejected
    /// against them is a finding.
    pub trust_specs: bool,
    /// Which accepted inputs the comparing oracles look at.
    pub judging: JudgingOptions,
    /// Wall-clock time for the whole run.
    pub total_time: Option<Duration>,
    /// Continue what an earlier process did in the folder.
    pub resume: bool,
    /// Time for making one failing input smaller; `None`: it is reported as it is.
    pub shrink_time: Option<Duration>,
    /// Runs of a finding's script in fresh processes, when all of them fail; more if one does not.
    pub confirm_runs: u32,
    /// How the work is divided.
    pub division: Division,
    /// Inputs that reach new blocks are kept, and changed further.
    pub guide: bool,
    /// Inputs that the run starts from.
    pub corpus: Arc<Corpus>,
    /// Settings that the records name besides those above, under DocTer's names.
    pub recorded: serde_json::Map<String, serde_json::Value>,
    /// Set from outside: nothing new is begun, and no time counts, until it is unset.
    pub pause: Arc<AtomicBool>,
}

/// How the work is divided among APIs and between processes.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// How many times the usual share each API gets, by position; those beyond the end get it once.
    pub weights: Vec<f64>,
    pub part: Part,
    /// APIs that are known not to be worth a try, by position, and why.
    pub left_out: BTreeMap<ApiIndex, String>,
}

/// What of the work a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    All,
    /// Inputs run; the oracles that call the API again do not look at them.
    Fuzz,
    /// The oracles look at the inputs that an earlier process ran; nothing new is generated.
    Judge,
}

impl Division {
    pub fn weight(&self, at: ApiIndex) -> f64 {
        self.weights.get(at.get()).copied().unwrap_or(1.0)
    }
}

impl RunOptions {
    /// A run that ends when it is told to, looks for NaN and asks no oracle.
    pub fn new(seed: u64, workers: usize) -> RunOptions {
        RunOptions {
            seed,
            workers,
            generate: GenerateOptions::default(),
            check_nan: true,
            max_inputs: None,
            max_time: None,
            turn: None,
            max_hangs: 20,
            save: false,
            scripts: false,
            oracles: Vec::new(),
            trust_specs: false,
            judging: JudgingOptions::default(),
            total_time: None,
            resume: false,
            shrink_time: None,
            confirm_runs: 1,
            division: Division::default(),
            guide: false,
            corpus: Arc::default(),
            recorded: serde_json::Map::new(),
            pause: Arc::default(),
        }
    }

    pub fn has_oracle(&self, oracle: &Oracle) -> bool {
        self.oracles.contains(oracle)
    }
}
