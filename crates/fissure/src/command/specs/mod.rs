//! `fissure specs`: checks constraint files, shows one as understood, extracts them from an installed
//! library, compares two sets.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

mod diff;
mod discovery;
mod extract;
mod import;
mod library;
mod repair;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fissure_model::{Param, Role, Signature, Spec};
use fissure_spec::{Collection, Confirmation, SpecError, Warning, load_paths, text};
use serde_json::json;

use crate::console;
use crate::exit_status::{ExitStatus, usage};
use crate::target::TargetArgs;
use diff::DiffArgs;
use extract::ExtractArgs;
use import::ImportArgs;
use library::{Resolution, resolve_titles};
use repair::RepairArgs;

/// Where a package of one's own is, and what it needs.
#[derive(Args, Debug)]
struct PackageArgs {
    /// Folder in which the package is found, before all others
    #[arg(long, value_name = "DIR")]
    pythonpath: Vec<PathBuf>,

    /// Module that is imported first, for operators that it registers
    #[arg(long = "import", value_name = "MODULE")]
    imports: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SpecsArgs {
    #[command(subcommand)]
    command: SpecsCommand,
}

#[derive(Subcommand, Debug)]
enum SpecsCommand {
    /// Load constraint files and folders, and report what is odd
    ///
    /// Exit codes: 0 all files load (warnings are allowed), 1 a file fails to load, 2 usage error.
    Check(CheckArgs),
    /// Print one spec as understood, and what the installed library says to it
    Show(ShowArgs),
    /// Write a constraint file for each public callable of an installed library
    ///
    /// From operator schemas, registries, annotations, stubs, checks in the source and documentation
    /// of the installed version. Each constraint has its evidence: where it comes from, how sure it is.
    Extract(ExtractArgs),
    /// Write a constraint file for each of Centaur's signatures
    Import(ImportArgs),
    /// Show what changed between two versions, or two folders, in what a library says it accepts
    Diff(DiffArgs),
    /// Ask the installed library about constraint files, and repair what it contradicts
    ///
    /// Inputs are made from each file. An alternative with which nothing is accepted is dropped, a
    /// list without which far more is accepted too; what is broken and accepted is marked; what all
    /// accepted inputs have in common and nothing is accepted without is added. Each change has its
    /// evidence in the file, with a call; where documentation allowed what is always refused, that is
    /// told as a bug of the documentation, with its sentence.
    Repair(RepairArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// Constraint files, or folders that are searched for them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Ask the installed library whether it has the object of every title
    #[arg(long)]
    library: bool,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Args, Debug)]
struct ShowArgs {
    /// API title, alias or path (with --specs), or a constraint file
    #[arg(value_name = "TITLE|FILE")]
    what: String,

    /// Folder in which the title is looked up
    #[arg(long, value_name = "DIR")]
    specs: Vec<PathBuf>,

