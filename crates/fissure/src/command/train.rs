//! `fissure train`: makes soft assertions by testing functions of the installed library.

#![expect(clippy::print_stdout, reason = "a command prints its result")]
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use fissure_assertions::{
    AssertionFile, Context, Kind, LabelError, ORACLES, PLAIN_ORACLES, Precision, Progress, Request,
    Split, TrainError, Trainable, catalogue, plug, train_functions,
};

use crate::console::notice;
use serde_json::json;

use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::suggestion;
use crate::target::{self, TargetArgs};

/// Samples of each label at most; enough for the figures of docs/soft-assertions.md.
const SAMPLES: usize = 6000;

/// Train soft assertions: test unstable functions with their oracles, learn what makes them fail.
///
/// Names of `fissure assertions list`, or the dotted name of a function of your own with --oracle.
/// One file per function is written; docs/soft-assertions.md describes it.
///
/// Exit codes: 0 trained, 2 usage error, 3 Fissure itself failed.
#[derive(Args, Debug)]
pub(crate) struct TrainArgs {
    /// Functions: log, softmax, my_package.my_function
    #[arg(value_name = "FUNCTION", required_unless_present = "all")]
    functions: Vec<String>,

    /// Every function of the list that the library has
    #[arg(long, conflicts_with_all = ["functions", "oracle"])]
    all: bool,

    /// Library whose functions are tested
    #[arg(long, value_enum, default_value = "torch")]
    library: LibraryArg,

    /// Oracle of a function of your own: nonfinite, gradient_nonfinite, wider_float, or a Python file
    #[arg(long, value_name = "ORACLE")]
    oracle: Vec<String>,

    /// What one result of your function depends on
    #[arg(long, value_enum, default_value = "element")]
    context: ContextArg,

    /// Types: float16, bfloat16, float32, float64 [default: all]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = precision)]
    dtypes: Vec<Precision>,

    /// Folder for the files
    #[arg(
        long = "output",
        alias = "out",
        value_name = "DIR",
        default_value = "soft-assertions"
    )]
    out: PathBuf,

    /// Number that decides all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LibraryArg {
    Torch,
    Tensorflow,
    /// For functions of your own
    Numpy,
}

impl LibraryArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            LibraryArg::Torch => "torch",
            LibraryArg::Tensorflow => "tensorflow",
            LibraryArg::Numpy => "numpy",
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ContextArg {
    /// One number of one argument
    Element,
    /// One number of each of two arguments
    Pair,
    /// A row of one argument
    Row,
    /// A row of each of two arguments
    Rows,
    /// A square matrix
    Matrix,
}

impl From<ContextArg> for Context {
    fn from(context: ContextArg) -> Context {
        match context {
            ContextArg::Element => Context::Element,
            ContextArg::Pair => Context::Pair,
            ContextArg::Row => Context::Row,
            ContextArg::Rows => Context::Rows,
            ContextArg::Matrix => Context::Matrix,
        }
    }
}

pub(crate) fn run(args: TrainArgs) -> anyhow::Result<ExitCode> {
    let library = args.library.name();
    let functions = wanted(&args)?;
    let own = functions.iter().any(|function| function.own.is_some());
    // Before anything is trained: a folder that cannot be written should not cost a minute.
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("failed to make {}", args.out.display()))?;
    let python = target::resolve(&args.target, library)?.python;
    let directory = std::env::current_dir().context("failed to find the current folder")?;
    let request = Request {
        python: &python,
        library,
        functions: &functions,
        precisions: if args.dtypes.is_empty() {
            &Precision::ALL
        } else {
            &args.dtypes
        },
        splits: &[Split::Train, Split::HeldOut],
        seed: args.seed,
        count: SAMPLES,
        directory: &directory,
    };
    let mut sink = Sink {
        out: &args.out,
        json: args.json,
        begun: Instant::now(),
        trained: Vec::new(),
        refused: None,
        failed: None,
    };
    let result = train_functions(&request, &mut |progress| sink.take(progress));
    match result {
        Ok(()) => {}
        Err(TrainError::Label(LabelError::Library(message))) => return Err(usage(message)),
        Err(error) => return Err(error.into()),
    }
    if let Some(error) = sink.failed {
        return Err(error);
    }
    if let Some(reason) = sink.refused {
        return Err(usage(reason));
    }
    if own {
        for (function, path) in &sink.trained {
            let file = plug(&directory, function, path, &args.oracle)?;
            notice!(
                "plugged into {}: `fissure scan` steers by it",
                file.display()
            );
        }
    }
    if sink.trained.is_empty() {
        return Err(usage(
            "nothing was trained: none of the functions fails in any of the types",
        ));
    }
    Ok(ExitStatus::NoFinding.into())
}

