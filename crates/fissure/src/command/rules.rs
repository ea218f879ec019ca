//! `fissure rules`: checks rule files, says what their rules mean.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::session::args::rule_library;
use anyhow::Context;
use clap::{Args, Subcommand};
use fissure_rules::centaur::{CentaurRule, write_rules};
use fissure_rules::{Format, Loaded, NamedRule, Precedence, explain, load_text};
use serde_json::json;

use crate::console::warning;
use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::rules_meant;

#[derive(Args, Debug)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Subcommand, Debug)]
enum RulesCommand {
    /// Read and type-check rule files, Fissure's or Centaur's
    ///
    /// Exit codes: 0 all rules make sense, 1 one does not, 2 usage error.
    Check(CheckArgs),
    /// Say in plain English what each rule asks for
    Explain(ExplainArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// Rule files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the files in their canonical form
    #[arg(long, conflicts_with = "json")]
    print: bool,

    /// Print the rules in Centaur's form
    #[arg(long, conflicts_with_all = ["json", "print"])]
    print_centaur: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Args, Debug)]
struct ExplainArgs {
    /// A rule file, or the API whose rules are looked up
    #[arg(value_name = "FILE|API")]
    what: String,

    /// Rule file, or folder in which an API is looked up [default: ./invariants, then what is
    /// shipped]
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Args, Debug)]
struct ReadingArgs {
    /// Read `a or b and c` as `(a or b) and c`, as Centaur does in its own files
    #[arg(long)]
    centaur_precedence: bool,
}

impl ReadingArgs {
    fn read(&self, path: &Path) -> anyhow::Result<(String, Loaded)> {
        if !path.is_file() {
            return Err(usage(format!("there is no file {}", path.display())));
        }
        let bytes =
            std::fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| usage(format!("{} is not text", path.display())))?;
        let loaded = load_text(&text, self.precedence());
        Ok((text, loaded))
    }

    fn precedence(&self) -> Precedence {
        if self.centaur_precedence {
            Precedence::LeftToRight
        } else {
            Precedence::Usual
        }
    }
}

pub(crate) fn run(args: RulesArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        RulesCommand::Check(args) => check(&args),
        RulesCommand::Explain(args) => explain_file(&args),
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let (mut rules, mut wrong) = (0, 0);
    let mut reports = Vec::new();
    for path in &args.files {
        let (text, loaded) = args.reading.read(path)?;
        rules += loaded.file.rules.len();
        wrong += loaded.errors.len();
        if args.json {
            reports.push(report(path, &text, &loaded));
            continue;
        }
        if args.print {
            print!("{}", loaded.file);
        }
        if args.print_centaur {
            let (written, unsaid) = in_centaur_form(path, &loaded);
            print!("{written}");
            wrong += unsaid;
        }
        print_errors(path, &text, &loaded);
    }
    if args.json {
        println!(
            "{}",
            json!({ "rules": rules, "wrong": wrong, "files": reports })
        );
    } else if !(args.print || args.print_centaur) {
        println!("{}", summary(args.files.len(), rules, wrong));
    }
    Ok(status(wrong).into())
}

/// What their language can say, and how many rules it cannot, each of which is told. Rules of theirs keep their numbers,
/// ours are counted.
fn in_centaur_form(path: &Path, loaded: &Loaded) -> (String, usize) {
    let (mut text, mut unsaid) = (String::new(), 0);
    for (at, rule) in loaded.file.rules.iter().enumerate() {
        let number = rule
            .name
            .strip_prefix("rule_")
            .and_then(|it| it.parse().ok());
        let theirs = CentaurRule {
            number: number.unwrap_or(at as u64 + 1),
            about: rule.about.clone().unwrap_or_else(|| rule.name.clone()),
            rule: rule.rule.clone(),
            span: rule.span.clone(),
        };
        match write_rules(std::slice::from_ref(&theirs)) {
            Ok(written) => text += &written,
            Err(error) => {
                warning!("{}: rule {}: {error}", path.display(), rule.name);
                unsaid += 1;
            }
        }
    }
    (text, unsaid)
}

fn summary(files: usize, rules: usize, wrong: usize) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "{files} file{}: {rules} rule{} understood, {wrong} error{}",
        plural(files),
        plural(rules),
        plural(wrong)
    )
}

fn status(wrong: usize) -> ExitStatus {
    if wrong > 0 {
        ExitStatus::Findings
    } else {
        ExitStatus::NoFinding
    }
}

