//! The check of an oracle as the few lines that a person would write.
//!
//! A check is `build()`, `call()` and a comparison. Here the arguments get names, the calls are
//! written out, and the comparison becomes two `print`s. What those print is not claimed: the lines
//! are run ([`trials`]), the oracle's own comparison judges what they printed, and what they printed
//! becomes the comments. A check with a line that is not understood keeps its form.

mod reader;
mod slots;
mod source;
mod trial;

pub(crate) use trial::trials;

use fissure_model::{Api, ConcreteInput, Finding};

use super::layout::Layout;
use super::writer::Writer;
use crate::failure::report_of;
use reader::{Reader, Reading};
use slots::Slots;

/// What stands for the failure in the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A line of code, with the lines of its block.
    Code(String),
    /// `print(…)` of what the library gives.
    Observed(String),
    /// `print(…)` of what it should give.
    Expected(String),
    /// A line that raises, or ends the process.
    Fails(String),
}

impl Part {
    fn text(&self) -> String {
        match self {
            Part::Code(text) | Part::Fails(text) => text.clone(),
            Part::Observed(text) | Part::Expected(text) => format!("print({text})"),
        }
    }
}

/// The lines of a check, without what they print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flat {
    head: String,
    parts: Vec<Part>,
    /// The comparison, for `observed` and `expected` as they are printed; `None` when what is printed
    /// is compared with the oracle's own words.
    tail: Option<String>,
    /// Results are of a library whose tensors the comparison knows only as arrays.
    foreign: bool,
}

impl Flat {
    fn new(api: &Api, input: &ConcreteInput, check: &str, reading: Reading) -> Option<Flat> {
        let mut writer = Writer::new(api);
        let slots = Slots::new(&mut writer, api, input, check)?;
        let read = Reader::new(&slots, reading).read(check)?;
        for module in &read.imports {
            writer.import(module);
        }
        let layout = Layout {
            writer,
            call: String::new(),
        };
        Some(Flat {
            head: layout.parts(),
            parts: read.parts,
            tail: read.tail,
            foreign: read.foreign,
        })
    }

    /// The lines alone, as they are run.
    fn code(&self) -> String {
        self.with(&[])
    }

    /// The lines with what each `print` printed.
    fn with(&self, printed: &[String]) -> String {
        let mut printed = printed.iter();
        let mut text = format!("{}\n\n", self.head.trim_end());
        for part in &self.parts {
            let label = match part {
                Part::Code(_) => None,
                Part::Observed(_) => Some("observed"),
                Part::Expected(_) => Some("expected"),
                Part::Fails(_) => Some("raises"),
            };
            text.push_str(&part.text());
            let shown = label.and_then(|label| Some((label, printed.next()?)));
            if let Some((label, shown)) = shown {
                text.push_str(&comment(label, shown));
            }
            text.push('\n');
        }
        text
    }

    fn fails(&self) -> bool {
        matches!(self.parts.last(), Some(Part::Fails(_)))
    }
}

/// Behind the line, or below it when it has several lines itself.
fn comment(label: &str, shown: &str) -> String {
    if !shown.contains('\n') {
        return format!("  # {label}: {shown}");
    }
    let lines: Vec<String> = shown
        .lines()
        .map(|line| format!("\n#   {line}").trim_end().to_owned())
        .collect();
    format!("\n# {label}:{}", lines.concat())
}

/// The call alone, for a failure that shows by itself.
pub(super) fn plain_call(finding: &Finding) -> Option<String> {
    let mut writer = Writer::new(&finding.api);
    let slots = Slots::new(&mut writer, &finding.api, &finding.input, "")?;
    let text = slots.plain();
    let layout = Layout {
        writer,
        call: String::new(),
    };
    Some(format!("{}\n\n{text}", layout.parts().trim_end()))
}

/// A check that only calls and looks at the exception needs no run to be the same as the call.
pub(super) fn raising_call(finding: &Finding) -> Option<String> {
    let report = report_of(&finding.verdict, &finding.execution)?;
    let flat = Flat::new(
        &finding.api,
        &finding.input,
        &report.check,
        Reading::default(),
    )?;
    let once = report.check.matches("build()").count() == 1;
    let first = report.observed.lines().next().unwrap_or_default();
    (once && flat.fails() && !first.is_empty()).then(|| flat.with(&[shortened(first)]))
}

/// A line that fits into a comment.
fn shortened(line: &str) -> String {
    const LONGEST: usize = 100;
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let kept: String = line.chars().take(LONGEST).collect();
    format!("{kept}…")
}