/// The functions that the command line names.
fn wanted(args: &TrainArgs) -> anyhow::Result<Vec<Trainable>> {
    let library = args.library.name();
    let known = catalogue();
    if args.all {
        let has = |function: &Trainable| function.call(library).is_some();
        let all: Vec<Trainable> = known.into_iter().filter(has).collect();
        if all.is_empty() {
            return Err(usage(format!(
                "there is no list of functions for {library}"
            )));
        }
        return Ok(all);
    }
    let mut found = Vec::new();
    for name in &args.functions {
        let listed = known
            .iter()
            .find(|function| function.name == *name || path_of(function, library) == Some(name));
        match listed {
            Some(_) if !args.oracle.is_empty() => {
                return Err(usage(format!(
                    "`{name}` is on the list and has its oracles; --oracle is for your own functions"
                )));
            }
            Some(function) if function.call(library).is_some() => found.push(function.clone()),
            Some(_) => {
                return Err(usage(format!("`{name}` has no call for {library}")));
            }
            None if name.contains('.') && !args.oracle.is_empty() => {
                found.push(own_function(name, args)?);
            }
            None => {
                let paths = known
                    .iter()
                    .filter_map(|function| path_of(function, library));
                let names = known.iter().map(|function| &*function.name);
                let meant = suggestion(name, names.chain(paths));
                return Err(usage(format!(
                    "there is no function `{name}` on the list of `fissure assertions list --trainable`; a function of \
                     your own (package.function) needs --oracle: {} or a Python file (docs/soft-assertions.md){meant}",
                    PLAIN_ORACLES.join(", ")
                )));
            }
        }
    }
    Ok(found)
}

/// The function of the library that is called: `torch.log` of `torch.log(x)`; nothing where more is computed.
fn path_of<'a>(function: &'a Trainable, library: &str) -> Option<&'a str> {
    let (path, rest) = function.call(library)?.split_once('(')?;
    (rest.matches(['(', ')']).count() == 1 && rest.ends_with(')')).then_some(path)
}

fn own_function(name: &str, args: &TrainArgs) -> anyhow::Result<Trainable> {
    let mut oracles = Vec::new();
    let mut oracle_file = None;
    for oracle in &args.oracle {
        if PLAIN_ORACLES.contains(&oracle.as_str()) {
            oracles.push(oracle.clone());
        } else if ORACLES.contains(&oracle.as_str()) {
            return Err(usage(format!(
                "the oracle `{oracle}` compares with something: define it in a Python file \
                 (docs/soft-assertions.md)"
            )));
        } else {
            let path = Path::new(oracle);
            let absolute = path.canonicalize().map_err(|error| {
                usage(format!(
                    "`{oracle}` is neither an oracle nor a file: {error}"
                ))
            })?;
            if oracle_file.is_some() {
                return Err(usage("--oracle names two files: put all into one"));
            }
            oracle_file = Some(absolute.display().to_string());
        }
    }
    Ok(Trainable::own(
        name,
        args.context.into(),
        oracles,
        oracle_file,
    ))
}

struct Sink<'a> {
    out: &'a Path,
    json: bool,
    begun: Instant,
    trained: Vec<(String, PathBuf)>,
    refused: Option<String>,
    failed: Option<anyhow::Error>,
}

impl Sink<'_> {
    fn take(&mut self, progress: Progress) {
        match progress {
            Progress::Started { version } => notice!("fissure: testing version {version}"),
            Progress::Skipped {
                function,
                precision,
                reason,
            } => notice!("{function} {precision}: no model: {reason}"),
            Progress::Refused { function, reason } => {
                self.refused = Some(format!("`{function}`: {reason}"));
            }
            Progress::Trained(file) => {
                let path = self
                    .out
                    .join(format!("{}.safetensors", file.header.function));
                if let Err(error) = file.save(&path) {
                    self.failed = Some(error.into());
                    return;
                }
                let seconds = self.begun.elapsed().as_secs_f64();
                if self.json {
                    println!("{}", trained_json(&file, &path, seconds));
                } else {
                    print_trained(&file, &path, seconds);
                }
                self.begun = Instant::now();
                self.trained.push((file.header.function.clone(), path));
            }
        }
    }
}

/// A line of `--json`.
fn trained_json(file: &AssertionFile, path: &Path, seconds: f64) -> serde_json::Value {
    let models = file.header.models.iter().map(|(precision, model)| {
        let figures = json!({"macro_f1": model.held_out.macro_f1()});
        (precision.to_string(), figures)
    });
    let models: serde_json::Map<String, serde_json::Value> = models.collect();
    json!({"function": file.header.function, "models": models, "seconds": seconds, "file": path})
}

fn print_trained(file: &AssertionFile, path: &Path, seconds: f64) {
    let models = file.header.models.iter().map(|(precision, model)| {
        let kind = match model.kind {
            Kind::RandomForest => "forest",
            Kind::BoostedTrees => "boosted",
        };
        format!("{precision} {:.3} {kind}", model.held_out.macro_f1())
    });
    let models: Vec<String> = models.collect();
    println!(
        "{}: macro-F1 {}; {seconds:.1} s, {}",
        file.header.function,
        models.join(", "),
        path.display()
    );
}

fn precision(text: &str) -> Result<Precision, String> {
    Precision::from_name(text)
        .ok_or_else(|| format!("`{text}` is not a type: float16, bfloat16, float32 or float64"))
}
