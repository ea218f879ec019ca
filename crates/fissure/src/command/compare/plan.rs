//! `fissure compare`: from the arguments as typed to what will be done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fissure_campaign::{SavedInputs, read_saved};
use fissure_compare::{CompareOptions, KnownChanges, SideOptions, Subject};
use fissure_functions::{Property, functions};
use fissure_model::{pattern_matches, title_matches};
use fissure_rules::{RuleLibrary, api_named, bare_spec};

use super::args::CompareArgs;
use crate::command::apis::{Asker, public_names};
use crate::command::fuzz::needs::interpreter_package;
use crate::command::session;
use crate::exit_status::usage;
use crate::target::{self, TargetArgs};

/// Read when it is there and no other is named.
const KNOWN_CHANGES: &str = "known-changes.toml";
/// Elements of a sweep of one function and wide type.
const SWEEP: u64 = 1 << 17;
/// Libraries that can be swept.
const SWEPT: [&str; 4] = ["torch", "numpy", "tensorflow", "jax"];

/// What a side was given as.
enum Typed {
    Requirement(String),
    Python(PathBuf),
    Folder(PathBuf),
}

impl Typed {
    fn of(text: &str) -> anyhow::Result<Typed> {
        let path = Path::new(text);
        if text.contains("==") || (!path.exists() && !text.contains('/')) {
            return Ok(Typed::Requirement(text.to_owned()));
        }
        if path.is_file() || path.join("bin/python").exists() {
            return Ok(Typed::Python(path.to_owned()));
        }
        if path.is_dir() {
            return Ok(Typed::Folder(path.to_owned()));
        }
        Err(usage(format!(
            "{text} is neither a version (torch==2.9.1) nor a Python nor a folder"
        )))
    }

    /// The library that a requirement names.
    fn package(&self) -> Option<String> {
        let Typed::Requirement(text) = self else {
            return None;
        };
        let end = text.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
        let name = &text[..end.unwrap_or(text.len())];
        Some(match name {
            "tensorflow-cpu" => "tensorflow".to_owned(),
            name => name.replace('-', "_"),
        })
    }
}

pub(super) fn plan(args: &CompareArgs) -> anyhow::Result<CompareOptions> {
    let typed = (Typed::of(&args.before)?, Typed::of(&args.after)?);
    let saved = saved_inputs(&args.inputs)?;
    let package = package(args, &typed, &saved)?;
    let known = known_changes(args)?;
    let workers = session::workers(args.workers)?.max(2);
    let seed = session::seed(&args.seed)?;
    let before = side(args, &typed.0, &package)?;
    let after = side(args, &typed.1, &package)?;
    let workdir = match &args.output {
        Some(folder) => folder.clone(),
        None => crate::results::new_folder("compare")?,
    };
    std::fs::create_dir_all(&workdir)
        .with_context(|| format!("failed to make {}", workdir.display()))?;
    let whole = args.apis.is_empty() && args.inputs.is_empty();
    let subjects = if args.inputs.is_empty() {
        specs(args, &package, [&before, &after])?
    } else {
        let wanted = |it: &SavedInputs| wanted(args, &it.api.title);
        saved
            .into_iter()
            .filter(wanted)
            .map(Subject::Saved)
            .collect()
    };
    if subjects.is_empty() {
        return Err(usage("no API matches what was asked for"));
    }
    let titles = subjects.iter().map(|it| it.api().title.clone());
    let is_swept = |title: &String| {
        functions()
            .find(title)
            .is_some_and(|it| it.elementwise == Some(1) && it.has(Property::Elementwise))
    };
    let sweep_functions: Vec<String> = match whole {
        true => Vec::new(),
        false => titles.filter(is_swept).collect(),
    };
    let sweeps = !args.no_sweep
        && args.inputs.is_empty()
        && SWEPT.contains(&package.as_str())
        && (whole || !sweep_functions.is_empty());
    Ok(CompareOptions {
        package,
        before: before.options,
        after: after.options,
        subjects,
        imports: args.import.clone(),
        seed,
        workers,
        max_inputs: args.max_iter.max(1),
        total_time: args.total_time,
        timeout: args.timeout,
        memory_limit: args.memory_limit << 20,
        sandbox: !args.no_sandbox,
        measure: !args.no_measure,
        sweep: if sweeps { SWEEP } else { 0 },
        sweep_functions,
        shrink_time: args.shrink_time,
        known,
        include_denied: args.include_denied,
        workdir,
    })
}

fn known_changes(args: &CompareArgs) -> anyhow::Result<KnownChanges> {
    let usual = Path::new(KNOWN_CHANGES);
    let path = match &args.known_changes {
        Some(path) => path,
        None if usual.exists() => usual,
        None => return Ok(KnownChanges::default()),
    };
    KnownChanges::load(path).map_err(|error| usage(error.to_string()))
}

