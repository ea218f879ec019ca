//! `fissure specs extract`: a constraint file for each public callable of the installed library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fissure_campaign::DenyList;
use fissure_spec::ExtractedFile;
use serde_json::json;

use super::PackageArgs;
use super::discovery::discover;
use crate::command::fuzz::needs::interpreter_package;
use crate::command::session;
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};
use crate::waiting::Waiting;

#[derive(Args, Debug)]
pub(super) struct ExtractArgs {
    /// A package (torch), a module (torch.linalg) or a callable (torch.nn.functional.pad); several
    /// of one package
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// Folder for the files, one per callable
    #[arg(long = "output", alias = "out", value_name = "DIR")]
    out: PathBuf,

    /// Write over files of an earlier extraction, and keep what people changed in them
    #[arg(long)]
    update: bool,

    /// Also write files for APIs on the deny-list
    #[arg(long)]
    include_denied: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    package: PackageArgs,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) fn extract(args: &ExtractArgs) -> anyhow::Result<ExitCode> {
    let package = package_of(&args.names)?;
    // A package of one's own is found in the folder that one is in.
    let path = session::pythonpath(&args.package.pythonpath, &package)?;
    let needed = interpreter_package(&package, &path);
    let python = target::resolve_for(&args.target, needed, &path)?.python;
    let waiting = Waiting::new(
        format!("reading what {package} says of its callables"),
        None,
    );
    let found = discover(&python, &args.names, &path, &args.package.imports)?;
    drop(waiting);
    let mut left_out: Vec<(String, String)> = found.left_out;
    let mut files = Vec::new();
    let deny = DenyList::built_in();
    for file in found.files {
        match deny.check(&file.title).filter(|_| !args.include_denied) {
            Some(denied) => left_out.push((file.title, denied.reason)),
            None => files.push(file),
        }
    }
    if files.is_empty() {
        for problem in &found.problems {
            println!("{problem}");
        }
        for (name, reason) in &left_out {
            println!("{name}: {reason}");
        }
        return Err(usage(format!(
            "nothing can be extracted for {}",
            args.names.join(", ")
        )));
    }
    let kept = write(&args.out, &mut files, args.update)?;
    let constraints: usize = files.iter().map(constraints).sum();
    let version = found.version.get(&package);
    if args.json {
        println!(
            "{}",
            json!({
                "package": package,
                "version": version,
                "folder": args.out,
                "files": files.len(),
                "constraints": constraints,
                "kept": kept,
                "left_out": left_out,
                "problems": found.problems,
            })
        );
        return Ok(ExitStatus::NoFinding.into());
    }
    for problem in &found.problems {
        println!("{problem}");
    }
    for (title, edits) in &kept {
        println!("{title}: kept what was changed: {}", edits.join(", "));
    }
    print_reasons(&left_out);
    println!(
        "{package} {}: {} files with {constraints} constraints in {}",
        version.map_or("of unknown version", String::as_str),
        files.len(),
        args.out.display()
    );
    Ok(ExitStatus::NoFinding.into())
}

/// The one package that all names are of.
pub(super) fn package_of(names: &[String]) -> anyhow::Result<String> {
    let mut packages: Vec<&str> = names
        .iter()
        .map(|name| name.split('.').next().unwrap_or(name))
        .map(|root| if root == "tf" { "tensorflow" } else { root })
        .collect();
    packages.sort_unstable();
    packages.dedup();
    match packages[..] {
        [one] => Ok(one.to_owned()),
        _ => Err(usage(format!(
            "names of one package at a time, not of {}",
            packages.join(" and ")
        ))),
    }
}

/// Writes the files; gives what was kept of earlier ones, by title.
fn write(
    folder: &Path,
    files: &mut [ExtractedFile],
    update: bool,
) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("failed to make the folder {}", folder.display()))?;
    let mut kept = BTreeMap::new();
    for file in files {
        let path = folder.join(format!("{}.yaml", file.title));
        if path.exists() {
            if !update {
                return Err(usage(format!(
                    "{} is there already: --update writes over it and keeps what people changed",
                    path.display()
                )));
            }
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("failed to read {}", path.display()))?;
            let earlier = ExtractedFile::from_yaml(&text)
                .with_context(|| format!("failed to read {}", path.display()))?;
            let edits = file.keep_edits(&earlier);
            if !edits.is_empty() {
                kept.insert(file.title.clone(), edits);
            }
        }
        std::fs::write(&path, file.to_yaml())
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    Ok(kept)
}

fn constraints(file: &ExtractedFile) -> usize {
    let lists = file
        .constraints
        .values()
        .flat_map(|param| param.lists.values());
    lists.filter(|values| !values.is_empty()).count()
}

/// Each reason once, with how many callables it concerns and the first of them.
fn print_reasons(left_out: &[(String, String)]) {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, reason) in left_out {
        reasons.entry(reason).or_default().push(name);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (reason, names) in reasons {
        println!(
            "left out: {} {reason} ({}{})",
            names.len(),
            names[0],
            more(&names)
        );
    }
}

fn more(names: &[&str]) -> &'static str {
    if names.len() > 1 { ", …" } else { "" }
}
