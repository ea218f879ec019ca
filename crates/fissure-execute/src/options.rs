//! What goes into a pool and what comes out of it, as plain data.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fissure_coverage::ModuleRecord;
use fissure_model::{Api, ConcreteInput, Dtype, Execution, Obstacle, Oracle};

use crate::coverage::{CoverageOptions, Hit};

/// How a pool is started.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// The interpreter that has the library.
    pub python: PathBuf,
    /// Import name of the library: `torch`.
    pub package: String,
    /// Put in front of `PYTHONPATH`.
    pub extra_path: Vec<PathBuf>,
    /// Modules that the zygote imports first, before the library.
    pub imports: Vec<String>,
    pub workers: usize,
    /// For one input: building it, the call, and letting go of the result.
    pub timeout: Duration,
    /// Bytes of resident memory, above what a worker has at its start, at which it is ended.
    pub memory_limit: u64,
    /// Everything the target may write lies below this folder; it is made if it is not there.
    pub scratch: PathBuf,
    pub sandbox: SandboxOptions,
    /// Shared memory for the inputs of one batch; grows by itself for an input that needs more.
    pub arena_bytes: usize,
    /// Oracles that batches will name: what they need is loaded before workers are forked.
    pub oracles: Arc<[Oracle]>,
    /// Added to the environment of the target, over what Fissure sets.
    pub environment: Vec<(String, String)>,
    /// Note which blocks of the library's native code are run.
    pub coverage: Option<CoverageOptions>,
    /// By how much the target gives way to other processes.
    pub niceness: u8,
}

impl PoolOptions {
    /// Defaults for all but what has none.
    pub fn new(
        python: impl Into<PathBuf>,
        package: impl Into<String>,
        scratch: impl Into<PathBuf>,
    ) -> Self {
        PoolOptions {
            python: python.into(),
            package: package.into(),
            extra_path: Vec::new(),
            imports: Vec::new(),
            workers: 1,
            timeout: Duration::from_secs(10),
            memory_limit: 2 << 30,
            scratch: scratch.into(),
            sandbox: SandboxOptions::default(),
            arena_bytes: 8 << 20,
            oracles: Arc::default(),
            environment: Vec::new(),
            coverage: None,
            niceness: 0,
        }
    }
}

/// What the target is kept from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SandboxOptions {
    /// Writes only below the scratch folder, signals only to its own processes (Landlock).
    pub confine_writes: bool,
    /// No network (a network namespace).
    pub cut_network: bool,
}

impl SandboxOptions {
    /// Nothing is asked for.
    pub fn is_off(self) -> bool {
        !self.confine_writes && !self.cut_network
    }
}

/// Whether this machine has a GPU, whose driver writes where a confined process may not.
pub fn has_gpu() -> bool {
    ["/dev/nvidiactl", "/dev/kfd"]
        .iter()
        .any(|device| std::path::Path::new(device).exists())
}

impl Default for SandboxOptions {
    fn default() -> Self {
        SandboxOptions {
            confine_writes: true,
            cut_network: true,
        }
    }
}

/// What of [`SandboxOptions`] this machine could give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SandboxReport {
    pub writes_confined: bool,
    pub network_cut: bool,
    /// Modes, owners, times and attributes of files outside cannot be changed.
    pub attributes_kept: bool,
    /// Shared memory, of files and of System V, is its own and ends with it.
    pub memory_private: bool,
    /// Keys and tokens of the user cannot be read.
    pub secrets_hidden: bool,
    /// System calls that reach beyond the process are refused.
    pub calls_filtered: bool,
    /// Neither rights of root nor a way to get them.
    pub privileges_dropped: bool,
}

impl SandboxReport {
    fn each(&mut self) -> [(&mut bool, &'static str); 7] {
        [
            (&mut self.writes_confined, "writes confined"),
            (&mut self.network_cut, "network cut"),
            (&mut self.attributes_kept, "attributes of files kept"),
            (&mut self.memory_private, "shared memory private"),
            (&mut self.secrets_hidden, "secrets hidden"),
            (&mut self.calls_filtered, "system calls filtered"),
            (&mut self.privileges_dropped, "privileges dropped"),
        ]
    }

    /// The protections that are in force, in words.
    pub fn in_force(mut self) -> Vec<&'static str> {
        let each = self.each();
        let given = each.into_iter().filter(|(given, _)| **given);
        given.map(|(_, name)| name).collect()
    }

