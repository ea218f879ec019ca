//! `fissure assertions eval`: the functions are tested again, and the models asked.

#![expect(clippy::print_stdout, reason = "a command prints its result")]
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use fissure_assertions::{
    Confusion, Context, Dataset, Event, LabelError, Labeller, Precision, Request, SoftAssertion,
    Split, Trainable, catalogue, load_project,
};

use super::{find, installed};
use crate::command::train::LibraryArg;
use serde_json::json;

use crate::console::notice;
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};

/// Samples of each label at most.
const SAMPLES: usize = 4000;
/// What the issue of the project asks for.
const WANTED_ELEMENT: f64 = 0.98;
const WANTED_CONTEXT: f64 = 0.95;

/// Test the functions again on fresh data, and measure the models on it
///
/// Exit codes: 0 measured, 2 usage error, 3 Fissure itself failed.
#[derive(Args, Debug)]
pub(super) struct EvalArgs {
    /// Functions [default: all that are installed for the library]
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,

    /// Library of the functions
    #[arg(long, value_enum, default_value = "torch")]
    library: LibraryArg,

    /// Number that decides the data; training used 0
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Do not test again: take what the files recorded when they were trained
    #[arg(long, conflicts_with = "seed")]
    recorded: bool,

    /// Put the table into this Markdown file, between its markers for the library
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

struct Subject {
    assertion: SoftAssertion,
    function: Trainable,
    measured: BTreeMap<Precision, Measured>,
}

/// The answers of one model, and which share of the samples had no label to judge them by.
struct Measured {
    answers: Confusion,
    left_out: Option<f64>,
}

pub(super) fn run(args: EvalArgs) -> anyhow::Result<ExitCode> {
    let library = args.library.name();
    let mut subjects = subjects(&args)?;
    // A table that cannot be put where it should go is noticed before minutes of work.
    let document = args
        .write
        .as_deref()
        .map(|path| Document::open(path, library))
        .transpose()?;
    let table = if args.recorded {
        recorded(&mut subjects)
    } else {
        tested(&args, &mut subjects)?
    };
    if args.json {
        println!("{}", figures(library, &subjects));
    } else {
        println!("{table}");
    }
    if let Some(document) = document {
        document.replace(&table)?;
    }
    Ok(ExitStatus::NoFinding.into())
}

/// The table for `--json`.
fn figures(library: &str, subjects: &[Subject]) -> serde_json::Value {
    let functions = subjects.iter().map(|subject| {
        let models = subject.measured.iter().map(|(precision, measured)| {
            let figures = json!({"macro_f1": measured.answers.macro_f1(), "left_out": measured.left_out});
            (precision.to_string(), figures)
        });
        let models: serde_json::Map<String, serde_json::Value> = models.collect();
        json!({"function": subject.function.name, "context": subject.function.context, "models": models})
    });
    json!({"library": library, "functions": functions.collect::<Vec<_>>()})
}

/// The table of the figures in the files.
fn recorded(subjects: &mut [Subject]) -> String {
    for subject in subjects.iter_mut() {
        let models = subject.assertion.header().models.iter();
        subject.measured = models
            .map(|(precision, model)| {
                let measured = Measured {
                    answers: model.held_out,
                    left_out: model.share_left_out(),
                };
                (*precision, measured)
            })
            .collect();
    }
    let header = subjects[0].assertion.header();
    let source = format!(
        "`fissure assertions eval --library {} --recorded`, trained with {} {}",
        header.library, header.library, header.version
    );
    table(subjects, &source)
}

/// The table of a fresh test.
fn tested(args: &EvalArgs, subjects: &mut [Subject]) -> anyhow::Result<String> {
    let library = args.library.name();
    let python = target::resolve(&args.target, library)?.python;
    let directory = std::env::current_dir().context("failed to find the current folder")?;
    let functions: Vec<Trainable> = subjects.iter().map(|it| it.function.clone()).collect();
    let request = Request {
        python: &python,
        library,
        functions: &functions,
        precisions: &Precision::ALL,
        splits: &[Split::HeldOut],
        seed: args.seed,
        count: SAMPLES,
        directory: &directory,
    };
    let version = measure(&request, subjects)?;
    let source = format!(
        "`fissure assertions eval --library {library} --seed {}`, {library} {version}",
        args.seed
    );
    Ok(table(subjects, &source))
}

fn subjects(args: &EvalArgs) -> anyhow::Result<Vec<Subject>> {
    let library = args.library.name();
    let assertions: Vec<SoftAssertion> = if args.functions.is_empty() {
        let all = installed()?.into_iter().map(|entry| entry.assertion);
        all.filter(|assertion| assertion.header().library == library)
            .collect()
    } else {
        let named = args.functions.iter().map(|name| find(name, library));
        named.collect::<anyhow::Result<_>>()?
    };
    if assertions.is_empty() {
        return Err(usage(format!(
            "no soft assertion of {library} is installed"
        )));
    }
    let known = catalogue();
    let folder = std::env::current_dir().context("failed to find the current folder")?;
    let own = load_project(&folder).map_err(|error| usage(error.to_string()))?;
    assertions
        .into_iter()
        .map(|assertion| {
            let name = &assertion.header().function;
            let listed = known.iter().find(|function| function.name == *name);
            let function = listed.cloned().or_else(|| {
                let own = own.iter().find(|own| own.function == *name)?;
                let file = own
                    .oracle_file
                    .as_ref()
                    .map(|file| file.display().to_string());
                let context = assertion.header().context;
                Some(Trainable::own(name, context, own.oracles.clone(), file))
            });
            let function = function.ok_or_else(|| {
                usage(format!(
                    "`{name}` is neither on the list nor in fissure.toml: its oracles are not known"
                ))
            })?;
            Ok(Subject {
                assertion,
                function,
                measured: BTreeMap::new(),
            })
        })
        .collect()
}

/// Fills in the answers; returns the library's version.
fn measure(request: &Request<'_>, subjects: &mut [Subject]) -> anyhow::Result<String> {
    let mut version = String::new();
    let mut labeller = Labeller::start(request)?;
    loop {
        let event = match labeller.next_event() {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(version),
            Err(LabelError::Library(message)) => return Err(usage(message)),
            Err(error) => return Err(error.into()),
        };
        match event {
            Event::Started { version: found, .. } => version = found,
            Event::Labelled(labelled) => {
                let data = Dataset::read(&labelled.path)?;
                let subject = subjects
                    .iter_mut()
                    .find(|it| it.function.name == labelled.function);
                if let Some(subject) = subject
                    && let Some(answers) = subject.assertion.evaluate(labelled.dtype, &data)
                {
                    notice!(
                        "{} {}: {:.4}",
                        labelled.function,
                        labelled.dtype,
                        answers.macro_f1()
                    );
                    let left_out = labelled.left_out as f64;
                    let all = left_out + f64::from(answers.samples());
                    let measured = Measured {
                        answers,
                        left_out: Some(left_out / all.max(1.0)),
                    };
                    subject.measured.insert(labelled.dtype, measured);
                }
            }
            Event::Refused {
                function, reason, ..
            } => return Err(usage(format!("`{function}`: {reason}"))),
            Event::Unsupported { .. } | Event::Failed { .. } | Event::Finished => {}
        }
    }
}

fn table(subjects: &[Subject], source: &str) -> String {
    let mut text = format!(
        "{source}; macro-F1 on \
         held-out data, in bold what is below the aim (0.98 for elementwise functions, 0.95 for the others); \
         the last column is the share of samples left out because their label is luck, over the types.\n\n\
         | function | context | float16 | bfloat16 | float32 | float64 | left out |\n|---|---|---|---|---|---|---|\n"
    );
    let (mut models, mut below) = (0, 0);
    for subject in subjects {
        let wanted = match subject.function.context {
            Context::Element => WANTED_ELEMENT,
            _ => WANTED_CONTEXT,
        };
        let cells = Precision::ALL.map(|precision| match subject.measured.get(&precision) {
            None => "-".to_owned(),
            Some(measured) => {
                let f1 = measured.answers.macro_f1();
                models += 1;
                if f1 < wanted {
                    below += 1;
                    format!("**{f1:.3}**")
                } else {
                    format!("{f1:.3}")
                }
            }
        });
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {} |",
            subject.function.name,
            subject.function.context,
            cells.join(" | "),
            left_out(subject)
        );
    }
    let _infallible = write!(
        text,
        "\n{} functions, {models} models, {below} below the aim.",
        subjects.len()
    );
    text
}