    /// Print one JSON object per spec
    #[arg(long)]
    json: bool,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: SpecsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        SpecsCommand::Check(args) => check(&args),
        SpecsCommand::Show(args) => show(&args),
        SpecsCommand::Extract(args) => extract::extract(&args),
        SpecsCommand::Import(args) => import::import(&args),
        SpecsCommand::Diff(args) => diff::diff(&args),
        SpecsCommand::Repair(args) => repair::repair(&args),
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    require_paths(&args.paths)?;
    let collection = load_paths(&args.paths);
    let counts = collection.counts();
    if counts.files == 0 {
        return Err(usage("no constraint file was found in what was named"));
    }
    let resolutions = if args.library {
        let specs: Vec<&Spec> = collection.loaded.iter().map(|one| &one.spec).collect();
        resolve_titles(&specs, &args.target)?
    } else {
        Vec::new()
    };
    let warnings = || collection.loaded.iter().flat_map(|loaded| &loaded.warnings);
    if args.json {
        let report = json!({
            "files": counts.files,
            "loaded": counts.loaded,
            "with_warnings": counts.with_warnings,
            "failed": counts.failed,
            "warnings": warnings().collect::<Vec<&Warning>>(),
            "errors": collection.failed.iter().map(error_json).collect::<Vec<_>>(),
            "skipped": collection.skipped,
            "libraries": resolutions.iter().map(Resolution::json).collect::<Vec<_>>(),
        });
        println!("{report}");
    } else {
        if !console::quiet() {
            for warning in warnings() {
                println!("{warning}");
            }
            for skipped in &collection.skipped {
                println!("{}: skipped: {}", skipped.path.display(), skipped.reason);
            }
        }
        print_errors(&collection.failed);
        for resolution in &resolutions {
            print!("{}", resolution.text());
        }
        println!("{counts}");
    }
    let failed = counts.failed > 0;
    Ok(if failed {
        ExitStatus::Findings
    } else {
        ExitStatus::NoFinding
    }
    .into())
}

fn require_paths(paths: &[PathBuf]) -> anyhow::Result<()> {
    match paths.iter().find(|path| !path.exists()) {
        Some(missing) => Err(usage(format!(
            "there is no file or folder {}",
            missing.display()
        ))),
        None => Ok(()),
    }
}

fn print_errors(errors: &[SpecError]) {
    let styled = std::io::stdout().is_terminal();
    for error in errors {
        println!("{}\n", fissure_spec::render(error, styled));
    }
}

fn error_json(error: &SpecError) -> serde_json::Value {
    json!({
        "file": error.path,
        "line": error.line,
        "column": error.column,
        "message": error.problem.to_string(),
        "help": error.problem.help(),
    })
}

fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let named_file = Path::new(&args.what).is_file();
    if !named_file && args.specs.is_empty() {
        let message = format!(
            "there is no file {}: for a title, give --specs DIR",
            args.what
        );
        return Err(usage(message));
    }
    let paths = if named_file {
        vec![PathBuf::from(&args.what)]
    } else {
        args.specs.clone()
    };
    require_paths(&paths)?;
    let Collection {
        mut loaded, failed, ..
    } = load_paths(&paths);
    if named_file && !failed.is_empty() {
        print_errors(&failed);
        return Ok(ExitStatus::Findings.into());
    }
    let titles: Vec<String> = loaded
        .iter()
        .map(|loaded| loaded.spec.api.title.clone())
        .collect();
    loaded.retain(|loaded| named_file || is_called(&loaded.spec, &args.what));
    if loaded.is_empty() {
        return Err(usage(not_found(&args.what, &titles)));
    }
    for found in &loaded {
        let library = ask_library(&found.spec, &args.target);
        let confirmations = library
            .as_ref()
            .ok()
            .map(|library| (library, fissure_spec::compare(&found.spec, library)));
        if args.json {
            let report = json!({
                "spec": found.spec,
                "warnings": found.warnings,
                "library_version": confirmations.as_ref().map(|(library, _)| &library.library_version),
                "library": confirmations.as_ref().map(|(_, confirmations)| confirmations),
                "library_error": library.as_ref().err().map(|error| format!("{error:#}")),
            });
            println!("{report}");
            continue;
        }
        print!("{}", describe(&found.spec));
        for warning in &found.warnings {
            println!("warning: {warning}");
        }
        match (&confirmations, &library) {
            (Some((library, confirmations)), _) => print!("{}", answer(library, confirmations)),
            (None, Err(error)) => println!("\nnot compared with a library: {error:#}"),
            (None, Ok(_)) => {}
        }
    }
    Ok(ExitStatus::NoFinding.into())
}

/// Showing a file must not start a download: an environment is made only when one is named.
fn ask_library(spec: &Spec, target: &TargetArgs) -> anyhow::Result<Signature> {
    let mut target = target.clone();
    target.offline |= target.env.is_none();
    crate::target::describe(&spec.api, &target)
}

fn is_called(spec: &Spec, name: &str) -> bool {
    spec.api.title == name
        || spec.api.path == name
        || spec.aliases.iter().any(|alias| alias == name)
}

/// Titles that contain the wanted text help more than titles that only look alike.
fn not_found(name: &str, titles: &[String]) -> String {
    let wanted = name.to_lowercase();
    let mut near: Vec<&str> = titles
        .iter()
        .filter(|title| title.to_lowercase().contains(&wanted))
        .map(String::as_str)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(5);
    let mut message = format!("no constraint file in the given folders has the title {name}");
    if !near.is_empty() {
        let _ = write!(message, "\n\nThere are: {}", near.join(", "));
    }
    message
}

/// The spec in aligned lines.
fn describe(spec: &Spec) -> String {
    let api = &spec.api;
    let mut out = format!("{}\n", api.title);
    let mut line = |label: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {label:<12}{value}");
        }
    };
    line("object", &api.path);
    line(
        "kind",
        if api.layer {
            "layer (constructed, then called)"
        } else {
            "function"
        },
    );
    line("written for", &format!("{} {}", api.package, api.version));
    line("aliases", &spec.aliases.join(", "));
    line("symbols", &spec.symbols.join(", "));
    line("check NaN", if spec.check_nan { "yes" } else { "" });
    if let Some(source) = &spec.source {
        line("file", &source.display().to_string());
    }
    for param in &spec.params {
        out.push_str(&describe_param(param, ""));
    }
    for param in &spec.layer_params {
        out.push_str(&describe_param(param, " of the layer's call"));
    }
    out
}

