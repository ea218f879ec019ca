//! `fissure learn`: learns what APIs accept, and writes it as rules.

mod findings;
mod keep;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use fissure_environment::Surroundings;
use fissure_execute::{Arming, CoverageOptions, PoolOptions, SandboxOptions, ScriptOptions};
use fissure_learn::{KnownCalls, LanguageModel, LearnError, LearnOptions, Many, Seeds, read_calls};

use crate::command::fuzz::needs::interpreter_package;
use crate::command::session::{self, seconds_of, stop_on_interrupt};
use crate::console::notice;
use crate::exit_status::usage;
use crate::target::{self, TargetArgs};
use findings::Findings;
use fissure_rules::api_named;
use keep::Keeper;
use table::Table;

/// Seeds asked of the library's sample database, per API.
const SEEDS: usize = 60;

/// Time that a script has to import the library, beside that of its call.
const IMPORT: Duration = Duration::from_secs(60);

/// Learn what an API accepts: its rules, each with its evidence, one file per API.
///
/// Starts from calls that the library is known to accept (the sample database in PyTorch, a file of
/// your own), asks the library about their neighbours, and keeps the rules that allow everything
/// accepted and explain what was rejected. An API whose file is there for this version of the
/// library and this seed is not learned again. Calls that end their process become findings in the
/// folder `findings` beside the rules.
///
/// Exit codes: 0 learned, 1 a call ended its process, 2 usage error, 3 Fissure itself failed.
#[derive(Args, Debug)]
pub(crate) struct LearnArgs {
    /// Names (torch.add), or patterns (torch.nn.functional.*) of what the sample database knows;
    /// a pattern leaves out private names unless it has one itself (torch._*)
    #[arg(required = true, value_name = "API")]
    apis: Vec<String>,

