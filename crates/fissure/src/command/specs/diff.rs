//! `fissure specs diff`: what changed in what a library says it accepts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fissure_spec::{Change, ExtractedFile, changes};
use serde_json::json;

use super::discovery::discover;
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};

#[derive(Args, Debug)]
pub(super) struct DiffArgs {
    /// A folder of constraint files, or a version in a managed environment (torch==2.9.1)
    #[arg(value_name = "FOLDER|VERSION")]
    before: String,

    /// The same for what it is compared with
    #[arg(value_name = "FOLDER|VERSION")]
    after: String,

    /// Only these modules or callables [default: the whole package]
    #[arg(long = "of", value_name = "NAME")]
    names: Vec<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Never use the network: do not make an environment [env: FISSURE_OFFLINE]
    #[arg(long)]
    offline: bool,
}

type Files = BTreeMap<String, ExtractedFile>;

pub(super) fn diff(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let before = files_of(&args.before, args)?;
    let after = files_of(&args.after, args)?;
    let found = changes(&before, &after);
    if args.json {
        let report = json!({"before": args.before, "after": args.after, "changes": found});
        println!("{report}");
    } else {
        for (title, list) in &found {
            match &list[..] {
                [one @ (Change::ApiAdded | Change::ApiRemoved)] => println!("{title}: {one}"),
                list => {
                    println!("{title}");
                    for change in list {
                        println!("  {change}");
                    }
                }
            }
        }
        let count = |wanted: &Change| {
            let lists = found.values().filter(|list| list.first() == Some(wanted));
            lists.count()
        };
        let (added, removed) = (count(&Change::ApiAdded), count(&Change::ApiRemoved));
        println!(
            "{} callables before, {} after: {added} new, {removed} gone, {} changed",
            before.len(),
            after.len(),
            found.len() - added - removed
        );
    }
    Ok(ExitStatus::NoFinding.into())
}

fn files_of(what: &str, args: &DiffArgs) -> anyhow::Result<Files> {
    let folder = Path::new(what);
    if folder.is_dir() {
        return read_folder(folder);
    }
    let Some((package, _)) = what.split_once("==") else {
        return Err(usage(format!(
            "{what} is neither a folder nor a version such as torch==2.9.1"
        )));
    };
    let target = TargetArgs {
        python: None,
        env: Some(what.to_owned()),
        beside: Vec::new(),
        offline: args.offline,
    };
    let python = target::resolve(&target, package)?.python;
    let names = if args.names.is_empty() {
        vec![package.to_owned()]
    } else {
        args.names.clone()
    };
    let found = discover(&python, &names, &[], &[])?;
    let by_title = found
        .files
        .into_iter()
        .map(|file| (file.title.clone(), file));
    Ok(by_title.collect())
}

fn read_folder(folder: &Path) -> anyhow::Result<Files> {
    let mut files = Files::new();
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("failed to read the folder {}", folder.display()))?;
    for entry in entries {
        let path: PathBuf = entry.context("failed to read a folder")?.path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let file = ExtractedFile::from_yaml(&text)
            .with_context(|| format!("failed to read {}", path.display()))?;
        files.insert(file.title.clone(), file);
    }
    Ok(files)
}
