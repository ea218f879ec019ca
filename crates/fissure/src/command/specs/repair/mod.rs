//! `fissure specs repair`: constraints that the installed library contradicts are marked, weakened
//! or dropped, with the evidence.

mod decide;
mod documented;
mod learn;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fissure_campaign::DenyList;
use fissure_execute::{Pool, PoolOptions};
use fissure_spec::{ExtractedFile, load_paths};
use serde_json::json;

use super::{PackageArgs, print_errors, require_paths};
use crate::command::fuzz::needs;
use crate::command::session::{self, stop_on_interrupt};
use crate::exit_status::{ExitStatus, usage};
use crate::target::{self, TargetArgs};
use decide::{Decision, decide};
use documented::{is_documentation_bug, is_unchecked};
use trial::Asked;

#[derive(Args, Debug)]
pub(super) struct RepairArgs {
    /// Constraint files, or folders that are searched for them; of one package
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write the repaired files here and leave the others as they are
    #[arg(long = "output", alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,

    /// Only say what would change
    #[arg(long)]
    dry_run: bool,

    /// Print one JSON object per API
    #[arg(long)]
    json: bool,

    /// Number that decides all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    package: PackageArgs,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) fn repair(args: &RepairArgs) -> anyhow::Result<ExitCode> {
    require_paths(&args.paths)?;
    let collection = load_paths(&args.paths);
    print_errors(&collection.failed);
    let mut packages: Vec<&str> = collection
        .loaded
        .iter()
        .map(|loaded| loaded.spec.api.package.as_str())
        .collect();
    packages.sort_unstable();
    packages.dedup();
    let package = match packages[..] {
        [one] => one.to_owned(),
        [] => return Err(usage("no constraint file was found in what was named")),
        _ => {
            return Err(usage(format!(
                "files of one package at a time, not of {}",
                packages.join(" and ")
            )));
        }
    };
    let path = session::pythonpath(&args.package.pythonpath, &package)?;
    let needed = needs::interpreter_package(&package, &path);
    let python = target::resolve_for(&args.target, needed, &path)?.python;
    let specs = collection.loaded.iter();
    let own = needs::own_modules(specs.map(|it| it.spec.api.path.as_str()), &path);
    let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
    let absolute: Result<Vec<PathBuf>, _> = path.iter().map(std::path::absolute).collect();
    let options = PoolOptions {
        extra_path: absolute.context("failed to find a folder of --pythonpath")?,
        imports: args.package.imports.iter().cloned().chain(own).collect(),
        ..PoolOptions::new(&python, &package, scratch.path().join("pool"))
    };
    let pool = Pool::start(options).map_err(|error| anyhow::anyhow!("failed to {error}"))?;
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("failed to make the folder {}", folder.display()))?;
    }
    let stop = stop_on_interrupt()?;
    let deny = DenyList::built_in();
    let mut totals = Totals::default();
    let mut id = 0;
    for loaded in &collection.loaded {
        let (spec, Some(path)) = (&loaded.spec, &loaded.spec.source) else {
            continue;
        };
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        if deny.check(&spec.api.title).is_some() {
            totals.left += 1;
            continue;
        }
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let mut file = ExtractedFile::from_yaml(&text)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let Ok(signature) = pool.describe(&spec.api.path) else {
            totals.left += 1;
            continue;
        };
        if signature.missing.is_some() {
            totals.left += 1;
            continue;
        }
        let mut asked = Asked {
            pool: &pool,
            signature,
            seed: args.seed,
            stop: &stop,
            id,
            failure: None,
        };
        let decision = decide(&mut file, &mut asked);
        id = asked.id;
        if let Some(error) = asked.failure {
            return Err(error);
        }
        let Some(decision) = decision else {
            totals.left += 1;
            continue;
        };
        totals.add(&decision);
        tell(args, &file.title, &decision);
        let changed = decision.changes();
        let into = match &args.output {
            Some(folder) => Some(folder.join(format!("{}.yaml", file.title))),
            None => changed.then(|| path.clone()),
        };
        if let Some(into) = into.filter(|_| !args.dry_run) {
            std::fs::write(&into, file.to_yaml())
                .with_context(|| format!("failed to write {}", into.display()))?;
        }
    }
    if !args.json {
        println!("{}", totals.text(&package));
    }
    Ok(if collection.failed.is_empty() {
        ExitStatus::NoFinding
    } else {
        ExitStatus::Findings
    }
    .into())
}

fn tell(args: &RepairArgs, title: &str, decision: &Decision) {
    if args.json {
        let each = decision.contradictions.iter();
        let bugs: Vec<_> = each.clone().filter(|it| is_documentation_bug(it)).collect();
        let unchecked: Vec<_> = each.filter(|it| is_unchecked(it)).collect();
        println!(
            "{}",
            json!({
                "title": title,
                "repair": decision,
                "documentation_bugs": bugs,
                "not_checked": unchecked,
            })
        );
        return;
    }
    for added in &decision.learned {
        println!(
            "{title}: {}: {} {} added: {}",
            added.param,
            added.key,
            added.values.join(", "),
            added.evidence
        );
    }
    for found in &decision.contradictions {
        println!(
            "{title}: {}: {} {} {}: {}",
            found.param,
            found.key,
            found.values.join(", "),
            found.done,
            found.evidence
        );
        let source = found.source.as_deref().unwrap_or_default();
        if is_documentation_bug(found) {
            println!("  documentation bug: {source}");
        } else if is_unchecked(found) {
            println!("  documented and not checked: {source}");
        }
    }
}

#[derive(Default)]
struct Totals {
    files: usize,
    changed: usize,
    contradictions: usize,
    learned: usize,
    documented: usize,
    left: usize,
    before: f64,
    after: f64,
}

impl Totals {
    fn add(&mut self, decision: &Decision) {
        self.files += 1;
        self.changed += usize::from(decision.changes());
        self.learned += decision.learned.len();
        self.contradictions += decision.contradictions.len();
        let documented = decision
            .contradictions
            .iter()
            .filter(|it| is_documentation_bug(it));
        self.documented += documented.count();
        self.before += decision.before;
        self.after += decision.after;
    }

    fn text(&self, package: &str) -> String {
        let mean = |sum: f64| 100.0 * sum / self.files.max(1) as f64;
        format!(
            "{package}: {} files asked about, {} changed ({} contradictions, {} of them documentation bugs; \
             {} constraints added), {} left alone; conforming inputs accepted, mean over files: {:.0} % before, {:.0} % after",
            self.files,
            self.changed,
            self.contradictions,
            self.documented,
            self.learned,
            self.left,
            mean(self.before),
            mean(self.after)
        )
    }
}
