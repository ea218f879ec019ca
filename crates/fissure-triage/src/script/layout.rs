//! What stands around the call.

use fissure_model::{Api, ConcreteInput, Finding, Intent, Outcome, OutcomeKind};

use super::writer::Writer;
use super::{CALLING, NOT_REPRODUCED, REPRODUCED, literal};

/// Longest piece of a recorded message that is printed again.
const MESSAGE_LIMIT: usize = 1000;

pub struct Layout {
    pub writer: Writer,
    /// Source of `def call()`.
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
    pub fn finding(self, finding: &Finding) -> String {
        let kind = finding.verdict.kind;
        let title = plain(&finding.api.title);
        let detail = plain(&finding.verdict.detail);
        let mut text = String::from("#!/usr/bin/env python3\n");
        text.push_str(&format!(
            "\"\"\"{title}: {kind} ({detail})\n\n{}\"\"\"\n\n",
            about(kind)
        ));
        text.push_str("import faulthandler\n");
        match kind {
            OutcomeKind::Crash => self.imports(&mut text, &["platform", "sys", "time"]),
            _ => self.imports(&mut text, &["platform", "sys"]),
        }
        self.functions(&mut text);
        if kind == OutcomeKind::Nan {
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
        text.push_str(&format!("print({})\n", literal::text(expected(kind))));
        text.push_str(&format!("print({})\n", literal::text(CALLING)));
        text.push_str("sys.stdout.flush()\nfaulthandler.enable()\n\n");
        text.push_str(&ending(finding));
        text
    }

    pub fn input(self, api: &Api, input: &ConcreteInput) -> String {
        let intent = match &input.intent {
            Intent::Conform => "conforming".into(),
            Intent::Violate { param, category } => {
                format!("violating the {category} of {}", plain(param))
            }
            Intent::Ignore => "without regard to constraints".to_owned(),
        };
        let mut text = format!(
            "#!/usr/bin/env python3\n\"\"\"{}, input {} ({intent}).\"\"\"\n\n",
            plain(&api.title),
            input.number
        );
        self.imports(&mut text, &[]);
        self.functions(&mut text);
        text.push_str(&self.call);
        text.push_str("\n\nprint(call())\n");
        text
    }

    fn imports(&self, text: &mut String, standard: &[&str]) {
        if !self.writer.parts.is_empty() {
            text.push_str("import importlib\n");
        }
        for module in standard {
            text.push_str(&format!("import {module}\n"));
        }
        if !text.ends_with("\n\n") {
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

fn about(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Crash | OutcomeKind::Exit => {
            "Needs only Python and the library. Where the failure is still there, the process dies\n\
             in the call; otherwise this script ends with code 0.\n"
        }
        OutcomeKind::Timeout | OutcomeKind::OutOfMemory => {
            "Needs only Python and the library. Where the failure is still there, the call does not\n\
             come back or takes all memory: run it with a limit. Otherwise this script ends with\n\
             code 0.\n"
        }
        _ => {
            "Needs only Python and the library. Ends with code 1 where the failure is still there,\n\
             with code 0 otherwise.\n"
        }
    }
}

fn expected(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Crash => "expected: a result or an exception, not a crash",
        OutcomeKind::Exit => "expected: a result or an exception, not the end of the process",
        OutcomeKind::Timeout => "expected: a result or an exception in reasonable time",
        OutcomeKind::OutOfMemory => "expected: a result or an exception in reasonable memory",
        OutcomeKind::Nan => "expected: a result without NaN, or an exception",
        OutcomeKind::Fatal => "expected: a result or an ordinary exception",
        _ => "expected: a result, or an exception that says what is wrong with the arguments",
    }
}

/// What was recorded, in words.
fn observed(finding: &Finding) -> String {
    match &finding.execution.outcome {
        Outcome::Accepted { nan: true } => "the result held a NaN".into(),
        Outcome::Accepted { nan: false } => "a result".into(),
        Outcome::Rejected(exception) | Outcome::Fatal(exception) | Outcome::NotBuilt(exception) => {
            let message: String = exception.message.chars().take(MESSAGE_LIMIT).collect();
            format!("raised {}: {message}", exception.class)
        }
        Outcome::Crash { .. } => format!("the process died of {}", finding.verdict.detail),
        Outcome::Exit { .. } => format!("the process ended: {}", finding.verdict.detail),
        Outcome::Timeout => format!("no result after {:.1?}", finding.execution.duration),
        Outcome::OutOfMemory => "memory passed the limit".into(),
    }
}

/// Makes the call and says whether the failure was seen.
fn ending(finding: &Finding) -> String {
    let reproduced = literal::text(REPRODUCED);
    let not_reproduced = literal::text(NOT_REPRODUCED);
    let (after_result, after_exception) = match &finding.execution.outcome {
        Outcome::Rejected(exception) | Outcome::Fatal(exception) => {
            let mut test = format!("name_of(error) == {}", literal::text(&exception.class));
            match fissure_judge::internal_error_phrase(exception) {
                Some("SystemError") | None => {}
                Some(phrase) => {
                    let phrase = literal::text(phrase);
                    test.push_str(&format!(" and {phrase} in text_of(error).lower()"));
                }
            }
            ("False", test)
        }
        Outcome::Accepted { nan: true } => ("holds_nan(result)", "False".to_owned()),
        // The process would not have come this far.
        outcome => {
            let wait = match outcome {
                Outcome::Crash { .. } => {
                    "    time.sleep(0.5)  # a thread that the call started may still be at work\n"
                }
                _ => "",
            };
            return format!(
                r#"try:
    result = call()
    print("observed: a result of type " + type(result).__name__)
    del result  # a failure in its destructor belongs to the call
{wait}except BaseException as error:
    print("observed: raised " + name_of(error) + ": " + text_of(error))
print({not_reproduced})
"#
            );
        }
    };
    format!(
        r#"try:
    result = call()
    reproduced = {after_result}
    print("observed: a result of type " + type(result).__name__)
except BaseException as error:
    reproduced = {after_exception}
    print("observed: raised " + name_of(error) + ": " + text_of(error))
print({reproduced} if reproduced else {not_reproduced})
sys.exit(1 if reproduced else 0)
"#
    )
}
