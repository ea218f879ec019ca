//! `fissure solve`: abstract inputs from rules.

#![expect(clippy::print_stdout, reason = "a command prints its result")]
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use crate::command::session::args::rule_library;
use crate::console::{notice, warning};
use anyhow::anyhow;
use clap::Args;
use fissure_environment::Surroundings;
use fissure_learn::{CallSampler, Diversity, Invariants};
use fissure_model::RuleText;
use fissure_rules::{Datum, Declaration, Precedence, read_file};
use fissure_solve::rules::exact::{self, ExactError, ExactSolver, Exactly};
use fissure_solve::rules::{BoundRule, Limits, abstract_value, contradiction};
use serde_json::json;

use super::session::seconds_of;
use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::rules_meant;
use crate::target::MakingDisplay;
use fissure_rules::RuleLibrary;

/// Time for one question to the solver.
const MILLISECONDS: u32 = 10_000;

/// Draw abstract inputs from the rules of an API, as JSON lines.
///
/// Each line has one value for each parameter; the same seed gives the same lines, byte for byte. How many inputs are
/// distinct, and how different they are, is said on standard error at the end.
///
/// Exit codes: 0 inputs were found, 1 there are none, 2 usage error.
#[derive(Args, Debug)]
pub(crate) struct SolveArgs {
    /// The API, or a rule file
    #[arg(value_name = "API|FILE")]
    what: String,

    /// Rule file, or folder in which the API's rule file is looked up [default: ./invariants, then
    /// what is shipped]
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,

    /// Inputs at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    n: u64,

    /// Also write the seconds since the start into each line
    #[arg(long)]
    timings: bool,

    /// Time at most
    #[arg(long = "total-time", alias = "time", value_name = "TIME", value_parser = crate::duration::seconds)]
    time: Option<f64>,

    /// Number that decides all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Begin anew after so many inputs, so that an input may come again
    #[arg(long, value_name = "N")]
    regen: Option<u64>,

    /// Only inputs that break this rule and no other
    #[arg(long, value_name = "RULE")]
    breaking: Option<String>,

    /// Say which rules contradict each other when there are no inputs. Exact with Z3, which is
    /// installed for it when there is none (FISSURE_Z3 names one, else `z3` on the PATH)
    #[arg(long)]
    explain: bool,

    /// What is printed is JSON with and without this
    #[arg(long)]
    json: bool,

    /// Never use the network: do not install Z3
    #[arg(long)]
    offline: bool,
}

pub(crate) fn run(args: SolveArgs) -> anyhow::Result<ExitCode> {
    let time = args
        .time
        .map(|time| seconds_of(time, "--total-time"))
        .transpose()?;
    let invariants = find(&args)?;
    let params = invariants.file.declarations();
    let names: Vec<String> = params.iter().map(|param| param.name.clone()).collect();
    let mut diversity = Diversity::default();
    let mut sampler = sampler(&args, &invariants, args.seed)?;
    let begin = Instant::now();
    let mut out = std::io::stdout().lock();
    let mut since_start = 0;
    let mut drawing = std::time::Duration::ZERO;
    for number in 0..args.n {
        if time.is_some_and(|time| begin.elapsed() >= time) {
            break;
        }
        if args.regen.is_some_and(|every| since_start >= every) {
            since_start = 0;
            sampler = self::sampler(&args, &invariants, args.seed.wrapping_add(number))?;
        }
        let drawn = Instant::now();
        let Some(input) = sampler.sample() else { break };
        drawing += drawn.elapsed();
        since_start += 1;
        diversity.add(&names, &input);
        writeln!(
            out,
            "{}",
            line(
                args.timings.then(|| begin.elapsed().as_secs_f64()),
                &names,
                &input
            )
        )?;
    }
    drop(out);
    let report = diversity.report();
    if report.inputs == 0 {
        let hint = if args.explain {
            ""
        } else {
            " (--explain says why)"
        };
        warning!("no inputs{hint}");
        if args.explain {
            explain(&args, &invariants)?;
        }
        return Ok(ExitStatus::Findings.into());
    }
    notice!(
        "{} inputs, {} distinct, {:.0} per second; {:.1} values per variable, distance {:.3}, entropy {:.2} bits",
        report.inputs,
        report.distinct,
        report.inputs as f64 / drawing.as_secs_f64().max(1e-9),
        report.values_per_variable,
        report.distance,
        report.entropy
    );
    Ok(ExitStatus::NoFinding.into())
}

/// The rules of the API, or of the file.
fn find(args: &SolveArgs) -> anyhow::Result<Invariants> {
    let named = Path::new(&args.what);
    let mut sheets = if named.is_file() {
        RuleLibrary::only(named).find("*")?
    } else if args.what.ends_with(".rules") || args.what.contains('/') {
        return Err(usage(format!("there is no file {}", args.what)));
    } else {
        rule_library(&args.rules)?.find(&args.what)?
    };
    let sheet = match (sheets.pop(), sheets.is_empty()) {
        (Some(sheet), true) => sheet,
        (Some(_), false) => return Err(usage(format!("{} is several APIs: name one", args.what))),
        (None, _) => {
            let meant = rules_meant(&rule_library(&args.rules)?, &args.what)?;
            return Err(usage(format!(
                "there are no rules of {0}: `fissure learn {0}` finds them{meant}",
                args.what
            )));
        }
    };
    let RuleText { text, origin } = &sheet.text;
    let (file, errors) = read_file(text, Precedence::Usual);
    if let Some(error) = errors.first() {
        return Err(usage(error.render(text, origin, false)));
    }
    let learned = sheet.library.map(|it| format!(" (learned with {it})"));
    notice!(
        "fissure: rules of {} from {origin}{}",
        sheet.title,
        learned.unwrap_or_default()
    );
    Ok(Invariants { file })
}

