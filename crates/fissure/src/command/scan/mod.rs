//! `fissure scan`: numerical instability in a user's own program.

mod console;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use fissure_execute::{SandboxOptions, has_gpu};
use fissure_numeric::scan::{
    Bounds, Config, InputEvent, Layout, Progress, ScanError, ScanOptions, ScanReport, ScanSite,
    ScanTarget, Steering, check_syntax, imported, scan, write_output,
};

use crate::console::notice;
use crate::exit_status::{ExitStatus, usage};
use crate::protections;
use crate::target::{self, TargetArgs};
use console::Console;

/// Find numerical instability in a program, and say how to fix it
///
/// The program runs as it is, in its own folder; nothing is installed and no file of it is changed.
#[derive(Args, Debug)]
pub(crate) struct ScanArgs {
    /// train.py, losses.py::focal_loss, package.module:Class.method, a package or a folder
    #[arg(value_name = "TARGET")]
    target: String,

    /// Arguments of the program
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,

    /// Time for the whole command [default: 1m, 5m for a package or folder]
    #[arg(long = "total-time", alias = "timeout", value_name = "TIME", value_parser = crate::duration::duration)]
    timeout: Option<Duration>,

    /// Cut the program's own run after so many training steps
    #[arg(long, value_name = "STEPS")]
    steps: Option<u64>,

    /// Highest trigger level: 0 own data, 1 inside its range, 2 any finite input, 3 weights, 4 training
    #[arg(long, value_name = "LEVEL", default_value = "4", value_parser = level)]
    level: u8,

    /// Allowed range of an input, either side may be empty: --input x=0:1
    #[arg(long = "input", value_name = "NAME=LOW:HIGH", value_parser = input_range)]
    inputs: Vec<(String, Bounds)>,

    /// Leave an input as the program makes it
    #[arg(long, value_name = "NAME")]
    freeze: Vec<String>,

    /// Change the model's weights as freely as the inputs
    #[arg(long)]
    weights: bool,

    /// Count failures at magnitudes where correct code fails too
    #[arg(long)]
    strict: bool,

    /// The program is written for TensorFlow 1: `import tensorflow` gives it that version's names
    #[arg(long)]
    tf1: bool,

    /// Tests (a file or folder) that call the target: their arguments are its own data
    #[arg(long, value_name = "TESTS")]
    observe: Option<PathBuf>,

    /// Let the program reach the network
    #[arg(long)]
    network: bool,

    /// Let the program write wherever you can, and reach the network
    #[arg(long)]
    no_sandbox: bool,

    /// Save each checked fix as a patch
    #[arg(long)]
    write_fixes: bool,

    /// What steers the search [default: best, or model_type of the configuration]
    #[arg(long, value_enum, value_name = "KIND")]
    assertions: Option<SteeringArg>,

    /// Configuration file with the keys of Soft Assertion Fuzzer
    #[arg(long, value_name = "YAML")]
    config: Option<PathBuf>,

    /// Output folder [default: fissure-out/scan-NAME]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Where the logs go
    #[arg(long, value_enum, default_value = "fissure")]
    layout: LayoutArg,