    /// Those that are not.
    pub fn missing(mut self) -> Vec<&'static str> {
        let each = self.each();
        let absent = each.into_iter().filter(|(given, _)| !**given);
        absent.map(|(_, name)| name).collect()
    }

    pub(crate) fn to_byte(mut self) -> u8 {
        let each = self.each().into_iter().enumerate();
        each.map(|(bit, (given, _))| u8::from(*given) << bit).sum()
    }

    pub(crate) fn from_byte(byte: u8) -> SandboxReport {
        let mut report = SandboxReport::default();
        for (bit, (given, _)) in report.each().into_iter().enumerate() {
            *given = byte & (1 << bit) != 0;
        }
        report
    }
}

/// The library as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetInfo {
    pub library_version: String,
    /// Import name of the library whose tensors are made: that of the package itself, or the one
    /// it is built on.
    pub tensors: String,
    /// Batches that begin before this input of an API get a worker that has run nothing: what the
    /// library initialises on first use is then initialised by different inputs.
    pub fresh_inputs: u64,
    pub python_version: String,
    /// The interpreter itself, not a wrapper that leads to it.
    pub executable: PathBuf,
    pub sandbox: SandboxReport,
    /// Element types that tensors of the library can have.
    pub dtypes: Vec<Dtype>,
    pub import_time: Duration,
    /// Which of [`PoolOptions::oracles`] cannot run here, or only in part, and why.
    pub obstacles: Vec<Obstacle>,
    /// Files of native code whose coverage is taken.
    pub modules: Vec<ModuleRecord>,
}

impl TargetInfo {
    /// The element types of tensors, where some that everybody uses are not among them: others cannot even be
    /// made, whoever asks for them.
    pub fn only_dtypes(&self) -> Option<&[Dtype]> {
        let usual = [Dtype::Float32, Dtype::Float64, Dtype::Int32, Dtype::Int64];
        let lacks = usual.iter().any(|dtype| !self.dtypes.contains(dtype));
        (lacks && !self.dtypes.is_empty()).then_some(&self.dtypes)
    }
}

/// Inputs of one API that travel together.
#[derive(Clone, Debug)]
pub struct Batch {
    pub id: u64,
    pub api: Arc<Api>,
    /// Look for a NaN in each result.
    pub check_nan: bool,
    /// Oracles that look at each accepted input after its call, in this order. Their
    /// answers are the [`Execution::reports`].
    pub oracles: Arc<[Oracle]>,
    pub inputs: Vec<ConcreteInput>,
    /// Set by the caller who no longer wants the rest: the batch comes back cut short the next
    /// time a worker has to be replaced (or at once, if none has taken it yet).
    pub abandoned: Arc<AtomicBool>,
    /// Time for all calls together that are not quick ([`QUICK`]): when it is used up, a call is ended as soon as it is
    /// not quick. `None`: each call has the pool's time limit.
    pub slow_calls: Option<Duration>,
}

/// A call that takes no longer is quick.
pub const QUICK: Duration = Duration::from_millis(100);

impl Batch {
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}

/// What a pool reports.
#[derive(Clone, Debug)]
pub enum Event {
    /// An input ended its process or raised what no API should: told at once, and again as part of
    /// [`Event::Done`].
    Abnormal {
        batch: u64,
        input: Box<ConcreteInput>,
        execution: Execution,
    },
    /// A batch is over. `executions` are in the order of the inputs, one for each, unless the pool
    /// was cancelled or failed or the batch was abandoned: then they are those of the first inputs.
    Done {
        batch: Batch,
        executions: Vec<Execution>,
        /// Blocks of native code that were run for the first time since the API's worker began.
        hits: Vec<Hit>,
        busy: Duration,
    },
}

/// What a slot of the pool does.
#[derive(Clone, Debug)]
pub struct Busy {
    pub api: Arc<Api>,
    /// Oracles look at inputs.
    pub judging: bool,
    pub since: Instant,
}

/// Counted over the life of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStatistics {
    pub batches: u64,
    pub inputs: u64,
    /// Workers forked, the first ones included.
    pub workers_started: u64,
    /// Times the library was imported.
    pub zygotes_started: u64,
    /// Workers that ended, or were ended, while an input ran.
    pub workers_lost: u64,
    /// Workers that ended between two batches: no input can be named for it.
    pub workers_lost_idle: u64,
    /// Workers replaced because they had grown.
    pub workers_recycled: u64,
    /// Time that slots spent with a batch.
    pub busy: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_its_way_through_a_byte() {
        for byte in 0..128 {
            let report = SandboxReport::from_byte(byte);
            assert_eq!(report.to_byte(), byte);
            assert_eq!(report.in_force().len() + report.missing().len(), 7);
        }
        assert_eq!(SandboxReport::from_byte(2).in_force(), ["network cut"]);
    }
}