fn sampler(args: &SolveArgs, invariants: &Invariants, seed: u64) -> anyhow::Result<CallSampler> {
    match &args.breaking {
        None => Ok(invariants.sampler(seed)),
        Some(name) => invariants
            .breaking(name, seed)
            .ok_or_else(|| usage(format!("the file has no rule `{name}` that can be broken"))),
    }
}

fn line(seconds: Option<f64>, names: &[String], input: &[Datum]) -> serde_json::Value {
    let arguments: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .zip(input)
        .map(|(name, datum)| {
            let value = match abstract_value(datum) {
                Ok(value) => json!(value),
                Err(unfillable) => json!({ "unfillable": unfillable.to_string() }),
            };
            (name.clone(), value)
        })
        .collect();
    match seconds {
        Some(seconds) => json!({ "seconds": seconds, "arguments": arguments }),
        None => json!({ "arguments": arguments }),
    }
}

/// Why there are no inputs: exactly, where a solver can be had, else as far as the sampler knows.
fn explain(args: &SolveArgs, invariants: &Invariants) -> anyhow::Result<()> {
    let params = invariants.file.declarations();
    let rules = invariants.rules();
    let exact = match solver(args) {
        Ok(program) => exactly(args, invariants, &program, &params, &rules)?,
        Err(error) => {
            warning!("no exact answer, because there is no Z3: {error}");
            false
        }
    };
    if exact {
        return Ok(());
    }
    let against = contradiction(&params, &rules, &Limits::usual());
    if against.is_empty() {
        println!("sampling finds inputs that satisfy all rules");
    } else {
        println!("sampling finds no input with these rules together, and some without any one:");
        print_rules(invariants, &against);
    }
    Ok(())
}

fn print_rules(invariants: &Invariants, numbers: &[usize]) {
    for number in numbers {
        let rule = &invariants.file.rules[*number];
        println!("  {}: {}", rule.name, rule.rule);
    }
}

/// Tells what the solver says; `false` when it cannot say anything.
fn exactly(
    args: &SolveArgs,
    invariants: &Invariants,
    program: &Path,
    params: &[Declaration],
    rules: &[BoundRule],
) -> anyhow::Result<bool> {
    let name = |number: usize| invariants.file.rules[number].name.as_str();
    let answer = match &args.breaking {
        Some(broken) => {
            let number = invariants.file.rules.iter().position(|rule| rule.name == *broken);
            let number = number.unwrap_or(usize::MAX);
            ExactSolver::new(program, params, rules, &Limits::usual(), MILLISECONDS)
                .and_then(|mut solver| solver.breaking(number))
                .map(|answer| match answer {
                    Exactly::Yes(input) => {
                        let names: Vec<String> =
                            params.iter().map(|param| param.name.clone()).collect();
                        println!("an input breaks {broken} and no other rule:");
                        println!("{}", line(None, &names, &input));
                        true
                    }
                    Exactly::No => {
                        println!("the other rules imply {broken}: it cannot be broken alone");
                        true
                    }
                    Exactly::Unknown => false,
                })
        }
        None => exact::contradiction(program, params, rules, &Limits::usual(), MILLISECONDS).map(
            |answer| match answer {
                Exactly::Yes(against) => {
                    println!(
                        "these rules cannot hold together; without any one of them there are inputs:"
                    );
                    print_rules(invariants, &against);
                    true
                }
                Exactly::No => {
                    println!("the rules do not contradict each other; their inputs are out of reach of the sampler (too large, or of rarer dtypes)");
                    true
                }
                Exactly::Unknown => false,
            },
        ),
    };
    match answer {
        Ok(true) => Ok(true),
        Ok(false) => {
            warning!(
                "no exact answer: Z3 gave up after {} s",
                MILLISECONDS / 1000
            );
            Ok(false)
        }
        Err(ExactError::Untranslatable { rule }) => {
            warning!(
                "no exact answer: the rule {} has no translation to Z3",
                name(rule)
            );
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// The solver's program, installed if need be.
fn solver(args: &SolveArgs) -> anyhow::Result<PathBuf> {
    let surroundings = Surroundings::from_process()?;
    if args.offline {
        return fissure_environment::find_solver(&surroundings)?.ok_or_else(|| {
            anyhow!("--offline forbids to install one (fissure env make z3-solver does)")
        });
    }
    let mut display = MakingDisplay::new();
    let program =
        fissure_environment::provide_solver(&surroundings, &mut |news| display.show(news))?;
    display.finish();
    Ok(program)
}
