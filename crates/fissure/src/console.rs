//! What every command is told of its output: how much of it, and whether in colours.

#![expect(clippy::print_stderr, reason = "this is how commands speak")]

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ColorChoice, ValueEnum};
use fissure_report::words::{first_word_painted, printable};

/// The flags that every command has.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConsoleArgs {
    /// Only results, warnings and errors
    #[arg(long, short, global = true, help_heading = "Output")]
    quiet: bool,

    /// More of what happens
    #[arg(
        long,
        short,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Output"
    )]
    verbose: bool,

    /// Colours: auto is in a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    color: When,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl When {
    /// The word after `--color`, before anything else of the command line is read: what is wrong
    /// with it is said in these colours too.
    pub(crate) fn typed(words: &[std::ffi::OsString]) -> When {
        let mut words = words.iter().filter_map(|word| word.to_str());
        while let Some(word) = words.next() {
            let value = match word.split_once('=') {
                Some(("--color", value)) => Some(value),
                None if word == "--color" => words.next(),
                // What follows belongs to the user's program.
                None if word == "--" => break,
                _ => continue,
            };
            let when = value.and_then(|value| When::from_str(value, false).ok());
            return when.unwrap_or_default();
        }
        When::Auto
    }

    pub(crate) fn choice(self) -> ColorChoice {
        match self {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        }
    }
}

static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);
static COLORED: AtomicBool = AtomicBool::new(false);

/// Takes what was typed; called once, before a command begins.
pub(crate) fn set(args: &ConsoleArgs) {
    QUIET.store(args.quiet, Ordering::Relaxed);
    VERBOSE.store(args.verbose, Ordering::Relaxed);
    let colored = match args.color {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            let refused = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
            io::stderr().is_terminal() && !refused("NO_COLOR") && !dumb
        }
    };
    COLORED.store(colored, Ordering::Relaxed);
}

/// Nothing is said but results, warnings and errors.
pub(crate) fn quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// More is said than one needs.
pub(crate) fn verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Standard error may be in colours.
pub(crate) fn colored() -> bool {
    COLORED.load(Ordering::Relaxed)
}

/// A line on standard error about what goes on; `--quiet` leaves it out.
pub(crate) fn unless_quiet(text: fmt::Arguments<'_>) {
    if !quiet() {
        eprintln!("{}", printable(&text.to_string()));
    }
}

/// A line on standard error that is always said.
pub(crate) fn always(text: fmt::Arguments<'_>) {
    let text = printable(&text.to_string()).into_owned();
    if colored() {
        eprintln!("{}", first_word_painted(&text));
    } else {
        eprintln!("{text}");
    }
}

/// Says on standard error what goes on, unless the user wants it quiet.
macro_rules! notice {
    ($($text:tt)*) => { $crate::console::unless_quiet(format_args!($($text)*)) };
}

/// Warns on standard error.
macro_rules! warning {
    ($($text:tt)*) => { $crate::console::always(format_args!("warning: {}", format_args!($($text)*))) };
}

pub(crate) use notice;
pub(crate) use warning;
