//! `fissure assertions`: which soft assertions there are, and how good they are.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

mod eval;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use fissure_assertions::{
    Precision, SoftAssertion, catalogue, load_project, load_shipped, shipped,
};
use fissure_numeric::scan::{Models, Question, Steering};
use fissure_report::{Figures, table};
use serde_json::json;

use crate::command::train::LibraryArg;
use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::suggestion;
use eval::EvalArgs;

/// List, show and evaluate soft assertions
#[derive(Args, Debug)]
pub(crate) struct AssertionsArgs {
    #[command(subcommand)]
    command: AssertionsCommand,
}

#[derive(Subcommand, Debug)]
enum AssertionsCommand {
    /// What is installed: shipped with the program, and of the project's fissure.toml
    List(ListArgs),
    /// What one file says: model, data, accuracy, where the labels change, where it is used
    Show(ShowArgs),
    /// Test the functions again on fresh data, and measure the models on it
    Eval(Box<EvalArgs>),
    /// Answer questions as JSON lines: what the scan's runtime asks, for other programs
    ///
    /// The first line of the output says what can be asked. A question names `function`, `library`
    /// (torch when missing), `dtype`, `operand` (the one that moves), `width` (elements of one
    /// context) and `operands` (lists of numbers); the answer has `labels`: -1, 0 or 1 per element,
    /// null where there is no answer.
    Ask {
        /// What is printed is JSON with and without this
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Debug)]
struct ListArgs {
    /// Only those of this library
    #[arg(long, value_enum)]
    library: Option<LibraryArg>,

    /// What `fissure train` knows, whether it is trained or not
    #[arg(long)]
    trainable: bool,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct ShowArgs {
    /// A function (log), or a file
    #[arg(value_name = "FUNCTION")]
    function: String,

    /// Library of the function
    #[arg(long, value_enum, default_value = "torch")]
    library: LibraryArg,

    /// Print the header of the file as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: AssertionsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        AssertionsCommand::List(args) if args.trainable => trainable(&args),
        AssertionsCommand::List(args) => list(&args)?,
        AssertionsCommand::Show(args) => show(&args)?,
        AssertionsCommand::Eval(args) => return eval::run(*args),
        AssertionsCommand::Ask { json: _ } => ask()?,
    }
    Ok(ExitStatus::NoFinding.into())
}

fn ask() -> anyhow::Result<()> {
    let models = Models::load(Steering::Learned, Path::new("."))?;
    println!("{}", models.to_json());
    for line in std::io::stdin().lines() {
        let line = line.context("failed to read standard input")?;
        let question: Question = serde_json::from_str(&line)
            .map_err(|error| usage(format!("this is no question: {error}")))?;
        println!("{}", models.answer(&question));
    }
    Ok(())
}

/// One that is installed, with where it comes from.
pub(crate) struct Installed {
    pub assertion: SoftAssertion,
    pub origin: &'static str,
}

/// Everything that is installed. A file that does not load is an error.
pub(crate) fn installed() -> anyhow::Result<Vec<Installed>> {
    let mut found = Vec::new();
    for (library, function) in shipped() {
        let Some(assertion) = load_shipped(&library, &function) else {
            continue;
        };
        found.push(Installed {
            assertion: assertion?,
            origin: "shipped",
        });
    }
    let folder = std::env::current_dir().context("failed to find the current folder")?;
    for own in load_project(&folder).map_err(|error| usage(error.to_string()))? {
        found.push(Installed {
            assertion: own.assertion,
            origin: "fissure.toml",
        });
    }
    Ok(found)
}

fn trainable(args: &ListArgs) {
    for function in catalogue() {
        for library in ["torch", "tensorflow"] {
            let Some(call) = function.call(library) else {
                continue;
            };
            if args.library.is_some_and(|wanted| wanted.name() != library) {
                continue;
            }
            if args.json {
                println!(
                    "{}",
                    json!({"library": library, "function": function.name, "context": function.context,
                           "oracles": function.oracles, "call": call})
                );
            } else {
                println!("{library} {} ({}): {call}", function.name, function.context);
            }
        }
    }
}

