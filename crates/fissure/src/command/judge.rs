//! `fissure judge`: apply oracles to inputs that a run kept.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fissure_campaign::{RunFolder, RunOptions, SessionOptions, Source};

use super::session::judging::{Judging, JudgingArgs};
use super::session::{self, Shown, seconds_of};
use crate::console;
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};

/// Apply oracles to the inputs that a run kept (`--save` of `fissure fuzz` and `fissure campaign`).
///
/// Generating and judging can so happen at different times and places. Findings go to the folder of
/// the run. Every kept input is judged, whatever the profile.
#[derive(Args, Debug)]
pub(crate) struct JudgeArgs {
    /// Folder of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,

    /// Number of the first input of each API to judge
    #[arg(long, value_name = "I", default_value_t = 0)]
    from: u64,

    /// Number of the last
    #[arg(long, value_name = "J", default_value_t = u64::MAX, hide_default_value = true)]
    to: u64,

    /// Folder with a package of your own, put before the library's own search path
    #[arg(long, value_name = "DIR")]
    pythonpath: Vec<PathBuf>,

    /// Worker processes [default: one per core]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,

    /// Time one call may take
    #[arg(long, value_name = "TIME", value_parser = crate::duration::seconds, default_value = "10s")]
    timeout: f64,

    /// Memory one worker may use beyond what the library needs, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    memory_limit: u64,

    /// Let workers write outside their scratch folder and reach the network
    #[arg(long)]
    no_sandbox: bool,

    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    judging: JudgingArgs,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: JudgeArgs) -> anyhow::Result<ExitCode> {
    let judging = Judging::new(&args.judging)?;
    let header = RunFolder::read_header(&args.run).map_err(|error| {
        if args.run.join("shards").is_dir() {
            return usage(format!(
                "{0} is of a campaign whose shards are apart: fissure campaign merge {0} joins them",
                args.run.display()
            ));
        }
        usage(format!(
            "{} is not the folder of a run: {:#}",
            args.run.display(),
            anyhow::Error::from(error)
        ))
    })?;
    let saved = fissure_campaign::read_saved(&args.run, args.from, args.to)
        .map_err(|error| usage(format!("{:#}", anyhow::Error::from(error))))?;
    if saved.is_empty() {
        let all = fissure_campaign::read_saved(&args.run, 0, u64::MAX)?;
        let numbers = || {
            all.iter()
                .flat_map(|api| &api.inputs)
                .map(|input| input.number)
        };
        let run = args.run.display();
        return Err(usage(match (numbers().min(), numbers().max()) {
            (Some(first), Some(last)) => {
                format!(
                    "{run} has no inputs in that range: those that it kept are {first} to {last}"
                )
            }
            _ => format!("{run} has no inputs to judge: --save of fuzz and campaign keeps them"),
        }));
    }
    let mut options = RunOptions {
        max_inputs: Some(0),
        max_hangs: u64::MAX,
        total_time: judging.time(),
        ..RunOptions::new(header.seed, session::workers(args.workers)?)
    };
    judging.apply(&args.judging, &mut options)?;
    if options.judging.oracles.is_empty() {
        return Err(usage(
            "none of these oracles looks at an input again: `fissure oracles` says which do",
        ));
    }
    let asked = args.target.python.is_some() || args.target.env.is_some();
    let python = if !asked && header.python.exists() {
        header.python
    } else {
        target::resolve_for(
            &args.target,
            &header.package,
            &session::pythonpath(&args.pythonpath, &header.package)?,
        )?
        .python
    };
    let stop = session::stop_on_interrupt()?;
    let session = Shown {
        session: SessionOptions {
            pythonpath: session::pythonpath(&args.pythonpath, &header.package)?,
            timeout: seconds_of(args.timeout, "--timeout")?,
            memory_limit: args.memory_limit << 20,
            no_sandbox: args.no_sandbox,
            include_denied: true,
            known_issues: args.judging.known_issues()?,
            command: std::env::args().collect(),
            folder: std::env::current_dir()?,
            ..SessionOptions::new(&header.package, python, &args.run)
        },
        chose_oracles: args.judging.oracles.is_some(),
        screen: false,
        stop: &stop,
    };
    let summary = session.run(Source::Saved(&saved), &options)?;
    if args.json {
        println!("{}", serde_json::to_string(&summary)?);
    } else if !console::quiet() {
        print!("{}", fissure_report::oracle_table(&summary));
        println!("{}", fissure_report::closing_line(&summary));
    }
    let status = if summary.findings > 0 {
        ExitStatus::Findings
    } else {
        ExitStatus::NoFinding
    };
    Ok(status.into())
}
