//! `fissure learn`: learns what APIs accept, and writes it as rules.

#![expect(clippy::print_stdout, reason = "a command prints its result")]
#![expect(clippy::print_stderr, reason = "says what runs, and warnings")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context, anyhow};
use clap::Args;
use fissure_execute::{Pool, PoolOptions};
use fissure_learn::{LearnError, LearnOptions, Learned, Observed, Seeds, learn, read_calls};
use fissure_model::Api;
use serde_json::json;

use super::session::{seconds_of, stop_on_interrupt};
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};

/// Seeds asked of the library's sample database, per API.
const SEEDS: usize = 60;

/// Learn what an API accepts: its rules, each with its evidence, one file per API.
///
/// Starts from calls that the library is known to accept (the sample database in PyTorch, a file of
/// your own), asks the library about their neighbours, and keeps the rules that allow everything
/// accepted and explain what was rejected.
///
/// Exit codes: 0 learned, 1 a call ended its process, 2 usage error, 3 Fissure itself failed.
#[derive(Args, Debug)]
pub struct LearnArgs {
    /// Names (torch.add), or patterns (torch.nn.functional.*) of what the sample database knows
    #[arg(required = true, value_name = "API")]
    apis: Vec<String>,

    /// Folder for the rule files
    #[arg(long, value_name = "DIR", default_value = "invariants")]
    out: PathBuf,

    /// File of further calls of the API: one JSON object per line with `arguments` and `keywords`
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,

    /// Keep a third of the known calls apart, and print precision and recall
    #[arg(long)]
    evaluate: bool,

    /// Print one JSON object per API
    #[arg(long)]
    json: bool,

    /// Number that decides all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Seconds for one API
    #[arg(long, value_name = "SECONDS", default_value_t = 40.0)]
    time: f64,

    /// Seconds one call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0)]
    timeout: f64,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub fn run(args: LearnArgs) -> anyhow::Result<ExitCode> {
    let options = LearnOptions {
        seed: args.seed,
        time: seconds_of(args.time, "--time")?,
        evaluate: args.evaluate,
        ..LearnOptions::default()
    };
    let package = package_of(&args.apis)?;
    if args.seeds.is_some() && (args.apis.len() > 1 || is_pattern(&args.apis[0])) {
        return Err(usage("--seeds has calls of one API: name that one"));
    }
    let own = match &args.seeds {
        Some(path) => read_calls(path).map_err(|error| usage(error.to_string()))?,
        None => Vec::new(),
    };
    let python = target::resolve(&args.target, package)?.python;
    let stop = stop_on_interrupt()?;
    let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
    let exact: Option<Vec<String>> =
        (!args.apis.iter().any(|api| is_pattern(api))).then(|| args.apis.clone());
    eprintln!("fissure: asking the sample database of {package}");
    let seeds = Seeds::from_database(&python, scratch.path(), exact.as_deref(), SEEDS, &stop);
    let seeds = match seeds {
        Ok(seeds) => Some(seeds),
        // Other libraries have none; the user's own calls are enough.
        Err(LearnError::Database { .. }) if !own.is_empty() => None,
        Err(error) => return Err(error.into()),
    };
    let names = matching(&args.apis, seeds.as_ref());
    if names.is_empty() {
        return Err(usage("the sample database has no API of that name"));
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("failed to make {}", args.out.display()))?;
    let pool = Pool::start(PoolOptions {
        timeout: seconds_of(args.timeout, "--timeout")?,
        ..PoolOptions::new(&python, package, scratch.path().join("pool"))
    })
    .map_err(|error| anyhow!("failed to {error}"))?;
    let mut total = Total::default();
    for name in &names {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let mut observed = match &seeds {
            Some(seeds) => seeds.of(name)?,
            None => Vec::new(),
        };
        observed.extend(own.iter().cloned());
        match learn(
            &pool,
            api(package, name, &observed),
            &observed,
            &options,
            &stop,
        ) {
            Ok(learned) => {
                let path = args.out.join(format!("{name}.rules"));
                learned.invariants.save(&path)?;
                total.crashes += write_crashes(&args.out, name, &learned)?;
                total.add(&learned);
                print_learned(name, &learned, args.json);
            }
            Err(error @ (LearnError::NoSeeds { .. } | LearnError::Missing { .. })) => {
                eprintln!("warning: {error}");
            }
            Err(LearnError::Interrupted) => break,
            Err(error) => return Err(error.into()),
        }
    }
    pool.stop();
    total.print(args.evaluate && !args.json);
    let status = if total.crashes > 0 {
        ExitStatus::Findings
    } else {
        ExitStatus::NoFinding
    };
    Ok(status.into())
}

fn is_pattern(api: &str) -> bool {
    api.contains('*')
}

fn package_of(apis: &[String]) -> anyhow::Result<&str> {
    let mut packages = apis.iter().map(|api| match api.split_once('.') {
        Some((package, _)) => Ok(package),
        None => Err(usage(format!(
            "`{api}`: a name begins with its package, as in torch.add"
        ))),
    });
    let first = packages.next().ok_or_else(|| usage("no API is named"))??;
    for other in packages {
        if other? != first {
            return Err(usage("all APIs belong to one package"));
        }
    }
    Ok(first)
}

/// The names asked for; a pattern stands for those that the database knows.
fn matching(asked: &[String], seeds: Option<&Seeds>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for pattern in asked {
        let known = seeds.iter().flat_map(|seeds| seeds.counts.keys());
        let found = known.filter(|name| is_pattern(pattern) && fits(pattern, name));
        names.extend(found.cloned());
        if !is_pattern(pattern) {
            names.push(pattern.clone());
        }
    }
    names.sort();
    names.dedup();
    names
}

/// `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => {
            let Some(tail) = name.strip_prefix(start) else {
                return false;
            };
            (0..=tail.len())
                .filter(|at| tail.is_char_boundary(*at))
                .any(|at| fits(rest, &tail[at..]))
        }
    }
}

