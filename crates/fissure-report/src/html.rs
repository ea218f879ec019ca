//! A run as one HTML file that needs nothing else, and the parts of it that the dashboard shows.

mod chart;
mod pack;
mod view;

use std::sync::LazyLock;
use std::time::Duration;

use base64::Engine;
use minijinja::{Environment, UndefinedBehavior, Value};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::run::Run;
pub(crate) use view::COVERAGE_PAGE;
pub use view::{ApiRow, FindingDetail, FindingRow};

const STYLE: &str = include_str!("../templates/style.css");
const PAGE_SCRIPT: &str = include_str!("../templates/page.js");
const LIVE_SCRIPT: &str = include_str!("../templates/live.js");

/// Undefined names are errors: a template that asks for what is not there is a mistake of ours.
static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in [
        ("page.html", include_str!("../templates/page.html")),
        ("overview.html", include_str!("../templates/overview.html")),
        ("charts.html", include_str!("../templates/charts.html")),
        ("tables.html", include_str!("../templates/tables.html")),
    ] {
        templates
            .add_template(name, text)
            .expect("the templates are part of the program and tested");
    }
    templates.add_filter("grouped", crate::words::grouped);
    templates.add_filter("duration", |seconds: f64| {
        Duration::try_from_secs_f64(seconds).map_or_else(|_| String::new(), crate::human_duration)
    });
    templates
});

/// Findings whose long texts are unpacked together when one of them is opened.
const PART: usize = 50;
/// Findings that a browser without JavaScript lists.
const LISTED: usize = 200;

/// The whole report.
///
/// The page holds what its lists show as one packed block and the long texts of findings in many:
/// a browser that opens a report of 10,000 findings reads a few hundred kilobytes of data, and the
/// rest only where somebody looks at it.
pub fn page(run: &Run) -> String {
    let lists = Lists {
        findings: run.findings.iter().map(FindingRow::from).collect(),
        apis: run.apis.iter().map(ApiRow::from).collect(),
        part: PART,
    };
    let details = run
        .findings
        .par_chunks(PART)
        .map(|part| pack::pack(&part.iter().map(FindingDetail::from).collect::<Vec<_>>()))
        .collect();
    render(run, pack::pack(&lists), details, &[PAGE_SCRIPT])
}

/// The dashboard of a run: the same page, which asks the server for what it shows.
pub fn live_page(run: &Run) -> String {
    render(run, String::new(), Vec::new(), &[PAGE_SCRIPT, LIVE_SCRIPT])
}

/// The parts of the dashboard that change while a run goes on.
pub fn live_parts(run: &Run) -> LiveParts {
    let context = view::page_context(run);
    LiveParts {
        state: view::state_name(run),
        overview: template("overview.html", &context),
        charts: template("charts.html", &context),
        tables: template("tables.html", &context),
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveParts {
    state: &'static str,
    overview: String,
    charts: String,
    tables: String,
}

/// What the page's script shows at once.
#[derive(Serialize)]
struct Lists<'a> {
    findings: Vec<FindingRow<'a>>,
    apis: Vec<ApiRow<'a>>,
    /// How many findings each packed part of details is about.
    part: usize,
}

fn render(run: &Run, lists: String, details: Vec<String>, scripts: &[&str]) -> String {
    let live = lists.is_empty();
    let script = scripts.join("\n");
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
         form-action 'none'; script-src '{}'{}",
        hash_of(&script),
        if live { "; connect-src 'self'" } else { "" }
    );
    template(
        "page.html",
        &Shell {
            policy,
            live,
            style: STYLE,
            script,
            lists,
            details,
            listed: run
                .findings
                .iter()
                .filter(|finding| !finding.note)
                .take(if live { 0 } else { LISTED })
                .map(FindingRow::from)
                .collect(),
            content: view::page_context(run),
        },
    )
}

/// The page around what it shows.
#[derive(Serialize)]
struct Shell<'a> {
    policy: String,
    live: bool,
    style: &'static str,
    script: String,
    lists: String,
    details: Vec<String>,
    listed: Vec<FindingRow<'a>>,
    #[serde(flatten)]
    content: view::PageContext<'a>,
}

fn template(name: &str, context: &impl Serialize) -> String {
    TEMPLATES
        .get_template(name)
        .and_then(|template| template.render(Value::from_serialize(context)))
        .unwrap_or_else(|error| panic!("the template {name} is tested: {error:#}"))
}

/// The hash by which a content security policy knows a script.
fn hash_of(script: &str) -> String {
    let digest = Sha256::digest(script);
    let text = base64::engine::general_purpose::STANDARD.encode(digest);
    format!("sha256-{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_use_nothing_that_makes_markup_of_text() {
        for script in [PAGE_SCRIPT, LIVE_SCRIPT] {
            for forbidden in ["document.write", "insertAdjacentHTML", "eval(", "outerHTML"] {
                assert!(!script.contains(forbidden), "{forbidden}");
            }
        }
        assert!(!PAGE_SCRIPT.contains("innerHTML"));
    }
}
