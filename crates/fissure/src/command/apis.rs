//! `fissure apis`: what is known of each public callable of a library.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use fissure_campaign::DenyList;
use fissure_discover::{Answer, Description, PublicName, Question};
use fissure_execute::{Ended, SandboxOptions, ScriptOptions, WORKER, run_script, unpack_package};
use fissure_model::pattern_matches;
use fissure_rules::centaur::write_signatures;
use fissure_rules::{RuleLibrary, api_named};
use serde::Serialize;

use crate::command::centaur;
use crate::command::fuzz::needs::interpreter_package;
use crate::command::offered::Library;
use crate::command::session;
use crate::console::{self, notice};
use crate::exit_status::{ExitStatus, usage};
use crate::suggestion::suggestion;
use crate::target::{self, TargetArgs};
use crate::waiting::Waiting;

/// Callables whose overloads are asked for; of more only the names are listed.
const DESCRIBED: usize = 200;
const PATIENCE: Duration = Duration::from_secs(300);

/// List the public callables of a library and what is known of each: rules, overloads and where they
/// come from, or why it cannot be fuzzed.
#[derive(Args, Debug)]
pub(crate) struct ApisArgs {
    /// Import name of the library, or of a module of it: torch, torch.nn
    #[arg(value_name = "LIBRARY")]
    library: String,

    /// Only names that match: `*pool*`
    #[arg(value_name = "PATTERN")]
    pattern: Option<String>,

    /// Folder with a package of your own
    #[arg(long, value_name = "DIR")]
    pythonpath: Vec<PathBuf>,

    /// Ask the library again, whatever an earlier command kept
    #[arg(long)]
    fresh: bool,

    /// Only the names, one a line: `fissure learn @FILE` reads such a file
    #[arg(long, conflicts_with_all = ["json", "signatures"])]
    names: bool,

    /// Print what is known of the parameters as Centaur's `signatures.json`
    #[arg(long, conflicts_with = "json")]
    signatures: bool,

    /// Print JSON lines
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

/// One line of the list.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    kind: String,
    layer: bool,
    /// There are rules for it, or for an alias.
    rules: bool,
    /// Overloads, and what they are known from.
    forms: Option<usize>,
    sources: Vec<String>,
    parameters: Option<usize>,
    aliases: Vec<String>,
    /// Why it cannot be fuzzed.
    left_out: Option<String>,
}