    /// Print the report as JSON instead of text
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    python: TargetArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LayoutArg {
    Fissure,
    Softassertion,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SteeringArg {
    /// Learned or analytic soft assertions, whichever was measured to be better for the function
    Best,
    /// Learned soft assertions only
    Learned,
    /// Failure regions of the registry only
    Analytic,
    /// Only the gradient of the function's output, for comparison
    Output,
    /// Random directions, for comparison
    Random,
}

impl From<SteeringArg> for Steering {
    fn from(steering: SteeringArg) -> Steering {
        match steering {
            SteeringArg::Best => Steering::Best,
            SteeringArg::Learned => Steering::Learned,
            SteeringArg::Analytic => Steering::Analytic,
            SteeringArg::Output => Steering::Output,
            SteeringArg::Random => Steering::Random,
        }
    }
}

/// A list of packages that lies beside the program.
fn lists_beside(target: &ScanTarget) -> Option<PathBuf> {
    let folder = match target {
        ScanTarget::Script(file) | ScanTarget::FileFunction { file, .. } => file.parent()?,
        ScanTarget::Folder(folder) => folder,
        ScanTarget::Module(_) | ScanTarget::ModuleFunction { .. } => Path::new(""),
    };
    ["requirements.txt", "pyproject.toml"]
        .into_iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
}

/// Whether the program could not import something.
fn lacks_a_module(report: &ScanReport) -> bool {
    let own_run = report.own_run.as_ref();
    own_run
        .and_then(|run| run.error.as_ref())
        .is_some_and(|error| error.0 == "ModuleNotFoundError")
}

/// What to do with a notebook.
pub(super) fn notebook(file: &Path, command: &str) -> String {
    let shown = file.display();
    let script = file.with_extension("py");
    format!(
        "`{shown}` is a notebook\n\nmake a script of it, and {command} that:\n\
         jupyter nbconvert --to script {shown}\nfissure {command} {}",
        script.display()
    )
}

/// Why a file is no Python program, by its name or because it is no text; nothing where it may be one.
fn no_program(file: &Path) -> Option<String> {
    let shown = file.display();
    let extension = file.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        // Python takes no zero bytes either.
        "py" | "pyw" => std::fs::read(file)
            .is_ok_and(|bytes| bytes.contains(&0))
            .then(|| format!("`{shown}` is no Python program: it is not text")),
        "ipynb" => Some(notebook(file, "scan")),
        _ => Some(format!(
            "`{shown}` is no Python program: a scan takes a file that ends in `.py`, a module or a folder"
        )),
    }
}

pub(crate) fn run(args: ScanArgs) -> anyhow::Result<ExitCode> {
    let scan_target: ScanTarget = args
        .target
        .parse()
        .map_err(|error| usage(format!("{error}")))?;
    // Before an environment is made for it.
    if let ScanTarget::Script(file) | ScanTarget::FileFunction { file, .. } = &scan_target {
        if !file.is_file() {
            return Err(usage(format!("there is no file `{}`", file.display())));
        }
        if let Some(refusal) = no_program(file) {
            return Err(usage(refusal));
        }
        check_syntax(file).map_err(|error| usage(error.to_string()))?;
    }
    let config = match &args.config {
        Some(path) => Config::load(path).map_err(|error| usage(error.to_string()))?,
        None => Config::default(),
    };
    let package = library_of(&scan_target);
    let python = target::resolve(&args.python, package)?;
    // With the original's layout `logging.output_dir` is the folder of the logs, as it is there.
    let configured = match args.layout {
        LayoutArg::Fissure => config.output_dir.clone(),
        LayoutArg::Softassertion => None,
    };
    let output = args
        .output
        .clone()
        .or(configured)
        .unwrap_or_else(|| crate::results::base().join(folder_name(&args.target)));
    let beside = lists_beside(&scan_target);
    let mut options = ScanOptions::new(scan_target, python.python, output);
    options.arguments = args.arguments;
    if let Some(timeout) = args.timeout.or(config.timeout) {
        options.timeout = timeout;
        options.own_run_timeout = options.own_run_timeout.max(timeout);
    }
    options.steps = args.steps;
    options.level = args.level;
    options.inputs = args.inputs.into_iter().collect();
    options.freeze = args.freeze;
    options.weights = args.weights;
    options.strict = args.strict;
    options.tf1 = args.tf1;
    if let Some(place) = &args.observe
        && !place.exists()
    {
        return Err(usage(format!(
            "--observe {}: no such file or folder",
            place.display()
        )));
    }
    options.observe = args.observe;
    options.sandbox = SandboxOptions {
        confine_writes: !args.no_sandbox && !has_gpu(),
        cut_network: !args.no_sandbox && !args.network,
    };
    options.layout = match args.layout {
        LayoutArg::Fissure => Layout::Fissure,
        LayoutArg::Softassertion => Layout::SoftAssertion,
    };
    options.steering = args
        .assertions
        .map(Steering::from)
        .or(config.steering)
        .unwrap_or_default();
    options.config = config;

    let console = Console::new(args.json);
    for remark in &options.config.remarks {
        console.remark(remark);
    }
    end_search_on_interrupt()?;
    let report = match scan(&options, &mut |progress| {
        show(&console, &args.target, progress)
    }) {
        Ok(report) => report,
        Err(error @ (ScanError::Syntax(_) | ScanError::Read { .. } | ScanError::Project(_))) => {
            return Err(usage(error.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    let logs = write_output(&options, &report)?;
    console.report(&report, &logs)?;
    if args.python.beside.is_empty()
        && let Some(list) = beside.filter(|_| lacks_a_module(&report))
    {
        notice!(
            "fissure: {0} lists packages: --with {0} scans in a managed environment that has them",
            list.display()
        );
    }
    if options.layout == Layout::SoftAssertion {
        console.case_study(&fissure_numeric::scan::case_study(&report));
    }
    if args.write_fixes {
        for finding in &report.findings {
            if let Some(fix) = &finding.fix {
                let path = options.output.join(format!("{}.patch", finding.id));
                std::fs::write(&path, &fix.diff)?;
                console.patch(&path);
            }
        }
    }
    Ok(if report.interrupted && report.findings.is_empty() {
        ExitStatus::Interrupted.into()
    } else if report.in_part() {
        ExitStatus::InPart.into()
    } else if report.failed() {
        ExitStatus::Usage.into()
    } else if report.findings.is_empty() {
        ExitStatus::NoFinding.into()
    } else {
        ExitStatus::Findings.into()
    })
}

/// The first Ctrl-C ends the search with its report, the second ends the program at once.
#[expect(clippy::print_stderr, reason = "an answer to Ctrl-C")]
fn end_search_on_interrupt() -> anyhow::Result<()> {
    let mut asked = false;
    ctrlc::set_handler(move || {
        if asked {
            std::process::exit(ExitStatus::Interrupted as i32);
        }
        asked = true;
        eprintln!("\nstopping: what was found is reported (Ctrl-C again ends at once)");
        fissure_numeric::scan::interrupt();
    })
    .context("failed to listen for Ctrl-C")
}

fn show(console: &Console, target: &str, progress: Progress<'_>) {
    match progress {
        Progress::Protected(given) => protections::tell(given),
        Progress::Started { versions } => console.started(target, versions),
        Progress::OwnRun(own_run) => console.own_run(own_run),
        Progress::Understood { sites, inputs } => understood(console, sites, inputs),
        Progress::UnknownInputs { names, known } => console.unknown_inputs(names, known),
        Progress::Note(text) => console.search(text),
        Progress::Target(name) => console.target(name),
        Progress::TargetDone(status) => console.target_done(status),
    }
}

fn understood(console: &Console, sites: &[ScanSite], inputs: &[InputEvent]) {
    console.sites(sites);
    console.inputs(inputs);
}

/// The library whose interpreter runs the target: what it imports. A program that names none needs
/// NumPy only, unless it may get torch from a module of its own; so does a module that is installed
/// elsewhere, because what it imports is seen when it is imported.
fn library_of(target: &ScanTarget) -> &'static str {
    let files = match target {
        ScanTarget::Script(file) | ScanTarget::FileFunction { file, .. } => vec![file.clone()],
        ScanTarget::Module(module) | ScanTarget::ModuleFunction { module, .. } => {
            let path = module.replace('.', "/");
            let mut files = vec![PathBuf::from(path.clone() + ".py")];
            files.extend(python_files(Path::new(&path)));
            files
        }
        ScanTarget::Folder(folder) => python_files(folder),
    };
    let mut named = false;
    for source in files.iter().filter_map(|file| std::fs::read(file).ok()) {
        let source = String::from_utf8_lossy(&source);
        if let Some(library) = imported(&source).first() {
            return library.package();
        }
        named |= source.contains("torch");
    }
    if named { "torch" } else { "numpy" }
}

/// The Python files below a folder, as many as are worth a look.
fn python_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
        {
            let hidden = path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_dir() && !hidden && found.len() < LOOKED_AT {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.truncate(LOOKED_AT);
    found
}

const LOOKED_AT: usize = 200;

fn folder_name(target: &str) -> String {
    let short = target
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(target)
        .replace(".py", "");
    let safe: String = short
        .chars()
        .map(|character| {
            if character.is_alphanumeric() || "._-".contains(character) {
                character
            } else {
                '-'
            }
        })
        .collect();
    format!("scan-{safe}")
}

fn level(text: &str) -> Result<u8, String> {
    match text.trim_start_matches(['L', 'l']).parse() {
        Ok(level @ 0..=4) => Ok(level),
        _ => Err(format!("`{text}` is not a level: 0 to 4")),
    }
}

fn input_range(text: &str) -> Result<(String, Bounds), String> {
    let wrong = || format!("`{text}` is not NAME=LOW:HIGH");
    let (name, range) = text.split_once('=').ok_or_else(wrong)?;
    let (low, high) = range.split_once(':').ok_or_else(wrong)?;
    let bound = |text: &str| {
        if text.trim().is_empty() {
            Ok(None)
        } else {
            text.trim()
                .parse()
                .map(Some)
                .map_err(|_| format!("`{text}` is not a number"))
        }
    };
    let bounds = Bounds {
        low: bound(low)?,
        high: bound(high)?,
    };
    if let (Some(low), Some(high)) = (bounds.low, bounds.high)
        && low > high
    {
        return Err(format!("the range {range} is empty"));
    }
    Ok((name.to_owned(), bounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_may_be_open_on_either_side() {
        assert_eq!(
            input_range("x=0:1"),
            Ok((
                "x".into(),
                Bounds {
                    low: Some(0.0),
                    high: Some(1.0)
                }
            ))
        );
        assert_eq!(
            input_range("x=:1e4"),
            Ok((
                "x".into(),
                Bounds {
                    low: None,
                    high: Some(1e4)
                }
            ))
        );
        assert!(input_range("x=2:1").is_err());
        assert!(input_range("x").is_err());
    }

    #[test]
    fn levels_are_accepted_with_and_without_their_letter() {
        assert_eq!(level("L2"), Ok(2));
        assert_eq!(level("4"), Ok(4));
        assert!(level("5").is_err());
    }

    #[test]
    fn the_output_folder_is_named_after_the_target() {
        assert_eq!(folder_name("a/b/train.py"), "scan-train");
        assert_eq!(folder_name("a/tests/"), "scan-tests");
        assert_eq!(folder_name("losses.py::focal"), "scan-losses--focal");
    }
}
