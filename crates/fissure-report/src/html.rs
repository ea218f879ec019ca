//! A run as one HTML file that needs nothing else, and the parts of it that the dashboard shows.

mod chart;
mod view;

use std::sync::LazyLock;

use base64::Engine;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::run::Run;
pub use view::{ApiRow, FindingRow};

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
    templates
});

/// The whole report.
pub fn page(run: &Run) -> String {
    let data = serde_json::to_string(&Data {
        findings: run.findings.iter().map(FindingRow::whole).collect(),
        apis: run.apis.iter().map(ApiRow::from).collect(),
    })
    .expect("plain data always serialises");
    render(run, &data, &[PAGE_SCRIPT], false)
}

/// The dashboard of a run: the same page, which asks the server for findings.
pub fn live_page(run: &Run) -> String {
    render(run, "null", &[PAGE_SCRIPT, LIVE_SCRIPT], true)
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

/// What the page's script reads.
#[derive(Serialize)]
struct Data<'a> {
    findings: Vec<FindingRow<'a>>,
    apis: Vec<ApiRow<'a>>,
}

fn render(run: &Run, data: &str, scripts: &[&str], live: bool) -> String {
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
            data: for_script_element(data),
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
    data: String,
    #[serde(flatten)]
    content: view::PageContext<'a>,
}

fn template(name: &str, context: &impl Serialize) -> String {
    TEMPLATES
        .get_template(name)
        .and_then(|template| template.render(Value::from_serialize(context)))
        .unwrap_or_else(|error| panic!("the template {name} is tested: {error:#}"))
}

/// JSON that may stand in a script element: nothing in it can end the element or begin a comment.
fn for_script_element(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
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
    fn json_in_a_script_element_cannot_leave_it() {
        let json = serde_json::to_string("</script><!--<script>&\u{2028}").unwrap();
        let safe = for_script_element(&json);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}']), "{safe}");
        assert_eq!(
            serde_json::from_str::<String>(&safe).unwrap(),
            "</script><!--<script>&\u{2028}"
        );
    }

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
