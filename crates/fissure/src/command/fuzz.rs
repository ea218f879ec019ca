//! `fissure fuzz`: run it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command prints its result"
)]

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use fissure_campaign::{Campaign, DenyList, FORMAT, RunFolder, RunHeader, RunSummary, Source};
use fissure_execute::{Pool, PoolOptions, SandboxOptions, SandboxReport, ScriptOptions};
use fissure_model::Spec;
use fissure_report::{Progress, Style};

use super::fuzz_args::FuzzArgs;
use super::fuzz_plan::Plan;
use crate::exit_status::{ExitStatus, usage};
use crate::target;

pub fn run(args: FuzzArgs) -> anyhow::Result<ExitCode> {
    let plan = Plan::new(&args)?;
    if !args.quiet {
        warn(&plan, args.verbose);
    }
    let stop = stop_on_interrupt()?;
    let mut by_package: BTreeMap<&str, Vec<Spec>> = BTreeMap::new();
    for spec in &plan.specs {
        by_package
            .entry(&spec.api.package)
            .or_default()
            .push(spec.clone());
    }
    let several = by_package.len() > 1;
    let mut findings = 0;
    for (package, specs) in by_package {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let workdir = if several {
            plan.workdir.join(package)
        } else {
            plan.workdir.clone()
        };
        let summary = fuzz_package(package, &specs, &workdir, &plan, &args, &stop)?;
        findings += summary.findings;
        if args.json {
            println!("{}", serde_json::to_string(&summary)?);
        } else {
            print!("\n{}\n", fissure_report::api_table(&summary));
            if let Some(line) = fissure_report::acceptance_line(&summary) {
                println!("{line}");
            }
            println!("{}", fissure_report::closing_line(&summary));
            println!("everything is in {}", workdir.display());
        }
    }
    let status = if findings > 0 {
        ExitStatus::Findings
    } else {
        ExitStatus::NoFinding
    };
    Ok(status.into())
}

fn fuzz_package(
    package: &str,
    specs: &[Spec],
    workdir: &Path,
    plan: &Plan,
    args: &FuzzArgs,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<RunSummary> {
    let mut folder = RunFolder::open(workdir)?;
    let python = target::resolve_for(&args.target, package, &args.pythonpath)?.python;
    let scratch = workdir.join("scratch");
    std::fs::create_dir_all(&scratch)
        .with_context(|| format!("failed to make {}", scratch.display()))?;
    let scratch = scratch.canonicalize()?;
    let extra_path: Vec<PathBuf> = args
        .pythonpath
        .iter()
        .map(|dir| {
            dir.canonicalize()
                .with_context(|| format!("there is no {}", dir.display()))
        })
        .collect::<anyhow::Result<_>>()?;
    // Drivers of a GPU write where Landlock would not let them.
    let sandbox = SandboxOptions {
        confine_writes: !args.no_sandbox && !has_gpu(),
        cut_network: !args.no_sandbox,
    };
    let memory_limit = args.memory_limit << 20;
    let pool = Pool::start(PoolOptions {
        extra_path: extra_path.clone(),
        workers: plan.run.workers,
        timeout: plan.timeout,
        memory_limit,
        sandbox,
        ..PoolOptions::new(&python, package, &scratch)
    })
    .map_err(|error| anyhow!("failed to {error}"))?;
    let info = pool.info();
    if !args.quiet {
        eprintln!(
            "fissure: {package} {} on Python {}, {} worker{}, seed {}{}",
            info.library_version,
            info.python_version,
            plan.run.workers,
            if plan.run.workers == 1 { "" } else { "s" },
            plan.run.seed,
            sandbox_gaps(sandbox, info.sandbox),
        );
    }
    folder.write_header(&RunHeader {
        format: FORMAT,
        fissure_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
        seed: plan.run.seed,
        package: package.to_owned(),
        library_version: info.library_version.clone(),
        python_version: info.python_version.clone(),
        python: python.clone(),
        workers: plan.run.workers,
        started_unix: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    })?;
    // A script imports the library itself, which the limits of an input do not cover.
    let import = (info.import_time * 10).max(Duration::from_secs(30));
    let script = ScriptOptions {
        timeout: plan.timeout + import,
        memory_limit: memory_limit + (2 << 30),
        scratch: scratch.join("confirm"),
        sandbox,
        environment: vec![("PYTHONPATH".to_owned(), join_paths(&extra_path)?)],
        cancelled: Arc::clone(stop),
    };
    let campaign = Campaign {
        source: Source::Specs(specs),
        pool: &pool,
        deny_list: (!args.include_denied).then(DenyList::built_in),
        script,
        options: &plan.run,
        stop,
    };
    let mut progress = Progress::new(style(args), args.verbose, specs.len());
    let summary = campaign.run(&mut folder, &mut |event| progress.observe(event));
    progress.finish();
    pool.stop();
    // The scratch folder holds only what targets wrote; what is worth keeping is elsewhere.
    if let Err(error) = std::fs::remove_dir_all(&scratch) {
        eprintln!("warning: failed to remove {}: {error}", scratch.display());
    }
    Ok(summary?)
}

fn has_gpu() -> bool {
    ["/dev/nvidiactl", "/dev/kfd"]
        .iter()
        .any(|device| Path::new(device).exists())
}

fn join_paths(paths: &[PathBuf]) -> anyhow::Result<String> {
    let joined = std::env::join_paths(paths).context("a --pythonpath holds a colon")?;
    joined
        .into_string()
        .map_err(|_| usage("a --pythonpath is not valid text"))
}

/// What was asked of the sandbox and this machine does not give.
fn sandbox_gaps(asked: SandboxOptions, given: SandboxReport) -> &'static str {
    let writes = asked.confine_writes && !given.writes_confined;
    let network = asked.cut_network && !given.network_cut;
    match (writes, network) {
        (false, false) => "",
        (true, false) => " (writes are not confined here: no Landlock)",
        (false, true) => " (the network is not cut here: no network namespace)",
        (true, true) => " (no sandbox here: neither Landlock nor a network namespace)",
    }
}

fn style(args: &FuzzArgs) -> Style {
    if args.quiet {
        Style::Quiet
    } else if std::io::stderr().is_terminal() {
        Style::Terminal
    } else {
        Style::Plain
    }
}

/// What the files say and we do not support or read otherwise is told, never dropped in silence; in short when there
/// is a lot of it.
fn warn(plan: &Plan, verbose: bool) {
    const SHOWN: usize = 5;
    let shown = if verbose {
        plan.warnings.len()
    } else {
        SHOWN.min(plan.warnings.len())
    };
    for warning in &plan.warnings[..shown] {
        eprintln!("warning: {warning}");
    }
    if plan.warnings.len() > shown {
        eprintln!(
            "warning: {} more about the constraint files (fissure specs check shows all)",
            plan.warnings.len() - shown
        );
    }
    if verbose {
        for repair in &plan.repairs {
            eprintln!("note: {repair}");
        }
    } else if !plan.repairs.is_empty() {
        eprintln!(
            "note: {} of the files' constraints contradict the type they document and are read as \
             that type (--verbose lists them, --no-repair keeps them)",
            plan.repairs.len(),
        );
    }
}

/// The first Ctrl-C ends the run with its summary, the second ends the program at once.
fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping: waiting for what is under way (Ctrl-C again ends at once)");
    })
    .context("failed to listen for Ctrl-C")?;
    Ok(stop)
}
