//! `fissure sweep`: functions that act on each element by itself, over whole ranges of numbers.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command prints its result, and its progress"
)]

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use anyhow::{Context, anyhow};
use clap::Args;
use fissure_sweep::{Event, Exhaustive, Finding, Options, PARTS, Profile, Report};

use crate::command::session;
use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::suggestion;
use crate::target::{self, TargetArgs};

const LIBRARIES: [&str; 4] = ["torch", "numpy", "tensorflow", "jax"];

/// Sweep elementwise functions over whole ranges of numbers, and measure how accurate they are
///
/// Every number of 16-bit types, a stratified share of wider ones and dense windows around special points, against
/// the same function in a wider type, with gaps between the elements, alone, and against what the table of functions
/// says (range, symmetry, order). A finding is an interval. docs/sweep.md says what counts as wrong.
#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    /// A library (every elementwise function that Fissure knows of it), or functions by name: torch.exp
    #[arg(required = true, value_name = "LIBRARY|FUNCTION")]
    targets: Vec<String>,

    /// Element types, separated by commas, complex64 and whole numbers (uint8, int8, int16, int32, int64) too
    /// [default: float16,bfloat16,float32]
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    dtypes: Vec<String>,

    /// Elements of types with more than 16 bits, the windows aside
    #[arg(long, value_name = "N", default_value_t = 1 << 22)]
    count: u64,

    /// All 4,294,967,296 numbers of float32, of functions of one tensor that are named; parts that are done are kept in
    /// the folder of --output, and the same command goes on from there
    #[arg(long, conflicts_with_all = ["count", "dtypes", "tensors"])]
    exhaustive: bool,

    /// With --exhaustive: this share of the parts only, such as 3/8 (for a job array: each job one share, then once
    /// without it)
    #[arg(long, value_name = "I/N", requires = "exhaustive", value_parser = shard)]
    shard: Option<(u32, u32)>,

    /// With --exhaustive: where parts are kept [default: fissure-out/exhaustive/LIBRARY-VERSION]
    #[arg(
        long = "output",
        alias = "workdir",
        value_name = "DIR",
        requires = "exhaustive"
    )]
    workdir: Option<PathBuf>,

    /// The library whose tensors functions of your own take
    #[arg(long, value_name = "LIBRARY")]
    library: Option<String>,

    /// Tensors that functions of your own take: 1 or 2
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    tensors: u8,

    /// Time for one function and type
    #[arg(long = "api-time", alias = "timeout", value_name = "TIME", default_value = "2m", value_parser = crate::duration::duration)]
    timeout: Duration,

    /// Time for the whole; what is swept by then is the result
    #[arg(long, value_name = "TIME", conflicts_with = "exhaustive", value_parser = crate::duration::duration)]
    total_time: Option<Duration>,

    /// Processes that share the functions out
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "exhaustive", value_parser = clap::value_parser!(u8).range(1..=64))]
    workers: u8,

    /// Write everything as JSON to this file; without a file, to standard output instead of the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write a page with a plot of error against value for each function
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    target: TargetArgs,
}

const HEADER: &str =
    "function                                 type      largest error (ulp)  seconds";

/// The elementwise functions of a library that are known by name.
fn elementwise(library: &str) -> Vec<String> {
    let functions = fissure_functions::functions().functions().iter();
    let names = functions
        .filter(|function| function.elementwise.is_some())
        .flat_map(|function| function.all_names());
    let of_library = |name: &String| name.split('.').next() == Some(library);
    names.filter(of_library).collect()
}

pub(crate) fn run(args: SweepArgs) -> anyhow::Result<ExitCode> {
    let root = args.targets[0].split('.').next().unwrap_or_default();
    let library = args.library.as_deref().unwrap_or(root);
    if !LIBRARIES.contains(&library) {
        return Err(usage(format!(
            "{library} has no elementwise functions that can be swept; --library names the library whose tensors \
             they take: {}",
            LIBRARIES.join(", ")
        )));
    }
    let functions: Vec<String> = (args.targets.iter())
        .filter(|name| name.contains('.'))
        .cloned()
        .collect();
    let mut dtypes = args.dtypes.clone();
    if dtypes.is_empty() {
        dtypes = ["float16", "bfloat16", "float32"].map(str::to_owned).into();
        // NumPy has none.
        dtypes.retain(|name| library != "numpy" || name != "bfloat16");
    }
    let options = Options {
        python: target::resolve(&args.target, library)?.python,
        library: library.to_owned(),
        functions,
        dtypes,
        count: args.count,
        tensors: args.tensors,
        timeout: args.timeout,
        workers: args.workers.into(),
        search: std::env::current_dir().into_iter().collect(),
        // Parts of an exhaustive sweep are kept as they are done.
        stop: match args.exhaustive {
            true => None,
            false => Some(session::stop_on_interrupt()?),
        },
        until: args.total_time.map(|time| Instant::now() + time),
    };
    let to_output = args.json.as_deref() == Some(Path::new("-"));
    let told = !to_output;
    let mut begun = false;
    let tell = |event: Event<'_>| {
        if told {
            if !std::mem::replace(&mut begun, true) {
                println!("{HEADER}");
            }
            show(event);
        }
    };
    let report = match args.exhaustive {
        false => fissure_sweep::sweep(&options, tell),
        true => {
            let kept = kept(&args, &options)?;
            fissure_sweep::exhaustive(&options, &kept, tell)
        }
    };
    let report = report.map_err(|error| anyhow!("failed to {error}"))?;
    // A share of an exhaustive sweep may be empty.
    if !args.exhaustive
        && report.profiles.is_empty()
        && report.crashes.is_empty()
        && !options.is_over()
    {
        let mut reasons: Vec<String> = (report.skipped.iter())
            .map(|skipped| format!("{}: {}", skipped.function, skipped.reason))
            .collect();
        reasons.dedup();
        let known = elementwise(library);
        let meant = (args.targets.iter())
            .map(|typed| suggestion(typed, known.iter().map(String::as_str)))
            .collect::<String>();
        return Err(usage(format!(
            "nothing was swept\n\n{}{meant}",
            reasons.join("\n")
        )));
    }
    write(&args, &report).context("failed to write the report")?;
    if told {
        summary(&report);
        if options.is_over() {
            println!("ended early: what is above was swept by then");
        }
    }
    let wrong = !report.crashes.is_empty() || report.findings().next().is_some();
    Ok(match wrong {
        true => ExitStatus::Findings.into(),
        false => ExitStatus::NoFinding.into(),
    })
}