fn describe_param(param: &Param, of: &str) -> String {
    let (stars, role) = match param.role {
        Role::Required => ("", "required"),
        Role::Optional => ("", "optional"),
        Role::KeywordOnly => ("", "optional, keyword-only"),
        Role::VarPositional => ("*", "any number, by position"),
        Role::VarKeyword => ("**", "any number, by name"),
    };
    let deprecated = if param.deprecated { ", deprecated" } else { "" };
    let mut out = format!("\n{stars}{}  ({role}{deprecated}{of})\n", param.name);
    let mut line = |label: &str, values: Vec<String>| {
        if !values.is_empty() {
            let _ = writeln!(out, "  {label:<12}{}", values.join(" | "));
        }
    };
    let constraint = &param.constraint;
    line("default", default_text(param));
    line(
        "tensor",
        constraint
            .tensors
            .iter()
            .map(|kind| text::tensor(*kind).to_owned())
            .collect(),
    );
    line(
        "structure",
        constraint.structures.iter().map(text::structure).collect(),
    );
    line("dtype", constraint.dtypes.iter().map(text::dtype).collect());
    line("ndim", constraint.ndims.iter().map(text::ndim).collect());
    line("shape", constraint.shapes.iter().map(text::shape).collect());
    line("range", constraint.ranges.iter().map(text::range).collect());
    line("one of", constraint.enums.iter().map(text::value).collect());
    line("documented", param.doc_dtype.iter().cloned().collect());
    if constraint.is_empty() {
        line("", vec!["not constrained".to_owned()]);
    }
    out
}

fn default_text(param: &Param) -> Vec<String> {
    match (&param.default, &param.default_text) {
        (Some(value), _) => vec![text::value(value)],
        (None, Some(source)) => vec![format!("{source} (not understood)")],
        (None, None) => Vec::new(),
    }
}

fn answer(library: &Signature, confirmations: &[Confirmation]) -> String {
    let mut out = format!("\nlibrary {}\n", library.library_version);
    let confirmed: Vec<&str> = confirmations
        .iter()
        .filter_map(|confirmation| match confirmation {
            Confirmation::Confirmed { param } => Some(param.as_str()),
            _ => None,
        })
        .collect();
    if !confirmed.is_empty() {
        let _ = writeln!(out, "  {:<14}{}", "confirmed", confirmed.join(", "));
    }
    for confirmation in confirmations {
        if matches!(confirmation, Confirmation::Confirmed { .. }) {
            continue;
        }
        let _ = writeln!(out, "  {:<14}{confirmation}", confirmation.label());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Spec {
        let text = "title: torch.f\npackage: torch\ntarget: f\nversion: '1'\nlink: x\n\
                    inputs:\n  required: [a]\n  optional: [b]\n\
                    constraints:\n  a: {tensor_t: [tensor], shape: ['[n,...]'], dtype: [torch.float32, int]}\n\
                    \x20 b: {default: _Null}\n";
        fissure_spec::load_text(Path::new("f.yaml"), text)
            .expect("the example is well-formed")
            .spec
    }

    #[test]
    fn a_spec_is_shown_as_understood_in_aligned_lines() {
        let shown = describe(&example());
        for expected in [
            "torch.f\n  object      torch.f\n",
            "\na  (required)\n  tensor      tensor\n  dtype       float32 | any int\n  shape       [n,...]\n",
            "\nb  (optional)\n  default     _Null (not understood)\n              not constrained\n",
        ] {
            assert!(shown.contains(expected), "{expected}\n---\n{shown}");
        }
    }

    #[test]
    fn the_library_answer_separates_agreement_from_contradiction() {
        let library = Signature::of_function("2.9.1", None);
        let confirmations = [
            Confirmation::Confirmed { param: "a".into() },
            Confirmation::UnknownParam {
                param: "b".into(),
                renamed: None,
            },
        ];
        assert_eq!(
            answer(&library, &confirmations),
            "\nlibrary 2.9.1\n  confirmed     a\n  contradicted  b: unknown to the library\n"
        );
    }

    #[test]
    fn a_title_that_is_not_found_offers_those_that_contain_it() {
        let titles = [
            "torch.add".to_owned(),
            "torch.addmm".to_owned(),
            "torch.sin".to_owned(),
        ];
        let message = not_found("add", &titles);
        assert!(
            message.ends_with("There are: torch.add, torch.addmm"),
            "{message}"
        );
        assert!(!not_found("zebra", &titles).contains("There are"));
    }
}
