//! `fissure coverage`: what runs reached of a library's native code.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

mod gather;
mod show;

pub(crate) use gather::cache;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, FromArgMatches};
use fissure_coverage::{CoverageRecord, Image, Summary};

use crate::command::corpus::{self, MeasureArgs};
use crate::command::fuzz::{self, args::FuzzArgs};
use crate::command::session;
use crate::exit_status::{ExitStatus, usage};

/// Show which basic blocks and functions of a library's native code were reached
///
/// TARGET is the folder of a run that was begun with --coverage (a campaign's too; several are
/// united), or an API, which is then fuzzed first. What importing the library runs by itself does
/// not count. Linux on x86-64.
///
/// Examples:
///   fissure fuzz torch.nn.functional.conv2d --max-iter 2000 --coverage
///   fissure coverage fissure-out/fuzz-20260101-120000
///   fissure coverage torch.softmax --inputs 1000
///   fissure coverage RUN1 --against RUN2
///   fissure coverage --corpus DIR1 --corpus DIR2
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(crate) struct CoverageArgs {
    /// Folders of runs, or one API
    #[arg(required_unless_present = "corpus", value_name = "TARGET")]
    targets: Vec<String>,

    /// Inputs of an API that is named
    #[arg(long, value_name = "N", default_value_t = 1000)]
    inputs: u64,

    /// Tell what only one of the two reached: the targets, or this run
    #[arg(long, value_name = "RUN")]
    against: Option<PathBuf>,

    /// Run the inputs of a corpus and show what they reach; given twice, what only one of the two reaches
    #[arg(long, value_name = "CORPUS", conflicts_with_all = ["targets", "against"])]
    corpus: Vec<PathBuf>,

    /// Only this API of the runs
    #[arg(long, value_name = "API")]
    api: Option<String>,

    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 15)]
    most: usize,

    /// Print JSON: all rows
    #[arg(long)]
    json: bool,

    /// Write a page: a map of namespaces, functions reached and never reached, growth
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    run: MeasureArgs,
}

pub(crate) fn run(args: CoverageArgs) -> anyhow::Result<ExitCode> {
    if !args.corpus.is_empty() {
        return corpora(&args);
    }
    let folders = match args.targets.as_slice() {
        [api] if !Path::new(api).exists() => vec![fuzz_first(api, args.inputs)?],
        targets => targets.iter().map(PathBuf::from).collect(),
    };
    let record = gather::united(&folders)?;
    if let Some(against) = &args.against {
        let other = gather::united(std::slice::from_ref(against))?;
        let titles = ["the targets", "the run they are compared with"];
        return show_difference(&args, &record, &other, titles);
    }
    show_record(&args, &record)
}

/// Writes `coverage.html` into the folder of a run that has coverage.
pub(crate) fn write_page(folder: &Path) -> anyhow::Result<()> {
    if !gather::has_coverage(folder)? {
        return Ok(());
    }
    let record = gather::united(&[folder.to_owned()])?;
    let summary = summarise(&record, None)?;
    let page = fissure_coverage::page(&record, &summary, &show::api_counts(&record));
    let path = folder.join("coverage.html");
    std::fs::write(&path, page).with_context(|| format!("failed to write {}", path.display()))
}

/// What the inputs of corpora reach.
fn corpora(args: &CoverageArgs) -> anyhow::Result<ExitCode> {
    if args.corpus.len() > 2 {
        return Err(usage(
            "--corpus: two can be compared; `fissure corpus merge` makes one of many",
        ));
    }
    let mut records = Vec::new();
    for path in &args.corpus {
        let inputs = session::corpus(std::slice::from_ref(path))?;
        let (pool, _scratch) = corpus::pool(&inputs, &args.run)?;
        let measured = corpus::measured(&inputs, &pool)?;
        records.push(fissure_campaign::record(&measured, &pool));
    }
    match records.as_slice() {
        [first, second] => {
            let titles = [
                &*args.corpus[0].display().to_string(),
                &*args.corpus[1].display().to_string(),
            ];
            show_difference(args, first, second, titles)
        }
        [only] => show_record(args, only),
        _ => Ok(ExitStatus::NoFinding.into()),
    }
}

fn show_difference(
    args: &CoverageArgs,
    first: &CoverageRecord,
    second: &CoverageRecord,
    titles: [&str; 2],
) -> anyhow::Result<ExitCode> {
    let difference = gather::difference(first, second)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&difference)?);
    } else {
        print!("{}", show::difference(&difference, titles, args.most));
    }
    Ok(ExitStatus::NoFinding.into())
}

fn show_record(args: &CoverageArgs, record: &CoverageRecord) -> anyhow::Result<ExitCode> {
    let summary = summarise(record, args.api.as_deref())?;
    if let Some(path) = &args.html {
        let page = fissure_coverage::page(record, &summary, &show::api_counts(record));
        std::fs::write(path, page)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    if args.json {
        let apis = show::api_counts(record);
        let text = serde_json::json!({
            "summary": summary, "apis": apis, "growth": record.growth, "modules": record.modules,
        });
        println!("{}", serde_json::to_string_pretty(&text)?);
    } else {
        print!("{}", show::text(record, &summary, args.most));
    }
    Ok(ExitStatus::NoFinding.into())
}

/// Names of modules, namespaces and functions for what was reached.
fn summarise(record: &CoverageRecord, api: Option<&str>) -> anyhow::Result<Summary> {
    let reached = match api {
        None => record.union(),
        Some(api) if record.apis().any(|known| known == api) => record.of_api(api),
        Some(api) => {
            let known: Vec<&str> = record.apis().take(5).collect();
            return Err(usage(format!(
                "{api} is not in these runs, which have {} and others",
                known.join(", ")
            )));
        }
    };
    let mut summary = Summary::default();
    let cache = cache()?;
    for (module, blocks) in record.modules.iter().zip(&reached) {
        let image = Image::open(&module.path, Some(&cache)).map_err(|error| {
            usage(format!(
                "failed to {error}\n\nthe library that the run was with is needed to name what was reached"
            ))
        })?;
        if image.build_id != module.build_id {
            return Err(usage(format!(
                "{} is another build of the library than the run was with",
                module.path.display()
            )));
        }
        summary
            .add(&image, blocks)
            .map_err(|error| anyhow::anyhow!("failed to {error}"))?;
    }
    Ok(summary)
}

/// Fuzzes an API as `fissure fuzz` does; gives the folder of that run.
fn fuzz_first(api: &str, inputs: u64) -> anyhow::Result<PathBuf> {
    let folder = crate::results::new_folder("coverage")?;
    let words = [
        "fuzz".to_owned(),
        api.to_owned(),
        "--coverage".to_owned(),
        "--max-iter".to_owned(),
        inputs.to_string(),
        "--workdir".to_owned(),
        folder.display().to_string(),
    ];
    let words: Vec<String> = ["fissure".to_owned()].into_iter().chain(words).collect();
    let matches = crate::matches_again(&words, "fuzz").map_err(|error| usage(error.to_string()))?;
    // Findings are reported by the run itself; the question here is another one.
    fuzz::run(FuzzArgs::from_arg_matches(&matches)?)?;
    println!();
    Ok(folder)
}