fn list(args: &ListArgs) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut count = 0;
    for entry in installed()? {
        let header = entry.assertion.header();
        if args
            .library
            .is_some_and(|wanted| wanted.name() != header.library)
        {
            continue;
        }
        count += 1;
        if args.json {
            let f1: serde_json::Map<String, serde_json::Value> = header
                .models
                .iter()
                .map(|(precision, model)| (precision.to_string(), model.held_out.macro_f1().into()))
                .collect();
            println!(
                "{}",
                json!({"library": header.library, "version": header.version,
                       "function": header.function, "context": header.context,
                       "macro_f1": f1, "origin": entry.origin})
            );
            continue;
        }
        let figure = |precision| {
            header.models.get(&precision).map_or_else(
                || "-".to_owned(),
                |model| format!("{:.3}", model.held_out.macro_f1()),
            )
        };
        let [half, brain, single, double] = Precision::ALL.map(figure);
        rows.push([
            header.library.clone(),
            header.function.clone(),
            header.context.to_string(),
            half,
            brain,
            single,
            double,
            entry.origin.to_owned(),
        ]);
    }
    if !args.json {
        let header = [
            "library", "function", "context", "float16", "bfloat16", "float32", "float64", "from",
        ];
        println!("{}", table(header, rows, Figures::None));
        println!("{count} soft assertions; the figures are macro-F1 on held-out data");
    }
    Ok(())
}

fn show(args: &ShowArgs) -> anyhow::Result<()> {
    let assertion = find(&args.function, args.library.name())?;
    let header = assertion.header();
    if args.json {
        println!("{}", serde_json::to_string_pretty(header)?);
        return Ok(());
    }
    println!(
        "{} of {} {}",
        header.function, header.library, header.version
    );
    println!("  call: {}", header.call);
    println!(
        "  context: {}, oracles: {}",
        header.context,
        header.oracles.join(", ")
    );
    println!("  features: {}", header.features.join(", "));
    println!("  seed: {}", header.seed);
    for (precision, model) in &header.models {
        let support = model.held_out.support();
        println!(
            "  {precision}: {}, {} samples (data {}), macro-F1 {:.4}, accuracy {:.4} on {} held out ({} decrease, {} no change, {} increase)",
            model.kind,
            model.samples,
            &model.dataset[..model.dataset.len().min(12)],
            model.held_out.macro_f1(),
            model.held_out.accuracy(),
            model.held_out.samples(),
            support[0],
            support[1],
            support[2]
        );
        match (model.share_left_out(), model.left_out) {
            (Some(share), Some(left_out)) => println!(
                "    left out, because their label is luck: {:.2} % ({} of training, {} held out)",
                100.0 * share,
                left_out.training,
                left_out.held_out
            ),
            _ => println!("    left out, because their label is luck: not recorded"),
        }
        for (kind, f1) in &model.compared {
            println!("    {kind}: {f1:.4} on the samples kept apart to choose");
        }
        if let Some(steps) = assertion.steps(*precision) {
            for (start, end, label) in steps.intervals().take(8) {
                println!("    above {start:e} up to {end:e}: {label}");
            }
        }
    }
    println!("  used by: {}", used_by(&assertion));
    Ok(())
}

/// Where the scan uses it.
fn used_by(assertion: &SoftAssertion) -> String {
    let header = assertion.header();
    match fissure_numeric::registry::Registry::embedded().by_short_name(&header.function) {
        Some(function) if header.library == "torch" => format!(
            "`fissure scan` at {}",
            function
                .torch
                .iter()
                .take(4)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ")
        ),
        Some(_) if header.library == "tensorflow" => {
            "`fissure scan --assertions learned` at its calls in TensorFlow".to_owned()
        }
        _ if header.function.contains('.') => {
            format!("`fissure scan` at calls of {}", header.function)
        }
        _ => "nothing yet: the scan does not steer by it".to_owned(),
    }
}

/// By the name of a function, or by a path.
pub(crate) fn find(name: &str, library: &str) -> anyhow::Result<SoftAssertion> {
    let path = Path::new(name);
    if name.ends_with(".safetensors") || path.is_file() {
        return SoftAssertion::load(path).map_err(|error| usage(error.to_string()));
    }
    if let Some(found) = load_shipped(library, name) {
        return Ok(found?);
    }
    let folder: PathBuf = std::env::current_dir().context("failed to find the current folder")?;
    let mut own = load_project(&folder).map_err(|error| usage(error.to_string()))?;
    let shipped = shipped();
    let shipped = shipped.iter().filter(|(of, _)| of == library);
    let names =
        (shipped.map(|(_, function)| &**function)).chain(own.iter().map(|own| &*own.function));
    let meant = suggestion(name, names);
    own.iter()
        .position(|own| own.function == name)
        .map(|at| own.swap_remove(at).assertion)
        .ok_or_else(|| {
            usage(format!(
                "there is no soft assertion of `{name}` for {library}: see `fissure assertions list`{meant}"
            ))
        })
}
