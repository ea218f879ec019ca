//! `fissure fuzz`: which APIs, and what is known of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fissure_model::Spec;
use fissure_model::title_matches;
use fissure_spec::{SpecError, Warning};

use super::args::{FuzzArgs, GeneratorArg};
use crate::command::scan::notebook;
use crate::command::session::args::rule_library;
use crate::exit_status::usage;
use fissure_rules::{RuleLibrary, RuleSheet, api_named, bare_spec};

/// APIs told by name when their rules are told; more are counted.
const NAMED: usize = 3;

/// What the targets of a command line stand for.
pub(super) struct Targets {
    pub specs: Vec<Spec>,
    pub warnings: Vec<Warning>,
    /// Constraints read as their documentation states, one line each.
    pub repairs: Vec<String>,
    /// Where rules come from, one line each.
    pub rules: Vec<String>,
}

impl Targets {
    pub(super) fn load(args: &FuzzArgs, is_docter: bool) -> anyhow::Result<Targets> {
        let asked = Asked::of(args, is_docter)?;
        let mut loader = Loader::new(args)?;
        loader.take_files(&asked.files)?;
        if asked.files.is_empty() && asked.titles.is_empty() {
            loader.take_constraints(&args.specs, &|_| true);
        }
        for title in &asked.titles {
            loader.take_title(title)?;
        }
        loader.finish()
    }
}

/// The targets, sorted into those that are there as files and those that are names.
struct Asked<'a> {
    files: Vec<PathBuf>,
    titles: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(args: &'a FuzzArgs, is_docter: bool) -> anyhow::Result<Self> {
        let mut asked = Asked {
            files: args.spec.clone(),
            titles: Vec::new(),
        };
        let targets = if is_docter {
            &args.targets[..1]
        } else {
            &args.targets[..]
        };
        for target in targets {
            let file_like = [".yaml", ".yml", ".rules"]
                .iter()
                .any(|end| target.ends_with(end));
            if let Some(refusal) = a_program(Path::new(target)) {
                return Err(usage(refusal));
            } else if Path::new(target).exists() {
                asked.files.push(target.into());
            } else if file_like || target.contains('/') {
                return Err(usage(format!(
                    "there is no file {target}{}",
                    two_colons(target)
                )));
            } else {
                asked.titles.push(target);
            }
        }
        let mut all = asked.files.iter().chain(&args.specs);
        if let Some(missing) = all.find(|path| !path.exists()) {
            return Err(usage(format!(
                "there is no file or folder {}",
                missing.display()
            )));
        }
        if asked.files.is_empty() && asked.titles.is_empty() && args.specs.is_empty() {
            return Err(usage(
                "nothing to fuzz\n\nName an API, a pattern, a constraint file, a rule file, or a \
                 folder of them:\n  fissure fuzz torch.add\n  fissure fuzz \
                 examples/specs/torch.nn.functional.avg_pool2d.yaml\n  fissure fuzz torch.add \
                 --specs examples/specs",
            ));
        }
        Ok(asked)
    }
}

/// `ops.py:clip` is how a module's function is named elsewhere.
fn two_colons(target: &str) -> String {
    match target.rsplit_once(':') {
        Some((file, function)) if file.ends_with(".py") && Path::new(file).is_file() => {
            format!("\n\ndid you mean {file}::{function}?")
        }
        _ => String::new(),
    }
}

/// What to do with a file of Python instead.
fn a_program(file: &Path) -> Option<String> {
    let extension = file.extension()?.to_str()?;
    if !file.is_file() {
        return None;
    }
    match extension {
        "py" => {
            let shown = file.display();
            Some(format!(
                "`{shown}` is a program\n\nname the function in it that is to be fuzzed, or scan the program:\n\
                 fissure fuzz {shown}::FUNCTION\nfissure scan {shown}"
            ))
        }
        "ipynb" => Some(notebook(file, "scan")),
        _ => None,
    }
}

struct Loader<'a> {
    args: &'a FuzzArgs,
    library: RuleLibrary,
    specs: Vec<Spec>,
    warnings: Vec<Warning>,
    failures: Vec<SpecError>,
    /// Of the rules in use: APIs by origin and by the library they were learned with.
    used: BTreeMap<(String, Option<String>), Vec<String>>,
}

impl<'a> Loader<'a> {
    fn new(args: &'a FuzzArgs) -> anyhow::Result<Self> {
        Ok(Loader {
            args,
            library: rule_library(&args.rules)?,
            specs: Vec::new(),
            warnings: Vec::new(),
            failures: Vec::new(),
            used: BTreeMap::new(),
        })
    }

    fn wants_rules(&self) -> bool {
        self.args.generator != GeneratorArg::Constraints
    }

    fn wants_constraints(&self) -> bool {
        self.args.generator != GeneratorArg::Rules
    }

