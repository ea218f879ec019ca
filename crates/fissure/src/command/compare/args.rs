//! `fissure compare`: the arguments as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Run the same inputs in two versions of a library, and show what changed
///
/// A side is a version (torch==2.9.1, in a managed environment), a Python, the folder of a virtual environment, or a
/// folder that holds the package itself. Reported, one line for each behaviour with a script that prints both: crashes,
/// values beyond rounding, accuracy, shapes, dtypes, types, what is accepted, classes of exceptions, time and memory
/// of more than twice the other, names that are gone. Random results, uninitialised memory and rounding are no
/// change. Exit code 1: something changed. docs/compare.md says more.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// The version that counts as right: torch==2.9.1, a Python, a virtual environment, a folder
    #[arg(value_name = "BEFORE")]
    pub before: String,

    /// The version that is looked at
    #[arg(value_name = "AFTER")]
    pub after: String,

    /// APIs or patterns (torch.nn.functional.*); without any, every public function of the library
    #[arg(value_name = "API")]
    pub apis: Vec<String>,

    /// Leave out what matches
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,

    /// Import name of the library, where the sides do not tell it
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,

    /// Folder with a package of your own for both sides
    #[arg(long, value_name = "DIR")]
    pub pythonpath: Vec<PathBuf>,

    /// Python for sides that are folders of a package [default: as for other commands]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,

    /// Module to import first
    #[arg(long, value_name = "MODULE")]
    pub import: Vec<String>,

    /// Inputs from earlier runs instead of new ones: a run folder, kept inputs, or findings
    #[arg(long, value_name = "DIR")]
    pub inputs: Vec<PathBuf>,

    /// File with changes that are known, and names that were changed [default: known-changes.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub known_changes: Option<PathBuf>,

    /// The same seed gives the same inputs; `random` picks one and prints it
    #[arg(long, default_value = "0")]
    pub seed: String,

    /// Inputs of each API
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub max_iter: u64,

    /// Time for everything; every API gets a first turn before any gets a second
    #[arg(long, value_name = "TIME", value_parser = crate::duration::duration)]
    pub total_time: Option<Duration>,

    /// Time one call may take
    #[arg(long, value_name = "TIME", value_parser = crate::duration::duration, default_value = "3s")]
    pub timeout: Duration,

    /// Memory one worker may use beyond what the library needs, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    pub memory_limit: u64,

    /// Worker processes of both sides together [default: one per core, at least two]
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,

    /// Do not measure time and memory
    #[arg(long)]
    pub no_measure: bool,

    /// Do not compare the accuracy of elementwise functions by sweeps
    #[arg(long)]
    pub no_sweep: bool,

    /// Time for making the input of one behaviour small
    #[arg(long, value_name = "TIME", value_parser = crate::duration::duration, default_value = "3s")]
    pub shrink_time: Duration,

    /// Also call functions that delete, download or execute (see docs/safety.md)
    #[arg(long)]
    pub include_denied: bool,

    /// Let workers write outside their scratch folder and reach the network
    #[arg(long)]
    pub no_sandbox: bool,

    /// Never use the network: do not make an environment [env: FISSURE_OFFLINE]
    #[arg(long)]
    pub offline: bool,

    /// Folder for scripts and compare.json [default: fissure-out/compare-TIME]
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Print the whole report as JSON on standard output
    #[arg(long)]
    pub json: bool,
}