    /// Folder for the rule files
    #[arg(
        long = "output",
        alias = "out",
        value_name = "DIR",
        default_value = "invariants"
    )]
    out: PathBuf,

    /// File of further calls of the API: one JSON object per line with `arguments` and `keywords`
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,

    /// Folder that keeps the calls of the sample database, so that they are asked for once
    #[arg(long, value_name = "DIR")]
    database: Option<PathBuf>,

    /// Folder with a package of your own, put before the library's own search path
    #[arg(long, value_name = "DIR")]
    pythonpath: Vec<PathBuf>,

    /// Module to import first: it may register operators (`torch.ops.mine.f`)
    #[arg(long, value_name = "MODULE")]
    import: Vec<String>,

    /// Keep a third of the known calls apart, and measure precision and recall
    #[arg(long)]
    evaluate: bool,

    /// Write no rules whose measured precision is lower; the next run learns them again
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.0,
        requires = "evaluate"
    )]
    least: f64,

    /// Keep rules that follow from the others (finding them needs Z3: `fissure doctor`)
    #[arg(long)]
    no_reduce: bool,

    /// Learn again what is there already
    #[arg(long)]
    again: bool,

    /// Note which blocks of the library's native code are run (Linux on x86-64); `fissure coverage DIR` shows them
    #[arg(long)]
    coverage: bool,

    /// Print one JSON object per API
    #[arg(long)]
    json: bool,

    /// Number that decides all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Time of one core for each API
    #[arg(long = "api-time", alias = "time", value_name = "TIME", value_parser = crate::duration::seconds, default_value = "40s")]
    time: f64,

    /// Time one call may take
    #[arg(long, value_name = "TIME", value_parser = crate::duration::seconds, default_value = "4s")]
    timeout: f64,

    /// APIs learned at the same time, each on one core
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers: usize,

    /// Language model that proposes rules and calls: an OpenAI-compatible endpoint such as
    /// http://localhost:8000/v1 (key from OPENAI_API_KEY). What it says counts only after the
    /// library has confirmed it
    #[arg(long, value_name = "URL", requires = "model")]
    llm: Option<String>,

    /// Name of the model at that endpoint
    #[arg(long, value_name = "NAME", requires = "llm")]
    model: Option<String>,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: LearnArgs) -> anyhow::Result<ExitCode> {
    let package = package_of(&args.apis)?;
    let package = package.as_str();
    let options = LearnOptions {
        seed: args.seed,
        time: seconds_of(args.time, "--api-time")?,
        evaluate: args.evaluate,
        model: language_model(&args)?,
        solver: match args.no_reduce {
            true => None,
            false => fissure_environment::find_solver(&Surroundings::from_process()?)?,
        },
        ..LearnOptions::default()
    };
    if let Some(reason) = fissure_coverage::unavailable().filter(|_| args.coverage) {
        return Err(usage(format!("--coverage: {reason}")));
    }
    if args.workers == 0 {
        return Err(usage("--workers 0: at least one worker is needed"));
    }
    if args.seeds.is_some() && (args.apis.len() > 1 || is_pattern(&args.apis[0])) {
        return Err(usage("--seeds has calls of one API: name that one"));
    }
    let own = match &args.seeds {
        Some(path) => read_calls(path).map_err(|error| usage(error.to_string()))?,
        None => Vec::new(),
    };
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("failed to make {}", args.out.display()))?;
    let folders = own_folders(&args, package)?;
    let needed = interpreter_package(package, &folders);
    let python = target::resolve_for(&args.target, needed, &folders)?.python;
    let stop = stop_on_interrupt()?;
    let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
    let seeds = match database(&args, package, &python, scratch.path(), &stop) {
        Ok(seeds) => Some(seeds),
        // Other libraries have none: calls are the user's own, a model's, or guessed.
        Err(LearnError::Database { .. }) if !args.apis.iter().any(|api| is_pattern(api)) => None,
        Err(error) => return Err(error.into()),
    };
    let names = matching(&args.apis, seeds.as_ref());
    if names.is_empty() {
        return Err(usage("the sample database has no API of that name"));
    }
    let timeout = seconds_of(args.timeout, "--timeout")?;
    let findings = Findings {
        folder: args.out.join("findings"),
        python: python.clone(),
        script: ScriptOptions {
            timeout: timeout + IMPORT,
            memory_limit: 4 << 30,
            scratch: scratch.path().join("confirm"),
            sandbox: SandboxOptions::default(),
            environment: vec![("PYTHONPATH".to_owned(), joined(&folders)?)],
            cancelled: Arc::clone(&stop),
        },
        folders: folders.clone(),
        seed: args.seed,
    };
    let many = Many {
        names,
        calls: KnownCalls::Collected(seeds),
        own,
        options,
        pool: PoolOptions {
            timeout,
            extra_path: folders,
            imports: args.import.clone(),
            coverage: match args.coverage {
                true => Some(CoverageOptions {
                    cache: crate::command::coverage::cache()?,
                    arming: Arming::Once,
                }),
                false => None,
            },
            ..PoolOptions::new(&python, package, scratch.path().join("pool"))
        },
        workers: args.workers,
        deadline: None,
    };
    let keeper = Keeper {
        names: &many.names,
        package,
        seed: args.seed,
        evaluate: args.evaluate,
        again: args.again,
        least: args.least,
        json: args.json,
        out: &args.out,
        findings,
        table: Mutex::new(Table::open(&args.out)?),
        coverage: Mutex::new(None),
        found: AtomicUsize::new(0),
        learned: AtomicUsize::new(0),
        failed: AtomicUsize::new(0),
        missing: AtomicUsize::new(0),
    };
    many.run(&keeper, &stop)?;
    Ok(keeper.finish()?.into())
}

/// The folders of the user's own packages, as workers find them.
fn own_folders(args: &LearnArgs, package: &str) -> anyhow::Result<Vec<PathBuf>> {
    let modules = args.import.iter().map(String::as_str).chain([package]);
    let path = session::pythonpath_for(&args.pythonpath, modules)?;
    let whole = |folder: &PathBuf| {
        let named = || usage(format!("there is no folder {}", folder.display()));
        folder.canonicalize().map_err(|_| named())
    };
    path.iter().map(whole).collect()
}