fn api(package: &str, name: &str, observed: &[Observed]) -> Api {
    Api {
        title: name.to_owned(),
        package: package.to_owned(),
        tensors: None,
        path: name.to_owned(),
        version: String::new(),
        layer: observed.iter().any(|seen| seen.call.is_some()),
    }
}

/// Inputs that ended their process, as plain data beside the rules.
fn write_crashes(out: &Path, name: &str, learned: &Learned) -> anyhow::Result<usize> {
    for (number, (input, execution)) in learned.crashes.iter().enumerate() {
        let path = out.join(format!("{name}.crash-{number}.json"));
        let text = serde_json::to_string(&json!({ "input": input, "execution": execution }))?;
        std::fs::write(&path, text)
            .with_context(|| format!("failed to write {}", path.display()))?;
        eprintln!(
            "warning: a call of {name} ended its process: {}",
            path.display()
        );
    }
    Ok(learned.crashes.len())
}

fn print_learned(name: &str, learned: &Learned, as_json: bool) {
    let rules = learned.invariants.file.rules.len();
    let seconds = learned.time.as_secs_f64();
    let evaluation = learned.evaluation.as_ref();
    if as_json {
        let line = json!({
            "api": name,
            "rules": rules,
            "executed": learned.executed,
            "rounds": learned.rounds,
            "seconds": seconds,
            "precision": evaluation.map(|it| it.precision()),
            "drawn": evaluation.map(|it| it.drawn),
            "recall": evaluation.map(|it| it.recall()),
            "apart": evaluation.map(|it| it.apart),
            "rejections": evaluation.map(|it| it.rejections.iter().take(3).cloned().collect::<Vec<_>>()),
        });
        println!("{line}");
        return;
    }
    print!(
        "{name}: {rules} rules, {} calls, {seconds:.1} s",
        learned.executed
    );
    if let Some(measured) = evaluation {
        print!(
            ", precision {:.1} % of {}, recall {:.1} % of {}",
            100.0 * measured.precision(),
            measured.drawn,
            100.0 * measured.recall(),
            measured.apart
        );
    }
    println!();
}

/// Sums over all APIs.
#[derive(Default)]
struct Total {
    apis: usize,
    precision: f64,
    recall: f64,
    below: usize,
    slowest: f64,
    crashes: usize,
}

impl Total {
    fn add(&mut self, learned: &Learned) {
        self.apis += 1;
        self.slowest = self.slowest.max(learned.time.as_secs_f64());
        if let Some(measured) = &learned.evaluation {
            self.precision += measured.precision();
            self.recall += measured.recall();
            self.below += usize::from(measured.precision() < 0.9);
        }
    }

    fn print(&self, measured: bool) {
        if measured && self.apis > 0 {
            let apis = self.apis as f64;
            println!(
                "{} APIs: mean precision {:.2} %, mean recall {:.2} %, {} under 90 % precision, slowest {:.1} s",
                self.apis,
                100.0 * self.precision / apis,
                100.0 * self.recall / apis,
                self.below,
                self.slowest
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(fits("torch.nn.*", "torch.nn.functional.relu"));
        assert!(fits("torch.*.relu", "torch.nn.functional.relu"));
        assert!(!fits("torch.nn.*", "torch.add"));
        assert!(fits("torch.add", "torch.add"));
    }

    #[test]
    fn apis_of_two_packages_are_refused() {
        let names = ["torch.add".to_owned(), "numpy.add".to_owned()];
        assert!(package_of(&names).is_err());
        assert!(package_of(&["add".to_owned()]).is_err());
        assert_eq!(package_of(&names[..1]).unwrap(), "torch");
    }
}
