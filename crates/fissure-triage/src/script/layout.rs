//! What stands around the call.

use std::path::PathBuf;

use fissure_model::{Api, ConcreteInput, Finding, Intent, OutcomeKind};

use super::ending::{about, ending, expected, observed};
use super::writer::Writer;
use super::{CALLING, literal};
use crate::failure::report_of;

pub(super) struct Layout {
    pub writer: Writer,
    /// Source of `def call()`, or of `build()`, `call(…)` and `check()`.
    pub call: String,
}

const HOLDS_NAN: &str = r#"def holds_nan(value, depth=4):
    if depth and isinstance(value, (list, tuple)):
        return any(holds_nan(item, depth - 1) for item in value)
    if depth and isinstance(value, dict):
        return any(holds_nan(item, depth - 1) for item in value.values())
    return leaf_holds_nan(value)
"#;

const NAME_OF: &str = r#"def name_of(error):
    kind = type(error)
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return kind.__module__ + "." + kind.__qualname__


def text_of(error):
    try:
        return str(error).encode("ascii", "backslashreplace").decode("ascii")
    except Exception:
        return "(no text)"
"#;

impl Layout {
    pub(super) fn finding(self, finding: &Finding) -> String {
        let kind = finding.verdict.kind;
        let title = plain(&finding.api.title);
        let folders = &finding.api.folders;
        let detail = plain(&finding.verdict.detail);
        let mut text = String::from("#!/usr/bin/env python3\n");
        text.push_str(&format!(
            "\"\"\"{title}: {kind} ({detail})\n\n{}{}\"\"\"\n\n",
            about(kind),
            known(finding)
        ));
        text.push_str("import faulthandler\n");
        match kind {
            OutcomeKind::Crash => self.imports(&mut text, &["platform", "sys", "time"], folders),
            OutcomeKind::OutOfMemory => {
                self.imports(&mut text, &["platform", "resource", "sys"], folders);
            }
            _ => self.imports(&mut text, &["platform", "sys"], folders),
        }
        self.functions(&mut text);
        let judged = report_of(&finding.verdict, &finding.execution).is_some();
        if kind == OutcomeKind::Nan && !judged {
            text.push_str(&format!(
                "{}\n\n{HOLDS_NAN}\n\n",
                self.writer.dialect.nan_function()
            ));
        }
        text.push_str(&format!("{NAME_OF}\n\n"));
        text.push_str(&self.call);
        text.push_str("\n\n");
        self.versions(&mut text);
        let recorded = literal::text(&format!(
            "recorded: {} ({} {}, Python {})",
            observed(finding),
            finding.api.package,
            finding.library_version,
            finding.python_version
        ));
        text.push_str(&format!("print({recorded})\n"));
        text.push_str(&format!("print({})\n", literal::text(&expected(finding))));
        text.push_str(&format!("print({})\n", literal::text(CALLING)));
        text.push_str("sys.stdout.flush()\nfaulthandler.enable()\n\n");
        text.push_str(&ending(finding));
        text
    }

    pub(super) fn snippet(self, finding: &Finding) -> String {
        let mut text = String::new();
        self.imports(&mut text, &[], &[]);
        self.functions(&mut text);
        text.push_str(&self.call);
        text.push_str("\n\n");
        text.push_str(
            if report_of(&finding.verdict, &finding.execution).is_some() {
                "print(check())  # (the failure is there, observed, expected)\n"
            } else {
                "print(call())\n"
            },
        );
        text.trim_start().to_owned()
    }

    pub(super) fn input(self, api: &Api, input: &ConcreteInput) -> String {
        let intent = match &input.intent {
            Intent::Conform => "conforming".into(),
            Intent::Violate { param, category } => {
                format!("violating the {category} of {}", plain(param))
            }
            Intent::BreakRule { rule } => format!("breaking the rule {}", plain(rule)),
            Intent::Ignore => "without regard to constraints".to_owned(),
        };
        let mut text = format!(
            "#!/usr/bin/env python3\n\"\"\"{}, input {} ({intent}).\"\"\"\n\n",
            plain(&api.title),
            input.number
        );
        let standard: &[&str] = if api.folders.is_empty() {
            &[]
        } else {
            &["sys"]
        };
        self.imports(&mut text, standard, &api.folders);
        self.functions(&mut text);
        text.push_str(&self.call);
        text.push_str("\n\nprint(call())\n");
        text
    }

    /// The call and what it needs, without anything that makes it.
    pub(super) fn parts(self) -> String {
        let mut text = String::new();
        self.imports(&mut text, &[], &[]);
        self.functions(&mut text);
        text.push_str(&self.call);
        text.trim_start().to_owned()
    }

    fn imports(&self, text: &mut String, standard: &[&str], folders: &[PathBuf]) {
        if !self.writer.parts.is_empty() {
            text.push_str("import importlib\n");
        }
        for module in standard {
            text.push_str(&format!("import {module}\n"));
        }
        if !text.ends_with("\n\n") {
            text.push('\n');
        }
        if !folders.is_empty() {
            text.push_str("# Where the package lies; PYTHONPATH can name another place.\n");
            for folder in folders {
                let folder = literal::text(&folder.display().to_string());
                text.push_str(&format!("sys.path.append({folder})\n"));
            }
            text.push('\n');
        }
        for module in &self.writer.imports {
            text.push_str(&format!("import {module}\n"));
        }
        text.push('\n');
        if !self.writer.parts.is_empty() {
            text.push_str("# Modules that importing the package may not import.\nfor name in [");
            let names: Vec<String> = self
                .writer
                .parts
                .iter()
                .map(|name| literal::text(name))
                .collect();
            text.push_str(&names.join(", "));
            text.push_str(
                "]:\n    try:\n        importlib.import_module(name)\n    except ImportError:\n        pass\n\n",
            );
        }
        text.push('\n');
    }

    fn functions(&self, text: &mut String) {
        for helper in &self.writer.helpers {
            text.push_str(&format!("{helper}\n\n"));
        }
    }

    fn versions(&self, text: &mut String) {
        text.push_str(
            "print(\"Python \" + platform.python_version() + \", \" + platform.platform())\n",
        );
        for module in &self.writer.imports {
            text.push_str(&format!(
                "print(\"{module} \" + str(getattr({module}, \"__version__\", \"(no version)\")))\n"
            ));
        }
    }
}

/// What triage found out, for the top of the script.
fn known(finding: &Finding) -> String {
    let mut text = String::new();
    if !finding.roles.is_empty() {
        text.push_str("\nEach argument changed alone:\n");
        for role in &finding.roles {
            let line = format!("{}: {}", role.parameter, role.tried);
            text.push_str(&format!("- {}\n", plain(&line)));
        }
    }
    if !finding.also_through.is_empty() {
        let names = plain(&finding.also_through.join(", "));
        text.push_str(&format!("\nAlso reached through {names}.\n"));
    }
    text
}

/// Text that is safe inside a documentation string.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_graphic() || c == ' ' {
                c
            } else {
                '?'
            }
        })
        .filter(|c| !matches!(c, '"' | '\\'))
        .collect()
}
