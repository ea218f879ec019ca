//! The command line.

mod command;
mod console;
mod duration;
mod exit_status;
mod names;
mod protections;
mod results;
mod screen;
mod suggestion;
mod target;
mod waiting;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use exit_status::ExitStatus;

/// Finds the cracks in deep-learning libraries and in the ML code built on them.
///
/// Exit codes: 0 no finding, 1 findings, 2 usage error, 3 Fissure itself failed, 4 nothing found in
/// the part of a scanned program that ran, 130 interrupted before anything was found.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    console: console::ConsoleArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Find numerical instability in a program, and say how to fix it
    Scan(Box<command::scan::ScanArgs>),
    /// Train soft assertions: what makes unstable functions fail
    Train(Box<command::train::TrainArgs>),
    /// List, show and evaluate soft assertions
    Assertions(command::assertions::AssertionsArgs),
    Fuzz(Box<command::fuzz::args::FuzzArgs>),
    Campaign(Box<command::campaign::args::CampaignArgs>),
    /// Apply oracles to the inputs that a run kept
    Judge(Box<command::judge::JudgeArgs>),
    /// Run findings again, here or with another version of the library
    Replay(Box<command::replay::ReplayArgs>),
    /// Find the release in which a finding first fails, and the one in which it no longer does
    Bisect(Box<command::bisect::BisectArgs>),
    /// Write what a run found as one HTML page, or for other programs
    Report(Box<command::report::ReportArgs>),
    /// Show a run in the browser, live while it goes on
    #[cfg(feature = "serve")]
    Serve(Box<command::serve::ServeArgs>),
    Coverage(Box<command::coverage::CoverageArgs>),
    Corpus(Box<command::corpus::CorpusArgs>),
    /// Run the same inputs in two versions of a library, and show what changed
    Compare(Box<command::compare::CompareArgs>),
    /// Show new, gone and changed findings of two runs, validity and speed
    Diff(command::diff::DiffArgs),
    /// Make a SQLite database of a run, or of all runs in a folder
    #[cfg(feature = "index")]
    Index(command::index::IndexArgs),
    /// Check and show constraint files
    Specs(command::specs::SpecsArgs),
    /// Sweep elementwise functions over whole ranges of numbers
    Sweep(command::sweep::SweepArgs),
    /// Learn what an API accepts, as rules with their evidence
    Learn(Box<command::learn::LearnArgs>),
    /// Draw abstract inputs from the rules of an API
    Solve(command::solve::SolveArgs),
    /// Check and explain rules of what an API accepts
    Rules(command::rules::RulesArgs),
    /// List the public callables of a library and what is known of each
    Apis(command::apis::ApisArgs),
    /// List what counts as a failure
    Oracles(command::oracles::OraclesArgs),
    /// List, make and remove managed Python environments
    Env(command::env::EnvArgs),
    /// Check this machine: interpreters, libraries, sandbox
    Doctor(command::doctor::DoctorArgs),
    Completions(command::help::CompletionsArgs),
    Man(command::help::ManArgs),
}