    /// Files and folders that were named. Their constraints stand alone unless rules are asked for
    /// too, so that a constraint file means what it says.
    fn take_files(&mut self, files: &[PathBuf]) -> anyhow::Result<()> {
        let (rules, others): (Vec<&PathBuf>, Vec<&PathBuf>) = files
            .iter()
            .partition(|path| path.extension().is_some_and(|it| it == "rules"));
        let others: Vec<PathBuf> = others.into_iter().cloned().collect();
        let before = self.specs.len();
        self.take_constraints(&others, &|_| true);
        if !self.args.rules.is_empty() && self.wants_rules() {
            for at in before..self.specs.len() {
                let title = self.specs[at].api.title.clone();
                for sheet in self.library.find(&title)? {
                    self.attach(at, sheet);
                }
            }
        }
        let folders = others.iter().filter(|path| path.is_dir());
        for place in rules.into_iter().chain(folders) {
            if self.wants_rules() {
                self.take_sheets(RuleLibrary::only(place).find("*")?);
            }
        }
        Ok(())
    }

    /// An API or a pattern: its constraint files, its rules, or both.
    fn take_title(&mut self, title: &str) -> anyhow::Result<()> {
        let folders = self.args.specs.clone();
        if self.wants_constraints() && !folders.is_empty() {
            self.take_constraints(&folders, &|spec| title_matches(title, spec));
        }
        if self.wants_rules() {
            self.take_sheets(self.library.find(title)?);
        }
        if self.specs.iter().any(|spec| title_matches(title, spec)) {
            return Ok(());
        }
        let discovers = matches!(
            self.args.generator,
            GeneratorArg::Auto | GeneratorArg::Random
        );
        if discovers && !title.contains('*') {
            // The library itself is asked, when it runs.
            self.specs.push(bare_spec(api_named(title)));
            return Ok(());
        }
        let files = match (self.wants_constraints(), folders.is_empty()) {
            (false, _) => "",
            (true, true) => " and no constraint file is named (--specs DIR)",
            (true, false) => " and no constraint file in the given folders has that title",
        };
        if !self.wants_rules() {
            return Err(usage(format!(
                "there is no constraint file for {title}{files}"
            )));
        }
        Err(usage(format!(
            "there are no rules for {title}{files}\n\n`fissure learn '{title}'` learns the rules; \
             without --generator the library itself is asked what it takes"
        )))
    }

    fn take_constraints(&mut self, paths: &[PathBuf], wanted: &dyn Fn(&Spec) -> bool) {
        let collection = fissure_spec::load_paths(paths);
        self.failures.extend(collection.failed);
        for loaded in collection.loaded {
            if wanted(&loaded.spec) {
                self.warnings.extend(loaded.warnings);
                self.specs.push(loaded.spec);
            }
        }
    }

    /// Rules join the constraints of their API; without any they are all that is known.
    fn take_sheets(&mut self, sheets: Vec<RuleSheet>) {
        for sheet in sheets {
            let same = |spec: &Spec| title_matches(&sheet.title, spec);
            let at = match self.specs.iter().position(same) {
                Some(at) => at,
                None => {
                    self.specs.push(sheet.clone().into_spec());
                    self.specs.len() - 1
                }
            };
            self.attach(at, sheet);
        }
    }

    fn attach(&mut self, at: usize, sheet: RuleSheet) {
        let key = (sheet.text.origin.clone(), sheet.library);
        self.used.entry(key).or_default().push(sheet.title);
        self.specs[at].rules = Some(sheet.text);
    }

    fn finish(self) -> anyhow::Result<Targets> {
        if let Some(error) = self.failures.first() {
            // One broken file of many must not end a run unnoticed, nor be fuzzed around silently.
            let more = match self.failures.len() {
                1 => String::new(),
                n => format!("\n\nand {} more: fissure specs check shows all", n - 1),
            };
            return Err(usage(format!(
                "{}{more}",
                fissure_spec::render(error, false)
            )));
        }
        if self.specs.is_empty() {
            return Err(usage(
                "neither a constraint file nor a rule file was found in what was named",
            ));
        }
        let rules = self.used.iter().map(|((origin, library), titles)| {
            let apis = match titles.len() {
                0..=NAMED => titles.join(", "),
                n => format!("{n} APIs"),
            };
            let learned = library.as_ref().map(|it| format!(" (learned with {it})"));
            format!(
                "rules of {apis} from {origin}{}",
                learned.unwrap_or_default()
            )
        });
        let rules = rules.collect();
        let (specs, repairs) = if self.args.no_repair {
            (self.specs, Vec::new())
        } else {
            repair(self.specs)
        };
        Ok(Targets {
            specs,
            warnings: self.warnings,
            repairs,
            rules,
        })
    }
}

/// Constraints that contradict the documented type are read as that type.
fn repair(specs: Vec<Spec>) -> (Vec<Spec>, Vec<String>) {
    let mut repairs = Vec::new();
    let specs =
        specs
            .iter()
            .map(|spec| {
                let (repaired, changes) = fissure_spec::repair(spec);
                repairs.extend(changes.into_iter().map(|change| {
                    format!("{}: {}: {}", spec.api.title, change.param, change.message)
                }));
                repaired
            })
            .collect();
    (specs, repairs)
}