pub(crate) fn run(args: &ApisArgs) -> anyhow::Result<ExitCode> {
    let named = api_named(&args.library);
    let library = named.package.as_str();
    let path = session::pythonpath(&args.pythonpath, library)?;
    let target = target::resolve_for(&args.target, interpreter_package(library, &path), &path)?;
    let asker = Asker {
        python: &target.python,
        path: &path,
    };
    let public = public_names(args.fresh, library, &target.reason, &asker)?;
    // A module of it stands for what is below it.
    let below: Vec<&PublicName> = public
        .iter()
        .filter(|one| {
            let mut names = std::iter::once(&one.path).chain(&one.aliases);
            names.any(|name| {
                let rest = name.strip_prefix(named.path.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
        .collect();
    if below.is_empty() && named.path != named.package {
        return Err(nothing_called(&named.path, library, &public));
    }
    let matching: Vec<&PublicName> = below
        .into_iter()
        .filter(|one| match &args.pattern {
            None => true,
            Some(pattern) => {
                let wide = format!("*{pattern}*");
                let pattern = if pattern.contains('*') {
                    pattern
                } else {
                    &wide
                };
                let mut names = std::iter::once(&one.path).chain(&one.aliases);
                names.any(|name| pattern_matches(pattern, name))
            }
        })
        .collect();
    let descriptions = if args.names {
        Default::default()
    } else if matching.len() <= DESCRIBED || args.signatures {
        let usable = matching.iter().filter(|one| one.left_out.is_none());
        let usable: Vec<&str> = usable.map(|one| one.path.as_str()).collect();
        let mut descriptions = BTreeMap::new();
        let waiting = Waiting::new(
            format!("asking {library} about its callables"),
            Some(usable.len()),
        );
        // A question is a variable of the environment, whose length the kernel limits.
        for part in usable.chunks(DESCRIBED) {
            let question = Question {
                describe: part.to_vec(),
                ..Question::default()
            };
            descriptions.extend(asker.ask(question)?.descriptions);
            waiting.add(part.len());
        }
        descriptions
    } else {
        Default::default()
    };
    if args.signatures {
        return print_signatures(descriptions.values());
    }
    let titles: BTreeSet<String> = RuleLibrary::new(&[])?
        .find("*")?
        .into_iter()
        .map(|sheet| sheet.title)
        .collect();
    let denied = DenyList::built_in();
    let rows: Vec<Row> = matching
        .iter()
        .map(|one| row(one, descriptions.get(&one.path), &titles, &denied))
        .collect();
    let mut out = std::io::stdout().lock();
    if args.names {
        for row in rows.iter().filter(|row| row.left_out.is_none()) {
            writeln!(out, "{}", row.name)?;
        }
    } else if args.json {
        for row in &rows {
            writeln!(out, "{}", serde_json::to_string(row)?)?;
        }
    } else {
        for row in &rows {
            writeln!(out, "{}", line(row))?;
        }
    }
    let usable = rows.iter().filter(|row| row.left_out.is_none()).count();
    let ruled = rows.iter().filter(|row| row.rules).count();
    notice!(
        "fissure: {} callables, {usable} can be fuzzed, {ruled} have rules{}",
        rows.len(),
        if matching.len() > DESCRIBED {
            " (a narrower PATTERN shows overloads too)"
        } else {
            ""
        }
    );
    Ok(ExitStatus::NoFinding.into())
}

/// Neither a module nor a callable of the library has the name: those that are like it.
pub(super) fn nothing_called(typed: &str, library: &str, public: &[PublicName]) -> anyhow::Error {
    let callables: Vec<&str> = public
        .iter()
        .flat_map(|one| std::iter::once(&one.path).chain(&one.aliases))
        .map(String::as_str)
        .collect();
    let modules: BTreeSet<&str> = callables
        .iter()
        .filter_map(|name| name.rsplit_once('.'))
        .map(|(module, _)| module)
        .collect();
    let meant = suggestion(typed, modules.into_iter().chain(callables));
    let listed = if meant.is_empty() {
        format!(" (fissure apis {library} lists what it has)")
    } else {
        meant
    };
    usage(format!("{library} has nothing called {typed}{listed}"))
}

/// What is known, in Centaur's form; what it cannot say is counted.
fn print_signatures<'a>(
    descriptions: impl Iterator<Item = &'a Description>,
) -> anyhow::Result<ExitCode> {
    let mut written = Vec::new();
    let mut left_out = 0;
    for description in descriptions {
        match centaur::signatures(description) {
            Ok(found) => written.extend(found),
            Err(reason) => {
                left_out += 1;
                if console::verbose() {
                    notice!("fissure: {}: {reason}", description.path);
                }
            }
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", write_signatures(&written))?;
    notice!(
        "fissure: {} signatures; {left_out} callables have parameters for which there is no type in this form (--verbose \
         names them)",
        written.len()
    );
    Ok(ExitStatus::NoFinding.into())
}

/// The list of the library, from the cache where this version's is there.
pub(super) fn public_names(
    fresh: bool,
    library: &str,
    reason: &str,
    asker: &Asker<'_>,
) -> anyhow::Result<Vec<PublicName>> {
    let of = Library {
        name: library,
        reason,
        own: !asker.path.is_empty(),
    };
    of.kept("public", fresh, || {
        let mut answer = asker.ask(Question {
            list: vec![library],
            ..Question::default()
        })?;
        answer.public.remove(library).ok_or_else(|| {
            let problems = answer.problems.join("; ");
            usage(format!("{library} cannot be listed: {problems}"))
        })
    })
}

/// Asks the discovery script in the library's own interpreter.
pub(super) struct Asker<'a> {
    pub python: &'a Path,
    pub path: &'a [PathBuf],
}

impl Asker<'_> {
    fn ask(&self, question: Question<'_>) -> anyhow::Result<Answer> {
        let scratch = tempfile::tempdir().context("failed to make a temporary folder")?;
        let code = scratch.path().join("code");
        unpack_package(WORKER, &code).context("failed to write the discovery script")?;
        let options = ScriptOptions {
            timeout: PATIENCE,
            memory_limit: 16 << 30,
            scratch: scratch.path().join("scratch"),
            sandbox: SandboxOptions::default(),
            environment: Vec::new(),
            cancelled: Default::default(),
        };
        let file = options.scratch.join("work").join("answer.json");
        let question = Question {
            file: file.display().to_string(),
            ..question
        };
        let mut path = vec![code.clone()];
        for folder in self.path {
            path.push(std::path::absolute(folder)?);
        }
        let path = std::env::join_paths(path).context("a folder's name holds a colon")?;
        let options = ScriptOptions {
            environment: vec![
                ("PYTHONPATH".to_owned(), path.to_string_lossy().into_owned()),
                (
                    "FISSURE_DISCOVER".to_owned(),
                    serde_json::to_string(&question)?,
                ),
            ],
            ..options
        };
        let script = code.join(WORKER).join("discover").join("__main__.py");
        let ran = run_script(self.python, &script, options)?;
        if ran.ended != Ended::Exit(0) {
            bail!(
                "the library could not be asked: {:?}\n\n{}",
                ran.ended,
                ran.log
            );
        }
        let answer = std::fs::read(&file)
            .with_context(|| format!("the library gave no answer\n\n{}", ran.log))?;
        Answer::from_json(&answer).context("the library's answer is not readable")
    }
}

fn row(
    one: &PublicName,
    description: Option<&Description>,
    titles: &BTreeSet<String>,
    denied: &DenyList,
) -> Row {
    let mut names = std::iter::once(&one.path).chain(&one.aliases);
    let known = |name: &String| {
        let short = name
            .strip_prefix("tensorflow.")
            .map(|rest| format!("tf.{rest}"));
        titles.contains(name) || short.is_some_and(|short| titles.contains(&short))
    };
    let rules = names.any(known);
    let mut sources: Vec<String> = Vec::new();
    let forms = description
        .map(|it| it.forms.as_slice())
        .unwrap_or_default();
    for form in forms {
        if !sources.contains(&form.source) {
            sources.push(form.source.clone());
        }
    }
    let left_out = one
        .left_out
        .clone()
        .or_else(|| description.and_then(|it| it.problem.clone()))
        .or_else(|| {
            denied
                .check(&one.path)
                .map(|it| format!("it {}", it.reason))
        });
    Row {
        name: one.path.clone(),
        kind: one.kind.clone(),
        layer: one.layer,
        rules,
        forms: description.map(|it| it.forms.len()),
        sources,
        parameters: forms.first().map(|form| form.params.len()),
        aliases: one.aliases.clone(),
        left_out,
    }
}

fn line(row: &Row) -> String {
    let mut facts = vec![if row.layer {
        "layer".to_owned()
    } else {
        row.kind.clone()
    }];
    if row.rules {
        facts.push("rules".to_owned());
    }
    match row.forms {
        Some(0) | None => {}
        Some(forms) => facts.push(format!(
            "{forms} form{} from {}, {} parameter{}",
            if forms == 1 { "" } else { "s" },
            row.sources.join(" and "),
            row.parameters.unwrap_or(0),
            if row.parameters == Some(1) { "" } else { "s" },
        )),
    }
    if let Some(reason) = &row.left_out {
        facts.push(format!("not usable: {reason}"));
    }
    format!("{}  {}", row.name, facts.join(", "))
}