fn joined(folders: &[PathBuf]) -> anyhow::Result<String> {
    let joined = std::env::join_paths(folders).context("a folder's name holds a colon")?;
    joined
        .into_string()
        .map_err(|_| usage("the name of a folder is not valid text"))
}

/// The model that the flags name; its answers are kept in Fissure's cache folder.
fn language_model(args: &LearnArgs) -> anyhow::Result<Option<LanguageModel>> {
    let (Some(url), Some(model)) = (&args.llm, &args.model) else {
        return Ok(None);
    };
    if args.target.offline {
        return Err(usage("--llm needs the network, which --offline forbids"));
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(usage(format!(
            "--llm {url}: give the URL of an endpoint, as in http://localhost:8000/v1"
        )));
    }
    let cache = Surroundings::from_process()?.root.join("answers");
    let key = std::env::var("OPENAI_API_KEY").ok();
    Ok(Some(LanguageModel::new(url, model, key, cache)))
}

/// The sample database's calls: kept before, or asked for now.
fn database(
    args: &LearnArgs,
    package: &str,
    python: &Path,
    scratch: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Seeds, LearnError> {
    let patterns = args.apis.iter().any(|api| is_pattern(api));
    // What is kept is kept whole: the next call may name other APIs.
    let named = !patterns || package != "torch";
    let exact = (named && args.database.is_none()).then_some(args.apis.as_slice());
    let kept = args.database.as_deref();
    if let Some(folder) = kept.filter(|folder| Seeds::are_in(folder)) {
        return Seeds::from_folder(folder);
    }
    notice!("fissure: asking the sample database of {package}");
    let seeds = Seeds::from_database(python, package, scratch, exact, SEEDS, stop)?;
    if let Some(folder) = kept {
        seeds.keep(folder)?;
    }
    Ok(seeds)
}

fn is_pattern(api: &str) -> bool {
    api.contains('*')
}

fn package_of(apis: &[String]) -> anyhow::Result<String> {
    let mut packages = apis.iter().map(|api| match api.split_once('.') {
        Some(_) => Ok(api_named(api).package),
        None => Err(usage(format!(
            "`{api}`: a name begins with its package, as in torch.add"
        ))),
    });
    let first = packages.next().ok_or_else(|| usage("no API is named"))??;
    for other in packages {
        if other? != first {
            return Err(usage("all APIs belong to one package"));
        }
    }
    Ok(first)
}

/// The names asked for; a pattern stands for those that the database knows.
fn matching(asked: &[String], seeds: Option<&Seeds>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for pattern in asked {
        let known = seeds.iter().flat_map(|seeds| seeds.counts.keys());
        let found = known.filter(|name| {
            is_pattern(pattern) && fits(pattern, name) && (is_public(name) || !is_public(pattern))
        });
        names.extend(found.cloned());
        if !is_pattern(pattern) {
            names.push(pattern.clone());
        }
    }
    names.sort();
    names.dedup();
    names
}

/// No part of the name begins with an underscore: what does is named by a pattern that does.
fn is_public(name: &str) -> bool {
    !name.split('.').any(|part| part.starts_with('_'))
}

/// `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => {
            let Some(tail) = name.strip_prefix(start) else {
                return false;
            };
            (0..=tail.len())
                .filter(|at| tail.is_char_boundary(*at))
                .any(|at| fits(rest, &tail[at..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(fits("torch.nn.*", "torch.nn.functional.relu"));
        assert!(fits("torch.*.relu", "torch.nn.functional.relu"));
        assert!(!fits("torch.nn.*", "torch.add"));
        assert!(fits("torch.add", "torch.add"));
    }

    #[test]
    fn apis_of_two_packages_are_refused() {
        let names = ["torch.add".to_owned(), "numpy.add".to_owned()];
        assert!(package_of(&names).is_err());
        assert!(package_of(&["add".to_owned()]).is_err());
        assert_eq!(package_of(&names[..1]).unwrap(), "torch");
    }
}
