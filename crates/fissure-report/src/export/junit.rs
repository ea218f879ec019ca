//! JUnit's XML: each API is a test case, each finding a failed one.

use std::borrow::Cow;
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::sarif::in_checkout;
use crate::run::{ReportedFinding, Run, RunKind};

/// Lines of a script that are shown.
const SCRIPT_LINES: usize = 120;

pub fn junit(run: &Run) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
    write(&mut writer, run).expect("writing into memory does not fail");
    let mut text =
        String::from_utf8(writer.into_inner()).expect("what was written is UTF-8 text throughout");
    text.push('\n');
    text
}

type Xml = Writer<Vec<u8>>;

fn write(writer: &mut Xml, run: &Run) -> io::Result<()> {
    let cases = cases(run);
    let count = |wanted: fn(&Status) -> bool| {
        let found = cases.iter().filter(|case| wanted(&case.status)).count();
        found.to_string()
    };
    let failures = count(|status| matches!(status, Status::Failed(_)));
    let skipped = count(|status| matches!(status, Status::Skipped(_)));
    let tests = cases.len().to_string();
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .with_attributes([
            ("name", "fissure"),
            ("tests", &*tests),
            ("failures", &*failures),
            ("errors", "0"),
        ])
        .write_inner_content(|writer| {
            writer
                .create_element("testsuite")
                .with_attributes([
                    ("name", &*allowed(&run.info.name)),
                    ("tests", &*tests),
                    ("failures", &*failures),
                    ("errors", "0"),
                    ("skipped", &*skipped),
                    ("time", &*seconds(run.totals.seconds)),
                ])
                .write_inner_content(|writer| {
                    properties(writer, run)?;
                    cases.iter().try_for_each(|case| case.write(writer, run))
                })?;
            Ok(())
        })?;
    Ok(())
}

fn properties(writer: &mut Xml, run: &Run) -> io::Result<()> {
    writer
        .create_element("properties")
        .write_inner_content(|writer| {
            for (name, value) in [
                ("library", &run.info.library),
                ("library_version", &run.info.library_version),
                ("python_version", &run.info.python_version),
                ("command", &run.info.command),
            ] {
                writer
                    .create_element("property")
                    .with_attributes([("name", name), ("value", &*allowed(value))])
                    .write_empty()?;
            }
            Ok(())
        })?;
    Ok(())
}

struct Case<'a> {
    name: &'a str,
    class: &'a str,
    time: Option<f64>,
    status: Status<'a>,
}

enum Status<'a> {
    Passed,
    Skipped(&'a str),
    Failed(&'a ReportedFinding),
}

fn cases(run: &Run) -> Vec<Case<'_>> {
    let mut cases: Vec<Case> = run
        .counted()
        .map(|finding| Case {
            name: &finding.id,
            class: &finding.api,
            time: None,
            status: Status::Failed(finding),
        })
        .collect();
    if run.info.kind == RunKind::Fuzz {
        let class = &*run.info.library;
        let silent = run.apis.iter().filter(|api| api.findings.is_empty());
        cases.extend(silent.map(|api| Case {
            name: &api.title,
            class,
            time: Some(api.busy_seconds),
            status: Status::Passed,
        }));
        cases.extend(run.skipped.iter().map(|skipped| Case {
            name: &skipped.api,
            class,
            time: None,
            status: Status::Skipped(&skipped.reason),
        }));
    }
    cases
}

impl Case<'_> {
    fn write(&self, writer: &mut Xml, run: &Run) -> io::Result<()> {
        let (name, class) = (allowed(self.name), allowed(self.class));
        let mut element = writer
            .create_element("testcase")
            .with_attributes([("name", &*name), ("classname", &*class)]);
        if let Status::Failed(finding) = self.status
            && let Some(place) = &finding.location
        {
            let (file, line) = (allowed(&in_checkout(&place.file)), place.line.to_string());
            element = element.with_attributes([("file", &*file), ("line", &*line)]);
        }
        if let Some(time) = self.time {
            element = element.with_attribute(("time", &*seconds(time)));
        }
        match self.status {
            Status::Passed => element.write_empty()?,
            Status::Skipped(reason) => element.write_inner_content(|writer| {
                writer
                    .create_element("skipped")
                    .with_attribute(("message", &*allowed(reason)))
                    .write_empty()?;
                Ok(())
            })?,
            Status::Failed(finding) => {
                element.write_inner_content(|writer| failure(writer, run, finding))?
            }
        };
        Ok(())
    }
}

fn failure(writer: &mut Xml, run: &Run, finding: &ReportedFinding) -> io::Result<()> {
    let text = format!(
        "{}\n\nobserved: {}\nexpected: {}\nreproduce: python {}\n",
        finding.lead(),
        finding.observed,
        finding.expected,
        run.script_of(finding).display()
    );
    writer
        .create_element("failure")
        .with_attributes([
            ("message", &*allowed(&finding.title)),
            ("type", &*allowed(&finding.kind)),
        ])
        .write_text_content(BytesText::new(&allowed(&text)))?;
    writer
        .create_element("system-out")
        .write_text_content(BytesText::new(&allowed(&shortened(&finding.script))))?;
    if !finding.log.is_empty() {
        writer
            .create_element("system-err")
            .write_text_content(BytesText::new(&allowed(&finding.log)))?;
    }
    Ok(())
}

/// The script, or the beginning of a long one: who reads the report has its path.
fn shortened(script: &str) -> Cow<'_, str> {
    let mut lines = script.split_inclusive('\n');
    let begin: usize = lines.by_ref().take(SCRIPT_LINES).map(str::len).sum();
    match lines.count() {
        0 => Cow::Borrowed(script),
        more => Cow::Owned(format!("{}… {more} more lines\n", &script[..begin])),
    }
}

fn seconds(seconds: f64) -> String {
    let seconds = if seconds.is_finite() { seconds } else { 0.0 };
    format!("{:.3}", seconds.max(0.0))
}

/// Without the characters that XML 1.0 cannot hold, escaped or not.
fn allowed(text: &str) -> String {
    text.chars()
        .filter(|&character| {
            matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_script_is_cut_and_says_so() {
        let script = "line\n".repeat(SCRIPT_LINES);
        assert_eq!(shortened(&script), script);
        let longer = shortened(&format!("{script}line\nline\n")).into_owned();
        assert_eq!(longer, format!("{script}… 2 more lines\n"));
    }

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        assert_eq!(
            allowed("a\u{0}b\u{1b}[31mc\u{ffff}\u{fffe}\td"),
            "ab[31mc\td"
        );
    }
}
