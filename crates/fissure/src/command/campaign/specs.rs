//! `fissure campaign`: which APIs, and what is known of each.

use std::collections::BTreeSet;

use fissure_campaign::PlannedApi;
use fissure_discover::PublicName;
use fissure_model::{Spec, pattern_matches, title_matches};

use super::args::CampaignRunArgs;
use crate::command::session::args::rule_library;
use crate::exit_status::usage;
use fissure_rules::{api_named, bare_spec};

/// The APIs of a campaign, each with what is known of it.
#[derive(Default)]
pub(super) struct Known {
    pub specs: Vec<Spec>,
    pub apis: Vec<PlannedApi>,
    /// What could not be read or is read otherwise, one line each.
    pub warnings: Vec<String>,
    pub constraint_files: usize,
    pub rule_files: usize,
}

/// The import name of the library that is meant.
pub(super) fn package(args: &CampaignRunArgs) -> anyhow::Result<String> {
    if let Some(name) = &args.library {
        let package = match name.as_str() {
            "tf" | "tensorflow-cpu" => "tensorflow",
            "pytorch" => "torch",
            other => other,
        };
        if package.contains(['.', '*', '/']) {
            return Err(usage(format!(
                "{name}: name a library such as torch; --api chooses among its APIs, --specs names \
                 constraint files"
            )));
        }
        return Ok(package.to_owned());
    }
    if args.specs.is_empty() {
        return Err(usage(
            "name a library: fissure campaign torch (or the constraint files: --specs DIR)",
        ));
    }
    let loaded = fissure_spec::load_paths(&args.specs).loaded;
    let packages: BTreeSet<String> = loaded.into_iter().map(|one| one.spec.api.package).collect();
    match Vec::from_iter(packages).as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(usage("no constraint file was found in what --specs names")),
        several => Err(usage(format!(
            "the constraint files are for several libraries: name one of {}",
            several.join(", ")
        ))),
    }
}

/// Finds what is known of the library's APIs.
pub(super) fn find(args: &CampaignRunArgs, package: &str) -> anyhow::Result<Known> {
    if let Some(missing) = args.specs.iter().find(|path| !path.exists()) {
        return Err(usage(format!(
            "there is no file or folder {}",
            missing.display()
        )));
    }
    let mut known = Known::default();
    let collection = fissure_spec::load_paths(&args.specs);
    for error in &collection.failed {
        known.warnings.push(format!(
            "left out: {}",
            fissure_spec::render(error, false).trim_end()
        ));
    }
    for loaded in collection.loaded {
        let spec = &loaded.spec;
        if spec.api.package != package || !wanted(args, |pattern| title_matches(pattern, spec)) {
            continue;
        }
        known
            .warnings
            .extend(loaded.warnings.iter().map(ToString::to_string));
        let (spec, _) = fissure_spec::repair(&loaded.spec);
        known.constraint_files += 1;
        known.push(args, spec, false);
    }
    for sheet in rule_library(&args.rules)?.find("*")? {
        let spec = sheet.clone().into_spec();
        if spec.api.package != package || !wanted(args, |pattern| title_matches(pattern, &spec)) {
            continue;
        }
        known.rule_files += 1;
        let same = |one: &Spec| title_matches(&sheet.title, one);
        match known.specs.iter().position(same) {
            // An input satisfies both.
            Some(at) => known.specs[at].rules = spec.rules,
            None => known.push(args, spec, false),
        }
    }
    Ok(known)
}

impl Known {
    /// Whether something has the name of `--api`. Patterns may fit nothing, and what is not public may be there.
    pub(super) fn knows(&self, api: &str, public: &[PublicName]) -> bool {
        let path = api_named(api).path;
        let (module, last) = path.rsplit_once('.').unwrap_or_default();
        let mut names = public
            .iter()
            .flat_map(|one| std::iter::once(&one.path).chain(&one.aliases));
        let listed =
            |name: &String| name.eq_ignore_ascii_case(&path) || name.eq_ignore_ascii_case(api);
        let of_listed_module = |name: &String| {
            name.rsplit_once('.')
                .is_some_and(|(other, _)| other.eq_ignore_ascii_case(module))
        };
        api.contains('*')
            || last.starts_with('_')
            || self.specs.iter().any(|one| title_matches(api, one))
            || names.clone().any(listed)
            || !names.any(of_listed_module)
    }

    fn push(&mut self, args: &CampaignRunArgs, spec: Spec, learn: bool) {
        let weights = args.weight.iter();
        let mut weight = weights.filter(|(pattern, _)| title_matches(pattern, &spec));
        self.apis.push(PlannedApi {
            title: spec.api.title.clone(),
            weight: weight.next_back().map_or(1.0, |(_, factor)| *factor),
            learn,
        });
        self.specs.push(spec);
    }

    /// APIs of which nothing is known and that the library's sample database has, or that were named.
    pub(super) fn add_unknown(
        &mut self,
        args: &CampaignRunArgs,
        package: &str,
        listed: &[String],
    ) -> usize {
        let named = args.api.iter().filter(|api| !api.contains('*'));
        let names: BTreeSet<&String> = named.chain(listed).collect();
        let before = self.specs.len();
        for name in names {
            let spec = bare_spec(api_named(name));
            let known = self.specs.iter().any(|one| title_matches(name, one));
            if spec.api.package == package
                && !known
                && wanted(args, |pattern| pattern_matches(pattern, name))
            {
                self.push(args, spec, true);
            }
        }
        self.specs.len() - before
    }

    /// Public callables of the library of which neither a file nor samples say anything: the library
    /// itself is asked about them when they run.
    pub(super) fn add_public(
        &mut self,
        args: &CampaignRunArgs,
        package: &str,
        public: &[PublicName],
    ) -> usize {
        let titles = self.specs.iter().flat_map(|one| {
            let names = std::iter::once(&one.api.path).chain(&one.aliases);
            names.map(|name| api_named(name).path.to_ascii_lowercase())
        });
        let known: BTreeSet<String> = titles.collect();
        let before = self.specs.len();
        for one in public.iter().filter(|one| one.left_out.is_none()) {
            let mut names = std::iter::once(&one.path).chain(&one.aliases);
            let spec = bare_spec(api_named(&one.path));
            if spec.api.package == package
                && !names
                    .clone()
                    .any(|name| known.contains(&name.to_ascii_lowercase()))
                && names.any(|name| wanted(args, |pattern| pattern_matches(pattern, name)))
            {
                self.push(args, spec, false);
            }
        }
        self.specs.len() - before
    }
}

/// Whether `--api` and `--exclude` let an API through.
fn wanted(args: &CampaignRunArgs, fits: impl Fn(&str) -> bool) -> bool {
    let chosen = args.api.is_empty() || args.api.iter().any(|pattern| fits(pattern));
    chosen && !args.exclude.iter().any(|pattern| fits(pattern))
}
