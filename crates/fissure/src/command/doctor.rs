//! `fissure doctor`: says what works on this machine, what does not, and what to do about it.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::process::ExitCode;

use clap::Args;
use fissure_environment::machine::{self, human_bytes};
use fissure_environment::{
    EnvironmentError, Requirement, Store, Surroundings, Wanted, default_requirement,
};

use serde_json::{Value, json};

use crate::console;
use crate::exit_status::ExitStatus;
use crate::target::{TargetArgs, parse_requirement};

/// A worker with torch holds about this much.
const MEMORY_PER_WORKER: u64 = 1_000_000_000;

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Library to check for
    #[arg(value_name = "LIBRARY", default_value = "torch")]
    package: String,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

/// Prints the lines as they are found, since an import takes seconds.
struct Checkup {
    warnings: usize,
    failures: usize,
    /// What was found, where it is wanted as JSON.
    found: Option<Vec<Value>>,
}

impl Checkup {
    fn ok(&mut self, what: &str) {
        self.line("ok", what, None);
    }

    fn warn(&mut self, what: &str, advice: &str) {
        self.warnings += 1;
        self.line("warn", what, Some(advice));
    }

    fn fail(&mut self, what: &str, advice: &str) {
        self.failures += 1;
        self.line("fail", what, Some(advice));
    }

    /// With `--quiet` only what is to be mended.
    fn line(&mut self, state: &str, what: &str, advice: Option<&str>) {
        if let Some(found) = &mut self.found {
            found.push(json!({"state": state, "what": what, "advice": advice}));
        } else if let Some(advice) = advice {
            println!("{state}  {what}\n      {}", indent(advice));
        } else if !console::quiet() {
            println!("{state:<4}  {what}");
        }
    }
}

fn indent(text: &str) -> String {
    text.trim_end()
        .replace("\n\n", "\n")
        .replace('\n', "\n      ")
}

/// Exit code 0: a fuzz run of the library can start here. 1: it cannot.
pub(crate) fn run(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::from_process()?;
    let requirement = args
        .target
        .env
        .as_deref()
        .map(parse_requirement)
        .transpose()?;
    let mut checkup = Checkup {
        warnings: 0,
        failures: 0,
        found: args.json.then(Vec::new),
    };
    interpreters(&surroundings, &args.package, &mut checkup);
    environments(&surroundings, &mut checkup)?;
    library(&surroundings, &args, requirement, &mut checkup);
    sandbox(&mut checkup);
    tracing(&mut checkup);
    resources(&surroundings, &mut checkup);
    let package = &args.package;
    if let Some(found) = checkup.found {
        let can_fuzz = checkup.failures == 0;
        println!(
            "{}",
            json!({"library": package, "can_fuzz": can_fuzz, "checks": found})
        );
        return Ok(match can_fuzz {
            true => ExitStatus::NoFinding.into(),
            false => ExitStatus::Findings.into(),
        });
    }
    if checkup.failures > 0 {
        println!("\n{package} cannot be fuzzed here: see the lines marked `fail`");
        return Ok(ExitStatus::Findings.into());
    }
    match checkup.warnings {
        _ if console::quiet() => {}
        0 => println!("\n{package} can be fuzzed here"),
        1 => println!("\n{package} can be fuzzed here, with 1 warning"),
        count => println!("\n{package} can be fuzzed here, with {count} warnings"),
    }
    Ok(ExitStatus::NoFinding.into())
}

fn interpreters(surroundings: &Surroundings, package: &str, checkup: &mut Checkup) {
    let mut usable = 0;
    for interpreter in fissure_environment::interpreters(surroundings, package) {
        let probe = &interpreter.probe;
        let has = |present: bool, name: &str| {
            if present {
                name.to_owned()
            } else {
                format!("no {name}")
            }
        };
        let line = format!(
            "Python {} at {}: {}, {}, {}",
            probe.python_version,
            interpreter.python.display(),
            probe.found(package),
            has(probe.has_venv, "venv"),
            has(probe.has_pip, "pip"),
        );
        if probe.is_new_enough() {
            usable += 1;
            checkup.ok(&line);
        } else {
            checkup.warn(&line, "not used: Fissure needs Python 3.7 or newer");
        }
    }
    if usable == 0 {
        let hint = fissure_environment::install_hint("python3");
        checkup.fail("no Python of 3.7 or newer is on PATH", &hint);
    }
    match fissure_environment::uv_version(surroundings) {
        Some(version) => checkup.ok(&format!("{version} makes environments")),
        None => checkup.ok("uv is not here; it is installed when an environment is made"),
    }
}

