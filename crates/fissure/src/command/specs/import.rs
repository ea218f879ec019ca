//! `fissure specs import`: constraint files from Centaur's signatures.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fissure_rules::centaur::{CentaurSignature, read_signatures};
use serde_json::json;

use crate::command::centaur;
use crate::console::warning;
use crate::exit_status::{ExitStatus, usage};

#[derive(Args, Debug)]
pub(super) struct ImportArgs {
    /// Centaur's `signatures.json`
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Folder for the constraint files, one for each signature
    #[arg(long, value_name = "DIR")]
    output: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn import(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let file = args.file.display();
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| usage(format!("failed to read {file}: {error}")))?;
    let read = read_signatures(&text).map_err(|error| {
        usage(format!(
            "{file} is not a file of signatures, which is a JSON object of APIs: {error}"
        ))
    })?;
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("failed to make {}", args.output.display()))?;
    let (mut written, mut left_out) = (0, 0);
    for (name, signature) in &read {
        if let Some(odd) = not_a_name(name, signature) {
            warning!("{name:?}: {odd:?} is no name of Python");
            left_out += 1;
            continue;
        }
        let path = args.output.join(format!("{name}.yaml"));
        std::fs::write(&path, centaur::constraint_file(name, signature))
            .with_context(|| format!("failed to write {}", path.display()))?;
        written += 1;
    }
    if args.json {
        println!(
            "{}",
            json!({"output": args.output, "written": written, "left_out": left_out})
        );
    } else {
        println!("{written} constraint files in {}", args.output.display());
    }
    Ok(match written {
        0 => ExitStatus::Failure,
        _ => ExitStatus::NoFinding,
    }
    .into())
}

/// What of a signature cannot be a name, and so would be something else in a path or in YAML.
fn not_a_name<'a>(name: &'a str, signature: &'a CentaurSignature) -> Option<&'a str> {
    let calls = std::iter::once(&signature.call).chain(&signature.inner);
    let params = calls.flat_map(|call| call.args.0.iter().chain(&call.kwargs.0));
    let mut names = name.split('.').chain(params.map(|(name, _)| name.as_str()));
    names.find(|name| {
        let letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        name.is_empty() || !name.chars().all(letter)
    })
}