/// The command line, or its help, or what is wrong with it.
fn parsed() -> Cli {
    let typed = command::aliases::as_typed(std::env::args_os().collect())
        .unwrap_or_else(|problem| Cli::command().error(ErrorKind::Io, problem).exit());
    if let Some(problem) = first_word(&typed).and_then(|word| {
        left_out(word)
            .or_else(|| below_another(word))
            .or_else(|| no_help_for(&typed))
    }) {
        Cli::command()
            .error(ErrorKind::InvalidSubcommand, problem)
            .exit();
    }
    let color = console::When::typed(&typed).choice();
    let matches = command::help::grouped(Cli::command())
        .color(color)
        .get_matches_from(typed);
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// What stands where a command should.
fn first_word(typed: &[OsString]) -> Option<&str> {
    typed.iter().skip(1).find_map(|word| {
        let word = word.to_str()?;
        (!word.starts_with('-')).then_some(word)
    })
}

/// The commands that a word is a part of, which is none by itself.
fn below_another(word: &str) -> Option<String> {
    let cli = Cli::command();
    if cli.find_subcommand(word).is_some() {
        return None;
    }
    let whole: Vec<String> = cli
        .get_subcommands()
        .filter(|command| command.find_subcommand(word).is_some())
        .map(|command| format!("`fissure {} {word}`", command.get_name()))
        .collect();
    (!whole.is_empty()).then(|| {
        format!(
            "there is no `fissure {word}`; did you mean {}?",
            whole.join(" or ")
        )
    })
}

/// `fissure help fuz`, where clap names no command that was meant.
fn no_help_for(typed: &[OsString]) -> Option<String> {
    let mut words = typed.iter().skip(1).filter_map(|word| word.to_str());
    let (Some("help"), Some(word)) = (words.next(), words.next()) else {
        return None;
    };
    let cli = Cli::command();
    if cli.find_subcommand(word).is_some() || word == "help" || word.starts_with('-') {
        return None;
    }
    let names = cli.get_subcommands().map(clap::Command::get_name);
    let meant = suggestion::suggestion(word, names);
    Some(format!("there is no command `{word}`{meant}"))
}

/// Why a command that exists is not in this build.
fn left_out(word: &str) -> Option<String> {
    let optional = [
        ("serve", cfg!(feature = "serve")),
        ("index", cfg!(feature = "index")),
    ];
    let (name, _) = optional
        .into_iter()
        .find(|(name, is_in)| *name == word && !is_in)?;
    Some(format!(
        "this build has no `fissure {name}`: it was made with --no-default-features, which leaves it out"
    ))
}

/// What a command was told by a command line that an earlier run has kept.
pub(crate) fn matches_again(words: &[String], command: &str) -> Result<ArgMatches, clap::Error> {
    let mut cli = Cli::command();
    let words: Vec<OsString> = words.iter().map(Into::into).collect();
    // A list of names may be gone by now: what was in it is in the plan of the run.
    let typed = command::aliases::as_typed(words.clone()).unwrap_or(words);
    let mut matches = cli.try_get_matches_from_mut(typed)?;
    match matches.remove_subcommand() {
        Some((name, matches)) if name == command => Ok(matches),
        _ => Err(cli.error(ErrorKind::InvalidSubcommand, format!("it is not {command}"))),
    }
}

fn main() -> ExitCode {
    // A reader that closes our output early (`fissure … | head`) ends us quietly, as it does any
    // other Unix program; Rust's default turns it into a panic.
    exit_status::end_quietly_on_closed_pipe();
    let cli = parsed();
    console::set(&cli.console);
    let typed: Vec<_> = std::env::args_os().collect();
    names::are_text(&typed)
        .and_then(|()| {
            protections::listen(&cli.command);
            run(cli.command)
        })
        .map(exit_status::of_ended)
        .unwrap_or_else(|error| {
            results::leave_nothing_empty();
            ExitStatus::of_error(&error).report(&error)
        })
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Scan(args) => command::scan::run(*args),
        Command::Train(args) => command::train::run(*args),
        Command::Assertions(args) => command::assertions::run(args),
        Command::Fuzz(args) => command::fuzz::run(*args),
        Command::Campaign(args) => command::campaign::run(*args),
        Command::Judge(args) => command::judge::run(*args),
        Command::Replay(args) => command::replay::run(*args),
        Command::Bisect(args) => command::bisect::run(*args),
        Command::Report(args) => command::report::run(*args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => command::serve::run(*args),
        Command::Coverage(args) => command::coverage::run(*args),
        Command::Corpus(args) => command::corpus::run(*args),
        Command::Compare(args) => command::compare::run(*args),
        Command::Diff(args) => command::diff::run(args),
        #[cfg(feature = "index")]
        Command::Index(args) => command::index::run(args),
        Command::Specs(args) => command::specs::run(args),
        Command::Sweep(args) => command::sweep::run(args),
        Command::Learn(args) => command::learn::run(*args),
        Command::Solve(args) => command::solve::run(args),
        Command::Rules(args) => command::rules::run(args),
        Command::Apis(args) => command::apis::run(&args),
        Command::Oracles(args) => command::oracles::run(args),
        Command::Env(args) => command::env::run(args),
        Command::Doctor(args) => command::doctor::run(args),
        Command::Completions(args) => command::help::completions(&args, Cli::command()),
        Command::Man(args) => command::help::man(&args, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    /// Every command that does something, with its whole name.
    fn leaves(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
        let mut below = command
            .get_subcommands()
            .filter(|below| !below.is_hide_set() && below.get_name() != "help")
            .peekable();
        if below.peek().is_none() || !command.is_subcommand_required_set() && name != "fissure" {
            found.push((name.to_owned(), command.clone()));
        }
        for command in below {
            leaves(command, &format!("{name} {}", command.get_name()), found);
        }
    }

    fn commands() -> Vec<(String, Command)> {
        let mut cli = Cli::command();
        cli.build();
        let mut found = Vec::new();
        leaves(&cli, "fissure", &mut found);
        assert!(found.len() > 30, "{} commands", found.len());
        found
    }

    #[test]
    fn every_command_has_the_flags_of_all() {
        let mut lacking = Vec::new();
        for (name, command) in commands() {
            for flag in ["json", "quiet", "verbose", "color"] {
                let has = command
                    .get_arguments()
                    .any(|argument| argument.get_long() == Some(flag));
                if !has {
                    lacking.push(format!("{name}: --{flag}"));
                }
            }
        }
        assert!(lacking.is_empty(), "{lacking:#?}");
    }

    #[test]
    fn each_thing_has_one_name() {
        // Names that other commands have used; Slurm's own `--time` is Slurm's.
        let old = [
            "out", "workdir", "folder", "max-time", "per-api", "total", "seconds", "limit",
        ];
        let mut wrong = Vec::new();
        for (name, command) in commands() {
            for argument in command.get_arguments().filter(|it| !it.is_hide_set()) {
                let long = argument.get_long().unwrap_or_default();
                let units = argument.get_value_names().unwrap_or_default();
                if old.contains(&long) || units.iter().any(|unit| unit.as_str() == "SECONDS") {
                    wrong.push(format!("{name}: --{long} {units:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn times_may_have_units_in_every_command() {
        let mut wrong = Vec::new();
        for (name, command) in commands() {
            for argument in command.get_arguments() {
                let long = argument.get_long().unwrap_or_default().to_owned();
                let units = argument.get_value_names().unwrap_or_default();
                let is_time = units.iter().any(|unit| unit.as_str() == "TIME");
                if !is_time || long == "time" {
                    continue;
                }
                let words = ["x", &format!("--{long}"), "1m30s"];
                let alone = Command::new("x").arg(argument.clone().exclusive(true));
                if let Err(error) = alone.try_get_matches_from(words) {
                    wrong.push(format!("{name} --{long}: {error}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_command_has_an_example_in_the_help() {
        let help = command::help::grouped(Cli::command())
            .render_help()
            .to_string();
        assert!(!help.contains("Others:"), "{help}");
    }

    #[test]
    fn examples_of_the_help_are_understood() {
        for line in command::help::examples() {
            if let Err(error) = Cli::command().try_get_matches_from(line.split_whitespace()) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn a_kept_command_line_is_understood_again() {
        let words = ["fissure", "fuzz", "a.yaml", "--obey=True", "--quiet"].map(str::to_owned);
        assert!(matches_again(&words, "fuzz").is_ok());
        assert!(matches_again(&words, "campaign").is_err());
    }
}
