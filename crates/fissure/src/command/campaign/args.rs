//! `fissure campaign`: the arguments as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::command::fuzz::args::ModeArg;
use crate::command::session::args::RunArgs;
use crate::command::session::judging::JudgingArgs;
use crate::duration::{Limit, duration, limit};
use crate::target::TargetArgs;

/// Fuzz every API of a library: specs, learn, solve, fuzz, judge, triage, report.
///
/// Every public callable of the installed library is fuzzed (`fissure apis` lists them). What is known of
/// one comes from constraint files (--specs), from rules shipped with Fissure or found in --rules or
/// ./invariants, or from the library itself; rules are learned meanwhile. All results are in one folder, which
/// `fissure report` reads.
///
///   fissure campaign torch --api-time 60s --total-time 2h
///   fissure campaign torch --api 'torch.nn.*' --weight 'torch.nn.functional.*=3' --max-iter 2000
///   fissure campaign --resume fissure-out/campaign-20261115-231500
///   fissure campaign torch --slurm --shards 64 --cpus 4 --time 2h
///
/// Exit codes: 0 no finding, 1 findings, 2 usage error, 3 Fissure itself failed.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    verbatim_doc_comment
)]
pub(crate) struct CampaignArgs {
    #[command(subcommand)]
    pub action: Option<Action>,

    #[command(flatten)]
    pub run: CampaignRunArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Say what a campaign has done, what runs, and what failed
    Status(FolderArgs),
    /// Join the shards of a campaign into one run folder, which `fissure report` reads
    Merge(FolderArgs),
    /// Print the batch script for Slurm, to be edited and given to --template
    Template {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Do one task of a campaign: what the batch script calls
    #[command(hide = true)]
    Task(TaskArgs),
}

#[derive(Args, Debug)]
pub(crate) struct FolderArgs {
    /// Folder of the campaign
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TaskArgs {
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// learn, solve, fuzz, oracle or report
    #[arg(value_name = "PHASE")]
    pub phase: String,
    /// Number of the shard
    #[arg(value_name = "SHARD")]
    pub shard: usize,
}

#[derive(Args, Debug)]
pub(crate) struct CampaignRunArgs {
    /// Import name of a library (torch, tensorflow, jax, mxnet, numpy, scipy, a package of your own); may be left out
    /// where --specs says it
    #[arg(value_name = "LIBRARY")]
    pub library: Option<String>,

    /// Constraint file, or folder of them
    #[arg(long, value_name = "PATH")]
    pub specs: Vec<PathBuf>,

    /// Rule file, or folder of them; comes before those in ./invariants and those shipped
    #[arg(long, value_name = "PATH")]
    pub rules: Vec<PathBuf>,

    /// Only APIs of this name or pattern (may be given again)
    #[arg(long, value_name = "PATTERN")]
    pub api: Vec<String>,

    /// No API of this name or pattern (may be given again)
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,

    /// APIs that get N times the usual share; the last that fits counts
    #[arg(long, value_name = "PATTERN=N", value_parser = weight)]
    pub weight: Vec<(String, f64)>,

    /// Time for each API
    #[arg(long = "api-time", aliases = ["per-api", "max-time"], value_name = "TIME", value_parser = duration)]
    pub per_api: Option<Duration>,

    /// Time for the whole, shared among the APIs, confirming what is found included; `forever` goes round without end
    /// [default: the profile's]
    #[arg(long = "total-time", alias = "total", value_name = "TIME", value_parser = limit)]
    pub total: Option<Limit>,

    /// Inputs for each API [default: 2000, without end when a time is given]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_iter: Option<u64>,

    /// What to do with what is known
    #[arg(long, value_enum, default_value = "mixed")]
    pub mode: ModeArg,

    /// Only APIs with rules or constraint files, where there are any; nothing is learned
    #[arg(long)]
    pub no_learn: bool,

    /// Time for learning one API
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20s")]
    pub learn_time: Duration,

    /// Time for learning, which goes on beside fuzzing; what is not learned by then is left out
    /// [default: 10m, or all of --total-time]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub learn_total: Option<Duration>,

    /// Worker processes [default: one per core; with --slurm, --cpus]
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,

    /// Keep every input, not only those that fail: `fissure judge` takes them
    #[arg(long)]
    pub save: bool,

    /// Folder for everything that is written [default: fissure-out/campaign-TIME]
    #[arg(long, alias = "workdir", value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Continue the campaign in this folder with the command it was begun with; on Slurm, submit
    /// again what failed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["library", "output"])]
    pub resume: Option<PathBuf>,

    /// Divide the APIs among so many processes, each with a folder of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub shards: Option<u64>,

    /// Do this one of the shards (0 is the first)
    #[arg(long, value_name = "I")]
    pub shard: Option<u64>,

    /// Time one input may take [default: 10s, less where --total-time is short]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,

    #[command(flatten)]
    pub run: RunArgs,

    #[command(flatten)]
    pub slurm: SlurmArgs,

    #[command(flatten)]
    pub judging: JudgingArgs,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Slurm")]
pub(crate) struct SlurmArgs {
    /// Submit the campaign as job arrays, one task for each shard
    #[arg(long, conflicts_with = "shard")]
    pub slurm: bool,

    /// Batch script in place of the one that `fissure campaign template` prints
    #[arg(long, value_name = "FILE", requires = "slurm")]
    pub template: Option<PathBuf>,

    /// Partition of the cluster
    #[arg(long, value_name = "NAME", requires = "slurm")]
    pub partition: Option<String>,

    /// Time limit of one task, as Slurm writes it or as 2h
    #[arg(long, value_name = "TIME", requires = "slurm")]
    pub time: Option<String>,

    /// Memory of one task, as Slurm writes it (8G)
    #[arg(long, value_name = "SIZE", requires = "slurm")]
    pub mem: Option<String>,

    /// Cores of one task
    #[arg(long, value_name = "N", requires = "slurm", value_parser = clap::value_parser!(u64).range(1..))]
    pub cpus: Option<u64>,
}

/// `PATTERN=N`.
fn weight(text: &str) -> Result<(String, f64), String> {
    let hint = "give a pattern and a factor, as in 'torch.nn.*=3'";
    let (pattern, factor) = text.rsplit_once('=').ok_or(hint)?;
    match factor.parse::<f64>() {
        Ok(factor) if factor > 0.0 && factor.is_finite() && !pattern.is_empty() => {
            Ok((pattern.to_owned(), factor))
        }
        _ => Err(hint.to_owned()),
    }
}