fn print_errors(path: &Path, text: &str, loaded: &Loaded) {
    let styled = std::io::stdout().is_terminal();
    for error in &loaded.errors {
        let name = path.display().to_string();
        println!("{}\n", error.render(text, &name, styled));
    }
}

fn report(path: &Path, text: &str, loaded: &Loaded) -> serde_json::Value {
    let errors: Vec<serde_json::Value> = loaded
        .errors
        .iter()
        .map(|error| {
            let (line, column) = error.position(text);
            json!({
                "line": line,
                "column": column,
                "message": error.message,
                "help": error.help,
            })
        })
        .collect();
    let rules: Vec<serde_json::Value> = loaded
        .file
        .rules
        .iter()
        .map(|rule| json!({ "name": rule.name, "rule": rule.rule.to_string() }))
        .collect();
    json!({
        "file": path,
        "format": match loaded.format {
            Format::Fissure => "fissure",
            Format::Centaur => "centaur",
        },
        "rules": rules,
        "errors": errors,
    })
}

fn explain_file(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let named = PathBuf::from(&args.what);
    let file_like = args.what.ends_with(".rules") || args.what.contains('/');
    let (path, text, loaded) = if named.is_file() || file_like {
        let (text, loaded) = args.reading.read(&named)?;
        (named, text, loaded)
    } else {
        let library = rule_library(&args.rules)?;
        let mut sheets = library.find(&args.what)?;
        let Some(sheet) = sheets.pop().filter(|_| sheets.is_empty()) else {
            let meant = rules_meant(&library, &args.what)?;
            return Err(usage(format!(
                "there are no rules of {0}: name one API, or a file (`fissure learn {0}` finds them){meant}",
                args.what
            )));
        };
        let loaded = load_text(&sheet.text.text, args.reading.precedence());
        (sheet.text.origin.into(), sheet.text.text, loaded)
    };
    if args.json {
        let rules: Vec<_> = loaded.file.rules.iter().map(explained).collect();
        let (api, library) = (&loaded.file.api, &loaded.file.library);
        let answer = json!({"api": api, "library": library, "rules": rules});
        println!("{answer}");
        print_errors(&path, &text, &loaded);
        return Ok(status(loaded.errors.len()).into());
    }
    if let Some(api) = &loaded.file.api {
        let library = loaded.file.library.as_deref().unwrap_or("unknown library");
        println!("{api} ({library})\n");
    }
    for rule in &loaded.file.rules {
        print!("{}", describe(rule));
    }
    print_errors(&path, &text, &loaded);
    Ok(status(loaded.errors.len()).into())
}

/// The same for `--json`.
fn explained(rule: &NamedRule) -> serde_json::Value {
    let evidence = &rule.evidence;
    let rejected = evidence
        .rejected
        .map(|(rejected, tried)| json!({"rejected": rejected, "tried": tried}));
    json!({
        "name": rule.name,
        "rule": rule.rule.to_string(),
        "meaning": explain(&rule.rule),
        "accepted": evidence.accepted,
        "broken_alone": rejected,
        "reason": evidence.reason,
    })
}

/// The rule, what it means, and what speaks for it.
fn describe(rule: &NamedRule) -> String {
    let mut out = format!(
        "{}\n  {}\n  {}\n",
        rule.name,
        rule.rule,
        explain(&rule.rule)
    );
    let evidence = &rule.evidence;
    if let Some(accepted) = evidence.accepted {
        out.push_str(&format!("  {accepted} accepted inputs satisfy it\n"));
    }
    if let Some((rejected, tried)) = evidence.rejected {
        out.push_str(&format!(
            "  {rejected} of {tried} inputs that break only it were rejected\n"
        ));
    }
    if let Some(reason) = &evidence.reason {
        out.push_str(&format!("  the library says: {reason}\n"));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_shown_with_its_meaning_and_its_evidence() {
        let text = "param x: tensor\nrule rank: ndim(x) = 2\n  accepted 8\n  rejected 3 of 4\n  reason \"2D expected\"\n";
        let loaded = load_text(text, Precedence::Usual);
        assert_eq!(
            describe(&loaded.file.rules[0]),
            "rank\n  {x: tensor} |= ndim(x) = 2\n  `x` has 2 dimensions.\n  \
             8 accepted inputs satisfy it\n  \
             3 of 4 inputs that break only it were rejected\n  \
             the library says: 2D expected\n\n"
        );
    }

    #[test]
    fn the_summary_counts_in_words() {
        assert_eq!(summary(1, 2, 1), "1 file: 2 rules understood, 1 error");
    }
}