fn package(
    args: &CompareArgs,
    typed: &(Typed, Typed),
    saved: &[SavedInputs],
) -> anyhow::Result<String> {
    let first = args.apis.iter().map(|api| api_named(api).package);
    let kept = saved.iter().map(|it| it.api.package.clone());
    let found = (args.package.clone())
        .or_else(|| typed.0.package())
        .or_else(|| typed.1.package())
        .or_else(|| first.chain(kept).next());
    found.ok_or_else(|| {
        usage("which library? --package NAME says it, or an API after the two sides")
    })
}

/// One side, and why its interpreter was chosen.
struct Chosen {
    options: SideOptions,
    reason: String,
}

fn side(args: &CompareArgs, typed: &Typed, package: &str) -> anyhow::Result<Chosen> {
    let mut pythonpath = args.pythonpath.clone();
    let mut wanted = TargetArgs {
        offline: args.offline,
        ..TargetArgs::default()
    };
    match typed {
        Typed::Requirement(text) => wanted.env = Some(text.clone()),
        Typed::Python(path) => wanted.python = Some(path.clone()),
        Typed::Folder(folder) => {
            wanted.python.clone_from(&args.python);
            pythonpath.insert(0, folder.clone());
        }
    }
    let needed = interpreter_package(package, &pythonpath);
    let target = target::resolve_for(&wanted, needed, &pythonpath)?;
    Ok(Chosen {
        options: SideOptions {
            python: target.python,
            pythonpath,
        },
        reason: target.reason,
    })
}

fn wanted(args: &CompareArgs, title: &str) -> bool {
    let chosen = args.apis.is_empty() || args.apis.iter().any(|it| pattern_matches(it, title));
    chosen && !args.exclude.iter().any(|it| pattern_matches(it, title))
}

/// Every API that is asked for, with its rules where there are any: from the rules, from the public names of both
/// sides, and as they were named.
fn specs(args: &CompareArgs, package: &str, sides: [&Chosen; 2]) -> anyhow::Result<Vec<Subject>> {
    let mut found = BTreeMap::new();
    for sheet in RuleLibrary::new(&[])?.find("*")? {
        let spec = sheet.clone().into_spec();
        let mut spec = spec;
        spec.rules = Some(sheet.text);
        let asked = args.apis.is_empty() || args.apis.iter().any(|it| title_matches(it, &spec));
        if spec.api.package == package && asked && wanted_or_alias(args, &spec.api.title) {
            found.insert(spec.api.path.clone(), spec);
        }
    }
    let mut names: BTreeSet<String> = args
        .apis
        .iter()
        .filter(|it| !it.contains('*'))
        .cloned()
        .collect();
    let listed = args.apis.is_empty() || args.apis.iter().any(|it| it.contains('*'));
    if listed {
        for side in sides {
            let asker = Asker {
                python: &side.options.python,
                path: &side.options.pythonpath,
            };
            for one in public_names(false, package, &side.reason, &asker)? {
                if one.left_out.is_none() && wanted(args, &one.path) {
                    names.insert(one.path);
                }
            }
        }
    }
    for name in names {
        let spec = bare_spec(api_named(&name));
        if spec.api.package == package {
            found.entry(spec.api.path.clone()).or_insert(spec);
        }
    }
    Ok(found
        .into_values()
        .map(|spec| Subject::Spec(Box::new(spec)))
        .collect())
}

/// What was matched by another form of its title is wanted unless it is left out.
fn wanted_or_alias(args: &CompareArgs, title: &str) -> bool {
    !args.exclude.iter().any(|it| pattern_matches(it, title))
}

/// Inputs of run folders, of folders of findings, and of single findings.
fn saved_inputs(folders: &[PathBuf]) -> anyhow::Result<Vec<SavedInputs>> {
    let mut all: BTreeMap<String, SavedInputs> = BTreeMap::new();
    let mut add = |one: SavedInputs| {
        let entry = all
            .entry(one.api.path.clone())
            .or_insert_with(|| SavedInputs {
                api: one.api.clone(),
                inputs: Vec::new(),
            });
        entry.inputs.extend(one.inputs);
    };
    for folder in folders {
        if !folder.is_dir() {
            return Err(usage(format!("there is no folder {}", folder.display())));
        }
        let kept = read_saved(folder, 0, u64::MAX).map_err(|error| usage(error.to_string()))?;
        let mut any = !kept.is_empty();
        kept.into_iter().for_each(&mut add);
        let mut places = vec![folder.join("findings"), folder.clone()];
        places.retain(|place| place.is_dir());
        for place in places {
            let single = fissure_triage::read_finding(&place).into_iter();
            let several = fissure_triage::read_findings(&place)?.into_iter();
            let several = several.filter_map(|it| it.finding.ok());
            for finding in single.chain(several) {
                any = true;
                add(SavedInputs {
                    api: finding.api,
                    inputs: vec![finding.input],
                });
            }
        }
        if !any {
            return Err(usage(format!(
                "{} holds neither findings nor kept inputs (fissure fuzz --save keeps them)",
                folder.display()
            )));
        }
    }
    Ok(all.into_values().collect())
}
