//! `fissure corpus`: inputs that guided runs kept.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use fissure_campaign::{Corpus, Measured, measure};
use fissure_execute::{Arming, CoverageOptions, Pool, PoolOptions, SandboxOptions, has_gpu};
use serde_json::json;

use super::session;
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};

/// Work with the inputs that runs with --guide coverage have kept
#[derive(Args, Debug)]
pub(crate) struct CorpusArgs {
    #[command(subcommand)]
    command: CorpusCommand,
}

#[derive(Subcommand, Debug)]
enum CorpusCommand {
    /// Keep few inputs that reach the same blocks of native code as all
    ///
    /// Each input is run by itself. Linux on x86-64.
    ///
    /// Example:
    ///   fissure corpus min fissure-out/run --output small
    #[command(verbatim_doc_comment)]
    Min {
        #[command(flatten)]
        files: FilesArgs,
        #[command(flatten)]
        run: MeasureArgs,
    },
    /// Put corpora together; the same call is kept once
    ///
    /// Example:
    ///   fissure corpus merge run1 run2 --output all
    #[command(verbatim_doc_comment)]
    Merge {
        #[command(flatten)]
        files: FilesArgs,
    },
}

/// What is read, and where the result goes.
#[derive(Args, Debug)]
struct FilesArgs {
    /// Folders or files of corpora, or runs
    #[arg(required = true, value_name = "CORPUS")]
    corpora: Vec<PathBuf>,
    /// Folder for the result
    #[arg(long = "output", alias = "out", value_name = "DIR")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How the inputs of a corpus are run.
#[derive(Args, Debug)]
pub(crate) struct MeasureArgs {
    /// Folder with a package of your own, put before the library's own search path
    #[arg(long, value_name = "DIR")]
    pub pythonpath: Vec<PathBuf>,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    pub target: TargetArgs,
}

pub(crate) fn run(args: CorpusArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        CorpusCommand::Merge { files } => {
            let FilesArgs { corpora, out, json } = files;
            let all = session::corpus(&corpora)?;
            refuse_nameless(&all)?;
            save(&all, &out)?;
            let apis = all.apis().count();
            if json {
                let answer = json!({"inputs": all.len(), "apis": apis, "corpus": out});
                println!("{answer}");
            } else {
                println!("{} inputs of {apis} APIs in {}", all.len(), out.display());
            }
        }
        CorpusCommand::Min { files, run } => {
            let FilesArgs { corpora, out, json } = files;
            let all = session::corpus(&corpora)?;
            let (pool, _scratch) = pool(&all, &run)?;
            let measured = measured(&all, &pool)?;
            let mut small = Corpus::default();
            let mut blocks = 0;
            for api in &measured {
                blocks += api.union().len();
                api.fewest()
                    .into_iter()
                    .cloned()
                    .for_each(|entry| small.push(entry));
            }
            save(&small, &out)?;
            if json {
                let (kept, of) = (small.len(), all.len());
                let answer = json!({"inputs": kept, "of": of, "blocks": blocks, "corpus": out});
                println!("{answer}");
                return Ok(ExitStatus::NoFinding.into());
            }
            println!(
                "{} of {} inputs reach the same {blocks} blocks; they are in {}",
                small.len(),
                all.len(),
                out.display()
            );
        }
    }
    Ok(ExitStatus::NoFinding.into())
}

/// Inputs of Centaur do not say which API they are for.
fn refuse_nameless(corpus: &Corpus) -> anyhow::Result<()> {
    match corpus.nameless() {
        0 => Ok(()),
        inputs => Err(usage(format!(
            "{inputs} inputs name no API (abstract_inputs.jsonl); `fissure fuzz API --corpus` takes them, and with \
             --guide coverage leaves a corpus that names it"
        ))),
    }
}

fn save(corpus: &Corpus, out: &Path) -> anyhow::Result<()> {
    corpus
        .save(out)
        .with_context(|| format!("failed to write {}", out.display()))
}

pub(crate) fn measured(corpus: &Corpus, pool: &Pool) -> anyhow::Result<Vec<Measured>> {
    measure(corpus, pool).map_err(|reason| anyhow!("the workers cannot go on: {reason}"))
}

/// One worker that reports everything an input reaches, and its folder.
pub(crate) fn pool(
    corpus: &Corpus,
    args: &MeasureArgs,
) -> anyhow::Result<(Pool, tempfile::TempDir)> {
    if let Some(reason) = fissure_coverage::unavailable() {
        return Err(usage(reason));
    }
    refuse_nameless(corpus)?;
    let mut packages: Vec<&str> = (corpus.apis().flatten())
        .map(|entry| entry.api.package.as_str())
        .collect();
    packages.sort_unstable();
    packages.dedup();
    let [package] = packages.as_slice() else {
        return Err(usage(format!(
            "the inputs are of several libraries ({}), which do not share a process",
            packages.join(", ")
        )));
    };
    let pythonpath = session::pythonpath(&args.pythonpath, package)?;
    let python = target::resolve_for(&args.target, package, &pythonpath)?.python;
    let scratch = tempfile::tempdir().context("failed to make a temporary folder")?;
    let pythonpath: Result<Vec<PathBuf>, _> =
        pythonpath.iter().map(|it| it.canonicalize()).collect();
    let options = PoolOptions {
        extra_path: pythonpath.context("failed to read a folder of --pythonpath")?,
        workers: 1,
        timeout: Duration::from_secs(20),
        memory_limit: 2 << 30,
        sandbox: SandboxOptions {
            confine_writes: !has_gpu(),
            cut_network: true,
        },
        coverage: Some(CoverageOptions {
            cache: super::coverage::cache()?,
            arming: Arming::Always,
        }),
        ..PoolOptions::new(&python, *package, scratch.path())
    };
    let pool = Pool::start(options).map_err(|error| anyhow!("failed to {error}"))?;
    Ok((pool, scratch))
}
