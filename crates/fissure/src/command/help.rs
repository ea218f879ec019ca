//! `fissure help`: commands by task, with an example each; completions and manual pages.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::exit_status::ExitStatus;

/// A task, and the commands for it, each with one way to call it.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

const GROUPS: &[Group] = &[
    (
        "Test your own code",
        &[
            ("scan", "fissure scan train.py"),
            ("fuzz", "fissure fuzz mypackage.ops.my_function"),
        ],
    ),
    (
        "Test a library",
        &[
            ("campaign", "fissure campaign torch --total-time 10m"),
            ("apis", "fissure apis torch"),
            ("sweep", "fissure sweep torch.exp"),
            ("compare", "fissure compare torch==2.9.1 torch==2.15.0"),
            ("learn", "fissure learn torch.nn.functional.conv2d"),
            ("solve", "fissure solve torch.add --n 10"),
            ("rules", "fissure rules explain torch.add"),
            ("specs", "fissure specs check specs/"),
        ],
    ),
    (
        "Look at what was found",
        &[
            ("report", "fissure report fissure-out/run"),
            ("serve", "fissure serve fissure-out/run"),
            ("diff", "fissure diff old-run new-run"),
            ("index", "fissure index fissure-out"),
            ("coverage", "fissure coverage fissure-out/run"),
            (
                "corpus",
                "fissure corpus min fissure-out/run --output small",
            ),
        ],
    ),
    (
        "Judge and repeat findings",
        &[
            ("replay", "fissure replay fissure-out/run"),
            ("bisect", "fissure bisect FINDING --versions 2.1.0..2.9.1"),
            ("judge", "fissure judge fissure-out/run --oracles all"),
            ("oracles", "fissure oracles"),
        ],
    ),
    (
        "Soft assertions",
        &[
            ("train", "fissure train torch.log"),
            ("assertions", "fissure assertions list"),
        ],
    ),
    (
        "This machine",
        &[
            ("doctor", "fissure doctor"),
            ("env", "fissure env list"),
            ("completions", "fissure completions bash"),
            ("man", "fissure man --output man"),
        ],
    ),
];

/// One way to call each command.
#[cfg(test)]
pub(crate) fn examples() -> impl Iterator<Item = &'static str> {
    let all = GROUPS.iter().flat_map(|(_, commands)| *commands);
    all.map(|(_, example)| *example)
}

/// The command line with its help grouped by task.
pub(crate) fn grouped(cli: Command) -> Command {
    let text = groups(&cli);
    cli.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}\nOptions:\n{{options}}{{after-help}}"
    ))
    .after_help("`fissure help COMMAND` says more. The documentation is in docs/ of the repository.")
}

/// Every command that there is, in its group; what no group names comes last.
fn groups(cli: &Command) -> String {
    let mut rest: Vec<&Command> = cli
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .collect();
    let mut text = String::new();
    for (title, entries) in GROUPS {
        let mut lines = String::new();
        for (name, example) in *entries {
            let Some(at) = rest.iter().position(|command| command.get_name() == *name) else {
                continue;
            };
            lines += &line(rest.remove(at));
            lines += &format!("               {example}\n");
        }
        if !lines.is_empty() {
            text += &format!("{title}:\n{lines}\n");
        }
    }
    if !rest.is_empty() {
        let lines: String = rest.into_iter().map(line).collect();
        text += &format!("Others:\n{lines}\n");
    }
    text
}

fn line(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let first = about
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    format!("  {:<12} {first}\n", command.get_name())
}

/// Print what completes commands and options in a shell
#[derive(Args, Debug)]
#[command(
    after_help = "bash: fissure completions bash > ~/.local/share/bash-completion/completions/fissure\n\
                        zsh:  fissure completions zsh > ~/.zfunc/_fissure\n\
                        fish: fissure completions fish > ~/.config/fish/completions/fissure.fish"
)]
pub(crate) struct CompletionsArgs {
    shell: Shell,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn completions(args: &CompletionsArgs, mut cli: Command) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "fissure", &mut text);
    if args.json {
        let script = String::from_utf8_lossy(&text);
        text = format!(
            "{}\n",
            json!({"shell": args.shell.to_string(), "script": script})
        )
        .into();
    }
    io::stdout().write_all(&text)?;
    Ok(ExitStatus::NoFinding.into())
}

/// Write the manual pages, one for each command
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Folder for the pages; without it that of `fissure` itself is printed
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Print JSON: the pages that were written, or the page
    #[arg(long)]
    json: bool,
}

pub(crate) fn man(args: &ManArgs, mut cli: Command) -> anyhow::Result<ExitCode> {
    cli.build();
    match &args.output {
        None => {
            let mut text = Vec::new();
            Man::new(cli).render(&mut text)?;
            if args.json {
                let page = String::from_utf8_lossy(&text);
                text = format!("{}\n", json!({"page": page})).into();
            }
            io::stdout().write_all(&text)?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("failed to make {}", folder.display()))?;
            let mut pages = Vec::new();
            write_pages(&cli, folder, &mut pages)?;
            if args.json {
                writeln!(io::stdout(), "{}", json!({ "pages": pages }))?;
            }
        }
    }
    Ok(ExitStatus::NoFinding.into())
}

/// The page of a command and of those below it: `fissure-specs-check.1`.
fn write_pages(command: &Command, folder: &Path, pages: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let page = Man::new(command.clone());
    let path = folder.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    std::fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
    pages.push(path);
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set() && below.get_name() != "help")
        .try_for_each(|below| write_pages(below, folder, pages))
}