/// `3/8`, counted from one.
fn shard(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once('/').and_then(|(shard, shards)| {
        let numbers: (u32, u32) = (shard.parse().ok()?, shards.parse().ok()?);
        ((1..=numbers.1).contains(&numbers.0) && numbers.1 <= PARTS).then_some(numbers)
    });
    numbers.ok_or_else(|| format!("a share is I/N with 1 ≤ I ≤ N ≤ {PARTS}"))
}

fn kept(args: &SweepArgs, options: &Options) -> anyhow::Result<Exhaustive> {
    if options.functions.is_empty() {
        return Err(usage(
            "--exhaustive takes functions by name: torch.exp".to_owned(),
        ));
    }
    let folder = match &args.workdir {
        Some(folder) => folder.clone(),
        None => {
            // Results of two versions must not meet.
            let version = fissure_sweep::version(options);
            let version = version.map_err(|error| anyhow!("failed to {error}"))?;
            crate::results::base()
                .join("exhaustive")
                .join(format!("{}-{version}", options.library))
        }
    };
    Ok(Exhaustive {
        folder,
        shard: args.shard.unwrap_or((1, 1)),
    })
}

fn show(event: Event<'_>) {
    match event {
        Event::Swept(profile) => {
            println!("{}", line(profile));
            for finding in &profile.findings {
                println!("{}", lines(finding));
            }
        }
        Event::Crashed(crash) => {
            println!(
                "{:<40} {:<9} CRASH: {}",
                crash.function, crash.dtype, crash.how
            );
        }
        Event::Part {
            function,
            done,
            of,
            seconds,
        } => {
            let left = (of - done) as f64 * seconds;
            match io::stderr().is_terminal() {
                true if done == of => eprint!("\r\x1b[K"),
                true => eprint!("\r{function}: {done} of {of} parts, about {left:.0} s left\x1b[K"),
                false if done % 32 == 0 => eprintln!("{function}: {done} of {of} parts"),
                false => {}
            }
        }
        Event::Unfinished { function, missing } => {
            println!("{function:<40} float32   {missing} of {PARTS} parts are still to do");
        }
    }
}

fn line(profile: &Profile) -> String {
    let error = profile.worst.map_or("-".to_owned(), |error| match error {
        error if error < 1e5 => format!("{error:.2}"),
        error => format!("{error:.1e}"),
    });
    let place = profile.worst_at.as_deref().unwrap_or("");
    format!(
        "{:<40} {:<9} {error:>10} at {place:<24} {:>6.2}",
        profile.function, profile.dtype, profile.seconds
    )
}

fn lines(finding: &Finding) -> String {
    let further = match finding.further {
        0 => String::new(),
        further => format!(", and {further} further intervals"),
    };
    let alone = match finding.alone {
        true => "",
        false => {
            "      among these other elements only; a tensor of this number alone does not show it\n"
        }
    };
    let also = match finding.also.join(", ") {
        also if also.is_empty() => also,
        also => format!("; {also}"),
    };
    format!(
        "    {}{also}: from {} to {} ({} elements{further})\n      {} gives {}, not {}\n{alone}      {}",
        finding.kind,
        finding.from,
        finding.bound(),
        finding.count,
        finding.value,
        finding.observed,
        finding.expected,
        finding.script
    )
}

fn write(args: &SweepArgs, report: &Report) -> io::Result<()> {
    match &args.json {
        Some(path) if path == Path::new("-") => {
            println!("{}", serde_json::to_string_pretty(report)?);
        }
        Some(path) => fs::write(path, serde_json::to_string_pretty(report)?)?,
        None => {}
    }
    if let Some(path) = &args.markdown {
        fs::write(path, report.markdown())?;
    }
    if let Some(path) = &args.html {
        fs::write(path, fissure_sweep::page(report))?;
    }
    Ok(())
}

fn summary(report: &Report) {
    let wrong: Vec<&str> = (report.profiles.iter())
        .filter(|profile| !profile.findings.is_empty())
        .map(|profile| profile.function.as_str())
        .collect();
    let mut functions = wrong.clone();
    functions.dedup();
    println!(
        "\n{} {}: {} sweeps, {} intervals in {} functions, {} crashes, {} skipped",
        report.library,
        report.version,
        report.profiles.len(),
        report.findings().count(),
        functions.len(),
        report.crashes.len(),
        report.skipped.len()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_function_is_told_which_was_meant() {
        let known = elementwise("torch");
        assert!(known.iter().all(|name| name.starts_with("torch.")));
        let meant = suggestion("torch.digama", known.iter().map(String::as_str));
        assert!(meant.contains("torch.digamma"), "{meant}");
        assert!(!elementwise("numpy").is_empty());
    }
}
