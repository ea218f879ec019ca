//! What `fissure fuzz` and `fissure campaign` are both told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fissure_rules::{LibraryError, RuleLibrary};

use crate::exit_status::usage;
use crate::screen::ScreenArgs;

/// What tells which inputs are worth more of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuideBy {
    /// Blocks of the library's native code
    Coverage,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The same seed gives the same inputs; `random` picks one and prints it
    #[arg(long, default_value = "0")]
    pub seed: String,

    /// Folder with a package of your own, put before the library's own search path
    #[arg(long, value_name = "DIR")]
    pub pythonpath: Vec<PathBuf>,

    /// Module to import first: it may register operators (`torch.ops.mine.f`)
    #[arg(long, value_name = "MODULE")]
    pub import: Vec<String>,

    /// An API is left after this many inputs that hang or exhaust memory
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub max_hangs: u64,

    /// Memory one worker may use beyond what the library needs, in MiB [default: 2048, in a campaign
    /// 1024]
    #[arg(long, value_name = "MIB")]
    pub memory_limit: Option<u64>,

    /// Also fuzz functions that delete, download or execute (see docs/safety.md)
    #[arg(long)]
    pub include_denied: bool,

    /// Let workers write outside their scratch folder and reach the network
    #[arg(long)]
    pub no_sandbox: bool,

    /// Note which blocks of the library's native code are run (Linux on x86-64); `fissure coverage` shows them
    #[arg(long)]
    pub coverage: bool,

    /// Keep inputs that reach new blocks, and change them further; implies --coverage
    #[arg(long, value_name = "BY")]
    pub guide: Option<GuideBy>,

    /// Start from these inputs: a folder or file of a corpus, or a run with --guide
    #[arg(long, value_name = "DIR")]
    pub corpus: Vec<PathBuf>,

    /// Print the summary as JSON on standard output
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Where rules are looked for; a place that is not there is the user's to mend.
pub(crate) fn rule_library(named: &[PathBuf]) -> anyhow::Result<RuleLibrary> {
    RuleLibrary::new(named).map_err(|error| match error {
        LibraryError::Missing(_) => usage(error.to_string()),
        error => error.into(),
    })
}