fn environments(surroundings: &Surroundings, checkup: &mut Checkup) -> anyhow::Result<()> {
    let store = Store::new(surroundings);
    let environments = store.list()?;
    if environments.is_empty() {
        checkup.ok(&format!(
            "no managed environments yet in {}",
            store.folder().display()
        ));
    }
    for managed in environments {
        match &managed.record {
            Some(record) => checkup.ok(&format!(
                "environment {}: {} {}, {}",
                managed.name,
                record.distribution,
                record.version,
                human_bytes(record.bytes),
            )),
            None => checkup.warn(
                &format!("environment {}: unfinished", managed.name),
                &format!(
                    "it is made again when needed; or: fissure env remove {}",
                    managed.name
                ),
            ),
        }
    }
    Ok(())
}

/// The library: in an interpreter that is here, or in an environment that could be made.
fn library(
    surroundings: &Surroundings,
    args: &DoctorArgs,
    requirement: Option<Requirement>,
    checkup: &mut Checkup,
) {
    let package = &args.package;
    let wanted = Wanted {
        package: package.clone(),
        python: args.target.python.clone(),
        requirement: requirement.clone(),
        beside: Vec::new(),
        // A check-up changes nothing.
        offline: true,
    };
    let choice = match fissure_environment::resolve(surroundings, &wanted, &mut |_| ()) {
        Ok(choice) => choice,
        Err(EnvironmentError::Offline {
            wanted,
            requirement: needed,
        }) => {
            let offline = args.target.offline || surroundings.offline();
            let requirement = requirement.or_else(|| default_requirement(package));
            let plan = requirement
                .as_ref()
                .map(|one| fissure_environment::can_make(surroundings, one));
            match plan {
                Some(Ok(_)) if offline => checkup.fail(
                    &format!("no interpreter has {wanted}"),
                    &format!("run once with network: fissure env make '{needed}'"),
                ),
                Some(Ok(plan)) => checkup.ok(&format!(
                    "no interpreter has {wanted}; an environment can be made with {} and Python {}",
                    plan.installer, plan.base.probe.python_version,
                )),
                Some(Err(error)) => {
                    checkup.fail(&format!("no interpreter has {wanted}"), &error.to_string());
                }
                None => checkup.fail(&format!("no interpreter has {wanted}"), "install it"),
            }
            return;
        }
        Err(error) => {
            checkup.fail(&format!("no interpreter for {package}"), &error.to_string());
            return;
        }
    };
    match fissure_environment::try_import(surroundings, &choice.python, package) {
        Ok(took) => checkup.ok(&format!(
            "{} ({}), imported in {:.1} s",
            choice.reason,
            choice.python.display(),
            took.as_secs_f64(),
        )),
        Err(output) => checkup.fail(
            &format!(
                "{} ({}) cannot be imported",
                choice.reason,
                choice.python.display()
            ),
            &output,
        ),
    }
}

fn tracing(checkup: &mut Checkup) {
    match fissure_execute::check_tracing() {
        Ok(()) => checkup.ok("crashes are looked into: native frames tell them apart"),
        Err(error) => checkup.warn(
            &format!("crashes cannot be looked into: {error}"),
            "they are told apart by Python frames only; in a container, allow ptrace",
        ),
    }
}

fn sandbox(checkup: &mut Checkup) {
    match machine::shared_memory() {
        Ok(()) => checkup.ok("shared memory (memfd) carries inputs to workers"),
        Err(error) => checkup.fail(
            &format!("no shared memory (memfd): {error}"),
            "Fissure needs Linux 3.17 or newer, and a container that allows memfd_create",
        ),
    }
    match machine::landlock_version() {
        Ok(version) => checkup.ok(&format!("Landlock {version} keeps workers from writing elsewhere")),
        Err(error) => checkup.warn(
            &format!("no Landlock: {error}"),
            "workers can write wherever you can: use a container or a user of their own, or boot Linux 5.13 or newer with lsm=landlock",
        ),
    }
    match machine::network_namespace() {
        Ok(()) => checkup.ok("network namespaces keep workers off the network"),
        Err(error) => checkup.warn(
            &format!("no network namespace: {error}"),
            "workers can reach the network: allow unprivileged user namespaces, or start with `unshare -rn`",
        ),
    }
}

fn resources(surroundings: &Surroundings, checkup: &mut Checkup) {
    match machine::free_disk(&surroundings.root) {
        Ok(free) => checkup.ok(&format!(
            "{} free for environments in {}",
            human_bytes(free),
            surroundings.root.display(),
        )),
        Err(error) => checkup.warn(
            &format!(
                "the free space of {} is not known: {error}",
                surroundings.root.display()
            ),
            "choose another folder with FISSURE_HOME",
        ),
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match machine::available_memory() {
        Ok(free) if free < MEMORY_PER_WORKER * cores as u64 => checkup.warn(
            &format!("{cores} cores, {} of memory free", human_bytes(free)),
            "a worker with torch takes about 1 GB: run fewer workers than cores",
        ),
        Ok(free) => checkup.ok(&format!(
            "{cores} cores, {} of memory free",
            human_bytes(free)
        )),
        Err(error) => checkup.warn(
            &format!("{cores} cores; the free memory is not known: {error}"),
            "watch the memory of the first run",
        ),
    }
}