/// The least and the largest share over the types.
fn left_out(subject: &Subject) -> String {
    let shares = subject.measured.values().map(|measured| measured.left_out);
    let Some(shares) = shares.collect::<Option<Vec<f64>>>() else {
        return "not recorded".to_owned();
    };
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let least = percent(shares.iter().copied().fold(1.0, f64::min));
    let most = percent(shares.iter().copied().fold(0.0, f64::max));
    if least == most {
        format!("{most} %")
    } else {
        format!("{least} to {most} %")
    }
}

/// A Markdown file with a place for the table.
struct Document {
    path: PathBuf,
    before: String,
    after: String,
}

impl Document {
    fn open(path: &Path, library: &str) -> anyhow::Result<Document> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| usage(format!("failed to read {}: {error}", path.display())))?;
        let (begin, end) = (
            format!("<!-- eval {library} -->\n"),
            format!("<!-- end of eval {library} -->"),
        );
        let parts = text.split_once(&begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(&end)?;
            Some((before.to_owned() + &begin, end.clone() + after))
        });
        let (before, after) = parts.ok_or_else(|| {
            usage(format!(
                "{} has no lines `{}` and `{end}` for the table",
                path.display(),
                begin.trim_end()
            ))
        })?;
        Ok(Document {
            path: path.to_owned(),
            before,
            after,
        })
    }

    fn replace(&self, table: &str) -> anyhow::Result<()> {
        let text = format!("{}{table}\n{}", self.before, self.after);
        std::fs::write(&self.path, text)
            .with_context(|| format!("failed to write {}", self.path.display()))
    }
}
